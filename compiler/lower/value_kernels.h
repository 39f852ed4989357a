// Kernels that compute values, each at all its indices.
#pragma once
#include <string>
#include <vector>

#include "compiler/lower/lower_run.h"

namespace firn {

/// The buffer of a value that a kernel gives.
int computed_buffer(LowerRun& run, const Ref& value);

/// Adds the kernel that computes the item's values.
void add_kernel(LowerRun& run, const ScheduleItem& item, std::vector<ListedStep>& out);
/// Adds the kernel that computes `outputs` over the grid `shape`; output k goes to buffer
/// targets[k]. `again`: see ScheduleItem.
void add_kernel(LowerRun& run, const std::vector<Ref>& outputs, const std::vector<int>& targets,
                const Shape& shape, std::vector<ListedStep>& out, const NodeSet& again = {});

/// Makes a buffer of an Empty value alive from here on: its first element is stored.
void add_opening(LowerRun& run, const Node& empty, int buffer, std::vector<ListedStep>& out);

/// Returns the user's lines of the values that a kernel computes.
std::vector<std::string> lines_of(const std::vector<Ref>& outputs);

}  // namespace firn
