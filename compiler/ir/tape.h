// Tensors [length, ...] that keep a value in each slot.
#pragma once
#include "compiler/ir/builder.h"

namespace firn {

/// The value in `slot` (i32, rank 0), which exists.
Ref state_at(const Builder& b, const Ref& tape, const Ref& slot);
/// The tape with `value` in `slot`; a slot outside of the tape changes nothing. `alone`: the slot
/// exists, and a kernel writes only that slot, even if it could compute the whole tape.
Ref with_state(const Builder& b, const Ref& tape, const Ref& value, const Ref& slot,
               bool alone = false);

}  // namespace firn
