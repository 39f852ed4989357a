// How many iterations loops and reductions take, as far as it can be told before a call.
#pragma once
#include "compiler/program/device_profile.h"
#include "compiler/schedule/host_numbers.h"
#include "compiler/schedule/regions.h"

namespace firn {

/// Iterations that a loop is expected to take; an assumed number where its bounds tell none.
double expected_trips(const Node& loop, const SymbolFacts& symbols);
/// The most iterations that a loop inside a kernel can take, from 1 to the profile's back edges:
/// these, where its bounds tell none.
double most_trips(const Node& loop, const HostNumbers& numbers, const DeviceProfile& profile,
                  const SymbolFacts& symbols);
/// Elements that a Reduce combines into one.
double reduction_trips(const Node& reduce, const SymbolFacts& symbols);

/// How often a value's home region is expected to run: the iterations of the host loops around it.
double expected_runs(const RegionFacts& regions, const SymbolFacts& symbols, const Node& node);
/// The loops inside kernels that a node depends on, with their expected iterations.
std::vector<std::pair<const Node*, double>> kernel_loops(const RegionFacts& regions,
                                                         const SymbolFacts& symbols,
                                                         const Node& node);

/// Elements of a shape, as estimated.
double expected_elements(const Shape& shape, const SymbolFacts& symbols);

}  // namespace firn
