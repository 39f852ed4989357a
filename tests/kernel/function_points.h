// Points over the whole range of floats, and how far a result is off, for tests of functions.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace firn::test {

static_assert(std::numeric_limits<long double>::digits >= 64, "the reference is exact enough");

/// Returns x, or a zero of its sign where devices may take it for one.
template <class T>
T flushed(T x) {
    return std::abs(x) < std::numeric_limits<T>::min() ? std::copysign(T{0}, x) : x;
}

/// Every exponent and sign with many mantissas, and the neighbourhoods where functions are
/// difficult.
inline std::vector<float> float_points() {
    std::vector<float> out = {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN};
    uint32_t state = 12345;
    auto next = [&] { return state = state * 1664525u + 1013904223u; };
    for (uint32_t exponent = 0; exponent < 255; ++exponent)
        for (int k = 0; k < 1500; ++k)
            out.push_back(
                std::bit_cast<float>((next() & 0x80000000u) | exponent << 23 | next() >> 9));
    for (float center : {0.0f, 0.5f, 1.0f, -1.0f, 2.0f, 88.7f, -87.3f, 128.0f, -126.0f, 0.7071068f})
        for (int k = -2000; k < 2000; ++k)
            out.push_back(
                std::bit_cast<float>(std::bit_cast<uint32_t>(center) + static_cast<uint32_t>(k)));
    for (int k = -60000; k < 60000; ++k) out.push_back(static_cast<float>(k * (M_PI / 2)));
    for (int k = 0; k < 400000; ++k)
        out.push_back(static_cast<float>(static_cast<int32_t>(next())) * 0x1p-31f *
                      (k % 4 == 0   ? 100.0f
                       : k % 4 == 1 ? 10.0f
                       : k % 4 == 2 ? 3.0f
                                    : 1.0f));
    return out;
}

class DrawnBits {
  public:
    uint64_t operator()() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return (state_ >> 32) | (state_ << 32);
    }

  private:
    uint64_t state_ = 12345;
};

/// Every exponent and sign with some mantissas, multiples of pi/2, the neighbourhoods where
/// functions are difficult, and the ranges in which they change.
inline std::vector<double> double_points() {
    std::vector<double> out = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN};
    DrawnBits next;
    for (uint64_t exponent = 0; exponent < 2047; ++exponent)
        for (int k = 0; k < 60; ++k)
            out.push_back(std::bit_cast<double>((next() & (uint64_t{1} << 63)) | exponent << 52 |
                                                next() >> 12));
    for (double centre : {0.5, 1.0, -1.0, 2.0, 2.2, 709.78, -745.1, 1024.0, -1022.0, -1074.0,
                          0.70710678, 5.9, 0.41421356237309503, 2.414213562373095, 1e6})
        for (int64_t k = -700; k < 700; ++k)
            out.push_back(std::bit_cast<double>(std::bit_cast<int64_t>(centre) + k));
    for (int k = -30000; k < 30000; ++k) out.push_back(k * (M_PI / 2));
    for (int64_t k = 1; k < 20000; ++k)
        out.push_back(static_cast<double>(k * k * k * 1001) * (M_PI / 2));
    const double ranges[] = {1, 3, 10, 100, 800};
    for (int k = 0; k < 200000; ++k)
        out.push_back(static_cast<double>(static_cast<int64_t>(next())) * 0x1p-63 * ranges[k % 5]);
    return out;
}

/// Returns second arguments for x, and adds pairs of ends to both: most pairs of any exponents
/// overflow, so half of them have one below `moderate`.
template <class T>
std::vector<T> pair_up(std::vector<T>& x, T moderate) {
    std::vector<T> y(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
        y[i] = x[(i * 7919 + 13) % x.size()];
        if (i % 2) y[i] = std::remainder(y[i], moderate);
    }
    const T huge = std::numeric_limits<T>::max() / 2, small = 1 / huge * 1024;
    const T near = 1 + 4 * std::numeric_limits<T>::epsilon();
    const T ends[] = {
        T{0.0},  T{-0.0}, 1,      -1,   INFINITY, -INFINITY, NAN,  2,
        T{-3.0}, 3,       T{0.5}, huge, -huge,    small,     near, T{9007199254740993.0}};
    for (T a : ends)
        for (T b : ends) x.push_back(a), y.push_back(b);
    return y;
}

/// Distance in f32 steps at `exact`; 0 where both are the same nan, infinity or flushed subnormal.
inline double error_in_ulps(float got, double exact) {
    if (std::isnan(exact)) return std::isnan(got) ? 0 : INFINITY;
    const auto nearest = static_cast<float>(exact);
    if (got == nearest)
        return got == 0 && exact == 0 && std::signbit(got) != std::signbit(exact) ? INFINITY : 0;
    if (std::isnan(got)) return INFINITY;
    constexpr double kSmallest = std::numeric_limits<float>::min();
    if (std::abs(exact) < kSmallest && got == 0) return 0;
    // Beyond the largest number an infinity is one step further.
    const double value = std::isinf(got) ? std::copysign(std::ldexp(1.0, 128), got) : double(got);
    const double bounded = std::isinf(nearest) ? std::copysign(std::ldexp(1.0, 128), exact) : exact;
    const double step =
        std::ldexp(1.0, std::max(std::ilogb(std::max(std::abs(exact), kSmallest)), -126) - 23);
    return std::abs(value - bounded) / std::min(step, std::ldexp(1.0, 104));
}

/// The same in f64 steps.
inline double error_in_wide_ulps(double got, long double exact) {
    if (std::isnan(exact)) return std::isnan(got) ? 0 : INFINITY;
    const auto nearest = static_cast<double>(exact);
    if (got == nearest)
        return got == 0 && exact == 0 && std::signbit(got) != std::signbit(exact) ? INFINITY : 0;
    if (std::isnan(got)) return INFINITY;
    constexpr double kSmallest = std::numeric_limits<double>::min();
    if (std::abs(exact) < kSmallest && got == 0) return 0;
    // Beyond the largest number an infinity is one step further.
    const auto bounded = [](long double x) {
        return std::isinf(x) || std::abs(x) > 0x1p1024L ? std::copysign(0x1p1024L, x) : x;
    };
    const int exponent = std::ilogb(std::max(std::abs(exact), static_cast<long double>(kSmallest)));
    return static_cast<double>(std::abs(bounded(got) - bounded(exact)) /
                               std::ldexp(1.0L, std::min(exponent, 1023) - 52));
}

}  // namespace firn::test
