// Wavefront's OBJ by tinyobjloader, and the choice of a reader by the ending of a name.
#include <tiny_obj_loader.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <tuple>

#include "compiler/files/file.h"
#include "compiler/files/ply.h"
#include "compiler/files/stored_mesh.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/interchange/mesh_files.h"

namespace firn {
namespace {

[[noreturn]] void obj_fault(const std::string& path, const std::string& why) {
    refuse("file " + path + ": is no OBJ file that can be read: " + why);
}

/// The corners of all triangles.
std::vector<tinyobj::index_t> corners_of(const std::string& path, const tinyobj::ObjReader& from) {
    const tinyobj::attrib_t& parts = from.GetAttrib();
    const auto count = [](const std::vector<float>& values, size_t width) {
        return static_cast<int64_t>(values.size() / width);
    };
    const int64_t points = count(parts.vertices, 3), normals = count(parts.normals, 3),
                  coordinates = count(parts.texcoords, 2);
    std::vector<tinyobj::index_t> out;
    for (const tinyobj::shape_t& shape : from.GetShapes()) {
        for (unsigned char corners : shape.mesh.num_face_vertices)
            if (corners != 3) obj_fault(path, "a face is no triangle and cannot be made of them");
        for (const tinyobj::index_t& each : shape.mesh.indices) {
            if (each.vertex_index < 0 || each.vertex_index >= points ||
                each.normal_index >= normals || each.texcoord_index >= coordinates)
                obj_fault(path, "a face has a corner that is none of its " +
                                    std::to_string(points) + " points, " + std::to_string(normals) +
                                    " normals and " + std::to_string(coordinates) +
                                    " texture coordinates");
            out.push_back(each);
        }
    }
    if (out.size() % 3 != 0) obj_fault(path, "a face has no three corners");
    return out;
}

void append(std::vector<float>& to, const std::vector<float>& from, int row, size_t width) {
    const auto first = from.begin() + row * static_cast<std::ptrdiff_t>(width);
    to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(width));
}

StoredMesh read_obj(const std::string& path) {
    const std::vector<std::byte> bytes = read_file(path);
    tinyobj::ObjReaderConfig config;
    config.vertex_color = false;  // those of the file alone, and no white where it has none
    tinyobj::ObjReader reader;
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!reader.ParseFromString(text, "", config)) {
        const std::string why = reader.Error();
        obj_fault(path, why.substr(0, std::min(why.find('\n'), why.size())));
    }
    const tinyobj::attrib_t& parts = reader.GetAttrib();
    if (parts.vertices.empty()) obj_fault(path, "it has no points (lines that begin with v)");
    const std::vector<tinyobj::index_t> corners = corners_of(path, reader);
    const auto all = [&](int tinyobj::index_t::*index) {
        return !corners.empty() &&
               std::all_of(corners.begin(), corners.end(),
                           [&](const tinyobj::index_t& each) { return each.*index >= 0; });
    };
    const bool normals = all(&tinyobj::index_t::normal_index),
               coordinates = all(&tinyobj::index_t::texcoord_index),
               colours = parts.colors.size() == parts.vertices.size();
    StoredMesh out;
    out.has_triangles = !corners.empty();
    out.colour_channels = colours ? 3 : 0;
    const auto add_point = [&](const tinyobj::index_t& corner) {
        append(out.positions, parts.vertices, corner.vertex_index, 3);
        if (colours) append(out.colours, parts.colors, corner.vertex_index, 3);
        if (normals) append(out.normals, parts.normals, corner.normal_index, 3);
        if (coordinates) append(out.texture_coordinates, parts.texcoords, corner.texcoord_index, 2);
    };
    if (!normals && !coordinates) {  // points as they are, those of no triangle too
        const int count = static_cast<int>(parts.vertices.size() / 3);
        for (int k = 0; k < count; ++k) add_point({k, -1, -1});
        for (const tinyobj::index_t& each : corners) out.triangles.push_back(each.vertex_index);
    } else {
        std::map<std::tuple<int, int, int>, int32_t> known;
        for (const tinyobj::index_t& each : corners) {
            const auto [at, is_new] =
                known.try_emplace({each.vertex_index, normals ? each.normal_index : -1,
                                   coordinates ? each.texcoord_index : -1},
                                  static_cast<int32_t>(known.size()));
            if (is_new) add_point(each);
            out.triangles.push_back(at->second);
        }
    }
    out.points = out.positions.size() / 3;
    return out;
}

}  // namespace

Mesh load_obj(const std::string& path, SourceLine line) {
    LineScope at(line);
    return from_stored_mesh(read_obj(path));
}

Mesh load_mesh(const std::string& path, SourceLine line) {
    LineScope at(line);
    std::string ending = std::filesystem::path(path).extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (ending == ".ply") return load_ply(path);
    if (ending == ".obj") return load_obj(path);
    if (ending == ".gltf" || ending == ".glb") return load_gltf(path);
    refuse("mesh " + path + ": the name ends in " + (ending.empty() ? "no format" : ending) +
           "; meshes are read from .ply, .obj, .gltf and .glb");
}

}  // namespace firn
