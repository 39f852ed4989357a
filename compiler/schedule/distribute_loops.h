// Loops are taken apart, so that one kernel takes what their iterations wait for each other with.
#pragma once
#include "compiler/ir/graph.h"
#include "compiler/program/device_profile.h"
#include "compiler/program/size_env.h"

namespace firn {

/// Loop distribution (Kuck 1977; Allen and Kennedy 1987) over whole tensors. Sums that iterations
/// only add to leave a loop, where what is left of it then runs inside one kernel, each element on
/// its own: it keeps in tapes what they need, and behind it they are computed for all iterations at
/// once. Reductions that wait for no other iteration are computed for all at once before a loop in
/// whose kernel each element would reduce the same again. The most that is kept lies in the
/// device's cache. Ensures: the same values up to the order of additions. Before split_reductions.
Graph distribute_loops(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                       const SymbolFacts& facts);

}  // namespace firn
