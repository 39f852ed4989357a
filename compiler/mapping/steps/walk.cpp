// The step `walk`: a group walks several blocks one after the other, with the same copies of its
// reduction targets (accumulate.cpp chooses and varies it).
#include "compiler/mapping/steps.h"
#include "compiler/mapping/walk/map_grid.h"

namespace firn {
namespace {

std::string why_not(const MappingCase& of) { return why_not_of_grid(of, of.mapping.walk); }

}  // namespace

const StepRules mapping_step::walk{.why_not = why_not};

}  // namespace firn
