// Defers expensive conditional work of a loop until every lane needs it.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/mapping/mapping.h"

namespace firn {

/// Defers expensive conditional work of a loop until every lane needs it. On drivers that run
/// divergent branches under masks, a loop whose choices have an expensive side pays for that side
/// in every iteration. This pass makes such a loop two nested ones: in the inner loop each lane
/// takes the iterations that skip the expensive side, until every lane has reached one that needs
/// it (or a few have passed); then that side is computed for all lanes at once. Every lane computes
/// the same values in the same order as before. Three kinds of kernel stay as they are: loops that
/// only sum up or that store; kernels that would exceed the driver's limit of back edges; and
/// kernels whose invocations have several elements, where one element's expensive work fills the
/// gaps of another's, and all of them would wait for the last. Takes and gives lowered kernels
/// (not placed), before mapping.
KernelCode defer_conditional_work(KernelCode code, const DeviceProfile& profile,
                                  const SymbolFacts& facts, ChooseMapping choose);

}  // namespace firn
