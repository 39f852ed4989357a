// Values of a graph on a window of its grid.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "compiler/decompose/reach.h"
#include "compiler/ir/builder.h"

namespace firn {

/// Positions of an axis of the grid: from `first`, which may be negative where the axis is
/// periodic.
struct Span {
    int64_t first = 0, length = 0;
    int64_t end() const { return first + length; }
    friend bool operator==(const Span&, const Span&) = default;
};
/// By axis of the grid.
using GridWindow = std::vector<Span>;

/// Returns `values` as if the window were the whole grid, but that indices and sizes are the
/// grid's: right where what they need lies in the window. `leaves` gives each leaf on the window.
/// `totals`: the sizes of the grid.
std::vector<Ref> on_window(const Builder& b, Reaches& reaches, const std::vector<Ref>& values,
                           const GridWindow& window, const std::vector<int64_t>& totals,
                           const std::unordered_map<const Node*, Ref>& leaves);

}  // namespace firn
