// Matrices that the lanes of a subgroup hold together, for the host interpreter.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/kernel/interpret/interpret_lanes.h"
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Values that a lane has of a matrix.
int matrix_parts(MatrixShape shape, int subgroup);

/// Returns the lane of a subgroup that has element `element` of a matrix, as its part element /
/// subgroup. Devices deal the elements in orders of their own: here from the last lane on, so that
/// no kernel can rely on one.
inline int lane_of(int element, int subgroup) { return subgroup - 1 - element % subgroup; }

struct LaneMatrix {
    MatrixShape shape;
    Lanes parts;  // one after the other, `lanes` values each
    int lanes = 0, subgroup = 1;

    int count() const { return matrix_parts(shape, subgroup); }
    Lanes part(int k) const;
    /// The elements of the subgroup whose first lane is `begin`, row by row.
    std::vector<float> elements(int begin) const;
    void set(int element, int begin, const Scalar& value) const;
};

/// Gives the flat indices of part `part` of a matrix whose first element is at `first`, by lane of
/// the subgroup; -1: the lane has no element there. `stride`: from a row to the next, or from a
/// column if `node` is column-major.
void matrix_indices(const KernelNode& node, int subgroup, int part, int32_t first, int32_t stride,
                    int32_t* index);
/// Every element as `source` has it, in the type of `target`.
void convert_matrix(const LaneMatrix& target, const LaneMatrix& source, int begin);
/// target = c + a b, products and sums in f32.
void multiply_add(const LaneMatrix& target, const LaneMatrix& a, const LaneMatrix& b,
                  const LaneMatrix& c, int begin);

}  // namespace firn
