// Random graphs, compiled and run on the device, give what the oracle gives.
#include <cmath>

#include "compiler/compile.h"
#include "compiler/ir/text.h"
#include "engine/runtime/vulkan_executor.h"
#include "tests/gpu/device_fixture.h"
#include "tests/ir/random_graph.h"

namespace firn {
namespace {

std::shared_ptr<Memory> upload(Executor& executor, const HostTensor& tensor) {
    auto memory = executor.allocate(tensor.data.size(), "argument");
    executor.write(*memory, 0, tensor.data);
    return memory;
}

/// Results of the shapes of `like`. They start as no result is likely to be: what is not written
/// shows.
std::vector<HostTensor> run_on(Executor& executor, const std::shared_ptr<const Program>& program,
                               const RandomProgram& random, const std::vector<HostTensor>& like) {
    Call call;
    std::vector<std::vector<int64_t>> shapes;
    for (size_t k = 0; k < random.args.size(); ++k) {
        const HostTensor& arg = random.args[k];
        bool scalar = program->arguments[k].scalar;
        shapes.push_back(arg.shape);
        call.scalars.push_back(scalar ? arg.at(0) : Scalar{});
        call.arguments.push_back(scalar ? nullptr : upload(executor, arg));
    }
    call.symbols = random.env;
    for (const auto& [name, value] : bind_symbols(*program, shapes, call.scalars))
        call.symbols[name] = value;
    for (HostTensor result : like) {
        std::fill(result.data.begin(), result.data.end(), std::byte{0x42});
        call.results.push_back(upload(executor, result));
    }
    executor.run(program, call);
    std::vector<HostTensor> results;
    for (size_t k = 0; k < like.size(); ++k) {
        results.push_back(HostTensor::make(like[k].dtype, like[k].shape));
        executor.read(*call.results[k], 0, results.back().data);
    }
    return results;
}

/// Equal bits; floats may differ by what another order and the device's functions give.
bool close(const Scalar& a, const Scalar& b) {
    if (a == b || (std::isnan(a.f) && std::isnan(b.f))) return true;
    if (!a.dtype.is_float()) return false;
    double scale = a.dtype == f16 ? 4e-3 : 1e-4;
    return a.f == b.f || std::fabs(a.f - b.f) <= scale * std::max(1.0, std::fabs(b.f));
}

class CompiledOnDevice : public DeviceTest, public testing::WithParamInterface<uint64_t> {
  protected:
    void expect_oracle(const RandomGraphOptions& options) {
        NodeTable table;
        RandomProgram random = RandomGraphs(table, GetParam(), options).make();
        std::vector<HostTensor> expected = interpret(random.graph, random.args, random.env);
        CompileOptions compile;
        compile.validate = true;
        auto program = compile_graph(table, random.graph, device->profile(), compile);
        VulkanExecutor executor(device);
        std::vector<HostTensor> got = run_on(executor, program, random, expected);
        for (size_t r = 0; r < expected.size(); ++r)
            for (int64_t k = 0; k < expected[r].elements(); ++k)
                ASSERT_TRUE(close(got[r].at(k), expected[r].at(k)))
                    << "result " << r << ", element " << k << ": " << text(got[r].at(k))
                    << " instead of " << text(expected[r].at(k)) << "\n"
                    << print(random.graph);
    }
};

TEST_P(CompiledOnDevice, PlainGraphs) {
    RandomGraphOptions options;
    options.nodes = 20;
    options.regions = false;
    expect_oracle(options);
}

TEST_P(CompiledOnDevice, LoopsAndBranches) {
    RandomGraphOptions options;
    options.nodes = 20;
    expect_oracle(options);
}

INSTANTIATE_TEST_SUITE_P(Seeds, CompiledOnDevice, testing::Range(uint64_t{0}, uint64_t{20}));

}  // namespace
}  // namespace firn
