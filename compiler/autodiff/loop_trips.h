// Trip counts of loops, as far as their bounds determine them.
#pragma once
#include <optional>

#include "compiler/ir/builder.h"
#include "compiler/ir/graph.h"

namespace firn {

/// An upper bound of an i32 value of rank 0; nothing where there is none that the host knows.
std::optional<Size> upper_bound_of(const Node& node);

struct Trips {
    /// Iterations that the bounds allow (i32, rank 0): those that take place, where none is left
    /// out by a break.
    Ref count;
    /// An upper bound of the count; nothing if the host knows none.
    std::optional<Size> most;
};
/// UserError where only the data says which way the loop counts.
Trips trips_of(const Builder& b, const Node& loop);

}  // namespace firn
