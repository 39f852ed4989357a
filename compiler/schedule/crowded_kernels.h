// Moves values to memory whose kernels would otherwise bind more tensors than the device allows.
#pragma once
#include "compiler/schedule/draft.h"

namespace firn {

/// Notes, after a round, the kernels that bind more than the device allows, so that the next round
/// cuts them. True if there are more of them than before.
bool note_crowded_kernels(Draft& draft);

/// True if some kernel that asks for the value binds too much if it computes the value itself.
bool overcrowds(Draft& draft, const Node& node, const std::set<Ask>& asks);

}  // namespace firn
