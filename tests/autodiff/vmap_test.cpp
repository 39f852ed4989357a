// Functions of one sample for a batch, against the samples one by one.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/autodiff/derivatives_check.h"
#include "tests/autodiff/random_function.h"
#include "tests/ir/random_check.h"

namespace firn {
namespace {

/// vmap(f) gives what f gives for each sample of x and y (their first axis); `shared` is the same
/// for all.
void expect_samples(const Differentiable& f, const Tensor& x, const Tensor& y,
                    const Tensor& shared) {
    const Tensor all = vmap(f, {x, y, shared}, {.axes = {0, 0, std::nullopt}});
    const int64_t count = Shape(x.shape())[0].constant();
    std::vector<float> expected;
    for (int64_t k = 0; k < count; ++k)
        for (float value : flat(f({x(k), y(k), shared}))) expected.push_back(value);
    const std::vector<float> got = flat(all);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t k = 0; k < got.size(); ++k)
        ASSERT_NEAR(got[k], expected[k], 1e-4f * std::max(1.0f, std::abs(expected[k]))) << k;
}

TEST(Vmap, GivesWhatSamplesGive) {
    for (const Session& session : {Session::oracle(), Session::interpreter()}) {
        SessionScope scope(session);
        const Tensor x = some({3, 4}), y = some({3, 4}, -1, 2), w = some({4, 2});
        expect_samples(
            [](const Tensors& a) {
                return matmul(reshape(a[0], {1, 4}), a[2]);
            },
            x, y, w);
        expect_samples(
            [](const Tensors& a) {
                auto [i] = indices<1>(a[0].shape());
                Tensor z = wrap(a[0])(i + 1) * a[1](cast<int>(a[0]));
                z(cast<int>(a[1])) = sum(a[0]);
                scatter_add(z(i / 2), a[1]);
                return stack({z, a[2](i, 1), flip(a[0])});
            },
            x, y, w);
        expect_samples([](const Tensors& a) { return sort(a[0]) + sum(a[2]); }, x, y, w);
        expect_samples([](const Tensors& a) { return a[2]; }, x, y, w);
    }
}

TEST(Vmap, GoesRoundAsOftenAsEachSampleSays) {
    for (const Session& session : {Session::oracle(), Session::interpreter()}) {
        SessionScope scope(session);
        const Tensor x = some({5, 3}), y = some({5, 3}, 0.5f, 4.2f), w = some({3});
        // A condition, a trip count and a branch of its own.
        expect_samples(
            [](const Tensors& a) {
                Tensor z = a[0], steps = 0;
                while_([&] { return sum(z * z) < 40.0f; },
                       [&] { z = z * 1.5f + a[2] + 0.3f, steps += 1; }, {.max_steps = 30});
                return z + cast<float>(steps);
            },
            x, y, w);
        expect_samples(
            [](const Tensors& a) {
                Tensor z = a[0], last = 0;
                for (Tensor k : loop(1, cast<int>(a[1](0)) * 2, 2))
                    z = sin(z) * cast<float>(k), last = k;
                return z + cast<float>(last);
            },
            x, y, w);
        expect_samples(
            [](const Tensors& a) {
                Tensor z = a[0];
                if_(
                    sum(a[0]) > 0.2f, [&] { z = z * a[1]; }, [&] { z(1) = a[2](0); });
                for (Tensor k : loop(4)) {
                    if_(z > 1.0f, [&] { break_(); });
                    z = z + abs(a[0]) * 0.5f;
                }
                return z;
            },
            x, y, w);
    }
}

TEST(Vmap, HasAxesInsideOneAnother) {
    SessionScope scope(Session::oracle());
    const Tensor x = some({2, 3}), y = some({4, 3});
    const auto dot = [](const Tensors& a) { return sum(a[0] * a[1]); };
    const Tensor all = vmap(
        [&](const Tensors& a) {
            return vmap(dot, {a[0], y}, {.axes = {std::nullopt, 0}});
        },
        {x});
    EXPECT_EQ(flat(all), flat(matmul(x, transpose(y))));
    const Tensor columns =
        vmap([](const Tensors& a) { return a[0] * 2.0f; }, {x}, {.axes = {1}, .out_axis = -1});
    EXPECT_EQ(flat(columns), flat(x * 2.0f));
}

TEST(Vmap, GivesGradientsBySample) {
    SessionScope scope(Session::interpreter());
    const Tensor x = some({5, 4}), target = some({5}), w = some({4}, 0.2f, 1);
    const auto loss = [](const Tensor& weights, const Tensor& sample, const Tensor& goal) {
        Tensor y = sample;
        for (Tensor k : loop(3)) y = sin(y * weights);
        return square(sum(y) - goal);
    };
    const Tensor each =
        vmap([&](const Tensors& s) { return grad(loss(w, s[0], s[1]), w); }, {x, target});
    std::vector<float> expected;
    for (int k = 0; k < 5; ++k)
        for (float value : flat(grad(loss(w, x(k), target(k)), w))) expected.push_back(value);
    const std::vector<float> got = flat(each);
    for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], expected[k], 1e-5);
    // And outside; a rule of one's own is one of samples.
    expect_derivatives(
        [](const Tensors& a) {
            return vmap(
                [](const Tensors& s) {
                    return custom_gradient([](const Tensors& b) { return sin(b[0]) * b[1]; },
                                           {s[0], s[1]},
                                           [](const Tensors& b, const Tensor&, const Tensor& g) {
                                               return Tensors{g * cos(b[0]) * b[1], g * sin(b[0])};
                                           });
                },
                {a[0], a[1]}, {.axes = {0, std::nullopt}});
        },
        {some({3, 2}), some({2})});
}

