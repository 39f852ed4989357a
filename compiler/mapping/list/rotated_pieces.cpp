// Writes out iterations of loops whose buffers rotate, until the buffers have their names again.
#include "compiler/mapping/list/rotated_pieces.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

#include "compiler/target/cost_table.h"

namespace firn {
namespace {

using Rotation = std::map<int, int>;
static_assert(costs::kMostPeriod == 3 && kCommonPeriod == 6);  // divided by 1, 2 and 3

/// After as many iterations every buffer of the rotation has its name again.
int period_of(const Rotation& rotation) {
    int period = 1;
    for (const auto& [start, next] : rotation) {
        int length = 1;
        for (int at = next; at != start; at = rotation.at(at)) ++length;
        period = std::lcm(period, length);
    }
    return period;
}

/// The pieces on the buffers that have their names after one more iteration.
void rotate(std::vector<SequencePiece>& pieces, const Rotation& rotation) {
    for (SequencePiece& piece : pieces) {
        rotate(piece.body, rotation);
        if (!piece.kernel) continue;
        for (KernelBuffer& b : piece.kernel->buffers)
            if (const auto to = rotation.find(b.buffer); to != rotation.end())
                b.buffer = to->second;
    }
}

}  // namespace

bool is_worth_writing_out(const ListedLoop& listed, const SequencePiece& loop, int64_t elements) {
    const auto& rotation = listed.loop.rotation;
    const int period = period_of({rotation.begin(), rotation.end()});
    const bool plain = std::all_of(
        listed.body.begin(), listed.body.end(),
        [](const ListedStep& step) { return std::holds_alternative<ListedKernel>(step.step); });
    return plain && elements >= costs::kWorthNames && period <= costs::kMostPeriod &&
           period <= loop.most_trips;
}

SequencePiece written_out(const RepeatStep& repeat, const SequencePiece& loop,
                          const std::vector<SequencePiece>& copies, const Size& first) {
    const Rotation rotation(repeat.rotation.begin(), repeat.rotation.end());
    const Size period(period_of(rotation)), trips = max(loop.trips, Size(0)),
                                            left = mod(trips, period),
                                            index = Size::symbol(loop.induction);
    SequencePiece one = loop;
    one.is_loop = false;
    SequencePiece whole = loop, rest = loop, out;
    out.excess = loop.excess;
    whole.trips = floor_div(trips, period), whole.most_trips /= period.constant();
    whole.body.clear();
    for (int64_t k = 0; k < period.constant(); ++k) {
        one.iteration = first + index * period + Size(k);
        whole.body.push_back(one);
        rotate(one.body, rotation);
    }
    out.body.push_back(std::move(whole));
    if (left.is(0)) return out;
    one.iteration = first + trips - left + index;
    rest.trips = left, rest.most_trips = period.constant() - 1;
    rest.body = {std::move(one)};
    rest.body.insert(rest.body.end(), copies.begin(), copies.end());
    out.body.push_back(std::move(rest));
    return out;
}

}  // namespace firn
