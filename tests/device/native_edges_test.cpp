// Loads at the edges of tensors by native code: rows of which some lanes are clamped or left out.
#include <limits>
#include <vector>

#include "tests/device/native_levels.h"

namespace firn {
namespace {

class NativeEdges : public NativeLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, NativeEdges, native_levels(), level_name);

Tensor neighbours(const Tensor& x) {
    auto [i, j] = indices<2>(x.shape());
    return x(i, j - 2) + 3 * x(i - 1, j + 1) - 5 * x(i + 2, clamp(j + 5, 2, 9)) + 2 * x(i, 7 - j) +
           x(clamp(j, 0, 1), j + 20) - x(j, 3);
}
Tensor left_out(const Tensor& x) {
    auto [i, j] = indices<2>(x.shape());
    return zero(x)(i, j - 2) + 3 * zero(x)(i - 1, j + 1) + 5 * zero(x)(i + 2, j + 9) -
           2 * zero(x)(i + 1, 2 * j - 3) + select(j < 5, x(i, j + 3), 9);
}
/// An element that two conditions take.
Tensor taken_twice(const Tensor& x) {
    auto [i, j] = indices<2>(x.shape());
    const Tensor near = x(i, j - 4);
    return select(j < 30, near, 0) + 2 * select(j > 6, near, 0);
}
Tensor around(const Tensor& x) {
    auto [i, j] = indices<2>(x.shape());
    return wrap(x)(i, j - 2) + 3 * mirror(x)(i - 1, j + 4);
}

TEST_P(NativeEdges, ElementsBesideAnEdgeAreThoseOfTheOracle) {
    for (const int width : {1, 3, 16, 33, 64, 130, 256})
        for (const DType type : {f32, i32, f64, i16, u8}) {
            const Shape shape{Size(40), Size(width)};
            const std::string what = std::to_string(width) + " of " + type.name();
            expect_equal(what, [&] { return neighbours(small_numbers(shape, type)); });
            expect_equal(what, [&] { return left_out(small_numbers(shape, type)); });
            expect_equal(what, [&] { return taken_twice(small_numbers(shape, type)); });
            expect_equal(what, [&] { return around(small_numbers(shape, type)); });
        }
}

TEST_P(NativeEdges, SizesMayBeSymbols) {
    const auto program = [] {
        auto f = compile([](Tensor x) { return neighbours(x) + left_out(x) + taken_twice(x); },
                         {f32("n", "m")});
        std::vector<Tensor> all;
        for (const int width : {1, 5, 64, 200})
            all.push_back(
                reshape(Tensor(f(small_numbers({Size(20), Size(width)}, f32))), {20 * width}));
        return concat(all);
    };
    expect_equal("symbols", program);
}

TEST_P(NativeEdges, ChannelsMayStandSideBySide) {
    for (const int channels : {2, 3, 4})
        expect_equal("channels", [&] {
            const Tensor x = small_numbers({Size(30), Size(64), Size(channels)}, f32);
            auto [i, j, k] = indices<3>(x.shape());
            return x(i, j - 3, k) + 2 * x(i + 1, j + 1, k) + zero(x)(i, j + 4, k);
        });
}

TEST_P(NativeEdges, LanesThatDoNotRunReadNothing) {
    expect_equal("a branch", [] {
        const Tensor x = small_numbers({Size(16), Size(128)}, f32);
        auto [i, j] = indices<2>(x.shape());
        Tensor y = x;
        Tensor k = zeros({16, 128}, i32);
        while_([&] { return k < x.as(i32) % 7; },
               [&] {
                   y += x(i, j + k - 3) + zero(x)(i, j - 30) + x(i, j + 2);
                   k += 1;
               });
        return y;
    });
}

/// The gradient of a convolution by the picture: sums of products that edges leave out.
Tensor spread(const Tensor& g, const Tensor& w) {
    auto [o, i, j, c, p, q] =
        indices<6>({g.size(0), g.size(1), g.size(2), w.size(1), w.size(2), w.size(3)});
    Tensor x = zeros({w.size(1), g.size(1), g.size(2)});
    scatter_add(x(c, i + p - 1, j + q - 1), g(o, i, j) * w(o, c, p, q));
    return x;
}

TEST_P(NativeEdges, ProductsThatAnEdgeLeavesOutAddNothing) {
    expect_equal("sums", [] {
        return spread(small_numbers({Size(8), Size(16), Size(24)}, f32),
                      small_numbers({Size(8), Size(4), Size(3), Size(3)}, f32) - 50.0f);
    });
    // An infinite factor that is left out is not multiplied by 0.
    expect_equal("infinite", [] {
        std::vector<float> factors(8 * 4 * 9, 2.0f);
        factors[0] = factors[44] = std::numeric_limits<float>::infinity();
        Tensor positive = small_numbers({Size(8), Size(16), Size(24)}, f32) + 1.0f;
        realize(positive);
        return spread(positive, reshape(tensor(factors), {8, 4, 3, 3}));
    });
}

}  // namespace
}  // namespace firn
