// Estimates what one element of a value costs a kernel, and how well a grid fills the device.
#pragma once
#include <unordered_map>

#include "compiler/schedule/schedule_facts.h"

namespace firn {

/// Returns the simple operations of a node itself, for one element.
double own_operations(const Node& node);
/// Returns the same for a kernel's body, in which an operation that only moves elements counts as
/// one.
double body_operations(const Node& node);

/// Returns the seconds to evaluate one element of each value if it is inlined: those of the
/// operations and loads that this takes on a busy device.
std::unordered_map<const Node*, double> element_seconds(const ScheduleFacts& facts);

/// True if the node takes neither a load nor an operation.
bool is_free(const ScheduleFacts& facts, const Node& node);
/// True if the node is computed element by element from its inputs at their maps.
bool is_computed(const ScheduleFacts& facts, const Node& node);
/// True if the node converts a value of a narrow type to a wider one: a GPU loads the narrow value
/// with less traffic and converts it at the load. CPU drivers load narrow elements one by one.
bool widens_a_load(const Node& node, const DeviceProfile& profile);

/// Returns the seconds that a separate kernel costs besides its work: a launch or, in a loop that
/// one group runs, a barrier.
double seconds_per_step(const ScheduleFacts& facts, const Node& node);
/// Returns how many times longer work takes on a grid that is too small to fill the device.
double idle_factor(double grid, const DeviceProfile& profile);
/// Returns the number of lanes that share a reduction of `trips` iterations for one index of the
/// root's grid. If one group runs all steps of a loop, its lanes share none.
double sharing_lanes(const ScheduleFacts& facts, const Node& root, double trips);

}  // namespace firn
