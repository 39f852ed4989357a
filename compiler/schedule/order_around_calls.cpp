// The order of steps among which the host makes calls.
#include "compiler/schedule/order_around_calls.h"

#include <algorithm>
#include <numeric>

#include "compiler/base/error.h"

namespace firn {
namespace {

/// The order of choice among steps that are ready.
enum Turn : int { kCall, kForCall, kFree, kBehindCall };

/// Returns the turn of every step. Steps that a call needs come before steps that need one, also
/// where both hold, as for the second of two calls.
std::vector<Turn> turns_of(const std::vector<WaitingStep>& steps) {
    std::vector<bool> for_call(steps.size()), behind_call(steps.size());
    for (size_t k = 0; k < steps.size(); ++k)
        for (const size_t before : steps[k].before)
            if (steps[before].calls || behind_call[before]) behind_call[k] = true;
    for (size_t k = steps.size(); k-- > 0;)
        if (steps[k].calls || for_call[k])
            for (const size_t before : steps[k].before) for_call[before] = true;
    std::vector<Turn> turns;
    for (size_t k = 0; k < steps.size(); ++k)
        turns.push_back(steps[k].calls   ? kCall
                        : behind_call[k] ? kBehindCall
                        : for_call[k]    ? kForCall
                                         : kFree);
    return turns;
}

}  // namespace

std::vector<size_t> order_around_calls(const std::vector<WaitingStep>& steps) {
    std::vector<size_t> order(steps.size());
    std::iota(order.begin(), order.end(), 0);
    if (std::none_of(steps.begin(), steps.end(), [](const auto& step) { return step.calls; }))
        return order;
    const std::vector<Turn> turns = turns_of(steps);
    std::vector<bool> done(steps.size());
    const auto is_ready = [&](size_t k) {
        return !done[k] && std::all_of(steps[k].before.begin(), steps[k].before.end(),
                                       [&](size_t before) { return done[before]; });
    };
    for (size_t& next : order) {
        size_t best = SIZE_MAX;
        for (size_t k = 0; k < steps.size(); ++k)
            if (is_ready(k) && (best == SIZE_MAX || turns[k] < turns[best])) best = k;
        ensure(best != SIZE_MAX, "steps of a program wait for one another");
        done[best] = true;
        next = best;
    }
    return order;
}

}  // namespace firn
