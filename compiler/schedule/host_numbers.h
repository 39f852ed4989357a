// Chooses the values that the host computes.
#pragma once
#include <unordered_map>
#include <vector>

#include "compiler/program/program.h"
#include "compiler/schedule/regions.h"

namespace firn {

/// Values that depend only on scalar arguments, sizes, iterations of loops of kernels and
/// constants, and are expensive enough that the host computes them instead of every invocation.
struct HostNumbers {
    std::vector<HostScalar> scalars;  // for Program::host_scalars, with these inductions:
    std::unordered_map<const Node*, Size> inductions;  // see host_inductions()
    std::unordered_map<const Node*, int> place;        // of the expensive ones, in `scalars`
};
HostNumbers host_numbers(const RegionFacts& regions);

/// True if the host can compute the value, so that a kernel gets it as a parameter.
bool known_to_host(const HostNumbers& numbers, const Node& node);

}  // namespace firn
