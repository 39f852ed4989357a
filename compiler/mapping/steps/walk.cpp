// The step `walk`: blocks of a group that it walks one after the other, with the same copies of
// what it combines into (accumulate.cpp chooses and varies it).
#include "compiler/mapping/map_grid.h"
#include "compiler/mapping/steps.h"

namespace firn {
namespace {

std::string why_not(const MappingCase& of) { return why_not_of_grid(of, of.mapping.walk); }

}  // namespace

const StepRules mapping_step::walk{.why_not = why_not};

}  // namespace firn
