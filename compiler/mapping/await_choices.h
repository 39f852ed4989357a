// Dear parts of a loop that some iterations need wait until lanes have come to one.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Where lanes take all that one of them takes, a loop whose choices have a dear side pays for it
/// in every iteration. Such a loop becomes one inside another: lanes take the iterations that do
/// without, until each has come to one that does not (or a few have passed), and then what is dear
/// is computed for all of them at once. Every lane computes what it did, in the same order. Loops
/// that only sum up, and loops that store, stay as they are, and kernels whose back edges would be
/// more than the driver takes. So do those whose invocations have several elements: what is dear of
/// one fills the gaps of the other, and all of them would wait for the last. Takes and gives
/// lowered kernels, before mapping. Not placed.
KernelCode await_choices(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts);

}  // namespace firn
