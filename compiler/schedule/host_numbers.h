// Which values the host computes.
#pragma once
#include <unordered_map>
#include <vector>

#include "compiler/program/program.h"
#include "compiler/schedule/regions.h"

namespace firn {

/// Values that depend on nothing but scalar arguments, sizes, iterations of loops of kernels and
/// constants, and are dear enough to be computed by the host instead of by every invocation.
struct HostNumbers {
    std::vector<HostScalar> scalars;  // for Program::host_scalars, with these inductions:
    std::unordered_map<const Node*, Size> inductions;  // see host_inductions()
    std::unordered_map<const Node*, int> place;        // of the dear ones, among them
};
HostNumbers host_numbers(const RegionFacts& regions);

/// The host can compute it, so that a kernel has it as a parameter.
bool known_to_host(const HostNumbers& numbers, const Node& node);

}  // namespace firn
