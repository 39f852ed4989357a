// The symbols that decide how a program runs, so that executors can keep plans of its calls.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "compiler/program/program.h"

namespace firn {

/// Names of the symbols that a plan depends on, sorted: all but scalar arguments that are used only
/// as values of parameters, which a call fills in, and in parts (steps are found as they run) as
/// trips of loops.
std::vector<std::string> plan_symbols(const Program& program, bool in_parts = false);
/// Scalar arguments that decide nothing but values of parameters.
std::set<std::string> late_symbols(const Program& program);
/// The iteration numbers of all loops of steps.
std::set<std::string> inductions_of(const Program& program);
/// Returns whether the size holds one of these symbols.
bool mentions_any(const Size& size, const std::set<std::string>& symbols);

}  // namespace firn
