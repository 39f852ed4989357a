// Vectors and matrices of tensors: kinds, swizzles, functions, and as one value in loops and
// branches.
#include <cmath>

#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

using Vectors = OracleTest;

template <size_t N, VecKind K>
Floats values(const Vec<N, K>& v) {
    Floats out;
    for (size_t k = 0; k < N; ++k) out.push_back(v[k].template item<float>());
    return out;
}
template <size_t N>
Floats values(const Mat<N>& m) {
    return stack(m).template to_vector<float>();
}

void expect_close(const Floats& got, const Floats& expected, float tolerance = 1e-5f) {
    ASSERT_EQ(got.size(), expected.size());
    for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], expected[k], tolerance) << k;
}

const vec3 up() { return vec3(0, 1, 0); }

TEST_F(Vectors, NumbersTakeTheKind) {
    EXPECT_EQ(vec2(1, 2).x.dtype(), f32);
    EXPECT_EQ(ivec2(1.7f, 2.0f).x.dtype(), i32);
    EXPECT_EQ(uvec2(1, 2).x.dtype(), u32);
    EXPECT_EQ(values(vec2(1, 2) / 4), (Floats{0.25f, 0.5f}));
    EXPECT_EQ(values(ivec2(5, -7) / 2), (Floats{2, -3}));
}

TEST_F(Vectors, ComponentsKeepTheirKind) {
    vec3 p(0), copy = p;
    p.x = 3;
    p.g() = Tensor(5);
    copy[2] = 7;
    EXPECT_EQ(values(vec3(p.x / 2, p.y / 2, copy.z / 2)), (Floats{1.5f, 2.5f, 3.5f}));
    uvec2 u;
    u.x = 3;
    EXPECT_EQ(u.x.dtype(), u32);
    Tensor whole = vec2(1, 2).x;  // of its own
    whole = 3;
    EXPECT_EQ(whole.dtype(), i32);
}

TEST_F(Vectors, AComponentDoesNotChangeItsKindUnasked) {
    ivec2 i(1, 2);
    Tensor third = 0.3f;
    expect_parts(user_error([&] { i.x = third; }),
                 {"f32 tensor", "signed integers", ".as()", "vec_test.cpp"});
    i.x = third.as(i32);
    EXPECT_EQ(values(i), (Floats{0, 2}));
}

TEST_F(Vectors, AComponentOfHalvesStaysOne) {
    vec2 p(Tensor(0.5f).as(f16));
    p.x *= 2;
    EXPECT_EQ(p.x.dtype(), f16);
}

TEST_F(Vectors, NarrowFloatsStayAsTheyAre) {
    Tensor half = Tensor(0.5f).as(f16);
    EXPECT_EQ((vec2(half, half) * 2.0f).x.dtype(), f16);
}

TEST_F(Vectors, AreMadeOfShorterOnes) {
    EXPECT_EQ(values(vec4(vec2(1, 2), 3, 4)), (Floats{1, 2, 3, 4}));
    EXPECT_EQ(values(vec3(0, vec2(1, 2))), (Floats{0, 1, 2}));
    EXPECT_EQ(values(vec2(vec3(5, 6, 7))), (Floats{5, 6}));
    EXPECT_EQ(values(vec3(2)), (Floats{2, 2, 2}));
    EXPECT_EQ(values(ivec3(vec3(1.5f, -2.5f, 3))), (Floats{1, -2, 3}));
}

TEST_F(Vectors, SwizzlesAreWritten) {
    vec3 p(1, 2, 3);
    p.xy() = vec2(4, 5);
    EXPECT_EQ(values(p), (Floats{4, 5, 3}));
    p.zx() = p.xz();
    EXPECT_EQ(values(p), (Floats{3, 5, 4}));
    p.zyx() = p;
    EXPECT_EQ(values(p), (Floats{4, 5, 3}));
    p.yz() *= 2.0f;
    EXPECT_EQ(values(p), (Floats{4, 10, 6}));
    p.xy() += vec2(1, 2);
    EXPECT_EQ(values(p), (Floats{5, 12, 6}));
    p.xy() = {7, 8};
    EXPECT_EQ(values(p), (Floats{7, 8, 6}));
    p.xy() = p.yx();
    EXPECT_EQ(values(p), (Floats{8, 7, 6}));
    vec4 colour(0);
    colour.rgb() = p;
    colour.swizzle<"wz">() = vec2(1, 2);
    colour.g() = 9;
    EXPECT_EQ(values(colour), (Floats{8, 9, 2, 1}));
}

