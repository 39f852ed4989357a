// Neighbours at places that each lane computes, by native code: they are loaded together where no
// clamp changes an index, and one by one elsewhere.
#include <cmath>
#include <limits>
#include <vector>

#include "tests/device/native_levels.h"

namespace firn {
namespace {

class NativeNeighbours : public NativeLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, NativeNeighbours, native_levels(), level_name);

/// Places along an axis of `size` elements: vectors of which all are inside, some that cross each
/// end, some far outside, and what is no number.
Tensor places(int size, int step) {
    std::vector<float> out;
    const auto inside = static_cast<float>(size);
    for (int k = 0; k < 64; ++k) out.push_back(static_cast<float>(k * step % 64) * inside / 64);
    for (int k = 0; k < 64; ++k)
        out.push_back(static_cast<float>(k) / 8 - 4 + (k % 2 ? inside : 0));
    const float inf = std::numeric_limits<float>::infinity();
    for (int k = 0; k < 8; ++k)
        for (const float far : {-1e9f, 1e9f, inf, -inf, std::nanf(""), 0.5f}) out.push_back(far);
    for (int k = 0; k < 64; ++k) out.push_back(inside / 2 + static_cast<float>(k) / 64);
    for (int k = 0; k < 5; ++k) out.push_back(2.1e9f + static_cast<float>(k));
    return tensor(out);
}

/// Elements around a place, each with a weight of its own.
template <class Read>
Tensor around(const Read& read, const Tensor& y, const Tensor& x, int from, int to) {
    const Tensor i = floor(y).as(i32), j = floor(x).as(i32);
    Tensor sum = 0;
    for (int a = from; a <= to; ++a)
        for (int b = from; b <= to; ++b) {
            const Tensor one = read(i + a, j + b);
            sum = (a == from && b == from ? one : sum * 2 + one);
        }
    return sum.as(f64);
}
template <class Read>
Tensor around_all(const Read& read, const Tensor& y, const Tensor& x) {
    return concat({around(read, y, x, 0, 1), around(read, y, x, -1, 2), around(read, y, x, -2, 2)});
}

TEST_P(NativeNeighbours, AroundPlacesInsideAndOutsideAreThoseOfTheOracle) {
    const auto compare = [](int height, int width, DType type) {
        const std::string what =
            std::to_string(height) + " x " + std::to_string(width) + " " + type.name();
        const auto of = [=] { return small_numbers({Size(height), Size(width)}, type); };
        expect_equal(what, [&] { return around_all(of(), places(height, 1), places(width, 5)); });
        expect_equal("zero outside " + what,
                     [&] { return around_all(zero(of()), places(height, 3), places(width, 1)); });
    };
    for (const int size : {1, 2, 3}) {
        compare(size, 40, f32);
        compare(40, size, f32);
    }
    for (const DType type : {f32, i32, u32, f64, u8}) compare(37, 130, type);
}

TEST_P(NativeNeighbours, ConditionsThatNoClampAnswersStay) {
    expect_equal("conditions", [] {
        const Tensor of = small_numbers({Size(20), Size(40)}, f32);
        const Tensor i = floor(places(20, 1)).as(i32), j = floor(places(40, 5)).as(i32);
        Tensor sum = 0.0f;
        for (int b = 0; b < 2; ++b) {
            const Tensor column = j + b;
            sum = sum * 2 + select((column >= 0) & (column < 11), of(i, column), 9.0f);
            sum = sum * 2 + select(i > 7, of(i + 1, column), 5.0f);
        }
        return sum.as(f64);
    });
}

TEST_P(NativeNeighbours, SizesMayBeSymbols) {
    expect_equal("symbols", [] {
        auto f = compile([](Tensor of, Tensor y, Tensor x) { return around_all(of, y, x); },
                         {f32("n", "m"), f32("p"), f32("p")});
        std::vector<Tensor> all;
        for (const int width : {1, 2, 5, 64})
            all.push_back(
                f(small_numbers({Size(20), Size(width)}, f32), places(20, 1), places(width, 5)));
        return concat(all);
    });
}

TEST_P(NativeNeighbours, ChannelsSideBySideHaveNoneBehindTheLast) {
    for (const int channels : {2, 3, 4, 5})
        expect_equal(std::to_string(channels) + " channels", [&] {
            const Tensor of = small_numbers({Size(9), Size(31), Size(channels)}, f32);
            const Tensor i = floor(places(9, 1)).as(i32), j = floor(places(31, 5)).as(i32);
            Tensor sum = 0.0f;
            for (int b = 0; b < 2; ++b)
                for (int c = 0; c < channels; ++c) sum = sum * 2 + of(i, j + b, c);
            return sum.as(f64);
        });
}

TEST_P(NativeNeighbours, LanesThatHaveEndedReadNothing) {
    // Their places go on to be outside, where those of other lanes are inside.
    const auto walk = [](const Tensor& of) {
        Tensor x = places(7, 5), sum = zeros(x.shape());
        while_([&] { return (x < 5.0f) & (x > -9.0f); },
               [&] {
                   const Tensor j = floor(x).as(i32);
                   sum += of(2, j) - 3 * of(2, j + 1) + 2 * of(2, j + 2);
                   x += 1.5f;
               });
        return sum.as(f64);
    };
    for (const int width : {2, 7, 40})
        expect_equal(std::to_string(width) + " wide", [&] {
            return walk(small_numbers({Size(5), Size(width)}, f32));
        });
}

TEST_P(NativeNeighbours, AnEmptyTensorHasNone) {
    expect_equal("none", [] {
        const Tensor of = small_numbers({Size(5), Size(7)}, f32);
        return around_all(of, zeros({Size(0)}), zeros({Size(0)}));
    });
}

}  // namespace
}  // namespace firn
