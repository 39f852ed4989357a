// Recognises lowered kernels that are products of two f16 matrices, as a matrix unit computes them.
#pragma once
#include <optional>
#include <vector>

#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// The layout of a matrix in a buffer: neighbours in memory along one of its two ranges.
struct MatrixPlace {
    NodeId node;  // the Load or Store
    Size stride;  // elements from a row to the next, from a column where `column_major`
    bool column_major = false;
};

/// result(row, column) = a function of sum over iteration of left(row, iteration) *
/// right(iteration, column) and of other values, for every index of the grid's other ranges:
/// batches.
struct MatrixProduct {
    NodeId loop, result;  // the For node, and its Result
    RangeId row, column, iteration;
    Size iterations;
    MatrixPlace left, right;
    /// The place where the kernel stores the sum and nothing else: in f32, or rounded to f16.
    std::optional<MatrixPlace> target;
};

/// Returns the product that a lowered kernel computes if the device's matrix unit can compute it.
/// The kernel must have exactly one loop: a sum in f32, from 0 on, of products of two loads of f16
/// whose indices are linear in the ranges; the extents must be multiples of the unit's; the
/// addresses must be aligned as the unit requires. Any other kernel gives nothing, such as one with
/// another number of loops or with branches around the loads.
std::optional<MatrixProduct> matrix_product(const KernelCode& lowered,
                                            const DeviceProfile& profile);

/// The Grid ranges of a kernel but those of the product's rows and columns, innermost first.
std::vector<RangeId> batch_ranges(const KernelCode& lowered, const MatrixProduct& product);

}  // namespace firn
