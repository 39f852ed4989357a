// What was done when in a run, as a trace that chrome://tracing and Perfetto show.
#pragma once
#include <string>
#include <vector>

#include "engine/runtime/trace_event.h"

namespace firn {

/// In the Chrome trace format: a named track for each of the events', microseconds from the first.
std::string trace_text(const std::vector<TraceEvent>& events);

}  // namespace firn
