// The state of one run of map_ranges().
#include "compiler/mapping/walk/mapping_run.h"

#include "compiler/base/error.h"
#include "compiler/kernel/place.h"
#include "compiler/target/class_rules.h"

namespace firn {
namespace {

ByRegion<double> region_operations(const KernelCode& code,
                                   const ByNode<std::vector<RegionId>>& needs) {
    ByRegion<double> out(code.regions.size());
    for (NodeId id : code.nodes.ids())
        for (RegionId region : needs[id]) out[region] += operations_of(code[id]);
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
