// What verdicts and groups are made from: the graph, the device and what follows from these alone.
#pragma once
#include <string>
#include <unordered_map>

#include "compiler/ir/accumulation.h"
#include "compiler/program/device_profile.h"
#include "compiler/schedule/host_numbers.h"
#include "compiler/schedule/regions.h"

namespace firn {

/// Nothing of it changes while verdicts are sought. Refers to what it is made from.
struct ScheduleFacts {
    const Graph& graph;
    const DeviceProfile& profile;
    const SymbolFacts& symbols;
    bool nested = true;  // see make_schedule()
    RegionFacts regions;
    HostNumbers numbers;
    std::unordered_map<const Node*, double> seconds;        // see element_seconds()
    std::unordered_map<const Node*, const char*> required;  // in memory whatever it costs; why
    std::unordered_map<std::string, const Node*> counts;    // what gives each data symbol its value
    NodeSet small_loops;                                    // see small_loops()
};
/// `launched` and `kept`: see make_schedule().
ScheduleFacts schedule_facts(const Graph& graph, const DeviceProfile& profile,
                             const SymbolFacts& symbols, bool nested, const NodeSet& launched = {},
                             const NodeSet& kept = {});

/// In memory before any verdict: tensor arguments, buffers, what host loops carry and give back.
bool has_memory(const RegionFacts& regions, const Node& node);

Written written(const ScheduleFacts& facts, const Node& node);

}  // namespace firn