TEST_F(Vectors, ASwizzleWithANameIsAVectorOfItsOwn) {
    vec3 p(1, 2, 3);
    auto q = p.xy();
    q = vec2(5, 6);
    q += 1.0f;
    q.x = 9;
    EXPECT_EQ(values(q), (Floats{9, 7}));
    EXPECT_EQ(values(p), (Floats{1, 2, 3}));
    vec2 copy = p.zz();
    EXPECT_EQ(values(copy), (Floats{3, 3}));
}

TEST_F(Vectors, SwizzlesAreVectorsEverywhere) {
    vec3 p(3, 4, 12);
    EXPECT_EQ(length(p.xy()).item<float>(), 5.0f);
    EXPECT_EQ(values(p.xy() + p.yz()), (Floats{7, 16}));
    EXPECT_EQ(values(min(p.yx(), vec2(3.5f))), (Floats{3.5f, 3}));
    EXPECT_EQ(values(select(Tensor(true), p.xy(), p.zz())), (Floats{3, 4}));
    EXPECT_EQ(values(mat2(p.xy(), p.yz())), (Floats{3, 4, 4, 12}));
    auto f = compile(
        [](Tensor x) {
            vec3 v(x, 2.0f * x, 0.0f);
            return v.yx();
        },
        {f32()});
    EXPECT_EQ(values(f(1.0f)), (Floats{2, 1}));
}

TEST_F(Vectors, SwizzlesAreWrittenInLoops) {
    vec3 p(0, 1, 5);
    for (Tensor i : loop(4)) p.xy() = p.yx() + 1.0f;
    EXPECT_EQ(values(p), (Floats{4, 5, 5}));
}

TEST_F(Vectors, OperatorsTakeVectorsTensorsAndNumbers) {
    vec3 v(1, 2, 3);
    Tensor two = 2.0f;
    EXPECT_EQ(values(v + v), (Floats{2, 4, 6}));
    EXPECT_EQ(values(two * v), (Floats{2, 4, 6}));
    EXPECT_EQ(values(v * two), (Floats{2, 4, 6}));
    EXPECT_EQ(values(1 - v), (Floats{0, -1, -2}));
    EXPECT_EQ(values(-v), (Floats{-1, -2, -3}));
    v *= 3;
    v -= vec3(1);
    EXPECT_EQ(values(v), (Floats{2, 5, 8}));
    EXPECT_EQ(values(ivec2(13, 6) & 7), (Floats{5, 6}));
    EXPECT_EQ(values(ivec2(1, 2) * vec2(0.5f, 0.25f)), (Floats{0.5f, 0.5f}));
}

TEST_F(Vectors, AFloatDoesNotTurnIntegersIntoFloatsUnasked) {
    Tensor third = 0.3f;
    expect_parts(user_error([&] { ivec2(1, 2) * third; }),
                 {"f32 tensor", "signed integers", "vec3(v)", "vec_test.cpp"});
    expect_parts(user_error([&] { ivec2(1, 2) * 0.5f; }), {"signed integers", "vec_test.cpp"});
}

TEST_F(Vectors, Swizzles) {
    vec4 v(1, 2, 3, 4);
    EXPECT_EQ(values(v.xy()), (Floats{1, 2}));
    EXPECT_EQ(values(v.zyx()), (Floats{3, 2, 1}));
    EXPECT_EQ(values(v.wwx()), (Floats{4, 4, 1}));
    EXPECT_EQ(values(v.swizzle<"wzyx">()), (Floats{4, 3, 2, 1}));
    EXPECT_EQ(values(v.swizzle<"bgr">()), (Floats{3, 2, 1}));
    EXPECT_EQ(v.a().item<float>(), 4);
}

TEST_F(Vectors, ProductsAndLengths) {
    vec3 a(1, 2, 3), b(4, -5, 6);
    EXPECT_EQ(dot(a, b).item<float>(), 12);
    EXPECT_EQ(values(cross(a, b)), (Floats{27, 6, -13}));
    EXPECT_EQ(length(vec2(3, 4)).item<float>(), 5);
    EXPECT_EQ(distance(vec2(1, 1), vec2(4, 5)).item<float>(), 5);
    expect_close(values(normalize(vec3(0, 3, 4))), {0, 0.6f, 0.8f});
    EXPECT_EQ(values(outerProduct(vec2(1, 2), vec2(3, 4))), (Floats{3, 4, 6, 8}));
}

