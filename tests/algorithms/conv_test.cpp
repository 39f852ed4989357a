// Convolutions against loops on the host.
#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

struct Case {
    const char* name;
    size_t batch, channels, out, groups, n, m, k, l, stride, padding, dilation;
};

Floats convolved(const Case& c, const Floats& x, const Floats& w) {
    auto size = [&](size_t n, size_t k) {
        return (n + 2 * c.padding - c.dilation * (k - 1) - 1) / c.stride + 1;
    };
    size_t rows = size(c.n, c.k), columns = size(c.m, c.l), per = c.channels / c.groups;
    Floats out;
    for (size_t b = 0; b < c.batch; ++b)
        for (size_t o = 0; o < c.out; ++o)
            for (size_t i = 0; i < rows * columns; ++i) {
                double sum = 0;
                for (size_t t = 0; t < per * c.k * c.l; ++t) {
                    size_t channel = t / (c.k * c.l), k = t / c.l % c.k, l = t % c.l;
                    size_t row = i / columns * c.stride + k * c.dilation - c.padding;
                    size_t column = i % columns * c.stride + l * c.dilation - c.padding;
                    if (row >= c.n || column >= c.m) continue;  // below 0 too: it wraps
                    size_t from = o / (c.out / c.groups) * per + channel;
                    sum += x[((b * c.channels + from) * c.n + row) * c.m + column] *
                           w[o * per * c.k * c.l + t];
                }
                out.push_back(static_cast<float>(sum));
            }
    return out;
}

class Conv : public ::testing::TestWithParam<Case> {};

