// Runs a compiled random program on any executor.
#pragma once
#include <algorithm>
#include <memory>

#include "compiler/program/executor.h"
#include "tests/ir/near.h"
#include "tests/ir/random_graph.h"

namespace firn {

inline std::shared_ptr<Memory> upload(Executor& executor, std::vector<std::byte> data) {
    data.resize(std::max<size_t>(16, (data.size() + 15) / 16 * 16));
    auto memory = executor.allocate(data.size(), "random");
    executor.write(*memory, 0, data);
    return memory;
}

/// Returns results of the shapes of `like`. Their initial values are unlikely results, so that
/// unwritten elements show.
inline std::vector<HostTensor> run_on(Executor& executor,
                                      const std::shared_ptr<const Program>& program,
                                      const RandomProgram& random,
                                      const std::vector<HostTensor>& like) {
    Call call;
    std::vector<std::vector<int64_t>> shapes;
    for (size_t k = 0; k < random.args.size(); ++k) {
        const HostTensor& arg = random.args[k];
        const bool scalar = program->arguments[k].scalar;
        shapes.push_back(arg.shape);
        call.scalars.push_back(scalar ? arg.at(0) : Scalar{});
        call.arguments.push_back(scalar ? nullptr : upload(executor, arg.data));
    }
    call.symbols = random.env;
    for (const auto& [name, value] : bind_symbols(*program, shapes, call.scalars))
        call.symbols[name] = value;
    for (const HostTensor& result : like)
        call.results.push_back(
            upload(executor, std::vector<std::byte>(result.data.size(), std::byte{0x42})));
    executor.run(program, call);
    std::vector<HostTensor> results;
    for (size_t k = 0; k < like.size(); ++k) {
        results.push_back(HostTensor::make(like[k].dtype, like[k].shape));
        if (!results[k].data.empty()) executor.read(*call.results[k], 0, results[k].data);
    }
    return results;
}

/// Floats of one type that are near.
inline bool near(const Scalar& got, const Scalar& expected, double tolerance) {
    return got.dtype.is_float() && got.dtype == expected.dtype &&
           near(got.f, expected.f, tolerance);
}

}  // namespace firn
