// Small kernels that do not need each other run in one dispatch.
#pragma once
#include <vector>

#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Returns whether the kernel may stand beside others: it has one Grid range of a known length,
/// short enough that its dispatch costs more than its work, and stores in plain order.
bool is_small_kernel(const KernelCode& code, const DeviceProfile& profile);

/// Returns whether one dispatch can bind the buffers of `parts` and `next`, which are independent,
/// and it pays: a launch is saved, and on a CPU driver every invocation takes one masked iteration
/// of the parts that it does not belong to. Any kernel may stand beside no parts.
bool may_stand_beside(const std::vector<KernelCode>& parts, const KernelCode& next,
                      const DeviceProfile& profile, const SymbolFacts& facts);

/// Returns whether the kernel has more indices than all parts together.
bool is_larger(const KernelCode& code, const std::vector<KernelCode>& parts);

/// Returns whether neither kernel reads or writes what the other writes, so that their order does
/// not matter.
bool independent(const KernelCode& a, const KernelCode& b);

/// Returns one kernel over the indices of all parts, one after the other; for a CPU driver over
/// runs of them. Takes and gives kernels that are Ready.
KernelCode side_by_side(const std::vector<KernelCode>& parts, const DeviceProfile& profile,
                        const SymbolFacts& facts);

}  // namespace firn
