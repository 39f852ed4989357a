// Small kernels as one group runs them.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Of groups that take a band each: no more than one axis wide.
std::array<uint32_t, 3> band_group_size(const DeviceProfile& profile);

/// The kernel mapped to one group of this size that walks all its indices, where that takes no
/// longer than all cores take with the launch; and its facts bound its sizes, and one group can (no
/// row held by its group, no copies of targets, no lanes that share indices). `lowered` is placed.
std::optional<KernelCode> map_to_one_group(const KernelCode& lowered,
                                           const std::array<uint32_t, 3>& group,
                                           const DeviceProfile& profile, const SymbolFacts& facts);

/// The kernel mapped to a group for each index of its outermost axis, the bands (bands.h), which
/// walks all others. Nothing where a mapping by itself has more than that: lanes that share work,
/// operands that groups load together, matrix units, copies of targets.
std::optional<KernelCode> map_to_bands(const KernelCode& lowered, const DeviceProfile& profile,
                                       const SymbolFacts& facts);

}  // namespace firn
