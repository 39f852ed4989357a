// Other mappings of a kernel, one step from a given one: what tuning searches through.
#pragma once
#include <vector>

#include "compiler/mapping/map.h"

namespace firn {

/// Mappings that differ from `mapping` in one of their choices, that the kernel and the device
/// allow, and that the model of tiles does not hold to be far slower. `lowered` is placed.
std::vector<Mapping> vary_mapping(const KernelCode& lowered, const Mapping& mapping,
                                  const DeviceProfile& profile, const SymbolFacts& facts);

}  // namespace firn
