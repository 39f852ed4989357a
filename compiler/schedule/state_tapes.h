// Tapes in which loops keep the states of what they carry.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/schedule/regions.h"

namespace firn {

/// The tape that keeps every state of a carried value, as the place of that among carried values;
/// `ends`: as iterations leave them, behind what the loop starts with, not as they find them.
struct StateTape {
    static constexpr size_t kNone = SIZE_MAX;
    size_t place = kNone;
    bool ends = false;
    explicit operator bool() const { return place != kNone; }
};
/// By carried value. Nothing else in the loop reads the tapes, or what is stored to them.
std::vector<StateTape> state_tapes(const Node& loop);

/// The loop counts its iterations from 0 in steps of 1, and a tape of `slots` has one for what the
/// last of them leaves.
bool has_last_slot(const Node& loop, const Size& slots,
                   const std::unordered_map<const Node*, Size>& inductions,
                   const SymbolFacts& facts);
/// What is in that slot of the loop's result `tape`.
Ref last_state(NodeTable& table, const Node& like, const Ref& loop, size_t tape);

/// What a loop carries to its end is read out of the last slots of its tapes, where it then runs
/// inside one kernel, which gives nothing but tapes. Ensures: the same values.
Graph read_last_states(NodeTable& table, const Graph& graph, const SymbolFacts& facts);

}  // namespace firn