TEST_P(Conv, IsTheSum) {
    const Case& c = GetParam();
    Floats x = random_floats(c.batch * c.channels * c.n * c.m, 1);
    Floats w = random_floats(c.out * c.channels / c.groups * c.k * c.l, 2);
    auto number = [](size_t value) { return static_cast<int>(value); };
    expect_values(
        [&] {
            return conv2d(tensor(x, {c.batch, c.channels, c.n, c.m}),
                          tensor(w, {c.out, c.channels / c.groups, c.k, c.l}),
                          {.stride = number(c.stride),
                           .padding = number(c.padding),
                           .dilation = number(c.dilation),
                           .groups = number(c.groups)});
        },
        convolved(c, x, w), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Options, Conv,
                         ::testing::Values(Case{"plain", 2, 3, 4, 1, 7, 6, 3, 2, 1, 0, 1},
                                           Case{"padded", 1, 2, 2, 1, 5, 5, 3, 3, 1, 1, 1},
                                           Case{"strided", 1, 2, 3, 1, 9, 8, 3, 3, 2, 1, 1},
                                           Case{"dilated", 1, 1, 2, 1, 9, 9, 3, 3, 1, 2, 2},
                                           Case{"grouped", 2, 4, 6, 2, 5, 4, 2, 2, 1, 0, 1},
                                           Case{"depthwise", 1, 3, 3, 3, 6, 6, 3, 3, 1, 1, 1}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Convs, InOneDimension) {
    Floats x = random_floats(2 * 11, 3), w = random_floats(3 * 2 * 4, 4);
    Case c{"", 1, 2, 3, 1, 1, 11, 1, 4, 2, 0, 1};
    expect_values(
        [&] {
            return conv1d(tensor(x, {1, 2, 11}), tensor(w, {3, 2, 4}), {.stride = 2});
        },
        convolved(c, x, w), 1e-5);
}

// A kernel that is a product of three is three convolutions one after the other.
TEST(Convs, InThreeDimensions) {
    expect_values(
        [] {
            const Tensor x = random_tensor({2, 2, 5, 6, 7}, 8), w = random_tensor({3, 2}, 9);
            const Tensor a = random_tensor({2}, 10), b = random_tensor({3}, 11),
                         c = random_tensor({2}, 12);
            const Conv3dOptions options{
                .stride = {1, 2, 1}, .padding = {0, 1, 1}, .dilation = {2, 1, 1}};
            const Tensor kernel =
                reshape(w, {3, 2, 1, 1, 1}) * reshape(a, {2, 1, 1}) * reshape(b, {3, 1}) * c;
            const Tensor whole = conv3d(x, kernel, options);
            // Planes, then pictures with the planes as a batch.
            const Tensor planes = a(0) * x(all, all, range(0, 3)) + a(1) * x(all, all, range(2, 5));
            const Tensor pictures = reshape(permute(planes, {0, 2, 1, 3, 4}), {6, 2, 6, 7});
            const Tensor flat = reshape(w, {3, 2, 1, 1}) * reshape(b, {3, 1}) * c;
            const Tensor each = conv2d(pictures, flat, {.stride = {2, 1}, .padding = {1, 1}});
            return whole - permute(reshape(each, {2, 3, 3, 3, 8}), {0, 2, 1, 3, 4});
        },
        Floats(2 * 3 * 3 * 3 * 8, 0.0f), 1e-5);
}

// <y, conv(x)> = <conv_transpose(y), x>.
TEST(Convs, TransposesAreTransposes) {
    const auto differs = [](const Tensor& y, const Tensor& cx, const Tensor& ty, const Tensor& x) {
        return sum(y * cx) - sum(ty * x);
    };
    expect_values(
        [&] {
            const Tensor x = random_tensor({2, 4, 9}, 13), w = random_tensor({6, 2, 3}, 14);
            const Tensor y = random_tensor({2, 6, 5}, 15);
            return differs(y, conv1d(x, w, {.stride = 2, .padding = 1, .groups = 2}),
                           conv_transpose1d(y, w, {.stride = 2, .padding = 1, .groups = 2}), x);
        },
        Floats{0}, 1e-4);
    expect_values(
        [&] {
            const Tensor x = random_tensor({1, 2, 5, 4, 5}, 16), w = random_tensor({4, 1, 3, 2, 1});
            const Tensor y = random_tensor({1, 4, 3, 3, 3}, 17);
            return differs(y, conv3d(x, w, {.stride = {1, 1, 2}, .groups = 2}),
                           conv_transpose3d(y, w, {.stride = {1, 1, 2}, .groups = 2}), x);
        },
        Floats{0}, 1e-4);
}

TEST(Convs, InThreeDimensionsHaveTheGradientsOfDifferences) {
    for (int groups : {1, 2}) {
        const GradientCheck found = check_gradients(
            [&](const std::vector<Tensor>& xs) {
                const Tensor y =
                    conv3d(xs[0], xs[1], {.stride = 2, .padding = 1, .groups = groups});
                return sum(sin(y)) + sum(sin(conv_transpose3d(y, xs[1], {.groups = groups})));
            },
            {random_tensor({1, 2, 3, 3, 2}, 18), random_tensor({2, 2 / groups, 2, 2, 2}, 19)});
        EXPECT_TRUE(found) << found.where;
    }
}

TEST(Convs, OptionsDifferByAxis) {
    Floats x = random_floats(6 * 6, 3), w = random_floats(2 * 3, 4);
    expect_values(
        [&] {
            Tensor whole = conv2d(tensor(x, {1, 1, 6, 6}), tensor(w, {1, 1, 2, 3}));
            Tensor skipping =
                conv2d(tensor(x, {1, 1, 6, 6}), tensor(w, {1, 1, 2, 3}), {.stride = {1, 2}});
            return skipping - slice(whole, {.axis = 3, .step = 2});
        },
        Floats(5 * 2, 0.0f));
}

TEST(Convs, OfASymbolicSize) {
    Floats x = random_floats(7 * 6, 3), w = random_floats(3 * 3, 4);
    Case c{"", 1, 1, 1, 1, 7, 6, 3, 3, 2, 1, 1};
    expect_values(
        [&] {
            auto f = compile(
                [](Tensor x, Tensor w) { return conv2d(x, w, {.stride = 2, .padding = 1}); },
                {f32(1, 1, "n", "m"), f32(1, 1, 3, 3)});
            return f(tensor(x, {1, 1, 7, 6}), tensor(w, {1, 1, 3, 3}));
        },
        convolved(c, x, w), 1e-5);
}

TEST(Convs, ChannelsThatDoNotFitAreAnError) {
    expect_message(error_of([] {
                       conv2d(zeros({1, 4, 5, 5}), zeros({2, 3, 3, 3}));
                   }),
                   {"conv2d", "[1, 4, 5, 5]", "[2, 3, 3, 3]", "conv_test.cpp:"});
}

TEST(Convs, AKernelLargerThanTheInputIsAnError) {
    expect_message(error_of([] {
                       conv1d(zeros({1, 1, 2}), zeros({1, 1, 5}));
                   }),
                   {"conv1d", "5", "larger than 2", "conv_test.cpp:"});
}

}  // namespace
}  // namespace firn
