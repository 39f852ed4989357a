// What one element of a value costs a kernel, and how well a grid fills the device.
#pragma once
#include <unordered_map>

#include "compiler/schedule/schedule_facts.h"

namespace firn {

/// Simple operations of a node itself, for one element.
double own_operations(const Node& node);
/// The same in a kernel's body, where what moves elements counts as one.
double body_operations(const Node& node);

/// Seconds to evaluate one element of each value where it is inlined, by the operations and loads
/// that this takes on a device that is busy.
std::unordered_map<const Node*, double> element_seconds(const ScheduleFacts& facts);

/// It takes neither a load nor an operation.
bool is_free(const ScheduleFacts& facts, const Node& node);
/// It is computed element by element, from its inputs at their maps.
bool is_computed(const ScheduleFacts& facts, const Node& node);
/// A value of a narrow type as a wider one: a GPU loads it with less traffic, and converts it as it
/// comes. CPU drivers load narrow elements one by one.
bool widens_a_load(const Node& node, const DeviceProfile& profile);

/// Seconds that a kernel of its own costs beside its work: a launch, or, in a loop that one group
/// takes, a barrier.
double seconds_per_step(const ScheduleFacts& facts, const Node& node);
/// How many times longer work takes on a grid too small to fill the device.
double idle_factor(double grid, const DeviceProfile& profile);
/// Lanes that share a reduction of so many iterations for one index of the root's grid: one group
/// that takes all steps of a loop shares none.
double sharing_lanes(const ScheduleFacts& facts, const Node& root, double trips);

}  // namespace firn
