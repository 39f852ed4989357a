// Formats the shown elements of a tensor, at the ends of its axes, as text; internal.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/graph.h"

namespace firn {

class Tensor;

/// A tensor as text.
struct Shown {
    std::string type;      // with its shape
    std::string elements;  // or why there are none
    int rank = 0;
    bool known = false;  // it has elements
};
/// Computes and waits; not while something is recorded.
Shown shown(const Tensor& x);

/// Returns how many elements of an axis of this size are shown: all, or the first and the last
/// `edge`.
Size shown(const Size& size, int edge);
bool all_shown(const Size& size, int edge);
/// The elements of x that are shown.
Ref shown_elements(const Builder& b, const Ref& x, int edge);

std::string value_text(const Scalar& value);
/// Elements in numpy's brackets, of a tensor of this shape: those that are shown, in row-major
/// order.
std::string bracketed(const std::vector<int64_t>& shape, int edge,
                      const std::vector<std::string>& elements);

}  // namespace firn
