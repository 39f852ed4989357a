// A call that is run again and again.
#include "compiler/frontend/trial.h"

#include <algorithm>

#include "compiler/base/error.h"
#include "compiler/frontend/run_graph.h"
#include "compiler/program/make_call.h"

namespace firn {
namespace {

/// Runs with moved arguments: a few, so that no element stays where it is by chance.
constexpr uint64_t kMoves = 3;

}  // namespace

Trial::Trial(Executor& executor, const Program& program, Call call)
    : executor_(executor), call_(std::move(call)) {
    for (size_t k = 0; k < program.results.size(); ++k)
        call_.results.push_back(memory_of_result(program, k));
    for (const ResultInfo& result : program.results) {
        // Sizes that only the device knows count as their upper bounds: elements behind stay as
        // they were.
        bytes_.push_back(element_count(largest(result.shape)).evaluate(call_.symbols) *
                         result.dtype.bytes());
        dtypes_.push_back(result.dtype);
    }
}

std::map<std::string, KernelTime> Trial::run(const std::shared_ptr<const Program>& program) {
    executor_.wait();
    executor_.take_kernel_times();
    executor_.run(program, call_);
    executor_.wait();
    std::map<std::string, KernelTime> out;
    for (KernelTime& time : executor_.take_kernel_times()) out[time.name] = time;
    return out;
}

std::vector<std::vector<std::byte>> Trial::results() const {
    std::vector<std::vector<std::byte>> out;
    for (size_t k = 0; k < call_.results.size(); ++k) {
        out.emplace_back(static_cast<size_t>(bytes_[k]));
        if (!out.back().empty()) executor_.read(*call_.results[k], 0, out.back());
    }
    return out;
}

std::vector<Reference> Trial::reference(const std::shared_ptr<const Program>& program) {
    run(program);
    std::vector<Reference> out;
    for (std::vector<std::byte>& bytes : results())
        out.push_back({dtypes_[out.size()], std::move(bytes), {}});
    const std::vector<std::shared_ptr<Memory>> arguments = call_.arguments;
    for (uint64_t seed = 0; seed < kMoves; ++seed) {
        try {
            for (size_t k = 0; k < arguments.size(); ++k)
                if (arguments[k] && program->arguments[k].dtype.is_float())
                    call_.arguments[k] =
                        moved_copy(*arguments[k], program->arguments[k].dtype, seed);
            run(program);
            const auto given = results();
            for (size_t k = 0; k < given.size(); ++k) note_moves(out[k], given[k]);
        } catch (const UserError&) {
            // A loop that does not end for these arguments says nothing of the others.
        } catch (...) {
            call_.arguments = arguments;
            throw;
        }
        call_.arguments = arguments;
    }
    return out;
}

Deviation Trial::deviation(const std::vector<Reference>& reference, double terms) const {
    Deviation worst;
    const auto given = results();
    for (size_t k = 0; k < given.size(); ++k) {
        Deviation here = firn::deviation(reference[k], given[k], terms);
        if (!(here.roundings > worst.roundings)) continue;
        worst = std::move(here);
        if (given.size() > 1) worst.text = "result " + std::to_string(k) + ", " + worst.text;
    }
    return worst;
}

std::shared_ptr<Memory> Trial::moved_copy(const Memory& memory, DType dtype, uint64_t seed) {
    std::vector<std::byte> bytes(memory.bytes());
    executor_.read(memory, 0, bytes);
    bytes = moved(std::move(bytes), dtype, (seed + 1) << 40);
    auto copy = executor_.allocate(bytes.size(), "moved argument of a trial");
    executor_.write(*copy, 0, bytes);
    return copy;
}

std::shared_ptr<Memory> Trial::memory_of_result(const Program& program, size_t k) {
    if (auto shared = shared_memory(program, call_, k)) return shared;
    const Size bytes = program.buffers[static_cast<size_t>(program.results[k].buffer)].bytes();
    const int64_t count = std::max<int64_t>(16, bytes.evaluate(call_.symbols));
    return executor_.allocate(static_cast<uint64_t>(count), "result of a trial");
}

}  // namespace firn
