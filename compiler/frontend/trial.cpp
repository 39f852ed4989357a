// A call that is run again and again.
#include "compiler/frontend/trial.h"

#include <algorithm>
#include <cmath>

#include "compiler/frontend/realize.h"

namespace firn {
namespace {

/// The largest difference of two results, relative to the largest element of `want`; infinite where
/// they differ in kind: nan, or integers that are not equal.
double relative_difference(const std::vector<std::byte>& got, const std::vector<std::byte>& want,
                           DType dtype) {
    if (got == want) return 0;
    if (!dtype.is_float()) return HUGE_VAL;
    const auto size = static_cast<size_t>(dtype.bytes());
    double most = 0, off = 0;
    for (size_t at = 0; at + size <= want.size(); at += size) {
        const double a = load_scalar(dtype, got.data() + at).f,
                     b = load_scalar(dtype, want.data() + at).f;
        if (std::isnan(a) && std::isnan(b)) continue;
        if (a == b) {
            if (std::isfinite(b)) most = std::max(most, std::abs(b));
            continue;
        }
        if (!std::isfinite(a) || !std::isfinite(b)) return HUGE_VAL;
        most = std::max(most, std::abs(b));
        off = std::max(off, std::abs(a - b));
    }
    return off / std::max(most, 1e-30);
}

}  // namespace

Trial::Trial(Executor& executor, const Program& program, Call call)
    : executor_(executor), call_(std::move(call)) {
    for (size_t k = 0; k < program.results.size(); ++k)
        call_.results.push_back(memory_of_result(program, k));
    for (const ResultInfo& result : program.results) {
        // Sizes that only the device knows count as the most they can be: what lies behind stays as
        // it was.
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

double Trial::difference(const std::vector<std::vector<std::byte>>& got,
                         const std::vector<std::vector<std::byte>>& want) const {
    double worst = 0;
    for (size_t k = 0; k < got.size(); ++k)
        worst = std::max(worst, relative_difference(got[k], want[k], dtypes_[k]));
    return worst;
}

std::shared_ptr<Memory> Trial::memory_of_result(const Program& program, size_t k) {
    if (auto shared = shared_memory(program, call_, k)) return shared;
    const Size bytes = program.buffers[static_cast<size_t>(program.results[k].buffer)].bytes();
    const int64_t count = std::max<int64_t>(16, bytes.evaluate(call_.symbols));
    return executor_.allocate(static_cast<uint64_t>(count), "result of a trial");
}

}  // namespace firn