TEST_F(Vectors, MirrorsAndLenses) {
    EXPECT_EQ(values(reflect(vec3(1, -1, 0), up())), (Floats{1, 1, 0}));
    // Snell: sin 45 / 1.5 = sin 28.1.
    float s = std::sqrt(0.5f), bent = s / 1.5f;
    expect_close(values(refract(vec3(s, -s, 0), up(), 1 / 1.5f)),
                 {bent, -std::sqrt(1 - bent * bent), 0});
    EXPECT_EQ(values(refract(vec3(s, -s, 0), up(), 1.5f)), (Floats{0, 0, 0}));
    EXPECT_EQ(values(faceforward(up(), vec3(0, 1, 0), up())), (Floats{0, -1, 0}));
}

TEST_F(Vectors, ElementwiseFunctions) {
    vec2 v(-1.25f, 2.5f);
    EXPECT_EQ(values(abs(v)), (Floats{1.25f, 2.5f}));
    EXPECT_EQ(values(floor(v)), (Floats{-2, 2}));
    EXPECT_EQ(values(fract(v)), (Floats{0.75f, 0.5f}));
    EXPECT_EQ(values(mod(v, 2)), (Floats{0.75f, 0.5f}));
    EXPECT_EQ(values(max(v, 0)), (Floats{0, 2.5f}));
    EXPECT_EQ(values(min(1, v)), (Floats{-1.25f, 1}));
    EXPECT_EQ(values(clamp(v, -1, vec2(9, 2))), (Floats{-1, 2}));
    EXPECT_EQ(values(mix(v, vec2(0), 0.5f)), (Floats{-0.625f, 1.25f}));
    EXPECT_EQ(values(step(0, v)), (Floats{0, 1}));
    EXPECT_EQ(values(smoothstep(0, 5, v)), (Floats{0, 0.5f}));
    expect_close(values(pow(vec2(2, 3), 2)), {4, 9});
    expect_close(values(exp(log(vec2(2, 3)))), {2, 3});
    EXPECT_EQ(values(inversesqrt(vec2(4, 16))), (Floats{0.5f, 0.25f}));
}

TEST_F(Vectors, ComparisonsGiveBools) {
    vec3 a(1, 2, 3), b(2, 2, 2);
    EXPECT_EQ(values(lessThan(a, b)), (Floats{1, 0, 0}));
    EXPECT_EQ(values(greaterThanEqual(a, 2)), (Floats{0, 1, 1}));
    EXPECT_TRUE(any(equal(a, b)).item<bool>());
    EXPECT_FALSE(all(equal(a, b)).item<bool>());
    EXPECT_FALSE((a == b).item<bool>());
    EXPECT_TRUE((a != b).item<bool>());
    EXPECT_EQ(values(!lessThan(a, b)), (Floats{0, 1, 1}));
    EXPECT_EQ(values(select(lessThan(a, b), a, b)), (Floats{1, 2, 2}));
    Tensor yes = true;
    EXPECT_EQ(values(select(yes, a, b)), (Floats{1, 2, 3}));
}