/// Samples that have ended keep their number, although other values are read; reads are promised to
/// be inside where a sample goes on.
TEST(Vmap, ReadsUncheckedWhereOtherSamplesGoOn) {
    for (const Session& session : {Session::oracle(), Session::interpreter()}) {
        SessionScope scope(session);
        const Tensor x = some({4, 3}, 0.1f, 1.4f), y = some({4, 3}), w = some({3});
        const auto broken_off = [](const Tensors& a) {
            Tensor z = a[0];
            for (Tensor k : loop(5)) {
                if_(sum(z) > 5.0f, [] { break_(); });
                z = z * z * 0.9f + 0.2f * a[1];
            }
            return grad(z, a[0]);
        };
        expect_samples(broken_off, x, y, w);
        const auto walked = [](const Tensors& a) {
            Tensor k = 0, total = 0.0f;
            while_([&] { return (k < 3) & (total < 1.0f); },
                   [&] {
                       total = total + unchecked(a[0])(k);
                       k = k + 1;
                   });
            return grad(total * total, a[0]) + total;
        };
        EXPECT_NE(error_of([&] { expect_samples(walked, x, y, w); }).find("max_steps"),
                  std::string::npos);
        const auto chosen = [](const Tensors& a) {
            Tensor z = 0.0f, at = cast<int>(3.0f * a[1](0));
            if_((at >= 0) & (at < 3), [&] { z = unchecked(a[0])(at); });
            return z;
        };
        expect_samples(chosen, x, y, w);
    }
}

/// Random functions with loops, branches, stores and reads of each kind.
TEST(Vmap, OfRandomFunctions) {
    const RandomSeeds seeds = random_seeds(300'000, 40);
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        SCOPED_TRACE(seed);
        SessionScope scope(Session::oracle());
        const Shape shape = seed % 2 ? Shape{3, 4} : Shape{3, 2, 3};
        const Tensor x = tensor(numbers(element_count(shape).constant()), shape),
                     y = x * 0.7f + 0.11f * sin(3.0f * x);
        expect_samples(RandomFunction(seed), x, y, tensor({0.4f}, Shape{}));
        if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(Vmap, SaysWhatIsWrong) {
    SessionScope scope(Session::oracle());
    const Tensor x = some({3, 4}), other = some({2, 4});
    Tensor outside = 0.0f;
    const auto sum_of = [](const Tensors& a) { return sum(a[0]); };
    const auto expect_error = [&](const std::function<void()>& f, const std::string& says) {
        const std::string error = error_of(f);
        EXPECT_NE(error.find(says), std::string::npos) << error;
        EXPECT_NE(error.find("vmap_test.cpp"), std::string::npos) << error;
    };
    expect_error([&] { vmap(sum_of, {x, other}); }, "has 2 samples, and the first 3");
    expect_error([&] { vmap(sum_of, {tensor({1.0f}, Shape{})}); }, "no axis of samples");
    expect_error([&] { vmap(sum_of, {x}, {.axes = {std::nullopt}}); }, "give one of the axes");
    expect_error([&] { vmap(sum_of, {x}, {.axes = {2}}); }, "axis");
    expect_error(
        [&] {
            vmap(
                [&](const Tensors& a) {
                    outside = a[0](0);
                    return a[0];
                },
                {x});
        },
        "assigns to a tensor from outside");
    expect_error(
        [&] { vmap([](const Tensors& a) { return sum(compact(a[0], a[0] > 0.0f)); }, {x}); },
        "a size that only the data knows");
    expect_error(
        [&] { vmap([](const Tensors& a) { return Tensor(a[0].to_vector<float>()[0]); }, {x}); },
        "has no value yet");
    EXPECT_EQ(flat(vmap(sum_of, {x})).size(), 3u);
}

}  // namespace
}  // namespace firn
