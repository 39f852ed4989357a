// The calls of the host that a run has begun and not finished.
#include "compiler/host/calls_under_way.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace firn {
namespace {

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
    const std::less<const std::byte*> less;
    return less(a.data(), b.data() + b.size()) && less(b.data(), a.data() + a.size());
}

}  // namespace

template <class Is>
void CallsUnderWay::finish_where(const Is& is) {
    for (size_t k = 0; k < calls_.size();) {
        if (!is(calls_[k])) {
            ++k;
            continue;
        }
        const std::unique_ptr<HostWork> work = std::move(calls_[k].work);
        calls_.erase(calls_.begin() + static_cast<std::ptrdiff_t>(k));
        work->finish();
    }
}

void CallsUnderWay::begin(const HostOperation& operation, const HostCall& call) {
    before_access(call.input, false);
    before_access(call.output, true);
    calls_.push_back({operation.begin(call), call.input, call.output});
}

void CallsUnderWay::before_access(std::span<const std::byte> bytes, bool written) {
    finish_where([&](const Begun& call) {
        return overlap(call.output, bytes) || (written && overlap(call.input, bytes));
    });
}

void CallsUnderWay::proceed() {
    for (const Begun& call : calls_) call.work->proceeds();
}

void CallsUnderWay::finish_all() {
    finish_where([](const Begun&) { return true; });
}

}  // namespace firn
