// Tensors, shapes and sizes as streams show them; arithmetic of sizes.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "compiler/frontend/vec.h"
#include "compiler/language.h"

namespace firn {
namespace {

template <class T>
std::string streamed(const T& x) {
    std::ostringstream out;
    out << x;
    return out.str();
}

class Streams : public testing::Test {
  protected:
    SessionScope scope{Session::oracle()};
};

TEST_F(Streams, ShowTensorsAsNumpyDoes) {
    EXPECT_EQ(streamed(tensor({1.5f, -2.0f, 10.0f})), "f32[3] = [1.5  -2  10]");
    EXPECT_EQ(streamed(Tensor(7)), "i32 = 7");
    EXPECT_EQ(streamed(reshape(arange(6).as(u8), {2, 3})), "u8[2, 3] =\n[[0 1 2]\n [3 4 5]]");
    EXPECT_EQ(streamed(arange(100)), "i32[100] = [ 0  1  2  3 ... 96 97 98 99]");
    EXPECT_EQ(streamed(zeros({0, 3})), "f32[0, 3] =\n[]");
    EXPECT_EQ(streamed(arange(3) > 1), "bool[3] = [false false  true]");
    const Tensor x = arange(4);
    EXPECT_EQ(streamed(x(2)), "i32 = 2");
}

TEST_F(Streams, ShowWholeWhatIsNoLongerThanACutMatrix) {
    EXPECT_EQ(streamed(arange(10)), "i32[10] = [0 1 2 3 4 5 6 7 8 9]");
    EXPECT_EQ(streamed(zeros({1, 64}, i32)).find("..."), std::string::npos);
    EXPECT_NE(streamed(zeros({1, 65}, i32)).find("..."), std::string::npos);
    EXPECT_NE(streamed(zeros({9, 9}, i32)).find("..."), std::string::npos);
}

TEST_F(Streams, ShowNoSignOfWhatIsNoNumber) {
    EXPECT_EQ(streamed(tensor({NAN, -NAN})), "f32[2] = [nan nan]");
}

TEST_F(Streams, ShowTypes) { EXPECT_EQ(streamed(zeros({2}, u8).dtype()), "u8"); }

TEST_F(Streams, ShowVectorsAsInGlsl) {
    vec3 p(1, 2.5f, 3);
    EXPECT_EQ(streamed(p), "vec3(1, 2.5, 3)");
    EXPECT_EQ(streamed(p.zy()), "vec2(3, 2.5)");
    EXPECT_EQ(streamed(ivec2(1, 2)), "ivec2(1, 2)");
    EXPECT_EQ(streamed(vec2(arange(2), 1)), "vec2(f32[2] = [0 1], 1)");
}

TEST_F(Streams, ShowMatricesAndComplexNumbers) {
    EXPECT_EQ(streamed(mat2(1, 2, 3, 4)), "mat2(1, 2, 3, 4)");
    EXPECT_EQ(streamed(Complex{1.0f, -2.5f}), "Complex(1, -2.5)");
}

TEST_F(Streams, ShowWhatIsRecordedByTypeAndShape) {
    std::string shown;
    compile([&](Tensor x) { return shown = streamed(x * 2.0f), x; }, {f32("n", 3)});
    EXPECT_EQ(shown, "f32[n, 3] (recorded, no values yet)");
}

TEST_F(Streams, ShowShapesAndSizes) {
    const Tensor x = zeros({2, 3});
    EXPECT_EQ(streamed(x.shape()), "[2, 3]");
    EXPECT_EQ(streamed(x.size(1)), "3");
    EXPECT_EQ(streamed(Size::symbol("n") * 2 + 1), "2*n + 1");
}

TEST(Sizes, AreDividedByNumbersAndSizes) {
    const Size n = Size::symbol("n");
    EXPECT_EQ(n / 2, floor_div(n, 2));
    EXPECT_EQ(n % 4, mod(n, 4));
    EXPECT_EQ(Size(7) / 2, Size(3));
    EXPECT_EQ(Size(-7) / 2, Size(-4));
    EXPECT_EQ(Size(-7) % 2, Size(1));
    EXPECT_EQ(100 / Size(8), Size(12));
}

}  // namespace
}  // namespace firn
