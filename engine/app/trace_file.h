// The timeline of a run as a trace for chrome://tracing and Perfetto.
#pragma once
#include <string>
#include <vector>

#include "engine/runtime/trace_event.h"

namespace firn {

/// Writes events in the Chrome trace format, on their named tracks, in microseconds from the first.
std::string trace_text(const std::vector<TraceEvent>& events);

}  // namespace firn
