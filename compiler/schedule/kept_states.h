// Loops of kernels that keep every state of what they carry.
#pragma once
#include "compiler/ir/builder.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// What a loop of kernels carries and keeps every state of, as its iterations find it, lives in the
/// tape alone: iteration k reads slot k and stores slot k + 1, so that nothing is stored twice.
/// Where the tape has a slot more than there are iterations, begins its slots at whole vectors, and
/// is read by kernels as the value itself would be. Ensures: the same values.
/// After open_loops: loops of kernels stay what they are.
Graph keep_states_once(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                       const SymbolFacts& facts);

}  // namespace firn
