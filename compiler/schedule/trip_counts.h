// Estimates, before a call, how many iterations loops and reductions take.
#pragma once
#include "compiler/program/device_profile.h"
#include "compiler/schedule/host_numbers.h"
#include "compiler/schedule/regions.h"

namespace firn {

/// Returns the expected trip count of a loop; an assumed number if its bounds give none.
double expected_trips(const Node& loop, const SymbolFacts& symbols);
/// Counts the trips of all loops once, for expected_runs() and kernel_loops().
void note_expected_trips(RegionFacts& regions, const SymbolFacts& symbols);
/// Returns the largest trip count of a loop inside a kernel, from 1 to the profile's back edges;
/// the latter if its bounds give none.
double most_trips(const Node& loop, const HostNumbers& numbers, const DeviceProfile& profile,
                  const SymbolFacts& symbols);
/// Returns the number of elements that a Reduce combines into one.
double reduction_trips(const Node& reduce, const SymbolFacts& symbols);

/// Returns how often a value's home region is expected to run: the product of the expected trip
/// counts of the host loops around it.
double expected_runs(const RegionFacts& regions, const SymbolFacts& symbols, const Node& node);
/// Returns the loops inside kernels that a node depends on, with their expected trip counts.
std::vector<std::pair<const Node*, double>> kernel_loops(const RegionFacts& regions,
                                                         const SymbolFacts& symbols,
                                                         const Node& node);

/// Returns the estimated number of elements of a shape.
double expected_elements(const Shape& shape, const SymbolFacts& symbols);

}  // namespace firn
