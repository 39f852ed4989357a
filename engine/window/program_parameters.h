// The parameters of a saved program on a panel.
#pragma once
#include "engine/parameters/program_parameters.h"
#include "engine/window/gui.h"

namespace firn {

/// Makes each parameter of the program a line of the panel, with the value that it had when it was
/// saved: `--set`, presets (by SavedProgram::name) and undo treat it as one of the program's own.
/// The panel's registry owns the values. Throws UserError if the panel has a parameter of the same
/// name with another owner.
void add_parameters(Gui& panel, const SavedProgram& saved);

}  // namespace firn
