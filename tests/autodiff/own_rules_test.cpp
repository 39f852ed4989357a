// Gradients by rules of one's own.
#include <gtest/gtest.h>

#include "tests/autodiff/derivatives_check.h"

namespace firn {
namespace {

TEST(Gradients, ByARuleOfOnesOwn) {
    SessionScope scope(Session::interpreter());
    const Tensor x = tensor({0.5f, -1.5f}), y = tensor({2.0f, 3.0f});
    const Tensor stopped = grad(sum(x * stop_gradient(x * y)), x),
                 rounded = grad(sum(straight_through(round(x), x) * y), x),
                 ruled = grad(sum(y * custom_gradient(
                                          [](const Tensors&a) { return exp(a[0]) * a[1]; }, {x, y},
                                          [](const Tensors&a, const Tensor&value, const Tensor&g) {
                                              return Tensors{g * a[1], g * value * 0.0f};
                                          })),
                              x);
    EXPECT_EQ(stopped.to_vector<float>(), (std::vector<float>{1, -4.5f}));
    EXPECT_EQ(rounded.to_vector<float>(), (std::vector<float>{2, 3}));
    EXPECT_EQ(ruled.to_vector<float>(), (std::vector<float>{4, 9}));
    // In loops, and in what a gradient is taken of again.
    const auto f = compile(
        [](Tensor x) {
            Tensor y = x;
            for (Tensor k : loop(3)) y = y * stop_gradient(y) + x;
            return grad(sum(grad(sum(y * y), x)), x);
        },
        {f32(2)});
    EXPECT_EQ(Tensor(f(x)).to_vector<float>().size(), 2u);
}

}  // namespace
}  // namespace firn
