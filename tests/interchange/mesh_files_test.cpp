// OBJ and glTF: meshes that their libraries read, and refusals.
#include <cmath>
#include <cstring>

#include "compiler/interchange/interchange.h"
#include "tests/files/file_test.h"

namespace firn {
namespace {

using MeshFiles = FileTest;

void expect_values(const Tensor& got, const Shape& shape, const Floats& values) {
    EXPECT_EQ(Shape(got.shape()), shape);
    const Floats is = got.to_vector<float>();
    ASSERT_EQ(is.size(), values.size());
    for (size_t k = 0; k < is.size(); ++k) EXPECT_NEAR(is[k], values[k], 1e-6) << k;
}

TEST_F(MeshFiles, ReadsObj) {
    const Mesh x = load_mesh(written("x.OBJ",
                                     "# a square and a point of no face\nmtllib none.mtl\no "
                                     "square\nv 0 0 0\nv 2 0 0\nv 2 1.5e0 0\nv 0 1 0\nv 9 9 9\n"
                                     "usemtl red\nf 1 2 3 4\nf -5 -3 -2\n"));
    EXPECT_EQ(Shape(x.positions.shape()), (Shape{5, 3}));
    EXPECT_EQ(x.triangles->to_vector<int>(),
              (Ints{0, 1, 3, 1, 2, 3, 0, 2, 3}));  // a square is cut along its shorter diagonal
    EXPECT_EQ(x.triangles->dtype(), i32);
    EXPECT_FALSE(x.normals || x.texture_coordinates || x.colours);
    expect_values(bounding_box(x.positions).upper, {3}, {9, 9, 9});
}

TEST_F(MeshFiles, CornersOfObjWithPartsOfTheirOwnArePoints) {
    const Mesh x = load_obj(written(
        "x.obj",
        "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\nvt 0 0\nvt 1 0\nvt 0 1\nvn 0 0 1\nvn 0 0 -1\n"
        "f 1/1/1 2/2/1 3/3/1\nf 1/1/2 3/3/2 2/2/2\nf 1/1/1 2/2/1 3/3/1\n"));
    EXPECT_EQ(x.triangles->to_vector<int>(), (Ints{0, 1, 2, 3, 4, 5, 0, 1, 2}));
    expect_values(x.positions, {6, 3}, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0});
    expect_values((*x.normals)(all, 2), {6}, {1, 1, 1, -1, -1, -1});
    expect_values((*x.texture_coordinates)(4), {2}, {0, 1});
    expect_values((*x.colours)(5), {3}, {0, 1, 0});
    // Parts that not every corner has are left out.
    EXPECT_FALSE(
        load_obj(
            written("y.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1\nf 1 2 3\n"))
            .normals);
    EXPECT_FALSE(load_obj(written("z.obj", "v 0 0 0\nv 1 0 0\n")).triangles);
}

TEST_F(MeshFiles, RefusesDamagedObj) {
    for (const char* text : {"", "this is no mesh\n", "\x00\x01\x02"})
        expect_parts(user_error([&] { load_obj(written("x.obj", text)); }),
                     {"x.obj", "no points", "mesh_files_test.cpp"});
    for (const char* face : {"f 1 2 4", "f 1 2 -9", "f 1//1 2//1 3//1", "f 1/7 2/7 3/7", "f 0 1 2"})
        EXPECT_NE(user_error([&] {
                      load_obj(written("x.obj",
                                       std::string("v 0 0 0\nv 1 0 0\nv 0 1 0\n") + face + "\n"));
                  }),
                  "")
            << face;
    expect_parts(user_error([&] { load_obj(path("none.obj")); }), {"none.obj", "No such file"});
    expect_parts(user_error([&] { load_mesh("x.stl"); }), {"x.stl", ".glb"});
}

/// The bytes of numbers as glTF has them.
template <class T>
std::string raw(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// Three points, their normals, three u16 indices, three colours of u8: 36 + 36 + 8 + 12 bytes.
std::string buffer() {
    return raw(Floats{0, 0, 0, 1, 0, 0, 0, 2, 0}) + raw(Floats{0, 0, 1, 0, 0, 1, 0, 0, 1}) +
           raw(std::vector<uint16_t>{0, 1, 2, 0}) +
           raw(std::vector<uint8_t>{255, 0, 51, 255, 0, 255, 0, 0, 0, 0, 255, 255});
}

constexpr const char* kViews =
    R"("bufferViews": [{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 36},
     {"buffer": 0, "byteOffset": 72, "byteLength": 8}, {"buffer": 0, "byteOffset": 80, "byteLength": 12}],
    "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 2, 0]},
     {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC3"},
     {"bufferView": 2, "componentType": 5123, "count": 3, "type": "SCALAR"},
     {"bufferView": 3, "componentType": 5121, "normalized": true, "count": 3, "type": "VEC4"}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 1, "COLOR_0": 3}, "indices": 2}]}])";

std::string gltf(const std::string& nodes, const std::string& views = kViews) {
    return R"({"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": )" +
           nodes + R"(, "buffers": [{"uri": "x.bin", "byteLength": 92}], )" + views + "}";
}

