// Loops of kernels that keep every state of a carried value in its tape only.
#pragma once
#include "compiler/ir/builder.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// If a loop of kernels keeps, in a tape, every state of a carried value as its iterations start
/// with it, the value moves to the tape: iteration k reads slot k and stores slot k + 1, so that
/// nothing is stored twice. This holds for a tape that has one slot more than there are iterations,
/// whose slots begin at whole vectors, and that kernels read as they would read the value itself.
/// Ensures: the same values. Runs after open_loops: loops of kernels stay loops of kernels.
Graph keep_states_once(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                       const SymbolFacts& facts);

}  // namespace firn
