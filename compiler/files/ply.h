// Points and triangles as PLY files, the format of scans and point clouds.
#pragma once
#include <string>

#include "compiler/files/mesh.h"

namespace firn {

/// A `.ply` file, as text or binary in either order of bytes. G. Turk, The PLY Polygon File Format
/// (1994).
///
/// In the element `vertex`, x, y and z are the positions; nx, ny and nz the normals; red, green,
/// blue and alpha the colours, where integers are scaled to 0 to 1; s and t, u and v, or texture_u
/// and texture_v the texture coordinates; every other number is an attribute of its own name and
/// type. Of the element `face`: vertex_indices (or vertex_index) are the triangles; a polygon
/// becomes a fan of triangles around its first corner. Other numbers of faces, and other elements,
/// are left out. Positions, normals and texture coordinates are rounded to f32.
///
/// UserError, with the reason: a file that is damaged, cut short or of another kind; no x, y and z;
/// a list in `vertex`; a face of fewer than 3 corners or of a point that there is not; triangle
/// strips.
///
/// Example: after `save_ply("x.ply", {.positions = tensor({1.0f, 2.0f, 3.0f}, {1, 3})});`
/// `load_ply("x.ply").positions` is `{{1, 2, 3}}`.
Mesh load_ply(const std::string& path, SourceLine line = here());

/// The format of a PLY file.
struct SavePlyOptions {
    bool text = false;  ///< numbers as text, each with as many digits as give it back
};
/// Writes a mesh, binary and little-endian unless `options` asks for text; whole or not at all.
/// Colours are written as 8 bits, as other programs expect them: values beyond 0 to 1 are cut off.
/// UserError: shapes that do not fit one another; an attribute of a type that PLY has not (f16,
/// bf16, bool, i64, u64), with a blank in its name, or with the name of a part of the mesh.
///
/// Example: after `save_ply("x.ply", {.positions = zeros({3, 3}), .triangles = tensor({0, 1, 2},
/// {1, 3})}, {.text = true});` `*load_ply("x.ply").triangles` is `{{0, 1, 2}}`.
void save_ply(const std::string& path, const Mesh& mesh, const SavePlyOptions& options = {},
              SourceLine line = here());

}  // namespace firn
