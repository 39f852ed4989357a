// Tables of colours: written by other programs, damaged, and applied to colours.
#include <cmath>

#include "tests/files/file_test.h"

namespace firn {
namespace {

using CubeFiles = FileTest;

/// A table of three axes that leaves colours as they are.
Tensor identity(int64_t n) {
    auto [b, g, r] = indices<3>(Shape{n, n, n});
    return stack(vec3(r.as(f32), g.as(f32), b.as(f32))) / float(n - 1);
}

void expect_near(const Tensor& got, const Floats& expected) {
    const Floats is = got.to_vector<float>();
    ASSERT_EQ(is.size(), expected.size());
    for (size_t k = 0; k < is.size(); ++k) EXPECT_NEAR(is[k], expected[k], 2e-6) << k;
}

TEST_F(CubeFiles, WritesWhatItReads) {
    const ColourTable tables[] = {
        {.values = tensor({0.1f, 1e-30f, -2.0f, 3e8f, 0.0f, 1.0f}, {2, 3}), .lower = -1.0f},
        {.values = identity(3) * 0.7f, .upper = tensor({1.0f, 2.0f, 100.0f})}};
    for (const ColourTable& each : tables) {
        save_cube(path("x.cube"), each);
        const ColourTable x = load_cube(path("x.cube"));
        EXPECT_EQ(Shape(x.values.shape()), Shape(each.values.shape()));
        EXPECT_EQ(x.values.to_vector<float>(), each.values.to_vector<float>());
        EXPECT_EQ(x.lower.to_vector<float>(), (each.lower + zeros({3})).to_vector<float>());
        EXPECT_EQ(x.upper.to_vector<float>(), (each.upper + zeros({3})).to_vector<float>());
    }
}

TEST_F(CubeFiles, ReadsTextOfOtherPrograms) {
    const ColourTable x = load_cube(
        written("x.cube",
                "# made by hand\r\nTITLE \"a look: 1 2 3\"\r\n\r\nLUT_3D_SIZE "
                "2\r\nLUT_3D_INPUT_RANGE 0.0 2.0\r\n"
                "0 0 0\r\n+1 0 0\r\n0\t1 0\r\n1 1 0\r\n  0 0 1\r\n1 0 1\r\n0 1 1\r\n1.0e0 1 .5"));
    // Red changes first.
    expect_near(x.values(0, 0, 1), {1, 0, 0});
    expect_near(x.values(1, 0, 0), {0, 0, 1});
    expect_near(x.values(1, 1, 1), {1, 1, 0.5f});
    expect_near(x.upper, {2, 2, 2});
}

TEST_F(CubeFiles, RefusesWhatIsDamaged) {
    const struct {
        const char *text, *said;
    } cases[] = {
        {"", "no LUT_1D_SIZE"},
        {"LUT_1D_SIZE 2\n0 0 0\n", "1 colours in place of 2"},
        {"LUT_1D_SIZE 2\n0 0 0\n1 1 1\n2 2 2\n", "line 4 is a colour more"},
        {"LUT_1D_SIZE 2\n0 0\n", "line 2 begins with '0'"},
        {"LUT_1D_SIZE 2\n0 0 zero\n", "'zero' in place"},
        {"LUT_1D_SIZE 2\n0 0 1x\n", "'1x' in place"},
        {"LUT_1D_SIZE 1\n", "2 to 65536"},
        {"LUT_3D_SIZE 257\n", "2 to 256"},
        {"LUT_3D_SIZE\n", "2 to 256"},
        {"LUT_3D_SIZE 99999999999999999999999\n", "2 to 256"},
        {"LUT_1D_SIZE 2\nLUT_3D_SIZE 2\n", "line 2 begins a second table"},
        {"0 0 0\n", "before LUT_1D_SIZE"},
        {"LUT_1D_SIZE 2\nDOMAIN_MAX 0 1 1\n0 0 0\n1 1 1\n", "no width"},
        {"LUT_1D_SIZE 2\nDOMAIN_MAX nan 1 1\n0 0 0\n1 1 1\n", "no width"},
        {"LUT_1D_SIZE 2\nLUT_1D_INPUT_RANGE 0\n", "no two numbers"},
        {"SHAPER 2\n", "'SHAPER'"},
    };
    for (const auto& each : cases)
        expect_parts(user_error([&] { load_cube(written("x.cube", each.text)); }),
                     {"x.cube", each.said, "cube_test.cpp"});
    for (const Shape& shape :
         {Shape{2}, Shape{2, 4}, Shape{1, 3}, Shape{2, 2, 3, 3}, Shape{2, 2, 3}})
        expect_parts(user_error([&] { save_cube(path("y.cube"), {.values = zeros(shape)}); }),
                     {"y.cube", "[n, n, n, 3]"});
    expect_parts(user_error([&] {
                     save_cube(path("y.cube"), {.values = zeros({2, 3}), .lower = 1.0f});
                 }),
                 {"no width"});
    expect_parts(user_error([&] {
                     save_cube(path("y.cube"), {.values = zeros({2, 3}), .lower = zeros({2})});
                 }),
                 {"one for each"});
}

TEST_F(CubeFiles, TablesThatChangeNothingChangeNothing) {
    const Floats colours{0,    0,    0,    1,    1,     1,     0.1f, 0.7f, 0.4f,
                         0.9f, 0.2f, 0.3f, 0.3f, 0.35f, 0.95f, 0.5f, 0.5f, 0.5f};
    const Tensor x = tensor(colours, {2, 3, 3});
    for (int64_t n : {2, 3, 17}) {
        const Tensor y = colours_from_table(x, {.values = identity(n)});
        EXPECT_EQ(Shape(y.shape()), (Shape{2, 3, 3}));
        expect_near(y, colours);
        const Tensor line = arange(n).as(f32) / float(n - 1);
        expect_near(colours_from_table(x, {.values = stack(vec3(line, line, line))}), colours);
    }
    // A value outside maps to the nearest one inside.
    expect_near(colours_from_table(tensor({-1.0f, 7.0f, NAN}), {.values = identity(4)}), {0, 1, 0});
    expect_near(colours_from_table(tensor({-1.0f, 1.0f, 3.0f}),
                                   {.values = identity(4), .lower = -1.0f, .upper = 3.0f}),
                {0, 0.5f, 1});
}

TEST_F(CubeFiles, EachOfSixTetrahedraTakesItsFourCorners) {
    // 1 at one corner of the cell: between the corners of a tetrahedron its weight is known.
    const auto weights = [](const Floats& colour) {
        Floats out;
        for (int k = 0; k < 8; ++k) {
            Tensor values = zeros({2, 2, 2, 3});
            values(k / 4, k / 2 % 2, k % 2, 0) = 1.0f;  // blue, green, red
            out.push_back(
                colours_from_table(tensor(colour), {.values = values}).to_vector<float>()[0]);
        }
        return out;
    };
    const float far = 0.75f, middle = 0.5f, near = 0.125f;
    const struct {
        Floats colour;
        int second, third;  // the corners between black and white
    } cases[] = {{{far, middle, near}, 1, 3}, {{far, near, middle}, 1, 5},
                 {{middle, far, near}, 2, 3}, {{near, far, middle}, 2, 6},
                 {{middle, near, far}, 4, 5}, {{near, middle, far}, 4, 6}};
    for (const auto& each : cases) {
        Floats expected(8);
        expected[0] = 1 - far;
        expected[size_t(each.second)] = far - middle;
        expected[size_t(each.third)] = middle - near;
        expected[7] = near;
        EXPECT_EQ(weights(each.colour), expected);
    }
}

TEST_F(CubeFiles, RefusesColoursAndTablesOfOtherShapes) {
    expect_parts(user_error([] {
                     colours_from_table(zeros({4}), {.values = zeros({2, 3})});
                 }),
                 {"[4]", "3 channels", "cube_test.cpp"});
    expect_parts(user_error([] {
                     colours_from_table(zeros({3}), {.values = zeros({2, 2, 3})});
                 }),
                 {"[2, 2, 3]", "[n, n, n, 3]"});
}

TEST_F(CubeFiles, OneProgramTakesTablesOfAnySize) {
    auto apply =
        compile([](Tensor x, Tensor values) { return colours_from_table(x, {.values = values}); },
                {f32("h", 3), f32("n", "n", "n", 3)});
    const Floats colours{0.2f, 0.4f, 0.6f};
    for (int64_t n : {2, 5}) expect_near(apply(tensor(colours, {1, 3}), identity(n)), colours);
}

}  // namespace
}  // namespace firn
