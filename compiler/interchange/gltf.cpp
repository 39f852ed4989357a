// glTF by tinygltf: the triangles of a scene, moved to where its nodes have them.
#include <tiny_gltf.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>

#include "compiler/files/file.h"
#include "compiler/files/stored_mesh.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/interchange/mesh_files.h"

namespace firn {
namespace {

[[noreturn]] void gltf_fault(const std::string& path, const std::string& why) {
    refuse("file " + path + ": is no glTF file that can be read: " + why);
}

using Matrix = std::array<double, 16>;  // by columns
constexpr Matrix kIdentity{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

Matrix product(const Matrix& a, const Matrix& b) {
    Matrix out{};
    for (size_t column = 0; column < 4; ++column)
        for (size_t row = 0; row < 4; ++row)
            for (size_t k = 0; k < 4; ++k)
                out[column * 4 + row] += a[k * 4 + row] * b[column * 4 + k];
    return out;
}

/// Returns the matrix from the space of a node to that of its parent.
Matrix matrix_of(const tinygltf::Node& node) {
    Matrix out = kIdentity;
    if (node.matrix.size() == 16) {
        std::copy(node.matrix.begin(), node.matrix.end(), out.begin());
        return out;
    }
    if (node.rotation.size() == 4) {
        const double x = node.rotation[0], y = node.rotation[1], z = node.rotation[2],
                     w = node.rotation[3];
        out = {1 - 2 * (y * y + z * z),
               2 * (x * y + z * w),
               2 * (x * z - y * w),
               0,
               2 * (x * y - z * w),
               1 - 2 * (x * x + z * z),
               2 * (y * z + x * w),
               0,
               2 * (x * z + y * w),
               2 * (y * z - x * w),
               1 - 2 * (x * x + y * y),
               0,
               0,
               0,
               0,
               1};
    }
    for (size_t k = 0; k < 12 && node.scale.size() == 3; ++k) out[k] *= node.scale[k / 4];
    for (size_t k = 0; k < 3 && node.translation.size() == 3; ++k)
        out[12 + k] = node.translation[k];
    return out;
}

/// Returns the matrix that turns normals: the cofactors, which are the inverse transposed but for a
/// factor.
Matrix cofactors(const Matrix& m) {
    Matrix out{};
    for (size_t c = 0; c < 3; ++c)
        for (size_t r = 0; r < 3; ++r) {
            const size_t c1 = (c + 1) % 3, c2 = (c + 2) % 3, r1 = (r + 1) % 3, r2 = (r + 2) % 3;
            out[c * 4 + r] = m[c1 * 4 + r1] * m[c2 * 4 + r2] - m[c1 * 4 + r2] * m[c2 * 4 + r1];
        }
    return out;
}

struct Component {
    int type;
    DType dtype;
};
constexpr Component kComponents[] = {
    {TINYGLTF_COMPONENT_TYPE_BYTE, i8},          {TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE, u8},
    {TINYGLTF_COMPONENT_TYPE_SHORT, i16},        {TINYGLTF_COMPONENT_TYPE_UNSIGNED_SHORT, u16},
    {TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT, u32}, {TINYGLTF_COMPONENT_TYPE_FLOAT, f32}};

/// A primitive on its own.
struct Part {
    size_t points = 0, channels = 0;
    std::vector<float> positions, normals, coordinates, colours;
    std::vector<int64_t> triangles;
    bool is_points = false;
};

/// Reads one scene.
class SceneReader {
  public:
    SceneReader(const std::string& path, const tinygltf::Model& model)
        : path_(path), model_(model) {}

    StoredMesh read() {
        if (!model_.scenes.empty()) {
            const int scene = std::max(model_.defaultScene, 0);
            for (int node : element(model_.scenes, scene, "scene").nodes) visit(node, kIdentity);
        } else if (!model_.nodes.empty()) {
            std::set<int> children;
            for (const tinygltf::Node& node : model_.nodes)
                children.insert(node.children.begin(), node.children.end());
            for (int node = 0; node < static_cast<int>(model_.nodes.size()); ++node)
                if (!children.count(node)) visit(node, kIdentity);
        } else {
            for (const tinygltf::Mesh& mesh : model_.meshes) add_mesh(mesh, kIdentity);
        }
        return joined();
    }

  private:
    [[noreturn]] void fault(const std::string& why) const { gltf_fault(path_, why); }

    template <class T>
    const T& element(const std::vector<T>& all, int index, const char* what) const {
        if (index < 0 || index >= static_cast<int>(all.size()))
            fault(std::string("it has no ") + what + " " + std::to_string(index));
        return all[static_cast<size_t>(index)];
    }

    void visit(int first, const Matrix& above) {
        std::vector<std::pair<int, Matrix>> open{{first, above}};
        while (!open.empty()) {
            const auto [number, parent] = open.back();
            open.pop_back();
            const tinygltf::Node& node = element(model_.nodes, number, "node");
            if (!visited_.insert(number).second)
                fault("node " + std::to_string(number) + " has two parents");
            const Matrix matrix = product(parent, matrix_of(node));
            if (node.mesh >= 0) add_mesh(element(model_.meshes, node.mesh, "mesh"), matrix);
            for (auto child = node.children.rbegin(); child != node.children.rend(); ++child)
                open.emplace_back(*child, matrix);
        }
    }

    /// The components of an accessor; those of integers that stand for 0 to 1 are scaled.
    std::vector<float> numbers(const tinygltf::Accessor& accessor) const {
        if (accessor.sparse.isSparse || accessor.bufferView < 0)
            fault("it has sparse accessors; export it without them");
        const tinygltf::BufferView& view =
            element(model_.bufferViews, accessor.bufferView, "buffer view");
        const std::vector<unsigned char>& data =
            element(model_.buffers, view.buffer, "buffer").data;
        std::optional<DType> dtype;
        for (const Component& each : kComponents)
            if (each.type == accessor.componentType) dtype = each.dtype;
        const int per_element =
            tinygltf::GetNumComponentsInType(static_cast<uint32_t>(accessor.type));
        if (!dtype || per_element < 1) fault("an accessor has components of no known type");
        const size_t width = static_cast<size_t>(dtype->bytes()),
                     components = static_cast<size_t>(per_element), size = width * components,
                     stride = view.byteStride ? view.byteStride : size;
        const auto inside = [](uint64_t begin, uint64_t length, uint64_t all) {
            return begin <= all && length <= all - begin;
        };
        if (!inside(view.byteOffset, view.byteLength, data.size()) || stride > 252 ||
            accessor.count > data.size() ||
            (accessor.count > 0 &&
             !inside(accessor.byteOffset, (accessor.count - 1) * stride + size, view.byteLength)))
            fault("an accessor reaches beyond its buffer of " + std::to_string(data.size()) +
                  " bytes");
        const double whole =
            !accessor.normalized || dtype->is_float()
                ? 1
                : std::ldexp(1.0, static_cast<int>(8 * width) - dtype->is_signed()) - 1;
        std::vector<float> out;
        out.reserve(accessor.count * components);
        const unsigned char* first = data.data() + view.byteOffset + accessor.byteOffset;
        for (size_t row = 0; row < accessor.count; ++row)
            for (size_t k = 0; k < components; ++k)
                out.push_back(static_cast<float>(
                    load_scalar(*dtype, first + row * stride + k * width).as_double() / whole));
        return out;
    }

    const tinygltf::Accessor* attribute(const tinygltf::Primitive& from, const char* name,
                                        std::initializer_list<int> types) const {
        const auto found = from.attributes.find(name);
        if (found == from.attributes.end()) return nullptr;
        const tinygltf::Accessor& out = element(model_.accessors, found->second, "accessor");
        if (std::find(types.begin(), types.end(), out.type) == types.end())
            fault(std::string("the attribute ") + name + " has another number of components");
        return &out;
    }
    std::vector<float> values_of(const tinygltf::Accessor* accessor, size_t points) const {
        if (!accessor) return {};
        if (accessor->count != points) fault("a primitive has attributes of different lengths");
        return numbers(*accessor);
    }

    std::vector<int64_t> order_of(const tinygltf::Primitive& from, size_t points) const {
        std::vector<int64_t> out;
        if (from.indices < 0) {
            for (size_t k = 0; k < points; ++k) out.push_back(static_cast<int64_t>(k));
            return out;
        }
        const tinygltf::Accessor& accessor =
            element(model_.accessors, from.indices, "accessor of indices");
        if (accessor.type != TINYGLTF_TYPE_SCALAR || accessor.normalized ||
            accessor.componentType == TINYGLTF_COMPONENT_TYPE_FLOAT)
            fault("indices are no integers");
        if (points > size_t{1} << 24) fault("a primitive has more than 16 million points");
        for (float each : numbers(accessor)) {
            if (!(each >= 0 && each < static_cast<float>(points)))
                fault("an index is none of the " + std::to_string(points) + " points");
            out.push_back(static_cast<int64_t>(each));
        }
        return out;
    }

    void add_triangles(int mode, const std::vector<int64_t>& order, Part& part) const {
        const size_t n = order.size();
        const auto add = [&](size_t a, size_t b, size_t c) {
            part.triangles.insert(part.triangles.end(), {order[a], order[b], order[c]});
        };
        if (mode == TINYGLTF_MODE_TRIANGLES) {
            if (n % 3 != 0) fault("triangles have " + std::to_string(n) + " corners");
            for (size_t k = 0; k < n; k += 3) add(k, k + 1, k + 2);
        }
        for (size_t k = 2; k < n && mode == TINYGLTF_MODE_TRIANGLE_STRIP; ++k)
            add(k - 2, k - 1 + k % 2, k - k % 2);
        for (size_t k = 2; k < n && mode == TINYGLTF_MODE_TRIANGLE_FAN; ++k) add(0, k - 1, k);
    }

    void add_mesh(const tinygltf::Mesh& mesh, const Matrix& matrix) {
        for (const tinygltf::Primitive& from : mesh.primitives) {
            const bool points = from.mode == TINYGLTF_MODE_POINTS;
            if (!points &&
                (from.mode < TINYGLTF_MODE_TRIANGLES || from.mode > TINYGLTF_MODE_TRIANGLE_FAN))
                continue;  // lines
            const tinygltf::Accessor* places = attribute(from, "POSITION", {TINYGLTF_TYPE_VEC3});
            if (!places) fault("a primitive has no positions");
            Part part;
            part.points = places->count;
            part.is_points = points;
            part.positions = numbers(*places);
            part.normals = values_of(attribute(from, "NORMAL", {TINYGLTF_TYPE_VEC3}), part.points);
            part.coordinates =
                values_of(attribute(from, "TEXCOORD_0", {TINYGLTF_TYPE_VEC2}), part.points);
            const tinygltf::Accessor* colours =
                attribute(from, "COLOR_0", {TINYGLTF_TYPE_VEC3, TINYGLTF_TYPE_VEC4});
            part.colours = values_of(colours, part.points);
            part.channels = !colours ? 0 : colours->type == TINYGLTF_TYPE_VEC4 ? 4 : 3;
            if (!points) add_triangles(from.mode, order_of(from, part.points), part);
            move(part, matrix);
            parts_.push_back(std::move(part));
        }
    }

    static void move(Part& part, const Matrix& m) {
        const Matrix turn = cofactors(m);
        const double volume = m[0] * turn[0] + m[1] * turn[1] + m[2] * turn[2];
        const auto apply = [](const Matrix& by, float* at, double w) {
            const double x = at[0], y = at[1], z = at[2];
            for (size_t r = 0; r < 3; ++r)
                at[r] =
                    static_cast<float>(by[r] * x + by[4 + r] * y + by[8 + r] * z + by[12 + r] * w);
        };
        for (size_t k = 0; k < part.positions.size(); k += 3) apply(m, &part.positions[k], 1);
        for (size_t k = 0; k < part.normals.size(); k += 3) {
            float* at = &part.normals[k];
            apply(turn, at, 0);
            const float length = std::sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]);
            for (size_t r = 0; r < 3 && length > 0; ++r)
                at[r] *= (volume < 0 ? -1.0f : 1.0f) / length;
        }
        // A mirror turns triangles over.
        for (size_t k = 0; k < part.triangles.size() && volume < 0; k += 3)
            std::swap(part.triangles[k + 1], part.triangles[k + 2]);
    }

