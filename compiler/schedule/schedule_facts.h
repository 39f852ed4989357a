// Collects what verdicts and groups are made from: the graph, the device and what follows from
// these alone.
#pragma once
#include <string>
#include <unordered_map>

#include "compiler/ir/accumulation.h"
#include "compiler/program/device_profile.h"
#include "compiler/schedule/host_numbers.h"
#include "compiler/schedule/regions.h"

namespace firn {

/// Facts that do not change while verdicts are made. Refers to what it is made from.
struct ScheduleFacts {
    const Graph& graph;
    const DeviceProfile& profile;
    const SymbolFacts& symbols;
    bool nested = true;  // see make_schedule()
    RegionFacts regions;
    HostNumbers numbers;
    std::unordered_map<const Node*, double> seconds;        // see element_seconds()
    std::unordered_map<const Node*, const char*> required;  // in memory at any cost; why
    std::unordered_map<std::string, const Node*> counts;    // what gives each data symbol its value
    NodeSet small_loops;                                    // see small_loops()
};
/// Collects the facts. `launched` and `kept`: see make_schedule().
ScheduleFacts schedule_facts(const Graph& graph, const DeviceProfile& profile,
                             const SymbolFacts& symbols, bool nested, const NodeSet& launched = {},
                             const NodeSet& kept = {});

/// True if the node is in memory before any verdict: tensor arguments, buffers, and what host loops
/// carry and return.
bool has_memory(const RegionFacts& regions, const Node& node);

Written written(const ScheduleFacts& facts, const Node& node);

}  // namespace firn
