// The error message for a value that no memory holds.
#pragma once
#include <cstdint>
#include <string>

#include "compiler/ir/graph.h"

namespace firn {

/// Elements of such a shape, however many.
double count_elements(const std::vector<int64_t>& shape);
/// "kernels count elements in memory to .."
std::string counted_limit();
/// The message for a value of this shape that would lie in memory: its operation, elements and
/// bytes, `limit` (as in "a tensor holds at most 5 elements"), and the line.
std::string too_large(const Node& node, const std::vector<int64_t>& shape,
                      const std::string& limit);

}  // namespace firn
