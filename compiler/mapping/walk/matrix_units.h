// Products of matrices by the device's matrix unit.
#pragma once
#include <optional>

#include "compiler/mapping/mapping.h"
#include "compiler/mapping/walk/matrix_product.h"

namespace firn {

/// The step `matrix` (steps.h): the device has a matrix unit, the kernel is a product that it
/// computes, and groups of this mapping do.
std::string why_no_matrix_unit(const MappingCase& of);

/// Maps a product (matrix_product.h) so that each subgroup sums up a block of `mapping.matrix`
/// matrices of the unit's shape, straight from the operands' buffers, and stores it. Requires:
/// the step is legal. Post-condition: that of map_kernel; the loop takes the unit's depth of
/// iterations at once and does MatrixMulAdd only. A sum that is stored as it is, or rounded to f16,
/// is stored by MatrixStore; further operations on it are computed by the lanes, which get the sums
/// through an array of their group. Every lane of every group takes part to the end: elements
/// behind an extent are computed as those before it, and not stored.
KernelCode map_to_matrix_unit(const KernelCode& lowered, const Mapping& mapping,
                              const DeviceProfile& profile, const SymbolFacts& facts);

}  // namespace firn
