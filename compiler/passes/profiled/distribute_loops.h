// Distributes loops: only what depends on earlier iterations stays in the loop, as one kernel.
#pragma once
#include "compiler/ir/graph.h"
#include "compiler/program/device_profile.h"
#include "compiler/program/size_env.h"

namespace firn {

/// Loop distribution (Kuck 1977; Allen and Kennedy 1987) over whole tensors. Sums to which
/// iterations only add leave a loop if the rest of it then runs inside one kernel, in which each
/// element is independent: the loop keeps what the sums need in tapes, and they are computed after
/// it, for all iterations at once. Reductions that depend on no other iteration are computed for
/// all iterations at once before a loop if each element of its kernel would compute the same
/// reduction again. The kept values take no more than the device's cache. Ensures: the same values
/// up to the order of additions. Runs before split_reductions.
Graph distribute_loops(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                       const SymbolFacts& facts);

}  // namespace firn
