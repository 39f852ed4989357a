// Other mappings of a kernel, one step from a given one.
#include "compiler/mapping/choice/vary_mapping.h"

#include <algorithm>
#include <utility>

#include "compiler/mapping/steps.h"
#include "compiler/mapping/walk/map_grid.h"
#include "compiler/target/cost_table.h"

namespace firn {

Variations::Variations(const KernelCode& ready, const Mapping& from, const DeviceProfile& profile,
                       const SymbolFacts& facts)
    : ready(ready),
      from(from),
      profile(profile),
      facts(facts),
      extents(grid_extents(ready)),
      model_(ready, from.lanes > 1) {
    for (const KernelRegion& region : ready.regions) loops |= bool(region.range);
    this->from.tile.resize(std::max<size_t>(1, extents.size()), 1);
}

bool Variations::is_legal(const Mapping& m) const {
    return why_illegal({ready, m, profile, facts}).empty();
}

void Variations::with(const std::function<void(Mapping&)>& change) {
    Mapping m = from;
    change(m);
    if (m.copies() > costs::kMostTunedCopies) return;
    const int64_t nodes = model_.nodes(m.tile) * m.strides;
    if (nodes > costs::kMostTunedNodes || nodes * m.unroll > 2 * costs::kMostTunedNodes) return;
    if (m.lanes == from.lanes && model_.time(m.tile) > costs::kFarSlower * model_.time(from.tile))
        return;
    if (is_legal(m)) add(std::move(m));
}

void Variations::add(Mapping m) {
    const std::string words = text(m);
    if (words == text(from)) return;
    const auto same = [&](const Mapping& other) { return text(other) == words; };
    if (std::none_of(found.begin(), found.end(), same)) found.push_back(std::move(m));
}

std::vector<Mapping> vary_mapping(const KernelCode& ready, const Mapping& mapping,
                                  const DeviceProfile& profile, const SymbolFacts& facts) {
    Variations variations(ready, mapping, profile, facts);
    for (const MappingStep& step : mapping_steps())
        if (step.rules.vary) step.rules.vary(variations);
    return std::move(variations.found);
}

}  // namespace firn
