// The guards of an invocation's copies.
#include "compiler/mapping/walk/nest_guards.h"

#include <utility>

#include "compiler/mapping/walk/mapping_run.h"

namespace firn {
namespace {

/// Lets one lane store what all lanes of a subgroup have; the iterations of loops of stores are
/// dealt to the lanes already.
std::vector<NodeId> by_first_lane(MappingRun& run, const std::vector<NodeId>& effects) {
    if (run.mapping.lanes == 1) return effects;
    std::vector<NodeId> out, alone;
    for (NodeId e : effects) (run.b.node(e).op == KernelOp::For ? out : alone).push_back(e);
    if (alone.empty()) return out;
    const RegionId region = run.b.add_region();
    run.b.code()[region].effects = alone;
    out.push_back(run.b.branch(run.b.make(KernelOp::Equal, boolean, {run.lane, run.b.integer(0)}),
                               region, {}, false));
    return out;
}

/// Effects of one copy after those of the copies before: behind the condition under which it
/// stores, where it is another one than theirs.
class CopyEffects {
  public:
    explicit CopyEffects(MappingRun& run) : run_(run) {}
    void add(NodeId inside, const std::vector<NodeId>& effects) {
        if (effects.empty()) return;
        if (inside != inside_) close();
        inside_ = inside;
        open_.insert(open_.end(), effects.begin(), effects.end());
    }
    std::vector<NodeId> take() {
        close();
        return std::exchange(out_, {});
    }

  private:
    void close() {
        std::vector<NodeId> effects = std::exchange(open_, {});
        if (effects.empty()) return;
        if (inside_) {
            const RegionId region = run_.b.add_region();
            run_.b.code()[region].effects = std::move(effects);
            effects = {run_.b.branch(inside_, region, {}, true)};
        }
        out_.insert(out_.end(), effects.begin(), effects.end());
    }

    MappingRun& run_;
    NodeId inside_;
    std::vector<NodeId> open_, out_;
};

}  // namespace

/// Each guard stands inside the one before: a later copy exists only where the earlier ones do.
std::vector<NodeId> nest_guards(MappingRun& run, const std::vector<std::vector<NodeId>>& by_copy) {
    struct Level {
        NodeId guard;
        CopyEffects effects;
    };
    std::vector<Level> levels{{{}, CopyEffects(run)}};
    for (size_t copy = 0; copy < run.copies.size(); ++copy) {
        if (run.copies[copy].guard) levels.push_back({run.copies[copy].guard, CopyEffects(run)});
        levels.back().effects.add(run.copies[copy].inside, by_first_lane(run, by_copy[copy]));
    }
    NodeId inner;  // the Branch of the next level
    for (size_t k = levels.size(); k-- > 0;) {
        std::vector<NodeId> effects = levels[k].effects.take();
        if (inner) effects.push_back(inner);
        if (k == 0) return effects;
        const RegionId region = run.b.add_region();
        run.b.code()[region].effects = effects;
        inner = run.b.branch(levels[k].guard, region, {}, true);
    }
    return {};
}

}  // namespace firn
