// Points and triangles with attributes of each point, as mesh files have them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/files/tensor_files.h"

namespace firn {

/// Points, the triangles between them, and the attributes of each point. Lengths have the unit of
/// the file, which no format here names.
///
/// Example: after `Mesh m{.positions = zeros({4, 3}), .triangles = tensor({0, 1, 2}, {1, 3})};`
/// `m.triangles->shape()` is `[1, 3]`.
struct Mesh {
    Tensor positions;  ///< f32 [n, 3]
    /// i32 [m, 3]: of each triangle the numbers of its points. Absent: points alone.
    std::optional<Tensor> triangles = {};
    std::optional<Tensor> normals = {};              ///< f32 [n, 3]
    std::optional<Tensor> texture_coordinates = {};  ///< f32 [n, 2], u and v
    std::optional<Tensor> colours = {};  ///< f32 [n, 3] or [n, 4], from 0 to 1; u8 from 0 to 255
    std::vector<NamedTensor> attributes = {};  ///< further numbers of each point, each [n]
};

/// The smallest and the largest coordinate along each axis.
struct BoundingBox {
    Tensor lower;  ///< [3]
    Tensor upper;  ///< [3]
};
/// The box around positions [n, d], along the d axes. UserError: no points, or another rank.
///
/// Examples: `bounding_box(tensor({0.0f, 5.0f, 2.0f, 1.0f}, {2, 2})).lower` is `{0, 1}`,
/// `bounding_box(tensor({0.0f, 5.0f, 2.0f, 1.0f}, {2, 2})).upper` is `{2, 5}`.
BoundingBox bounding_box(const Tensor& positions, SourceLine line = here());

}  // namespace firn
