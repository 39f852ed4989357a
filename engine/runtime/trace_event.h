// The events of a trace: name, place, begin and end.
#pragma once
#include <chrono>
#include <string>

namespace firn {

struct TraceEvent {
    const char* track = "";  // events of one track do not overlap, or lie inside each other
    std::string name;
    double begin = 0, end = 0;  // seconds of the host's steady clock
};

/// Returns the time of the host's steady clock.
inline double trace_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace firn
