// Whether all parts of a saved program fit together.
#pragma once
#include "compiler/program/saved_program.h"

namespace firn {

/// Throws UserError that names the first thing in it which does not fit: an index that names
/// nothing, a size that no call gives a value, memory of another size than what is copied to it, a
/// kernel without code, a parameter out of its own range. What has passed can be planned and
/// recorded, for a device that check_device says can run it.
void check_saved(const SavedProgram& saved);

}  // namespace firn
