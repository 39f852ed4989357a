// The calls of the host in a run of several submissions.
#include "engine/runtime/parted_calls.h"

#include <algorithm>
#include <utility>

namespace firn {
namespace {

bool disturbs(const PartedCallStep& call, const BufferRange& range, bool written) {
    return overlap(call.output, range) || (written && overlap(call.input, range));
}

}  // namespace

void PartedCalls::begin(PartedCallStep& call) {
    if (call.work) return;
    device_->wait(call.ready);
    call.work = call.operation->begin(call.call);
}

void PartedCalls::proceed() {
    for (PartedCallStep& call : calls_) {
        if (!call.work && !device_->is_done(call.ready)) return;  // those behind it begin later
        begin(call);
        call.work->proceeds();
    }
}

bool PartedCalls::meets(const BufferRange& range, bool written) const {
    return std::any_of(calls_.begin(), calls_.end(),
                       [&](const PartedCallStep& call) { return disturbs(call, range, written); });
}

std::vector<PartedCallStep> PartedCalls::finish(const BufferRange& range, bool written) {
    return finish_where([&](const PartedCallStep& call) { return disturbs(call, range, written); });
}

std::vector<PartedCallStep> PartedCalls::finish_all() {
    return finish_where([](const PartedCallStep&) { return true; });
}

std::vector<PartedCallStep> PartedCalls::finish_where(
    const std::function<bool(const PartedCallStep&)>& is) {
    // All that were added are under way before one is waited for.
    for (PartedCallStep& call : calls_) begin(call);
    std::vector<PartedCallStep> finished;
    for (size_t k = 0; k < calls_.size();) {
        if (!is(calls_[k])) {
            ++k;
            continue;
        }
        finished.push_back(std::move(calls_[k]));
        calls_.erase(calls_.begin() + static_cast<std::ptrdiff_t>(k));
        finished.back().work->finish();
    }
    return finished;
}

}  // namespace firn
