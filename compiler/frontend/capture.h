// Tensors from outside inside a function that is being compiled; internal.
#pragma once
#include "compiler/frontend/record.h"

namespace firn {

/// What a function sees of `node`, the value that a slot from outside has now: a plain constant as
/// it is, anything else as a Buffer, which becomes a hidden argument. `depth` is that of the
/// function's scope.
Ref capture(SessionState& session, const std::shared_ptr<Slot>& slot, const Ref& node,
            size_t depth);

}  // namespace firn
