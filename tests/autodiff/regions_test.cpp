// Gradients through loops and branches.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/autodiff/derivatives_check.h"

namespace firn {
namespace {

TEST(Gradients, ThroughLoops) {
    const Tensor x = some({5}), w = some({5}, 0.3f, 0.9f);
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0];
            for (Tensor k : loop(4)) y = sin(y * a[1]) + 0.1f * cast<float>(k) * a[0];
            return y;
        },
        {x, w});
    // Several values, of which one is a sum, and one is no number of the loss.
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0], total = sum(a[0]), count = 0;
            for (Tensor k : loop(1, 8, 3)) {
                y = y * a[1] + total;
                total = total + sum(y * y) * 0.1f;
                count = count + k;
            }
            return y * cast<float>(count) + total;
        },
        {x, w}, false);
    // Inside one another, and one that has no iterations.
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0];
            for (Tensor k : loop(3)) {
                for (Tensor j : loop(2)) y = sin(y + a[1] * cast<float>(k + j));
                y = y * a[0];
            }
            for (Tensor k : loop(3, 3)) y = y * y;
            return y;
        },
        {x, w}, false);
    // Neighbours, and stores into what is carried.
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0];
            for (Tensor k : loop(5)) {
                auto [i] = indices<1>(y.shape());
                y = 0.5f * (wrap(y)(i - 1) + y(i + 1)) + y * a[1];
                y(k) = sin(y(k)) * 2.0f;
            }
            return y;
        },
        {x, w}, false);
    // Nothing is kept where the gradient needs no state.
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0];
            for (Tensor k : loop(6)) y = y + a[1] * 0.5f;
            return y;
        },
        {x, w});
}

TEST(Gradients, ThroughLoopsOfAnyLength) {
    SessionScope scope(Session::interpreter());
    const auto f = compile(
        [](Tensor x, Tensor w) {
            Tensor y = x;
            for (Tensor k : loop(x.size(0))) y = sin(y * w) + x;
            return grad(sum(y), w);
        },
        {f32("n"), f32()});
    for (int n : {1, 2, 9}) {
        const std::vector<float> values = numbers(n);
        const float got = Tensor(f(tensor(values), 0.7f)).item<float>();
        const auto loss = [&](double w) {
            double total = 0;
            for (float start : values) {
                double y = start;
                for (int k = 0; k < n; ++k) y = std::sin(y * w) + start;
                total += y;
            }
            return total;
        };
        EXPECT_NEAR(got, (loss(0.7 + 1e-6) - loss(0.7 - 1e-6)) / 2e-6, 1e-3) << n;
    }
}

TEST(Gradients, ThroughBranches) {
    for (float limit : {-5.0f, 5.0f})
        expect_derivatives(
            [&](const Tensors& a) {
                Tensor y = a[0];
                if_(
                    sum(a[0]) > limit, [&] { y = y * a[1]; }, [&] { y = sin(y); });
                return y;
            },
            {some({5}), some({5}, 0.3f, 0.9f)});
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0];
            if_(a[0] > 0.1f, [&] { y = log(y) * a[1]; });
            return y;
        },
        {some({5}), some({5}, 0.3f, 0.9f)});
}

/// What a body reads from outside counts once, though one of it is made of another.

TEST(Gradients, OfWhatLoopsAndBranchesReadTwice) {
    const Tensors xs{some({4}), some({4}, 0.3f, 0.9f)};
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0], scale = sin(a[1]), both = scale * a[1];
            for (Tensor k : loop(3)) y = tanh(y * both + scale);
            return y;
        },
        xs, false);
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = exp(a[0]), z = sin(y);
            if_(
                sum(a[1]) > 0.0f, [&] { z = z * y; }, [&] { y = z; });
            return y * z;
        },
        xs, false);
}

}  // namespace
}  // namespace firn
