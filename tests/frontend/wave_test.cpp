// The programs of the README and of its pages, as printed there.
#include <algorithm>
#include <cmath>

#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

Tensor gaussian_drop(int n, int m) {
    auto [i, j] = indices<2>({n, m});
    Tensor y = (i - n / 2) / 4.0f, x = (j - m / 2) / 4.0f;
    return exp(-(x * x + y * y));
}

using Readme = OracleTest;

TEST_F(Readme, Wave) {
    auto wave = compile(
        [](Tensor u, Tensor v, Tensor dt) {
            auto [i, j] = indices<2>(u.shape());
            Tensor laplacian = u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0f * u;
            Tensor v_next = v + dt * laplacian;
            return std::tuple{u + dt * v_next, v_next};
        },
        {f32("n", "m"), f32("n", "m"), f32()});

    Tensor u = gaussian_drop(12, 16), v = zeros({12, 16});
    float dt = 0.1f;
    for (int frame = 0; frame < 3; ++frame) std::tie(u, v) = wave(u, v, dt);

    std::vector<float> expected_u = gaussian_drop(12, 16).to_vector<float>(), expected_v(12 * 16);
    auto at = [](const std::vector<float>& x, int i, int j) {
        return x[static_cast<size_t>(std::clamp(i, 0, 11) * 16 + std::clamp(j, 0, 15))];
    };
    for (int frame = 0; frame < 3; ++frame) {
        std::vector<float> old = expected_u;
        for (int i = 0; i < 12; ++i)
            for (int j = 0; j < 16; ++j) {
                size_t k = static_cast<size_t>(i * 16 + j);
                float laplacian = at(old, i - 1, j) + at(old, i + 1, j) + at(old, i, j - 1) +
                                  at(old, i, j + 1) - 4 * old[k];
                expected_v[k] += dt * laplacian;
                expected_u[k] += dt * expected_v[k];
            }
    }
    std::vector<float> got = u.to_vector<float>();
    for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], expected_u[k], 1e-6f) << k;
}

TEST_F(Readme, LazyUse) {
    Tensor a = ones({2, 3}), b = full({2, 3}, 2.0f);
    Tensor c = sum(a * b, {.axis = 1});
    EXPECT_EQ(c.to_vector<float>(), (Floats{6, 6}));
}

}  // namespace
}  // namespace firn
