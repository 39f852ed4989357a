// Sums over the rows of many values, in one kernel more iterations than a driver allows.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "compiler/language.h"
#include "compiler/program/program.h"

namespace firn {
namespace {

/// The gradient by weights that sixteen layers share: the sum of sixteen products over all rows.
std::vector<Tensor> gradient(const Tensor& start, const Tensor& first, const Tensor& second) {
    Tensor x = start;
    for (int layer = 0; layer < 16; ++layer)
        x = x + matmul(max(matmul(x, first), 0.0f), second) * 0.1f;
    return grad(mean(square(x)), {first, second});
}

TEST(OverlongParts, AreKeptInMemory) {
    SessionScope scope(Session::interpreter(cpu_profile()));
    const auto compiled = compile(gradient, {f32(5000, 8), f32(8, 8), f32(8, 8)});
    for (const KernelInfo& kernel : compiled.program()->kernels)
        EXPECT_LE(kernel.back_edges, int64_t{cpu_profile().max_back_edges});
}

TEST(OverlongParts, TheValuesStayTheSame) {
    const auto run = [&](const Session& session) {
        SessionScope scope(session);
        return gradient(rand({5000, 8}, {.seed = 1}), rand({8, 8}, {.seed = 2}),
                        rand({8, 8}, {.seed = 3}))
            .at(0)
            .to_vector<float>();
    };
    const std::vector<float> got = run(Session::interpreter(cpu_profile()));
    const std::vector<float> expected = run(Session::oracle());
    ASSERT_EQ(got.size(), expected.size());
    for (size_t k = 0; k < got.size(); ++k)
        EXPECT_NEAR(got[k], expected[k], 1e-3f * std::abs(expected[k])) << k;
}

}  // namespace
}  // namespace firn
