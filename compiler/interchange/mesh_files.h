// Meshes from the files of modelling programs: OBJ and glTF.
#pragma once
#include <string>

#include "compiler/files/mesh.h"

namespace firn {

/// All triangles of a Wavefront `.obj` file as one mesh, by tinyobjloader; polygons become
/// triangles. Where corners have normals or texture coordinates of their own, a point of the file
/// becomes one point for each combination; parts that not every corner has are left out. Materials
/// are not read. UserError: a file without points, or a corner that the file has not.
///
/// Example: after `save_raw("x.obj", tensor({'v', ' ', '1', ' ', '2', ' ', '3', '\n'}).as(u8));`
/// `load_obj("x.obj").positions` is `{{1, 2, 3}}`.
Mesh load_obj(const std::string& path, SourceLine line = here());

/// All triangles of the default scene of a `.gltf` or `.glb` file, version 2.0, as one mesh, by
/// tinygltf: strips and fans become triangles, nodes move their points and normals, and points
/// without triangles are points alone. Lengths are in metres, y is up. Lines, materials, skins and
/// morph targets are not read; parts that not every primitive has are left out. UserError: a file
/// that is damaged, a buffer that is not there or too short, sparse accessors, an extension that
/// the file requires and that changes its points, such as compression; a scene without points.
///
/// Example: after `bool refused = false;`
/// `try { load_gltf("nothing.glb"); } catch (const UserError&) { refused = true; }`
/// `refused` is `true`.
Mesh load_gltf(const std::string& path, SourceLine line = here());

/// Reads a mesh by the ending of its name: .ply, .obj, .gltf or .glb. UserError: another ending.
///
/// Example: after `save_ply("p.ply", {.positions = ones({1, 3})});`
/// `load_mesh("p.ply").positions` is `{{1, 1, 1}}`.
Mesh load_mesh(const std::string& path, SourceLine line = here());

}  // namespace firn
