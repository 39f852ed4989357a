// The parameters of a saved program on a panel, and what they give a call.
#pragma once
#include <vector>

#include "compiler/program/saved_program.h"
#include "engine/window/gui.h"
#include "engine/window/parameters.h"

namespace firn {

/// Makes each parameter of the program a line of the panel, with the value that it had when it was
/// saved: `--set`, presets (by SavedProgram::name) and undo serve it as one of the program's own.
/// The panel's registry owns the values. UserError where the panel has a parameter of the same
/// name that somebody else owns.
void add_parameters(Gui& panel, const SavedProgram& saved);

/// The scalars of a call, one per argument: those that the program was saved with, and in their
/// place what the parameters on the panel are now. UserError where a parameter is not there, or an
/// argument cannot hold its value.
std::vector<Scalar> scalars_now(const SavedProgram& saved, const Parameters& parameters);

/// What a file says of a parameter of the registry, with its value now and without arguments.
/// UserError for texts and files, which no program takes.
ProgramParameter program_parameter(const Parameter& parameter);

}  // namespace firn
