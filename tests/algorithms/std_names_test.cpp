// The names of numpy and C beside all of std: argument types say whose function it is.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <valarray>

#include "compiler/shading.h"
#include "tests/algorithms/agreement.h"

using namespace firn;
using namespace std;

namespace {

TEST(NamesBesideStd, AreThoseOfTensorsOnTensors) {
    SessionScope scope(Session::oracle());
    const Tensor x = tensor({1.0f, 3.0f, 2.0f, 2.0f});
    EXPECT_EQ(median(x).item<float>(), 2);
    EXPECT_EQ(unique(x).to_vector<float>(), (Floats{1, 2, 3}));
    EXPECT_EQ(inner(x, x).item<float>(), 18);
    EXPECT_EQ(outer(x, x).rank(), 2);
    EXPECT_EQ(diff(x).to_vector<float>(), (Floats{2, -1, 0}));
    EXPECT_EQ(asinh(x * 0.0f).to_vector<float>(), (Floats{0, 0, 0, 0}));
    EXPECT_EQ(acosh(x(0)).item<float>(), 0);
    EXPECT_EQ(atanh(x - x).to_vector<float>(), (Floats{0, 0, 0, 0}));
    EXPECT_NEAR(cbrt(x * 8.0f)(0).item<float>(), 2, 1e-6);
    EXPECT_EQ(copysign(x, -1.0f).to_vector<float>(), (Floats{-1, -3, -2, -2}));
    EXPECT_EQ(fmod(x, 2).to_vector<float>(), (Floats{1, 1, 0, 0}));
    EXPECT_EQ(fmod(7.0f, x).to_vector<float>(), (Floats{0, 1, 1, 1}));
    EXPECT_EQ(roll(x, {1}, {0}).to_vector<float>(), (Floats{2, 1, 3, 2}));
    EXPECT_EQ(average(x, x * 0.0f + 1.0f).item<float>(), 2);
    EXPECT_TRUE(allclose(x, x).item<bool>());
    EXPECT_EQ(cross(tensor({1, 0, 0}), tensor({0, 1, 0})).to_vector<int>(), (Ints{0, 0, 1}));
}

TEST(NamesBesideStd, AreThoseOfQuaternionsOnQuaternions) {
    SessionScope scope(Session::oracle());
    const Quaternion q = axis_angle(vec3(0, 0, 1), 3.14159265f);
    EXPECT_NEAR(rotate(conj(q), vec3(1, 0, 0)).x.item<float>(), -1, 1e-6);
    EXPECT_NEAR(dot(normalize(q), slerp(q, q, 0.5f)).item<float>(), 1, 1e-6);
    EXPECT_LT(simplex_noise(vec2(0.3f, 0.4f)).item<float>(), 1);
    EXPECT_EQ(turbo(tensor({0.5f})).x.rank(), 1);
}

TEST(NamesBesideStd, AreThoseOfStdOnNumbers) {
    EXPECT_EQ(asinh(0.0), 0);
    EXPECT_EQ(cbrt(8.0), 2);
    EXPECT_EQ(copysign(2.0f, -1.0f), -2.0f);
    EXPECT_EQ(fmod(7, 4), 3);
    Ints some{1, 1, 2};
    some.erase(unique(some.begin(), some.end()), some.end());
    EXPECT_EQ(some, (Ints{1, 2}));
}

}  // namespace
