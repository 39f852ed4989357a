// A mapping on the way from step to step.
#pragma once
#include <algorithm>
#include <optional>

#include "compiler/kernel/strides.h"
#include "compiler/mapping/choice/kernel_traits.h"
#include "compiler/mapping/choice/tile_model.h"
#include "compiler/mapping/mapping.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {

/// The kernel, and what the steps so far have made of it.
struct Choice {
    const KernelCode& ready;
    const DeviceProfile& profile;
    const SymbolFacts& facts;
    const KernelTraits& traits;
    const bool staged;  // groups will load together
    Mapping m;
    int64_t nodes = 0, carried = 0;  // of the body with its copies
    bool columns = false;            // it walks columns of memory
    bool dealt_copies = false;       // one copy of a tile per lane, each with its own loads
    std::optional<TileModel> model;  // set if the kernel's tile is sized by it
    int64_t longest_written_out = costs::kShortLoop;  // iterations of an innermost loop

    const ClassRules& rules() const { return rules_of(profile); }
    size_t dims() const { return traits.grid.size(); }
    /// Enough invocations must remain to keep the device busy, fewer where each has much to do that
    /// nothing waits for.
    int64_t busy() const {
        const int64_t at_once = profile.parallel_invocations;
        if (staged) return at_once / costs::kStagedShare;
        return at_once * (traits.loops ? rules().waves_of_loops : rules().waves);
    }
    /// Invocations along the first range that a group has at the least, where others lie beside it:
    /// where there are fewer indices, some have nothing to do.
    int64_t least_width() const {
        if (dims() < 2) return 1;
        const bool square = !rules().subgroups_run_serially && traits.loops;
        return std::min<int64_t>(profile.subgroup_size,
                                 square ? costs::kSquareGroup : rules().wide_group);
    }
    /// Returns whether elements that all lanes of a subgroup read one after the other may be loaded
    /// by one lane each and shuffled to the others.
    bool may_hand_round() const {
        return rules().shuffles_loads && lanes_share(profile) && traits.plain() && traits.loops &&
               reads_in_sequence(ready, profile.subgroup_size);
    }
    /// `factor` times as many copies have few enough values that wait for stores of one element.
    bool may_hold(int64_t factor) const {
        return traits.scattered * m.copies() * factor <= costs::kHeldByCopies;
    }
    /// Returns whether the first range has a tile of so many neighbours for every lane of a vector.
    /// A vector of which some lanes have no tile takes as long as a whole one, where lanes load
    /// together.
    bool fills_lanes(int64_t tile) const {
        return !rules().lanes_load_together || dims() < 2 ||
               traits.x >= tile * int64_t{profile.subgroup_size};
    }
    /// `factor` times as many copies fit, and leave enough invocations.
    bool has_room(int64_t factor) const {
        return traits.nodes * m.copies() * factor <= traits.body_budget(costs::kBodyBudget) &&
               traits.total / (m.copies() * factor) >= busy();
    }
};

}  // namespace firn
