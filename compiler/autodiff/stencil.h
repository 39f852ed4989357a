// Stencils: the neighbours in one tensor that each element of another one depends on.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace firn {

using Offset = std::vector<int64_t>;  // by axis

/// Element p of a tensor depends on elements p + offset of another one of the same rank alone;
/// along axes that wrap, p + offset modulo their extent.
struct Stencil {
    std::vector<Offset> offsets;  // sorted, each once
    std::vector<bool> wraps;      // by axis
};
/// Finds the stencil by which y depends on x; nothing if it cannot be found, as through reductions,
/// loops and movement of axes.
std::optional<Stencil> stencil_of(const Ref& y, const Ref& x);

/// Element q of x has the colour (sum of factors * q) mod count: no two elements that the same
/// element of y depends on have the same.
struct Colouring {
    int64_t count = 1;
    std::vector<int64_t> factors;  // by axis
};
/// Finds a colouring of few colours by search: no fewer than there are offsets. T. Coleman and J.
/// More, "Estimation of Sparse Jacobian Matrices and Graph Coloring Problems", 1983. Nothing where
/// axes that wrap have extents for which there is none of less than `most`.
std::optional<Colouring> colours_of(const Stencil& stencil, const Shape& x, int64_t most);

}  // namespace firn
