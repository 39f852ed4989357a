// The parameters of a saved program on a panel, and the values that they give a call.
#pragma once
#include <vector>

#include "compiler/program/saved_program.h"
#include "engine/window/gui.h"
#include "engine/window/parameters.h"

namespace firn {

/// Makes each parameter of the program a line of the panel, with the value that it had when it was
/// saved: `--set`, presets (by SavedProgram::name) and undo treat it as one of the program's own.
/// The panel's registry owns the values. Throws UserError if the panel has a parameter of the same
/// name with another owner.
void add_parameters(Gui& panel, const SavedProgram& saved);

/// Returns the scalars of a call, one per argument: those that the program was saved with, or the
/// present value of the panel's parameter if one feeds the argument. Throws UserError if a
/// parameter is missing, or if an argument cannot hold its value.
std::vector<Scalar> scalars_now(const SavedProgram& saved, const Parameters& parameters);

/// Returns how a file describes a parameter of the registry, with its present value and without
/// arguments. Throws UserError for texts and files, which no program takes.
ProgramParameter program_parameter(const Parameter& parameter);

}  // namespace firn
