// Builds one new loop for some iterations of an old one.
#include "compiler/mapping/walk/jam_loops.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "compiler/mapping/walk/bound_iteration.h"
#include "compiler/mapping/walk/combine_tree.h"
#include "compiler/mapping/walk/copy_effects.h"
#include "compiler/mapping/walk/copy_values.h"
#include "compiler/mapping/walk/mapping_run.h"
#include "compiler/mapping/walk/staged_operands.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

class JammedLoop {
  public:
    JammedLoop(MappingRun& run, const Jam& jam, const Part& part)
        : run_(run),
          b_(run.b),
          jam_(jam),
          part_(part),
          node_(run.from[jam.loop]),
          region_(node_.as<BodyAttr>().region),
          old_(run.from[region_]),
          terms_(jam.group.size(), Carried(old_.args.size())) {}

    Carried build(Carried values) {
        const int64_t trips = known_trips();
        if (!old_.alive && trips == 0) return values;
        if (!old_.alive && trips == 1 && jam_.around.empty()) return unroll(std::move(values));
        return loop(std::move(values));
    }

  private:
    /// -1: not known.
    int64_t known_trips() const {
        return b_.is_constant(part_.trips) ? b_.node(part_.trips).as<Scalar>().i : -1;
    }

    /// The iterations without a loop.
    Carried unroll(Carried values) {
        const NodeId base =
            first_index(b_, b_.integer(0), part_.start, part_.deal, Size(0), run_.lane);
        current_ = std::move(values);
        for (int64_t c = 0; c < part_.deal.unrolled; ++c) iteration(base, c, false);
        return std::move(current_);
    }

    Carried loop(Carried values) {
        const Range range = new_range();
        const RangeId range_id = b_.add_range(range);
        const RegionId region = b_.add_region();
        b_.code()[region].range = range_id;
        Scoped<std::vector<NodeId>> effects(run_.effects, {});
        open(region);
        const bool together = !old_.alive && run_.same_in_subgroup(range.extent_node);
        joined_.open(b_, region);
        for (size_t k = 0; k < joined_.size(); ++k)
            run_.same_in_subgroup.mark(joined_.index(k), together);
        const NodeId index = joined_.empty() ? b_.range(range_id) : joined_.innermost();
        const NodeId base = first_index(b_, index, part_.start, part_.deal,
                                        run_.from[old_.range].extent, run_.lane);
        const Scoped<Surroundings> inside(
            run_.around, run_.around.in_loop(together, jam_.group.size() == run_.copies.size(),
                                             part_.deal.unrolled));
        std::deque<BoundIteration> around;
        for (size_t k = 0; k < jam_.around.size(); ++k)
            around.emplace_back(run_, run_.from[jam_.around[k]].as<BodyAttr>().region, jam_.group,
                                joined_.index(k), current_);
        // Staged loops have many chains already, and a product and a sum are one operation in each.
        // Loops that store need every intermediate value.
        const bool gathers = part_.deal.unrolled > 1 && !run_.tile.arrays && !jam_.stores;
        for (int64_t c = 0; c < part_.deal.unrolled; ++c) iteration(base, c, gathers);
        return close(region, effects, std::move(values));
    }

    Range new_range() {
        const int64_t trips = known_trips();
        Range range = range_of_part(b_, run_.from[old_.range], part_);
        if (trips >= 0) range.max_trips = trips;
        join(range);
        return range;
    }

    /// Makes the range of the innermost loop that of the whole nest.
    void join(Range& range) {
        if (jam_.around.empty()) return;
        for (NodeId outer : jam_.around) {
            const KernelRegion& body = run_.from[run_.from[outer].as<BodyAttr>().region];
            const Range& old = run_.from[body.range];
            joined_.add(copy_value(run_, old.extent_node, jam_.group[0]), old.extent,
                        old.max_trips);
        }
        joined_.add(part_.trips, part_.extent, range.max_trips);
        joined_.count(b_, range);
    }

    void open(RegionId region) {
        for (size_t g = 0; g < jam_.group.size(); ++g) {
            args_.emplace_back();
            for (NodeId arg : old_.args)
                args_[g].push_back(b_.region_arg(region, run_.from[arg].dtype));
        }
        if (end_together())
            for (size_t g = 0; g < jam_.group.size(); ++g)
                goes_on_.push_back(b_.region_arg(region, boolean));
        current_ = args_;
    }

    /// Copies that may end at different iterations run until the last one ends; a copy that has
    /// ended keeps its values.
    bool end_together() const { return old_.alive && jam_.group.size() > 1; }
    void keep_ended(size_t g, std::vector<NodeId>& next) {
        const NodeId alive = copy_value(run_, old_.alive, jam_.group[g]);
        if (!end_together()) {
            alive_ = alive;
            return;
        }
        for (size_t k = 0; k < next.size(); ++k)
            next[k] = b_.select(goes_on_[g], next[k], args_[g][k]);
        next_on_.push_back(b_.make(KernelOp::And, boolean, {goes_on_[g], alive}));
        alive_ = g == 0 ? next_on_[0] : b_.make(KernelOp::Or, boolean, {alive_, next_on_[g]});
    }