TEST_F(Vectors, FromALastAxisAndBack) {
    Tensor t = tensor({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, {2, 3});
    vec3 v = vec3_of(t);
    EXPECT_EQ(v.y.to_vector<float>(), (Floats{2, 5}));
    EXPECT_EQ(stack(v.zyx()).to_vector<float>(), (Floats{3, 2, 1, 6, 5, 4}));
    EXPECT_EQ(stack(vec3(v.x, 0, 1)).to_vector<float>(), (Floats{1, 0, 1, 4, 0, 1}));
    expect_parts(user_error([&] { vec2_of(t); }), {"[2, 3]", "last axis", "vec_test.cpp"});
}

TEST_F(Vectors, ComponentsBroadcast) {
    Tensor x = index({2, 1}, 0) * 10.0f, y = index({1, 3}, 1) * 1.0f;
    EXPECT_EQ((dot(vec2(x, y), vec2(1))).to_vector<float>(), (Floats{0, 1, 2, 10, 11, 12}));
    EXPECT_EQ(Shape(stack(vec2(x, y)).shape()), (Shape{2, 3, 2}));
}

TEST_F(Vectors, Matrices) {
    mat2 m(vec2(1, 2), vec2(3, 4));  // columns
    EXPECT_EQ(values(m * vec2(1, 1)), (Floats{4, 6}));
    EXPECT_EQ(values(vec2(1, 1) * m), (Floats{3, 7}));
    EXPECT_EQ(values(m), (Floats{1, 3, 2, 4}));  // rows
    EXPECT_EQ(values(transpose(m)), (Floats{1, 2, 3, 4}));
    EXPECT_EQ(values(m * m), (Floats{7, 15, 10, 22}));
    EXPECT_EQ(values(2.0f * m - m + mat2(1)), (Floats{2, 3, 2, 5}));
    EXPECT_EQ(determinant(m).item<float>(), -2);
    EXPECT_EQ(values(mat_of<mat2>(stack(m))), values(m));
}

TEST_F(Vectors, InverseTimesTheMatrixIsTheIdentity) {
    mat4 m;
    for (size_t j = 0; j < 4; ++j)
        for (size_t i = 0; i < 4; ++i)
            m[j][i] = std::sin(float(7 * j + 3 * i + i * j)) + (i == j ? 2.0f : 0.0f);
    expect_close(values(m * inverse(m)), values(mat4(1)), 1e-5f);
    mat3 n(m[0].xyz(), m[1].xyz(), m[2].xyz());
    expect_close(values(inverse(n) * n), values(mat3(1)), 1e-5f);
    mat2 o(m[0].xy(), m[1].xy());
    expect_close(values(inverse(o) * o), values(mat2(1)), 1e-5f);
}

TEST_F(Vectors, OldValuesSurvive) {
    vec2 v(1, 2), old = v;
    v += 1;
    EXPECT_EQ(values(old), (Floats{1, 2}));
}

// --- structs of tensors in loops and branches, on both executors ---------------------------------

struct Ray {
    vec3 origin, direction;
    Tensor colour;
};

/// Balls that bounce in a box: the struct is one value in the loop and in the branch.
Tensor bounced() {
    Tensor k = arange(5) * 1.0f;
    Ray ray{vec3(0.1f * k, 0.5f, 0.3f), normalize(vec3(1, 0.3f * k - 0.5f, 0.7f)), zeros({5})};
    for (Tensor iteration : loop(20)) {
        Ray next = ray;
        next.origin += ray.direction * 0.23f;
        bvec3 outside = lessThan(1.0f, abs(next.origin));
        if_(
            any(outside),
            [&] {
                ray.direction = select(outside, -ray.direction, ray.direction);
                ray.colour += 1.0f;
            },
            [&] { ray = next; });
        if_(ray.colour > 4.0f, [&] { break_(); });
    }
    return stack(vec4(ray.origin, ray.colour + length(ray.direction)));
}

/// A rotation, 10 times over, by a matrix that the loop carries.
Tensor turned() {
    Tensor angle = arange(4) * 0.3f;
    mat2 turn(vec2(cos(angle), sin(angle)), vec2(-sin(angle), cos(angle))), all(1);
    for (Tensor step : loop(10)) all = all * turn;
    return stack(all * vec2(1, 2));
}

void expect_equal_executors(const std::function<Tensor()>& program) {
    auto run = [&](const Session& session) {
        SessionScope scope(session);
        return program().to_vector<float>();
    };
    expect_close(run(Session::interpreter()), run(Session::oracle()), 1e-5f);
}

TEST(VectorsCompiled, AStructOfVectorsInLoopsAndBranches) { expect_equal_executors(bounced); }
TEST(VectorsCompiled, AMatrixIsCarried) { expect_equal_executors(turned); }

TEST(VectorsCompiled, TenTurnsAreOneTurnByTenTimesTheAngle) {
    SessionScope scope(Session::oracle());
    Floats got = turned().to_vector<float>();
    for (size_t k = 0; k < 4; ++k) {
        float angle = 3.0f * static_cast<float>(k);
        EXPECT_NEAR(got[2 * k], std::cos(angle) - 2 * std::sin(angle), 1e-4f);
        EXPECT_NEAR(got[2 * k + 1], std::sin(angle) + 2 * std::cos(angle), 1e-4f);
    }
}

TEST(VectorsCompiled, AreResultsOfCompiledFunctionsInOneKernel) {
    SessionScope scope(Session::interpreter());
    auto half = compile([](Tensor x) { return normalize(vec3(x, 2.0f * x, 2.0f)); }, {f32("n")});
    vec3 v = half(tensor({1.0f, 2.0f}));
    expect_close(v.z.to_vector<float>(), {2 / 3.0f, 1 / std::sqrt(6.0f)});
    EXPECT_EQ(half.stats().kernels, 1);
}

}  // namespace
}  // namespace firn