    StoredMesh joined() const {
        const auto all = [&](auto has) {
            return !parts_.empty() && std::all_of(parts_.begin(), parts_.end(), has);
        };
        const bool normals = all([](const Part&p) { return !p.normals.empty(); }),
                   coordinates = all([](const Part&p) { return !p.coordinates.empty(); }),
                   colours = all([](const Part&p) { return !p.colours.empty(); }),
                   alpha = all([](const Part&p) { return p.channels == 4; });
        StoredMesh out;
        out.colour_channels = !colours ? 0 : alpha ? 4 : 3;
        for (const Part& part : parts_) {
            for (int64_t corner : part.triangles) {
                const int64_t at = corner + static_cast<int64_t>(out.points);
                if (at > std::numeric_limits<int32_t>::max())
                    fault("it has more points than i32 counts");
                out.triangles.push_back(static_cast<int32_t>(at));
            }
            out.has_triangles |= !part.is_points;
            out.points += part.points;
            const auto add = [](std::vector<float>& to, const std::vector<float>& from) {
                to.insert(to.end(), from.begin(), from.end());
            };
            add(out.positions, part.positions);
            if (normals) add(out.normals, part.normals);
            if (coordinates) add(out.texture_coordinates, part.coordinates);
            for (size_t k = 0; colours && k < part.points * part.channels; ++k)
                if (alpha || k % part.channels < 3) out.colours.push_back(part.colours[k]);
        }
        if (out.points == 0) fault("its scene has no points");
        return out;
    }

