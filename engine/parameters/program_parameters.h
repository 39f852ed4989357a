// The parameters of a saved program in a registry, and the values that they give a call.
#pragma once
#include <string>
#include <vector>

#include "compiler/program/saved_program.h"
#include "engine/parameters/param_options.h"
#include "engine/parameters/parameters.h"

namespace firn {

/// A parameter of a saved program with storage of its own, which has the value that the parameter
/// had when it was saved.
struct HeldParameter {
    std::string name;
    ParamVariable variable;
    ParamOptions options;
};

/// Returns the parameters of the program, in its order.
std::vector<HeldParameter> held_parameters(const SavedProgram& saved);

/// Adds each parameter of the program to the registry, which owns the values. The overload in
/// engine/window/program_parameters.h makes them lines of a panel too. Throws UserError if the
/// registry has a parameter of the same name with another owner.
void add_parameters(Parameters& parameters, const SavedProgram& saved);

/// Returns the scalars of a call, one per argument: those that the program was saved with, or the
/// present value of the registry's parameter if one feeds the argument. Throws UserError if a
/// parameter is missing, or if an argument cannot hold its value.
std::vector<Scalar> scalars_now(const SavedProgram& saved, const Parameters& parameters);

/// Returns how a file describes a parameter of the registry, with its present value and without
/// arguments. Throws UserError for texts and files, which no program takes.
ProgramParameter program_parameter(const Parameter& parameter);

}  // namespace firn
