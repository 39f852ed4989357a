// A run as a Chrome trace.
#include "engine/app/trace_file.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace firn {

std::string trace_text(const std::vector<TraceEvent>& events) {
    using Json = nlohmann::ordered_json;
    Json out = Json::array();
    const auto meta = [&](const char* what, int track, const std::string& name) {
        out.push_back(
            {{"name", what}, {"ph", "M"}, {"pid", 1}, {"tid", track}, {"args", {{"name", name}}}});
    };
    double first = 0;
    if (!events.empty())
        first = std::min_element(events.begin(), events.end(), [](auto& a, auto& b) {
                    return a.begin < b.begin;
                })->begin;
    std::map<std::string, int> tracks;
    meta("process_name", 0, "firn");
    for (const TraceEvent& event : events) {
        const auto [track, added] =
            tracks.emplace(event.track, static_cast<int>(tracks.size()) + 1);
        if (added) meta("thread_name", track->second, event.track);
        out.push_back({{"name", event.name},
                       {"ph", "X"},
                       {"ts", (event.begin - first) * 1e6},
                       {"dur", std::max(0.0, event.end - event.begin) * 1e6},
                       {"pid", 1},
                       {"tid", track->second}});
    }
    return Json{{"traceEvents", out}}.dump() + "\n";
}

}  // namespace firn
