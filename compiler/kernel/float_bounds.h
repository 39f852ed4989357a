// Between which numbers floats lie.
#pragma once
#include <unordered_map>

#include "compiler/kernel/kernel_code.h"

namespace firn {

/// A value lies in [lo, hi] or is nan, which a `number` is not. Of 64 bits, without the rounding of
/// single operations: good for limits with a thousandth to spare.
struct FloatBounds {
    double lo, hi;
    bool number = false;
};

/// Bounds of nodes of f32, i32, u32 and bool from what their operations say: integers that become
/// floats, what trigonometry and fractions give, and what is computed from those. Loads, parameters
/// and what loops carry may be anything.
class FloatRanges {
  public:
    explicit FloatRanges(const KernelCode& code) : code_(code) {}
    FloatBounds of(int id, int depth = 0);

  private:
    FloatBounds find(const KernelNode& n, int depth);
    FloatBounds find_integer(const KernelNode& n, int depth);
    FloatBounds find_float(const KernelNode& n, int depth);

    const KernelCode& code_;
    std::unordered_map<int, FloatBounds> known_;
};

}  // namespace firn
