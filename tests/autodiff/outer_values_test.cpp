// Gradients inside of recorded loops by values from outside.
#include <gtest/gtest.h>

#include "tests/autodiff/derivatives_check.h"

namespace firn {
namespace {

/// Expects `body` to leave `expected` in g, by the oracle and by kernels.
void expect_left(const Callback<void(const Tensor& w, Tensor& g)>& body,
                 const Callback<Tensor(const Tensor& w)>& expected) {
    for (const Session& session : {Session::oracle(), Session::interpreter()}) {
        SessionScope scope(session);
        const Tensor w = some({3});
        Tensor g = w * 0.0f;
        body(w, g);
        const std::vector<float> got = flat(g), right = flat(expected(w));
        ASSERT_EQ(got.size(), right.size());
        for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], right[k], 1e-5) << k;
    }
}

TEST(GradientsInLoops, OfValuesFromOutside) {
    const auto twice = [](const Tensor& w) { return 2.0f * w; };
    expect_left(
        [](const Tensor& w, Tensor& g) {
            const Tensor y = w * w;
            for (Tensor k : loop(3)) g = grad(y, w);
        },
        twice);
    expect_left(
        [](const Tensor& w, Tensor& g) {
            const Tensor y = w * w;
            Tensor iterations = 0;
            while_([&] { return iterations < 2; },
                   [&] {
                       iterations += 1;
                       if_(iterations > 1, [&] { g = grad(y, w); });
                   });
        },
        twice);
    expect_left(
        [](const Tensor& w, Tensor& g) {
            const Tensor y = w * w;
            for (Tensor k : loop(2))
                for (Tensor j : loop(2)) g = g + grad(y, w);
        },
        [](const Tensor& w) { return 8.0f * w; });
    expect_left(
        [](const Tensor& w, Tensor& g) {
            const Tensor y = w * w * w;
            for (Tensor k : loop(2)) g = jvp(y, {w}, {1.0f + 0.0f * w}) - grad(y, w);
        },
        [](const Tensor& w) { return 0.0f * w; });
}

/// Both ways from the tensor to the value are taken.
TEST(GradientsInLoops, PartlyThroughValuesFromOutside) {
    expect_left(
        [](const Tensor& w, Tensor& g) {
            const Tensor h = w * w;
            for (Tensor k : loop(3)) g = grad(sum(h * cast<float>(k) + w), w);
        },
        [](const Tensor& w) { return 4.0f * w + 1.0f; });
    expect_left(
        [](const Tensor& w, Tensor& g) {
            for (Tensor k : loop(2)) {
                const Tensor h = w * w;
                for (Tensor j : loop(2)) g = grad(h * w, w);
            }
        },
        [](const Tensor& w) { return 3.0f * w * w; });
}

TEST(GradientsInLoops, OfGradients) {
    expect_left(
        [](const Tensor& w, Tensor& g) {
            const Tensor y = w * w * w;
            for (Tensor k : loop(2)) g = grad(grad(y, w), w);
        },
        [](const Tensor& w) { return 6.0f * w; });
    expect_left(
        [](const Tensor& w, Tensor& g) {
            const Tensor y = w * w * w;
            for (Tensor k : loop(2)) g = hessian_product(y, {w}, {1.0f + 0.0f * w})[0];
        },
        [](const Tensor& w) { return 6.0f * w; });
}

/// A carried value is a value of its own in each iteration.
TEST(GradientsInLoops, ByWhatTheyCarry) {
    expect_left(
        [](const Tensor& w, Tensor& g) {
            const Tensor target = sin(w) * 0.0f + 1.0f;
            g = stop_gradient(w);
            const Tensor held = stop_gradient(target);
            for (Tensor k : loop(200)) g = g - 0.1f * grad(square(g - held), g);
        },
        [](const Tensor& w) { return 0.0f * w + 1.0f; });
    // A value that was computed from it before stays as it was.
    expect_left(
        [](const Tensor& w, Tensor& g) {
            Tensor at = w;
            const Tensor begin = w, other = w * w;
            for (Tensor k : loop(3)) at = at - 0.25f * grad(square(at - begin) + other * at, at);
            g = at;
        },
        [](const Tensor& w) {
            Tensor at = w;
            for (int k = 0; k < 3; ++k) at = at - 0.25f * (2.0f * (at - w) + w * w);
            return at;
        });
    expect_left(
        [](const Tensor& w, Tensor& g) {
            Tensor h = w;
            for (Tensor k : loop(2)) {
                h = h * w;
                g = grad(h, w);
            }
        },
        [](const Tensor& w) { return w * w; });
}

std::string refusal(const Callback<void(Tensor& w, Tensor& y)>& body) {
    SessionScope scope(Session::oracle());
    Tensor w = some({3}), y = w * w;
    return error_of([&] { body(w, y); });
}

TEST(GradientsInLoops, AreRefusedWhereTheLoopAssignsThem) {
    for (const std::string& said : {refusal([](Tensor&w, Tensor&y) {
                                        Tensor g = 0.0f * w;
                                        for (Tensor k : loop(3)) {
                                            g = grad(y, w);
                                            y = y * 2.0f;
                                        }
                                    }),
                                    refusal([](Tensor&w, Tensor&y) {
                                        for (Tensor k : loop(3)) w = w - grad(y, w);
                                    })}) {
        EXPECT_NE(said.find("the loop assigns one of them at outer_values_test.cpp:"),
                  std::string::npos)
            << said;
        EXPECT_NE(said.find("stop_gradient"), std::string::npos) << said;
    }
    const std::string carried = refusal([](Tensor& w, Tensor& y) {
        for (Tensor k : loop(3)) {
            y = y * 2.0f;
            grad(y, w);
        }
    });
    EXPECT_NE(carried.find("carries from one iteration to the next"), std::string::npos) << carried;
}

}  // namespace
}  // namespace firn
