// Functions that are not a single row of the operation table, and select, min, max.
#include <cmath>

#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

using Math = OracleTest;

TEST_F(Math, SelectChooses) {
    Tensor x = tensor({-1.0f, 2.0f});
    EXPECT_EQ(select(x > 0.0f, x, 0).to_vector<float>(), (Floats{0, 2}));
}

TEST_F(Math, SelectOfTwoNumbers) {
    Tensor x = tensor({-1, 2});
    EXPECT_EQ(select(x > 0, 1.0f, 0.5f).to_vector<float>(), (Floats{0.5f, 1}));
}

TEST_F(Math, SelectNeedsABool) {
    Tensor x = tensor({-1, 2});
    expect_parts(user_error([&] { select(x, 1, 2); }),
                 {"select", "i32", "compare", "math_test.cpp:"});
}

TEST_F(Math, MinAndMaxOfSeveral) {
    Tensor x = tensor({1, 5}), y = tensor({3, 3});
    EXPECT_EQ(min(x, y, 4).to_vector<int>(), (Ints{1, 3}));
    EXPECT_EQ(max(2, x, y).to_vector<int>(), (Ints{3, 5}));
}

TEST_F(Math, ClampKeepsInside) {
    EXPECT_EQ(clamp(tensor({-1.0f, 0.5f, 2.0f}), 0, 1).to_vector<float>(), (Floats{0, 0.5f, 1}));
}

TEST_F(Math, MixGoesFromAToB) {
    EXPECT_EQ(mix(2.0f, 4.0f, tensor({0.0f, 0.5f, 1.0f})).to_vector<float>(), (Floats{2, 3, 4}));
}

TEST_F(Math, StepAndSmoothstep) {
    Tensor x = tensor({-1.0f, 0.5f, 2.0f});
    EXPECT_EQ(step(0.5f, x).to_vector<float>(), (Floats{0, 1, 1}));
    EXPECT_EQ(smoothstep(0, 1, x).to_vector<float>(), (Floats{0, 0.5f, 1}));
}

TEST_F(Math, SmoothstepOfIntegersIsFloat) {
    EXPECT_EQ(smoothstep(0, 2, tensor({1})).to_vector<float>(), (Floats{0.5f}));
}

TEST_F(Math, PowWithANumber) {
    EXPECT_EQ(pow(tensor({3.0f}), 2).item<float>(), 9);
    EXPECT_EQ(pow(2, tensor({3})).item<int>(), 8);
}

TEST_F(Math, IntegersBecomeFloatInRealFunctions) { EXPECT_EQ(sqrt(tensor({9})).item<float>(), 3); }

TEST_F(Math, Sigmoid) {
    EXPECT_FLOAT_EQ(sigmoid(tensor({1.0f})).item<float>(), 1 / (1 + std::exp(-1.0f)));
}

TEST_F(Math, FmaSquareAndFrac) {
    Tensor x = tensor({1.5f});
    EXPECT_EQ(fma(x, 2, 1).item<float>(), 4);
    EXPECT_EQ(square(x).item<float>(), 2.25f);
    EXPECT_EQ(frac(-x).item<float>(), 0.5f);
}

TEST_F(Math, Atan2TakesYFirst) {
    EXPECT_FLOAT_EQ(atan2(tensor({1.0f}), 0).item<float>(), std::atan2(1.0f, 0.0f));
}

TEST_F(Math, ShapesThatDoNotBroadcastAreAnError) {
    Tensor a = zeros({2, 3}), b = zeros({4});
    int line = __LINE__ + 1;
    expect_parts(user_error([&] { a + b; }),
                 {"add", "[2, 3]", "[4]", "math_test.cpp:" + std::to_string(line)});
}

TEST_F(Math, ErrorsNameTheLineOfTheFunction) {
    Tensor a = zeros({2}), b = zeros({3});
    int line = __LINE__ + 1;
    expect_parts(user_error([&] { max(a, b); }), {"max", "math_test.cpp:" + std::to_string(line)});
}

}  // namespace
}  // namespace firn