TEST_F(MeshFiles, ReadsGltfWhereItsNodesHaveIt) {
    written("x.bin", buffer());
    // A quarter turn about z and a shift, below a node twice as large.
    const Mesh x = load_gltf(written(
        "x.gltf",
        gltf(
            R"([{"scale": [2, 2, 2], "children": [1]}, {"rotation": [0, 0, 0.70710678, 0.70710678], "translation": [0, 0, 5], "mesh": 0}])")));
    expect_values(x.positions, {3, 3}, {0, 0, 10, 0, 2, 10, -4, 0, 10});
    expect_values((*x.normals)(0), {3}, {0, 0, 1});
    expect_values((*x.colours)(0), {4}, {1, 0, 0.2f, 1});
    EXPECT_EQ(x.triangles->to_vector<int>(), (Ints{0, 1, 2}));
    // A mirror turns triangles over, and not their normals.
    const Mesh y = load_gltf(written("y.gltf", gltf(R"([{"scale": [-1, 1, 1], "mesh": 0}])")));
    EXPECT_EQ(y.triangles->to_vector<int>(), (Ints{0, 2, 1}));
    expect_values((*y.normals)(0), {3}, {0, 0, 1});
    // A matrix, by columns.
    const Mesh z = load_gltf(written(
        "z.gltf", gltf(R"([{"matrix": [1,0,0,0, 0,1,0,0, 0,0,1,0, 7,8,9,1], "mesh": 0}])")));
    expect_values(z.positions(1), {3}, {8, 8, 9});
}

TEST_F(MeshFiles, ReadsBinaryGltfWithStripsAndPartsOfSeveralKinds) {
    std::string json =
        R"({"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}], "buffers": [{"byteLength": 92}], )" +
        std::string(kViews) + "}";
    const auto replace = [&](const std::string& from, const std::string& to) {
        json.replace(json.find(from), from.size(), to);
    };
    replace(
        R"("indices": 2}])",
        R"("indices": 2, "mode": 5}, {"attributes": {"POSITION": 0}, "mode": 0}, {"attributes": {"POSITION": 0}, "mode": 1}])");
    while (json.size() % 4 != 0) json += ' ';
    const auto number = [](size_t n) {
        return raw(std::vector<uint32_t>{static_cast<uint32_t>(n)});
    };
    const std::string glb = "glTF" + number(2) + number(28 + json.size() + 92) +
                            number(json.size()) + "JSON" + json + number(92) +
                            std::string("BIN\0", 4) + buffer();
    const Mesh x = load_mesh(written("x.glb", glb));
    EXPECT_EQ(Shape(x.positions.shape()), (Shape{6, 3}));
    EXPECT_EQ(x.triangles->to_vector<int>(), (Ints{0, 1, 2}));
    EXPECT_FALSE(x.normals || x.colours);
    for (size_t size = 0; size < glb.size(); size += 13)
        EXPECT_NE(user_error([&] { load_gltf(written("cut.glb", glb.substr(0, size))); }), "")
            << size;
}

TEST_F(MeshFiles, RefusesDamagedGltf) {
    written("x.bin", buffer());
    const std::string whole = gltf(R"([{"mesh": 0}])");
    const struct {
        const char *from, *to, *said;
    } cases[] = {
        {"\"2.0\"", "2", ""},
        {"x.bin", "none.bin", ""},
        {"\"byteLength\": 92", "\"byteLength\": 99", ""},
        {"\"nodes\": [0]", "\"nodes\": [7]", "no node 7"},
        {"{\"mesh\": 0}", "{\"mesh\": 3}", "no mesh 3"},
        {"{\"mesh\": 0}", "{\"mesh\": 0, \"children\": [0]}", "two parents"},
        {"\"byteOffset\": 36", "\"byteOffset\": 90", "beyond its buffer"},
        {"\"count\": 3", "\"count\": 4", "beyond its buffer"},
        {"\"count\": 3, \"type\": \"SCALAR\"", "\"count\": 4, \"type\": \"SCALAR\"", "4 corners"},
        {"\"byteOffset\": 72", "\"byteOffset\": 80", "none of the 3 points"},
        {"5123", "5126", "no integers"},
        {"\"POSITION\": 0, ", "", "no positions"},
        {"\"POSITION\": 0", "\"POSITION\": 2", "components"},
        {"\"POSITION\": 0", "\"POSITION\": 9", "no accessor 9"},
        {"\"asset\"", "\"extensionsRequired\": [\"KHR_draco_mesh_compression\"], \"asset\"",
         "KHR_draco_mesh_compression"},
        {"\"indices\": 2", "\"indices\": 2, \"mode\": 3", "no points"},
    };
    EXPECT_EQ(user_error([&] { load_gltf(written("x.gltf", whole)); }), "");
    for (const auto& each : cases) {
        std::string bytes = whole;
        bytes.replace(bytes.find(each.from), std::strlen(each.from), each.to);
        expect_parts(user_error([&] { load_gltf(written("x.gltf", bytes)); }),
                     {"x.gltf", each.said, "mesh_files_test.cpp"});
    }
}

}  // namespace
}  // namespace firn
