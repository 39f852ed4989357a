// Small kernels as one group runs them.
#pragma once
#include <cstdint>
#include <optional>

#include "compiler/kernel/kernel_code.h"
#include "compiler/mapping/kernel_passes.h"

namespace firn {

/// Invocations of groups that take a band each.
uint32_t band_group_size(const DeviceProfile& profile);

struct OneGroupKernel {
    KernelCode code;
    double excess = 0;  // seconds that one group takes longer than all cores, by estimate
};
/// Maps the kernel to one group of so many invocations, arranged by its axes (their numbers along
/// an axis are powers of two), which walk all its indices. Returns nothing if that takes more than
/// `most_excess` longer than all cores, if the facts do not bound its sizes, or if one group cannot
/// run it (a row held by its group, copies of targets). Lanes share indices if there are no more of
/// these than subgroups. `lowered` is placed.
std::optional<OneGroupKernel> map_to_one_group(const KernelCode& lowered, uint32_t invocations,
                                               double most_excess, const DeviceProfile& profile,
                                               const SymbolFacts& facts,
                                               const KernelPassOptions& passes);

/// Returns the kernel mapped to a group for each index of its outermost axis, the bands (bands.h),
/// which walks all others. Nothing if its own mapping has more than that: lanes that share work,
/// operands that groups load together, matrix units, copies of targets.
std::optional<KernelCode> map_to_bands(const KernelCode& lowered, const DeviceProfile& profile,
                                       const SymbolFacts& facts, const KernelPassOptions& passes);

}  // namespace firn