    std::string path_;
    const tinygltf::Model& model_;
    std::set<int> visited_;
    std::vector<Part> parts_;
};

/// Extensions that a file may require and that leave its points as they are.
bool keeps_points(const std::string& extension) {
    return extension == "KHR_mesh_quantization" || extension == "KHR_lights_punctual" ||
           extension.starts_with("KHR_materials_") || extension.starts_with("KHR_texture_");
}

StoredMesh read_gltf(const std::string& path) {
    const std::vector<std::byte> bytes = read_file(path);
    if (bytes.size() > std::numeric_limits<uint32_t>::max()) gltf_fault(path, "it has 4 GiB");
    const auto size = static_cast<unsigned>(bytes.size());
    const auto* first = reinterpret_cast<const unsigned char*>(bytes.data());
    tinygltf::TinyGLTF reader;
    // Pictures are not looked at.
    reader.SetImageLoader([](tinygltf::Image*, int, std::string*, std::string*, int, int,
                             const unsigned char*, int, void*) { return true; },
                          nullptr);
    tinygltf::Model model;
    std::string error, warning;
    const std::string folder = std::filesystem::path(path).parent_path().string();
    bool read = false;
    try {
        const bool binary = size >= 4 && std::equal(first, first + 4, "glTF");
        read = binary
                   ? reader.LoadBinaryFromMemory(&model, &error, &warning, first, size, folder)
                   : reader.LoadASCIIFromString(&model, &error, &warning,
                                                reinterpret_cast<const char*>(first), size, folder);
    } catch (const std::exception& fault) {
        error = fault.what();
    }
    if (!read) gltf_fault(path, error.substr(0, std::min(error.find('\n'), error.size())));
    for (const std::string& each : model.extensionsRequired)
        if (!keeps_points(each))
            gltf_fault(path, "it requires the extension " + each + "; export it without");
    return SceneReader(path, model).read();
}

}  // namespace

Mesh load_gltf(const std::string& path, SourceLine line) {
    LineScope at(line);
    return from_stored_mesh(read_gltf(path));
}

}  // namespace firn
