// PLY files: as other programs write them, as Firn writes them, and damaged.
#include <cmath>
#include <cstring>

#include "tests/files/file_test.h"

namespace firn {
namespace {

using PlyFiles = FileTest;
using std::string_literals::operator""s;

/// A square of four points as two triangles, with everything that a mesh may have.
Mesh square() {
    return {
        .positions = tensor(
            {0.0f, 0.0f, 0.1f, 1.0f, 0.0f, -0.25f, 1.0f, 1.0f, 1e-30f, 0.0f, 1.0f, 3e8f}, {4, 3}),
        .triangles = tensor({0, 1, 2, 0, 2, 3}, {2, 3}),
        .normals = tensor({0.0f, 0.0f, 1.0f, 0.0f, 1.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.6f, 0.8f, 0.0f},
                          {4, 3}),
        .texture_coordinates = tensor({0.0f, 0.0f, 1.0f, 0.0f, 1.0f, 1.0f, 0.0f, 1.0f}, {4, 2}),
        .colours = tensor({1.0f, 0.0f, 0.2f, 1.0f, 0.0f, 0.4f, 0.6f, 0.8f, 1.0f, 1.0f, 1.0f, 0.0f,
                           0.0f, 0.0f, 0.0f, 1.0f},
                          {4, 4}),
        .attributes = {{"mass", tensor({0.1f, 2.0f, -3.0f, 4.5f})},
                       {"label", tensor({1, -2, 2000000000, 0})},
                       {"age", tensor({1, 2, 3, 255}).as(u8)}}};
}

void expect_same(const Mesh& got, const Mesh& expected) {
    const auto same = [](const Tensor& a, const Tensor& b) {
        EXPECT_EQ(Shape(a.shape()), Shape(b.shape()));
        EXPECT_EQ(a.to_vector<float>(), b.to_vector<float>());
    };
    same(got.positions, expected.positions);
    for (auto part :
         {&Mesh::triangles, &Mesh::normals, &Mesh::texture_coordinates, &Mesh::colours}) {
        ASSERT_EQ((got.*part).has_value(), (expected.*part).has_value());
        if (got.*part) same(*(got.*part), *(expected.*part));
    }
    ASSERT_EQ(got.attributes.size(), expected.attributes.size());
    for (size_t k = 0; k < got.attributes.size(); ++k) {
        EXPECT_EQ(got.attributes[k].name, expected.attributes[k].name);
        EXPECT_EQ(got.attributes[k].value.dtype(), expected.attributes[k].value.dtype());
        same(got.attributes[k].value, expected.attributes[k].value);
    }
}

TEST_F(PlyFiles, WritesWhatItReads) {
    for (bool text : {false, true}) {
        save_ply(path("x.ply"), square(), {.text = text});
        expect_same(load_ply(path("x.ply")), square());
        const Mesh points{.positions = zeros({2, 3})}, none{.positions = zeros({0, 3})};
        save_ply(path("x.ply"), points, {.text = text});
        expect_same(load_ply(path("x.ply")), points);
        save_ply(path("x.ply"), none, {.text = text});
        expect_same(load_ply(path("x.ply")), none);
    }
}

// The example of the format's own description, with a polygon of five corners.
constexpr const char* kHouse =
    "ply\r\nformat ascii 1.0\r\ncomment made by hand\r\nelement vertex 5\r\nproperty float32 x\r\n"
    "property float y\r\nproperty double z\r\nproperty uchar red\r\nproperty ushort intensity\r\n"
    "element face 2\r\nproperty uchar material\r\nproperty list uint8 int32 vertex_index\r\n"
    "element edge 1\r\nproperty list char float weights\r\nproperty int first\r\nend_header\r\n"
    "0 0 0 1 65535\n1 0 +0.5 2 0\n1 1 0 3 7\n0.5 1.5e0 nan 4 8\n0 1 -inf 5 9\n"
    "7 5 0 1 2 3 4\n8 3\n0 1 2\n2 0.5 0.25 3";

TEST_F(PlyFiles, ReadsTextOfOtherPrograms) {
    const Mesh x = load_ply(written("house.ply", kHouse));
    EXPECT_EQ(x.positions.dtype(), f32);
    const Floats places = x.positions.to_vector<float>();
    EXPECT_EQ(places[5], 0.5f);
    EXPECT_EQ(places[10], 1.5f);
    EXPECT_TRUE(std::isnan(places[11]));
    EXPECT_EQ(places[14], -INFINITY);
    // A polygon is a fan around its first corner.
    EXPECT_EQ(x.triangles->to_vector<int>(), (Ints{0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 1, 2}));
    // One of three colours is a number like others.
    ASSERT_EQ(x.attributes.size(), 2u);
    EXPECT_EQ(x.attributes[0].name, "red");
    EXPECT_EQ(x.attributes[1].value.dtype(), u16);
    EXPECT_EQ(x.attributes[1].value.to_vector<int>(), (Ints{65535, 0, 7, 8, 9}));
}

/// The bytes of a number, the most significant first.
template <class T>
std::string big(T value) {
    std::string out(sizeof value, '\0');
    std::memcpy(out.data(), &value, sizeof value);
    return {out.rbegin(), out.rend()};
}

TEST_F(PlyFiles, ReadsBigEndianNumbers) {
    const std::string header =
        "ply\nformat binary_big_endian 1.0\nelement face 1\nproperty list ushort uint "
        "vertex_indices\n"
        "element vertex 3\nproperty double x\nproperty float y\nproperty short z\nproperty ushort "
        "red\n"
        "property ushort green\nproperty ushort blue\nproperty float u\nproperty float "
        "v\nend_header\n";
    std::string bytes = big(uint16_t{3}) + big(2u) + big(1u) + big(0u);
    for (int k = 0; k < 3; ++k)
        bytes += big(0.5 + k) + big(-1.5f * float(k)) + big(int16_t(-300 * k)) +
                 big(uint16_t(65535)) + big(uint16_t(0)) + big(uint16_t(13107)) + big(0.25f) +
                 big(0.75f);
    const Mesh x = load_ply(written("x.ply", header + bytes));
    EXPECT_EQ(x.positions.to_vector<float>(),
              (Floats{0.5f, 0, 0, 1.5f, -1.5f, -300, 2.5f, -3, -600}));
    EXPECT_EQ(x.triangles->to_vector<int>(), (Ints{2, 1, 0}));
    EXPECT_EQ((*x.colours)(2).to_vector<float>(), (Floats{1, 0, 0.2f}));
    EXPECT_EQ((*x.texture_coordinates)(1).to_vector<float>(), (Floats{0.25f, 0.75f}));
}

TEST_F(PlyFiles, RefusesWhatIsDamaged) {
    const std::string
        head = "ply\nformat ascii 1.0\n",
        three = "element vertex 1\nproperty float x\nproperty float y\nproperty float z\n",
        face = "element face 1\nproperty list uchar int vertex_indices\n", end = "end_header\n";
    const struct {
        std::string bytes;
        const char* said;
    } cases[] = {
        {"", "does not begin"},
        {"plyx\n", "does not begin"},
        {head, "no end"},
        {"ply\nformat ascii 2.0\nend_header\n", "format"},
        {"ply\nelement vertex 1\nend_header\n", "names no format"},
        {head + "element vertex -1\n" + end, "a name and a number"},
        {head + "property float x\n" + end, "of no element"},
        {head + "element vertex 1\nproperty half x\n" + end, "'half'"},
        {head + "element vertex 1\nproperty list float int x\n" + end, "no integer"},
        {head + "element vertex 1\nproperty float x\nproperty float x\n" + end,
         "two properties 'x'"},
        {head + three + three + end + "0 0 0", "two elements"},
        {head + "what is this\n" + end, "'what is this'"},
        {head + "element vertex 1\nproperty float x\n" + end + "1", "no 'y'"},
        {head + "element vertex 1\nproperty list uchar int x\n" + end + "1 1", "a list 'x'"},
        {head + three + end + "0 0", "ends before"},
        {head + three + end + "0 0 zero", "'zero'"},
        {head + three + face + end + "0 0 0 2 0 0", "2 corners"},
        {head + three + face + end + "0 0 0 3 0 0 1", "none of the 1 points"},
        {head + three + face + end + "0 0 0 3 0 0 0.5", "0.5, which is no int"},
        {head + three + face + end + "0 0 0 300 0 0", "300, which is no uchar"},
        {head + three + "element face 1\nproperty int x\n" + end + "0 0 0 1", "no list"},
        {head + three + "element tristrips 1\nproperty list int int vertex_indices\n" + end +
             "0 0 0 1 0",
         "strips"},
        // A count that the file does not contain allocates no memory.
        {head + "element vertex 2000000000\nproperty float x\n" + end + "1", "ends before"},
        {"ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nproperty float x\n" +
             end,
         "more than i32"},
        {"ply\nformat binary_little_endian 1.0\nelement other 1\nproperty list uint uchar x\n" +
             end + "\xff\xff\xff\xff"s,
         "ends before"},
        {"ply\nformat binary_little_endian 1.0\nelement other 1\nproperty list int uchar x\n" +
             end + "\xff\xff\xff\xff"s,
         "-1 numbers"},
    };
    for (const auto& each : cases)
        expect_parts(user_error([&] { load_ply(written("x.ply", each.bytes)); }),
                     {"x.ply", each.said, "ply_test.cpp"});
}

TEST_F(PlyFiles, RefusesMeshesThatDoNotFit) {
    Mesh x = square();
    const auto refused = [&](const std::vector<std::string>& parts) {
        expect_parts(user_error([&] { save_ply(path("x.ply"), x); }), parts);
        EXPECT_FALSE(std::filesystem::exists(path("x.ply")));
        x = square();
    };
    x.positions = zeros({4, 2});
    refused({"positions", "[n, 3]"});
    x.triangles = tensor({0, 1, 4}, {1, 3});
    refused({"point 4 of 4"});
    x.triangles = zeros({1, 3});
    refused({"triangles", "i32"});
    x.normals = zeros({3, 3});
    refused({"normals", "[4, 3]"});
    x.attributes[0].value = zeros({4, 2});
    refused({"mass", "[4]"});
    x.attributes[0].value = zeros({4}).as(f16);
    refused({"mass", "f16", ".as(f32)"});
    x.attributes[0].name = "label";
    refused({"two attributes", "label"});
    x.attributes[0].name = "nx";
    refused({"'nx'", "another"});
    x.attributes[0].name = "two words";
    refused({"'two words'"});
}

TEST_F(PlyFiles, CutsColoursToEightBits) {
    save_ply(path("x.ply"), {.positions = zeros({2, 3}),
                             .colours = tensor({-1.0f, 2.0f, NAN, 0.5f, 0.1f, 1.0f}, {2, 3})});
    EXPECT_EQ(load_ply(path("x.ply")).colours->to_vector<float>(),
              (Floats{0, 1, 0, 128 / 255.0f, 26 / 255.0f, 1}));
    // Colours of u8 stay as they are.
    save_ply(path("x.ply"),
             {.positions = zeros({1, 3}), .colours = tensor({0, 77, 255}, {1, 3}).as(u8)});
    EXPECT_EQ(load_ply(path("x.ply")).colours->to_vector<float>(), (Floats{0, 77 / 255.0f, 1}));
}

TEST_F(PlyFiles, NumpyReadsWhatIsWritten) {
    if (!python_has("numpy")) GTEST_SKIP() << "python3-numpy is not installed";
    save_ply(path("x.ply"), square());
    EXPECT_EQ(python(R"(
import sys, numpy
data = open(sys.argv[1] + '/x.ply', 'rb').read()
head, body = data.split(b'end_header\n', 1)
types = {'float': '<f4', 'uchar': 'u1', 'int': '<i4'}
fields = [(w[2], types[w[1]]) for w in (l.split() for l in head.decode().split('\n'))
          if w and w[0] == 'property' and w[1] != 'list']
points = numpy.frombuffer(body, numpy.dtype(fields), 4)
faces = numpy.frombuffer(body, numpy.dtype([('n', 'u1'), ('v', '<i4', 3)]), 2, points.nbytes)
print(points['y'].tolist(), points['alpha'].tolist(), points['label'].tolist())
print(faces['n'].tolist(), faces['v'].tolist(), len(body) == points.nbytes + faces.nbytes)
)"),
              "[0.0, 0.0, 1.0, 1.0] [255, 204, 0, 255] [1, -2, 2000000000, 0]\n"
              "[3, 3] [[0, 1, 2], [0, 2, 3]] True\n");
}

TEST_F(PlyFiles, BoxesAreAroundTheirPoints) {
    const BoundingBox box = bounding_box(square().positions);
    EXPECT_EQ(box.lower.to_vector<float>(), (Floats{0, 0, -0.25f}));
    EXPECT_EQ(box.upper.to_vector<float>(), (Floats{1, 1, 3e8f}));
    expect_parts(user_error([] { bounding_box(zeros({0, 3})); }), {"no points", "ply_test.cpp"});
    expect_parts(user_error([] { bounding_box(zeros({3})); }), {"[n, d]"});
}

}  // namespace
}  // namespace firn
