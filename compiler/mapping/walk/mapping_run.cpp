// The state of one run of map_ranges().
#include "compiler/mapping/walk/mapping_run.h"

#include "compiler/base/error.h"
#include "compiler/kernel/place.h"
#include "compiler/target/class_rules.h"

namespace firn {
namespace {

std::vector<double> region_operations(const KernelCode& code,
                                      const std::vector<std::vector<int>>& needs) {
    std::vector<double> out(code.regions.size(), 0);
    for (size_t id = 0; id < code.nodes.size(); ++id)
        for (int region : needs[id]) out[region] += operations_of(code.nodes[id]);
    return out;
}

}  // namespace

MappingRun::MappingRun(const KernelCode& from, KernelCode& to, const Mapping& mapping,
                       const DeviceProfile& profile, const SymbolFacts& facts)
    : from(from),
      mapping(mapping),
      profile(profile),
      facts(facts),
      needs(region_needs(from)),
      operations(region_operations(from, needs)),
      staged(staged_loops(from, mapping)),
      b(to, facts) {
    if (mapping.lanes > 1)
        shared = loops_of_lanes(from, mapping.lanes, rules_of(profile).subgroups_run_serially);
}

}  // namespace firn
