// Dimensions of a lowered kernel's grid, which may share a range.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/kernel/strides.h"
#include "compiler/mapping/mapping.h"

namespace firn {

/// The extents of the dimensions that are joined in the range, the last one first; one alone where
/// none are. Its own extent is known.
std::vector<int64_t> dimensions_in(const KernelCode& code, RangeId range);
/// The mapping that a lowered kernel would be given.
Mapping mapping_of_lowered(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts,
                           ChooseMapping choose);

}  // namespace firn
