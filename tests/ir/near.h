// Decides whether a floating-point result is near enough to the expected one.
#pragma once
#include <algorithm>
#include <cmath>

namespace firn {

/// `got` differs by at most `tolerance`, of the size of `expected` where that is above 1. An
/// infinity is near itself alone, and nan near nan.
inline bool near(double got, double expected, double tolerance) {
    if (got == expected || (std::isnan(got) && std::isnan(expected))) return true;
    if (!std::isfinite(got) || !std::isfinite(expected)) return false;
    return std::abs(got - expected) <= tolerance * std::max(1.0, std::abs(expected));
}

}  // namespace firn
