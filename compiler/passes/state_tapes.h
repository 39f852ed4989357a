// Finds tapes in which loops keep the states of carried values.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/schedule/regions.h"

namespace firn {

/// The tape that keeps every state of a carried value, given by the tape's place among carried
/// values. `ends`: it keeps the states that iterations end with, after the one that the loop starts
/// with, and not those that iterations start with.
struct StateTape {
    static constexpr size_t kNone = SIZE_MAX;
    size_t place = kNone;
    bool ends = false;
    explicit operator bool() const { return place != kNone; }
};
/// Returns the tape of each carried value. Nothing else in the loop reads the tapes or what is
/// stored to them.
std::vector<StateTape> state_tapes(const Node& loop);

/// True if the loop counts its iterations from 0 in steps of 1, and a tape of `slots` has a slot
/// for the state that the last of them ends with.
bool has_last_slot(const Node& loop, const Size& slots,
                   const std::unordered_map<const Node*, Size>& inductions,
                   const SymbolFacts& facts);
/// Returns what is in that slot of the loop's result `tape`.
Ref last_state(NodeTable& table, const Node& like, const Ref& loop, size_t tape);

/// Reads final values of a loop from the last slots of its tapes if the loop then runs inside one
/// kernel, which returns only tapes. Ensures: the same values.
Graph read_last_states(NodeTable& table, const Graph& graph, const SymbolFacts& facts);

}  // namespace firn
