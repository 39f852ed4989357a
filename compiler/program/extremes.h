// The smaller and the larger of two floats.
#pragma once
#include <cmath>

namespace firn {

/// Returns the smaller of two floats; the number if one is nan. Of two zeros it returns the same
/// one in either order, as a sorted operation needs: -0 is the smaller.
template <class T>
T smaller(T x, T y) {
    return x != x ? y : y != y ? x : y < x || (x == y && std::signbit(y)) ? y : x;
}
template <class T>
T larger(T x, T y) {
    return x != x ? y : y != y ? x : x < y || (x == y && std::signbit(x)) ? y : x;
}

}  // namespace firn
