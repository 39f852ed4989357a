// Kernels that would bind more tensors than the device does: values go to memory before them.
#pragma once
#include "compiler/schedule/draft.h"

namespace firn {

/// After a round: notes the kernels that bind more than the device does, for the next round to cut.
/// True where more is known of them than before.
bool note_crowded_kernels(Draft& draft);

/// Some kernel that asks for the value binds too much where it computes it itself.
bool overcrowds(Draft& draft, const Node& node, const std::set<Ask>& asks);

}  // namespace firn
