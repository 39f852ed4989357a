// Transposes reads at the own index plus an offset.
#pragma once
#include <optional>

#include "compiler/autodiff/reverse_run.h"

namespace firn {

/// The cotangent of a Gather's source from that of the Gather, as a function of the source's index:
/// where every index is a number, or the own index along an axis of its own plus a number. So a
/// read of neighbours has a gradient that reads neighbours. Returns nothing for other indices.
std::optional<Ref> reverse_shifted_read(ReverseRun& run, const Node& gather, const Ref& g);

}  // namespace firn