    /// Builds one of the unrolled iterations, for all copies.
    void iteration(NodeId base, int64_t unrolled, bool gathers) {
        const NodeId index = b_.add(base, b_.integer(part_.deal.at(unrolled)));
        const BoundIteration bound(run_, region_, jam_.group, index, current_);
        read_staged(run_, old_.range, jam_.group);
        for (size_t g = 0; g < jam_.group.size(); ++g) {
            std::vector<NodeId> next;
            for (size_t k = 0; k < old_.yields.size(); ++k)
                next.push_back(gathers && gather(g, k)
                                   ? current_[g][k]
                                   : copy_value(run_, old_.yields[k], jam_.group[g]));
            if (old_.alive) keep_ended(g, next);
            current_[g] = std::move(next);
        }
        if (!jam_.stores) return;
        std::vector<std::vector<NodeId>> by_copy(run_.copies.size());
        for (NodeId effect : old_.effects) build_effect(run_, effect, by_copy);
        for (const std::vector<NodeId>& of_copy : by_copy)
            run_.effects.insert(run_.effects.end(), of_copy.begin(), of_copy.end());
    }

    /// Keeps the term that this iteration adds to a carried value. Returns false if it does more
    /// than that.
    bool gather(size_t g, size_t k) {
        const std::optional<GatheredTerm> gathered = gathered_term(run_.from, old_, k);
        if (gathered) terms_[g][k].push_back(copy_value(run_, gathered->term, jam_.group[g]));
        return gathered.has_value();
    }

    /// The terms are products that the device adds by one operation each, and there are sums enough
    /// for it to begin another one meanwhile.
    bool adds_in_turn(size_t g, size_t k) const {
        const auto product = [&](NodeId term) { return b_.node(term).op == KernelOp::Mul; };
        const auto sums = static_cast<size_t>(std::count_if(
            terms_[g].begin(), terms_[g].end(), [](const auto& terms) { return !terms.empty(); }));
        return rules_of(run_.profile).fuses_products &&
               jam_.group.size() * sums >= costs::kSumsAtOnce &&
               run_.from[old_.yields[k]].op == KernelOp::Add &&
               std::all_of(terms_[g][k].begin(), terms_[g][k].end(), product);
    }

    NodeId yield(size_t g, size_t k) {
        if (terms_[g][k].empty()) return current_[g][k];
        const KernelNode& step = run_.from[old_.yields[k]];
        b_.set_lines(step.lines);
        if (adds_in_turn(g, k)) {
            NodeId sum = args_[g][k];
            for (NodeId term : terms_[g][k]) sum = b_.make(step.op, step.dtype, {sum, term});
            return sum;
        }
        return b_.make(step.op, step.dtype,
                       {args_[g][k], combine_tree(b_, step.op, step.dtype, terms_[g][k])});
    }

    Carried close(RegionId region, Scoped<std::vector<NodeId>>& effects, Carried values) {
        std::vector<NodeId> yields, inits;
        for (size_t g = 0; g < jam_.group.size(); ++g)
            for (size_t k = 0; k < old_.args.size(); ++k) {
                yields.push_back(yield(g, k));
                inits.push_back(values[g][k]);
            }
        for (NodeId on : next_on_) {
            yields.push_back(on);
            inits.push_back(b_.boolean_value(true));
        }
        for (NodeId index : joined_.next(b_)) {
            yields.push_back(index);
            inits.push_back(b_.integer(0));
        }
        KernelRegion& body = b_.code()[region];
        body.yields = std::move(yields);
        body.alive = alive_;
        body.effects = effects.end();
        const bool has_effects = !body.effects.empty();
        b_.set_lines(node_.lines);
        const NodeId made = b_.close_for(region, std::move(inits));
        if (has_effects) run_.effects.push_back(made);
        int next = 0;
        for (auto& copy : values)
            for (NodeId& value : copy) value = b_.result(made, next++);
        return values;
    }

    MappingRun& run_;
    KernelBuilder& b_;
    const Jam& jam_;
    const Part& part_;
    const KernelNode& node_;  // the loop
    const RegionId region_;   // its body, as the next
    const KernelRegion& old_;
    JoinedLoops joined_;          // empty where no loops are joined
    Carried args_, current_;      // at the start of an iteration; after those built so far
    std::vector<Carried> terms_;  // of each value in `current_`: the terms of unrolled iterations
    NodeId alive_;
    std::vector<NodeId> goes_on_, next_on_;  // of copies that end together, by copy
};

}  // namespace

Carried jam_loop(MappingRun& run, const Jam& jam, const Part& part, Carried values) {
    return JammedLoop(run, jam, part).build(std::move(values));
}

}  // namespace firn
