// Meshes on their way to and from files.
#include "compiler/files/mesh.h"

#include <cmath>
#include <cstring>
#include <set>

#include "compiler/files/stored_mesh.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/reduce.h"

namespace firn {
namespace {

[[noreturn]] void mesh_fault(const std::string& path, const std::string& why) {
    refuse("file " + path + ": " + why);
}

/// The elements of a part of a mesh that has `width` of them for each point.
template <class T>
std::vector<T> mesh_part(const std::string& path, const char* what, const Tensor& x, int64_t rows,
                         int64_t width) {
    if (x.rank() != 2 || (rows >= 0 && x.size(0).constant() != rows) ||
        x.size(1).constant() != width)
        mesh_fault(path, std::string("the ") + what + " are " + x.dtype().name() +
                             text(Shape(x.shape())) + "; they must be [" +
                             (rows < 0 ? "n" : std::to_string(rows)) + ", " +
                             std::to_string(width) + "]");
    return x.to_vector<T>();
}

template <class T>
Tensor rows_of(const std::vector<T>& values, size_t width) {
    return tensor(values,
                  {static_cast<int64_t>(values.size() / width), static_cast<int64_t>(width)});
}

}  // namespace

BoundingBox bounding_box(const Tensor& positions, SourceLine line) {
    LineScope at(line);
    if (positions.rank() != 2) refuse("bounding_box: positions must be [n, d]");
    const Shape shape = positions.shape();
    if (shape[0].is_constant() && shape[0].constant() == 0)
        refuse("bounding_box: there are no points, so no box is around them");
    return {min(positions, {.axis = 0}), max(positions, {.axis = 0})};
}

StoredMesh stored_mesh(const std::string& path, const Mesh& mesh) {
    StoredMesh out;
    out.positions = mesh_part<float>(path, "positions", mesh.positions, -1, 3);
    out.points = out.positions.size() / 3;
    const auto count = static_cast<int64_t>(out.points);
    out.has_triangles = mesh.triangles.has_value();
    if (mesh.triangles) {
        if (mesh.triangles->dtype().is_float())
            mesh_fault(path, std::string("the triangles are ") + mesh.triangles->dtype().name() +
                                 "; they count points, so write them as i32");
        const auto wide = mesh_part<int64_t>(path, "triangles", *mesh.triangles, -1, 3);
        for (int64_t corner : wide) {
            if (corner < 0 || corner >= count)
                mesh_fault(path, "a triangle has point " + std::to_string(corner) + " of " +
                                     std::to_string(count));
            out.triangles.push_back(static_cast<int32_t>(corner));
        }
    }
    if (mesh.normals) out.normals = mesh_part<float>(path, "normals", *mesh.normals, count, 3);
    if (mesh.texture_coordinates)
        out.texture_coordinates =
            mesh_part<float>(path, "texture coordinates", *mesh.texture_coordinates, count, 2);
    if (mesh.colours) {
        const Tensor& x = *mesh.colours;
        out.colour_channels = x.rank() == 2 && x.size(1).constant() == 4 ? 4 : 3;
        out.colours =
            mesh_part<float>(path, "colours", x, count, static_cast<int64_t>(out.colour_channels));
        if (x.dtype() == u8)
            for (float& value : out.colours) value /= 255;
    }
    std::set<std::string> names;
    for (const NamedTensor& each : mesh.attributes) {
        if (!names.insert(each.name).second)
            mesh_fault(path, "two attributes have the name '" + each.name + "'; give each its own");
        out.attributes.push_back(stored(each.name, each.value));
        if (out.attributes.back().shape != std::vector<int64_t>{count})
            mesh_fault(path, "the attribute '" + each.name + "' is " +
                                 text(Shape(each.value.shape())) + "; it must be [" +
                                 std::to_string(count) +
                                 "], a number for each point; write components one by one");
    }
    return out;
}

Mesh from_stored_mesh(const StoredMesh& mesh) {
    Mesh out{.positions = rows_of(mesh.positions, 3)};
    if (mesh.has_triangles) out.triangles = rows_of(mesh.triangles, 3);
    if (!mesh.normals.empty()) out.normals = rows_of(mesh.normals, 3);
    if (!mesh.texture_coordinates.empty())
        out.texture_coordinates = rows_of(mesh.texture_coordinates, 2);
    if (!mesh.colours.empty()) out.colours = rows_of(mesh.colours, mesh.colour_channels);
    for (const StoredTensor& each : mesh.attributes)
        out.attributes.push_back({each.name, from_stored(each)});
    return out;
}

uint8_t colour_byte(float value) {
    // The comparison is false for nan.
    return value > 0 ? static_cast<uint8_t>(std::lround(std::min(value, 1.0f) * 255)) : uint8_t{0};
}

}  // namespace firn
