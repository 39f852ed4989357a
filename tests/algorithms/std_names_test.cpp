// The names of numpy and C beside all of std: argument types choose the function.
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

// std's own take two or three of one type, and would compare them.
TEST(NamesBesideStd, SmallestAndLargestOfOneType) {
    SessionScope scope(Session::oracle());
    Tensor x = tensor({1.0f, 3.0f, 2.0f}), y = tensor({2.0f, 2.0f, 2.0f});
    const Tensor fixed = x;
    EXPECT_EQ(max(x, y).to_vector<float>(), (Floats{2, 3, 2}));
    EXPECT_EQ(min(fixed, y).to_vector<float>(), (Floats{1, 2, 2}));
    EXPECT_EQ(max(x, y, 2.5f).to_vector<float>(), (Floats{2.5f, 3, 2.5f}));
    EXPECT_EQ(min(x, y, x * 0.0f).to_vector<float>(), (Floats{0, 0, 0}));
    EXPECT_EQ(clamp(x, y, y + 0.5f).to_vector<float>(), (Floats{2, 2.5f, 2}));
    EXPECT_EQ(max(x(0), x(1)).item<float>(), 3);
    EXPECT_EQ(min(x(0), x(1), 0.5f).item<float>(), 0.5f);
    EXPECT_EQ(clamp(x(1), x(0), x(2)).item<float>(), 2);
    EXPECT_EQ(max(x, 2).to_vector<float>(), (Floats{2, 3, 2}));
    EXPECT_EQ(max(2, x(1)).item<float>(), 3);
    EXPECT_EQ(max(x).item<float>() + min(x, {0}).item<float>(), 4);
    const vec2 p(1, 4), q(3, 2);
    EXPECT_EQ((max(p, q).x + min(p, q).y).item<float>(), 5);
    EXPECT_EQ(clamp(p, vec2(2, 0), vec2(3, 3)).y.item<float>(), 3);
    vec3 r(1, 2, 3);
    EXPECT_EQ(max(r.xy(), r.yz()).x.item<float>(), 2);
    EXPECT_EQ(max(r.xy(), r.yx()).y.item<float>(), 2);
    EXPECT_EQ(max(2.0f, 3.0f), 3.0f);
    EXPECT_EQ(clamp(7, 1, 3), 3);
    static_assert(is_same_v<decltype(min(2, 3)), const int&>);
}

// The line in a report is that of the call.
TEST(NamesBesideStd, CarryTheLineOfTheCall) {
    SessionScope scope(Session::oracle());
    Tensor x = tensor({1.0f, 3.0f}), y = tensor({1.0f, 2.0f, 3.0f});
    expect_message(error_of([&] {
                       max(tensor({1, 2}), tensor({1, 2, 3}));
                   }),
                   {"std_names_test.cpp:"});
    expect_message(error_of([&] {
                       max(vec2(tensor({1, 2}), 0), vec2(tensor({1, 2, 3}), 0));
                   }),
                   {"std_names_test.cpp:"});
}

// A class of std needs the namespace beside it: any, stack, barrier, slice.
TEST(NamesBesideStd, OfEveryFunctionThatBothHave) {
    SessionScope scope(Session::oracle());
    Tensor x = tensor({0.25f, 0.5f});
    const Tensor all_of_one[] = {abs(x),   acos(x), acosh(x + 1.0f), asin(x),  asinh(x), atan(x),
                                 atanh(x), cbrt(x), ceil(x),         cos(x),   cosh(x),  erf(x),
                                 exp(x),   exp2(x), expm1(x),        floor(x), log(x),   log10(x),
                                 log1p(x), log2(x), round(x),        sin(x),   sinh(x),  sqrt(x),
                                 tan(x),   tanh(x), trunc(x),        norm(x),  sort(x),  unique(x)};
    EXPECT_NEAR(all_of_one[13].to_vector<float>()[1], 1.41421356f, 1e-6);
    EXPECT_EQ(abs(x(0) - 1.0f).item<float>(), 0.75f);
    const Tensor of_two[] = {pow(x, x),         pow(2.0f, x), pow(x, 2),         atan2(x, x),
                             hypot(x, x),       fmod(x, x),   remainder(x, x),   copysign(x, x),
                             hypot(3.0f, x(0)), fma(x, x, x), fma(x, 2.0f, 1.0f)};
    EXPECT_EQ(of_two[2].to_vector<float>(), (Floats{0.0625f, 0.25f}));
    EXPECT_EQ(modf(x + 1.0f).whole.to_vector<float>(), (Floats{1, 1}));
    EXPECT_EQ(fill(x, 7)(index(x, 0) + 1).to_vector<float>(), (Floats{0.5f, 7}));
    EXPECT_EQ(stack({x, x}).rank(), 2);
    EXPECT_EQ(rand({3}).rank() + shuffle(x).rank(), 2);
    EXPECT_TRUE(firn::any(x > 0.3f).item<bool>());
    Tensor other = x * 2.0f;
    swap(x, other);
    EXPECT_EQ(x.to_vector<float>(), (Floats{0.5f, 1}));
    EXPECT_EQ(distance(vec2(0, 0), vec2(3, 4)).item<float>(), 5);
    Ints some{3, 1, 2};
    sort(some.begin(), some.end());
    rotate(some.begin(), some.begin() + 1, some.end());
    EXPECT_EQ(some, (Ints{2, 3, 1}));
    fill(some.begin(), some.end(), static_cast<int>(count(some.begin(), some.end(), 3)));
    EXPECT_EQ(accumulate(some.begin(), some.end(), 0), 3);
    EXPECT_EQ(norm(complex<float>(3, 4)), 25);
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
