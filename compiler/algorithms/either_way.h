// Chooses between two computations by the sizes of a call; internal.
#pragma once
#include "compiler/frontend/control.h"

namespace firn {

/// Returns `one(x)` if the size `first` is 1, `other(x)` if it is 0. If only the call knows it,
/// each is a loop that runs once or not at all, and its inputs are the carried values of its loop,
/// so that none of it is computed before. `x` is a Tensor, or a struct of some.
template <class T, class One, class Other>
T either_way(const Size& first, T x, const One& one, const Other& other) {
    if (first.is(1)) return one(x);
    if (first.is(0)) return other(x);
    for (Tensor once : loop(first)) x = one(x);
    for (Tensor once : loop(Size(1) - first)) x = other(x);
    return x;
}

}  // namespace firn
