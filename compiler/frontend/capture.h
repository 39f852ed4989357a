// Tensors from outside inside a function that is being compiled; internal.
#pragma once
#include "compiler/frontend/record.h"

namespace firn {

/// Returns the value of a slot from outside as a function sees it; `node` is the slot's value now.
/// A plain constant stays one, anything else is a Buffer, which becomes a hidden argument. `depth`
/// is that of the function's scope.
Ref capture(SessionState& session, const std::shared_ptr<Slot>& slot, const Ref& node,
            size_t depth);

}  // namespace firn
