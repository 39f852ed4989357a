// Values that the host can compute, as sizes.
#pragma once
#include <optional>
#include <unordered_map>

#include "compiler/ir/graph.h"

namespace firn {

/// A rank-0 integer value as a host expression: constants, sizes, integer arguments, inductions of
/// host loops (given in `inductions`) and their sums, products, quotients, minima and maxima.
std::optional<Size> host_size(const Node& node,
                              const std::unordered_map<const Node*, Size>& inductions);

/// A Constant of this integer.
bool is_number(const Node& node, int64_t value);

}  // namespace firn
