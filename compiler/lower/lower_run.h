// The state of one run of lower_graph(), over which the functions that list its kernels work.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/kernel/kernel_list.h"
#include "compiler/lower/walk.h"
#include "compiler/schedule/regions.h"
#include "compiler/schedule/schedule.h"

namespace firn {

struct LowerRun {
    LowerRun(const Graph& graph, const Schedule& schedule, const DeviceProfile& profile,
             const SymbolFacts& facts);
    LowerRun(const LowerRun&) = delete;
    LowerRun& operator=(const LowerRun&) = delete;

    // The graph that is lowered, and facts about it.
    const Graph& graph;
    const Schedule& schedule;
    const DeviceProfile& profile;
    std::unordered_map<const Node*, int> uses;
    std::unordered_map<const Node*, std::vector<Ref>> results_of;  // by loop
    std::optional<RegionFacts> regions;                            // computed on demand: regions_of

    // The result.
    std::shared_ptr<Program> program;  // of the list
    LowerContext context;              // with the buffer of every value that has one
    int loops = 0;

    // The place in the region whose steps are made.
    std::span<const ScheduleItem> behind;  // the items that come later
    std::span<const Ref> results_of_region;
};

const RegionFacts& regions_of(LowerRun& run);

/// The user's line of a value, empty where there is none.
std::string first_line(const Node& node);
/// The same as the end of a message.
std::string at_line(const Node& node);

}  // namespace firn
