// Bounds of floating-point values.
#pragma once
#include <unordered_map>

#include "compiler/kernel/kernel_code.h"

namespace firn {

/// A value lies in [lo, hi] or is nan; a `number` is not nan. The bounds have 64 bits and ignore
/// the rounding of single operations: good for limits with a thousandth to spare.
struct FloatBounds {
    double lo, hi;
    bool number = false;
};

/// Bounds nodes of f32, i32, u32 and bool by their operations: integers that become floats, results
/// of trigonometry and fractions, and values computed from those. Loads, parameters and carried
/// values may be anything.
class FloatRanges {
  public:
    explicit FloatRanges(const KernelCode& code) : code_(code) {}
    FloatBounds of(NodeId id, int depth = 0);

  private:
    FloatBounds find(const KernelNode& n, int depth);
    FloatBounds find_integer(const KernelNode& n, int depth);
    FloatBounds find_float(const KernelNode& n, int depth);

    const KernelCode& code_;
    std::unordered_map<NodeId, FloatBounds> known_;
};

}  // namespace firn
