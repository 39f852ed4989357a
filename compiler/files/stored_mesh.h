// A mesh on the host, between tensors and mesh files; internal.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/files/mesh.h"
#include "compiler/files/stored_tensor.h"

namespace firn {

/// A mesh whose tensors are on the host. Parts that a mesh lacks are empty.
struct StoredMesh {
    size_t points = 0;
    std::vector<float> positions;  ///< 3 for each point
    bool has_triangles = false;
    std::vector<int32_t> triangles;          ///< 3 for each triangle, each below `points`
    std::vector<float> normals;              ///< 3 for each point
    std::vector<float> texture_coordinates;  ///< 2 for each point
    size_t colour_channels = 0;              ///< 0, 3 or 4
    std::vector<float> colours;              ///< `colour_channels` for each point, from 0 to 1
    std::vector<StoredTensor> attributes;    ///< each [points]
};

/// Computes the tensors of a mesh that `path` will hold. UserError: shapes that do not fit one
/// another, a triangle of a point that there is not, two attributes of one name.
StoredMesh stored_mesh(const std::string& path, const Mesh& mesh);
/// The mesh in the current session.
Mesh from_stored_mesh(const StoredMesh& mesh);
/// The nearest of 256 steps from 0 to 1; nan is 0.
uint8_t colour_byte(float value);

}  // namespace firn
