// The steps of a program, in their order.
#pragma once
#include <vector>

#include "compiler/lower/lower_run.h"

namespace firn {

/// Sizes that only the device knows, and their values.
struct CountedSizes {
    const std::vector<Size>& sizes;
    const std::vector<Ref>& counts;
};

/// The steps of a region, the program itself or the body of a loop, in which `counted` begin.
std::vector<ListedStep> steps_of(LowerRun& run, const std::vector<ScheduleItem>& items,
                                 const CountedSizes& counted);

}  // namespace firn
