// Matrices that the lanes of a subgroup hold together, for the host interpreter.
#include "compiler/kernel/interpret/interpret_matrix.h"

namespace firn {

int matrix_parts(MatrixShape shape, int subgroup) {
    return (shape.rows * shape.columns + subgroup - 1) / subgroup;
}

Lanes LaneMatrix::part(int k) const {
    return {parts.dtype, parts.data + static_cast<size_t>(k) * static_cast<size_t>(lanes) *
                                          lane_bytes(parts.dtype)};
}

std::vector<float> LaneMatrix::elements(int begin) const {
    std::vector<float> out;
    for (int e = 0; e < shape.rows * shape.columns; ++e)
        out.push_back(
            static_cast<float>(get_lane(part(e / subgroup), begin + lane_of(e, subgroup)).f));
    return out;
}

void LaneMatrix::set(int element, int begin, const Scalar& value) const {
    set_lane(part(element / subgroup), begin + lane_of(element, subgroup), value);
}

void matrix_indices(const KernelNode& node, int subgroup, int part, int32_t first, int32_t stride,
                    int32_t* index) {
    const bool column_major = node.as<AccessAttr>().column_major;
    for (int lane = 0; lane < subgroup; ++lane) {
        const int e = part * subgroup + lane_of(lane, subgroup), row = e / node.matrix.columns,
                  column = e % node.matrix.columns;
        const int at = column_major ? column * stride + row : row * stride + column;
        index[lane] = e < node.matrix.rows * node.matrix.columns ? first + at : -1;
    }
}

void convert_matrix(const LaneMatrix& target, const LaneMatrix& source, int begin) {
    const std::vector<float> values = source.elements(begin);
    for (size_t e = 0; e < values.size(); ++e)
        target.set(static_cast<int>(e), begin, scalar_float(values[e], target.parts.dtype));
}

void multiply_add(const LaneMatrix& target, const LaneMatrix& a, const LaneMatrix& b,
                  const LaneMatrix& c, int begin) {
    const std::vector<float> left = a.elements(begin), right = b.elements(begin);
    std::vector<float> sums = c.elements(begin);
    const auto columns = static_cast<size_t>(target.shape.columns),
               depth = static_cast<size_t>(a.shape.columns);
    for (size_t e = 0; e < sums.size(); ++e) {
        for (size_t k = 0; k < depth; ++k)
            sums[e] += left[e / columns * depth + k] * right[k * columns + e % columns];
        target.set(static_cast<int>(e), begin, scalar_float(sums[e]));
    }
}

}  // namespace firn
