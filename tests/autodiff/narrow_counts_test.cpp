// Derivatives that count or sum up ones, in types that do not hold the count.
#include <gtest/gtest.h>

#include "tests/autodiff/derivatives_check.h"

namespace firn {
namespace {

/// More than f16 holds (65504), and than bf16 and f16 count to by ones (256, 2048).
constexpr int64_t kMany = 70'000;

void expect_all(const Tensor& x, double value) {
    for (float each : x.as(f32).to_vector<float>()) ASSERT_NEAR(each, value, 0.005 * value);
}

/// Each of n equal elements has a share of 1 / n.
TEST(GradientsInNarrowTypes, ShareAmongManyEqualElements) {
    for (const Session& session : {Session::oracle(), Session::interpreter()})
        for (const DType type : {f16, bf16, f32}) {
            SessionScope scope(session);
            const auto expect = [&](const Differentiable& extreme) {
                const Tensor x = full({kMany}, 0.5f).as(type), ones = full({kMany}, 1.0f).as(type);
                expect_all(grad(extreme({x}), x), 1.0 / kMany);
                expect_all(grad(1000.0f * extreme({x + 0.0f}), x), 1000.0 / kMany);
                expect_all(jvp(extreme({x * 1.0f}), {x}, {ones}), 1);
            };
            expect([](const Tensors& x) { return max(x[0]); });
            expect([](const Tensors& x) { return min(x[0]); });
            expect([](const Tensors& x) { return mean(x[0]); });
            expect([&](const Tensors& x) {
                Tensor high = full({1}, 0.25f).as(type);
                scatter_max(high(0 * index(x[0], 0)), x[0]);
                return high;
            });
            expect([&](const Tensors& x) {
                Tensor low = full({1}, 1.0f).as(type);
                scatter_min(low(0 * index(x[0], 0)), x[0]);
                return low;
            });
        }
}

TEST(GradientsInNarrowTypes, OfProductsWithManyZeros) {
    for (const DType type : {f16, bf16}) {
        SessionScope scope(Session::oracle());
        const Tensor x = full({kMany}, 0.0f).as(type);
        Tensor y = full({1}, 1.0f).as(type);
        scatter_mul(y(0 * index(x, 0)), x);
        EXPECT_EQ(sum(abs(grad(y, x).as(f32))).item<float>(), 0);
        EXPECT_EQ(sum(abs(grad(prod(x), x).as(f32))).item<float>(), 0);
    }
}

/// Halves at one index are combined in f32.
TEST(GradientsInNarrowTypes, OfReadsOfOneElement) {
    for (const Session& session : {Session::oracle(), Session::interpreter()})
        for (const DType type : {f16, bf16}) {
            SessionScope scope(session);
            const Tensor x = full({1}, 0.5f).as(type);
            const Tensor at = cast<int>(full({5000}, 0.3f) * 2.0f);
            expect_all(grad(sum(x(at).as(f32)), x), 5000);
            expect_all(grad(sum(wrap(x)(index({Size(5000)}, 0)).as(f32)), x), 5000);
        }
}

/// A value that many statements use.
TEST(GradientsInNarrowTypes, SummedOverStatements) {
    for (const Session& session : {Session::oracle(), Session::interpreter()})
        for (const DType type : {f16, bf16}) {
            SessionScope scope(session);
            const Tensor w = full({2}, 0.5f).as(type), x = full({2}, 1.0f);
            Tensor y = zeros({2});
            for (int k = 0; k < 3000; ++k) y = y + (w * float(1 + k % 2)).as(f32) * x;
            expect_all(grad(y, w), 4500);
            const Tensor twice = w * 3.0f + w * 4.0f;
            expect_all(grad(twice, w), 7);
        }
}

/// A loop's sum of cotangents is beyond where ones count in the type.
TEST(GradientsInNarrowTypes, SummedByLoops) {
    for (const Session& session : {Session::oracle(), Session::interpreter()})
        for (const DType type : {f16, bf16}) {
            SessionScope scope(session);
            const Tensor w = full({2}, 0.5f).as(type);
            Tensor y = zeros({2});
            for (Tensor k : loop(5000)) y = y + (w * (0 * k + 2).as(type)).as(f32);
            expect_all(grad(y, w), 10'000);
        }
}

}  // namespace
}  // namespace firn
