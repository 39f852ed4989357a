// The guards of an invocation's copies.
#include "compiler/mapping/nest_guards.h"

#include "compiler/mapping/mapping_run.h"

namespace firn {
namespace {

/// What all lanes of a subgroup have is stored by one of them; the iterations of loops of stores
/// are dealt to them already.
std::vector<int> by_first_lane(MappingRun& run, const std::vector<int>& effects) {
    if (run.mapping.lanes == 1) return effects;
    std::vector<int> out, alone;
    for (int e : effects) (run.b.node(e).op == KernelOp::For ? out : alone).push_back(e);
    if (alone.empty()) return out;
    const int region = run.b.add_region();
    run.b.code().regions[region].effects = alone;
    out.push_back(run.b.branch(run.b.make(KernelOp::Equal, boolean, {run.lane, run.b.integer(0)}),
                               region, -1, false));
    return out;
}

}  // namespace

/// Each guard stands inside the one before: a later copy exists only where the earlier ones do.
std::vector<int> nest_guards(MappingRun& run, const std::vector<std::vector<int>>& by_copy) {
    struct Level {
        int guard = -1;  // -1: none
        std::vector<int> effects;
    };
    std::vector<Level> levels(1);
    for (size_t copy = 0; copy < run.copies.size(); ++copy) {
        if (run.copies[copy].guard >= 0) levels.push_back({run.copies[copy].guard, {}});
        const std::vector<int> own = by_first_lane(run, by_copy[copy]);
        std::vector<int>& effects = levels.back().effects;
        effects.insert(effects.end(), own.begin(), own.end());
    }
    int inner = -1;  // the Branch of the next level
    for (size_t k = levels.size(); k-- > 0;) {
        std::vector<int> effects = levels[k].effects;
        if (inner >= 0) effects.push_back(inner);
        if (k == 0) return effects;
        const int region = run.b.add_region();
        run.b.code().regions[region].effects = effects;
        inner = run.b.branch(levels[k].guard, region, -1, true);
    }
    return {};
}

}  // namespace firn
