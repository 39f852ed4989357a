// Distributes loops: only what depends on earlier iterations stays in the loop, as one kernel.
#include "compiler/passes/profiled/distribute_loops.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "compiler/autodiff/batch.h"
#include "compiler/ir/tape.h"
#include "compiler/passes/profiled/crowded_loops.h"
#include "compiler/passes/profiled/loop_parts.h"
#include "compiler/schedule/costs.h"
#include "compiler/schedule/trip_counts.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// Results of a loop that something asks for, by index.
using Asked = std::vector<size_t>;

/// The iterations of a loop whose largest trip count the host knows.
struct Iterations {
    Size count;
    int64_t step = 1;
};

std::optional<Iterations> iterations_of(const Node& loop, const SymbolFacts& facts) {
    const auto begin = host_size(*loop.inputs[0], {}), end = host_size(*loop.inputs[1], {}),
               step = host_size(*loop.inputs[2], {});
    if (!begin || !end || !step || !step->is_constant() || step->is(0)) return std::nullopt;
    const int64_t by = step->constant();
    const Size distance = by > 0 ? *end - *begin : *begin - *end;
    const Size count = max(ceil_div(distance, Size(std::abs(by))), Size(0));
    if (count.upper_bound(facts.largest) >= costs::kLongestKnown) return std::nullopt;
    return Iterations{count, by};
}

/// Distributes one loop.
class Distributor {
  public:
    Distributor(NodeTable& table, const DeviceProfile& profile, const SymbolFacts& facts,
                const Ref& loop, Iterations iterations, Asked asked)
        : b_{table, first_line(loop->lines)},
          profile_(profile),
          facts_(facts),
          parts_(loop_parts(loop)),
          iterations_(std::move(iterations)),
          asked_(std::move(asked)) {}

    /// Returns the loop's results, computed in the new way; empty if that gains nothing.
    std::vector<Ref> run() {
        const Flags none(parts_.terms.size());
        if (is_in_one_kernel(parts_.loop, asked_)) return parted(cut_loop(parts_, none));
        for (const Flags& wanted : {sums_across(parts_), sums(parts_)}) {
            const LoopCut cut = cut_loop(parts_, wanted);
            if (cut.moved == none) continue;
            if (std::vector<Ref> out = parted(cut); !out.empty()) return out;
        }
        return {};
    }

  private:
    /// True if the loop runs inside one kernel when only the results `asked` are asked for.
    bool is_in_one_kernel(const Ref& loop, const Asked& asked) const {
        if (asked.empty()) return true;
        Graph graph;
        for (const size_t k : asked) graph.results.push_back(result(b_, loop, static_cast<int>(k)));
        const RegionFacts regions = region_facts(graph);
        return !regions.host_loops.contains(loop.get()) &&
               !crowded_loops(regions, profile_, facts_, LoopResults::Joined).contains(loop.get());
    }

    /// Returns the bytes of a value for all iterations, at most.
    double most_bytes(const Node& value) const {
        return static_cast<double>(iterations_.count.upper_bound(facts_.largest)) *
               static_cast<double>(element_count(value.shape).upper_bound(facts_.largest)) *
               static_cast<double>(value.dtype.bytes());
    }
    bool fits(const std::vector<Ref>& values) const {
        double bytes = 0;
        for (const Ref& value : values) bytes += most_bytes(*value);
        return bytes <= static_cast<double>(profile_.cache_bytes);
    }

    double own_seconds(const Node& node) const {
        const double operations =
            node.op == Op::Reduce ? reduction_trips(node, facts_) : own_operations(node);
        return operations / profile_.operations_per_second +
               (node.op == Op::Gather ? profile_.seconds_per_load : 0);
    }

    /// True if computing the value before the loop takes less time than in each of the `elements`
    /// elements of its kernel, and some of these elements would compute the same reduction.
    bool gains_before(const Ref& value, double elements) const {
        std::unordered_map<const Node*, double> times{{value.get(), 1.0}};
        double in_loop = 0, before = 0;
        bool reduces = false;
        for (size_t k = parts_.order.size(); k-- > 0;) {
            const Node& node = *parts_.order[k];
            const auto own = times.find(&node);
            if (own == times.end() || node.op == Op::RegionArg) continue;
            if (!fits({parts_.order[k]})) return false;
            const bool reduce = node.op == Op::Reduce;
            const double seconds = own_seconds(node),
                         inputs = own->second * (reduce ? reduction_trips(node, facts_) : 1);
            reduces |= reduce;
            in_loop += seconds * own->second * elements;
            before += seconds * expected_elements(node.shape, facts_);
            for (const Ref& input : node.inputs)
                times[input.get()] = std::max(times[input.get()], inputs);
        }
        const double own = expected_elements(value->shape, facts_),
                     idle = idle_factor(elements, profile_),
                     load = profile_.seconds_per_load * elements;
        before += own * static_cast<double>(value->dtype.bytes()) / profile_.bytes_per_second;
        before *= idle_factor(estimate(iterations_.count, facts_) * own, profile_);
        return reduces && in_loop * idle > costs::kLeastAgain * (before + load * idle);
    }

    /// Returns the values that the loop reads, that depend on no other iteration, and that are
    /// better computed before it.
    std::vector<Ref> found_before(const NodeSet& kept) const {
        double elements = 1;
        NodeSet read;
        for (const Ref& next : parts_.body().results) {
            if (!kept.contains(next.get())) continue;
            elements = std::max(elements, expected_elements(next->shape, facts_));
            read.insert(next.get());
        }
        for (const Ref& node : parts_.order)
            if (kept.contains(node.get()) && parts_.recurrent.contains(node.get()))
                for (const Ref& input : node->inputs) read.insert(input.get());
        std::vector<Ref> out;
        for (const Ref& node : parts_.order)
            if (read.contains(node.get()) && node->op != Op::RegionArg &&
                !parts_.recurrent.contains(node.get()) && gains_before(node, elements))
                out.push_back(node);
        return out;
    }

    /// Returns the value of the original loop's induction variable for an iteration, which is given
    /// by its number from 0.
    Ref iteration(const Ref& place) const {
        const auto over = [&](const Ref& number) { return expand(b_, number, place->shape); };
        Ref at = place;
        if (iterations_.step != 1)
            at = elementwise(b_, Op::Mul, {at, over(constant_int(b_, iterations_.step))});
        const Ref& begin = parts_.loop->inputs[0];
        if (is_number(*begin, 0)) return at;
        return elementwise(b_, Op::Add, {at, over(begin)});
    }

    std::vector<Ref> parted(const LoopCut& cut) const {
        const std::vector<Ref> before = found_before(cut.kept);
        if (cut.terms.empty() && before.empty()) return {};
        std::vector<Ref> tapes = before;
        tapes.insert(tapes.end(), cut.tapes.begin(), cut.tapes.end());
        const auto fits_alone = [&](const Ref& value) { return fits({value}); };
        if (!fits(tapes) || !std::all_of(cut.behind.begin(), cut.behind.end(), fits_alone))
            return {};
        const Ref all = iteration(index(b_, {iterations_.count}, 0));
        Core core = opened(before, batched(b_, iterations_.count, before, {induction()}, {all}));
        if (!close(core, cut)) return {};
        add_sums(core, cut, all);
        return core.results;
    }

    const Ref& induction() const { return parts_.body().args[0]; }

    /// The rest of the loop.
    struct Core {
        Region body;
        std::vector<Ref> inits;
        std::unordered_map<const Node*, Ref> replaced;
        std::vector<Ref> results, tapes;  // by original carried value; by LoopCut::tapes
        void carry(const Builder& b, const Ref& init, DType dtype, const Shape& shape) {
            inits.push_back(init);
            body.args.push_back(region_arg(b, dtype, shape));
        }
    };

    /// Begins the rest of the loop: each iteration reads what was computed before the loop.
    Core opened(const std::vector<Ref>& before, const std::vector<Ref>& given) const {
        Core core;
        core.body.args.push_back(region_arg(b_, i32, {}));
        core.replaced[induction().get()] = iteration(core.body.args[0]);
        for (size_t k = 0; k < before.size(); ++k)
            core.replaced[before[k].get()] = state_at(b_, given[k], core.body.args[0]);
        return core;
    }

    /// Completes the rest of the loop: it carries the values that are not moved, and tapes. False
    /// if it would not run inside one kernel.
    bool close(Core& core, const LoopCut& cut) const {
        std::vector<Ref> next;
        Asked asked;
        for (size_t k = 0; k < cut.moved.size(); ++k) {
            if (cut.moved[k]) continue;
            const Ref& arg = parts_.body().args[k + 1];
            if (std::find(asked_.begin(), asked_.end(), k) != asked_.end())
                asked.push_back(next.size());
            core.carry(b_, parts_.loop->inputs[k + 3], arg->dtype, arg->shape);
            core.replaced[arg.get()] = core.body.args.back();
            next.push_back(parts_.body().results[k]);
        }
        const size_t own = next.size();
        next.insert(next.end(), cut.tapes.begin(), cut.tapes.end());
        core.body.results = substitute(b_.table, next, core.replaced);
        for (size_t k = own; k < next.size(); ++k) {
            Shape shape = next[k]->shape;
            shape.insert(shape.begin(), iterations_.count);
            asked.push_back(k);
            core.carry(b_, empty(b_, next[k]->dtype, shape), next[k]->dtype, shape);
            Ref& kept = core.body.results[k];
            kept = with_state(b_, core.body.args.back(), kept, core.body.args[0]);
        }
        core.results.resize(cut.moved.size());
        if (next.empty()) return true;
        const Ref loop =
            firn::loop(b_, constant_int(b_, 0), size_value(b_, iterations_.count),
                       constant_int(b_, 1), std::move(core.inits), std::move(core.body), -1);
        if (!is_in_one_kernel(loop, asked)) return false;
        int at = 0;
        for (size_t k = 0; k < cut.moved.size(); ++k)
            if (!cut.moved[k]) core.results[k] = result(b_, loop, at++);
        for (size_t k = own; k < next.size(); ++k) core.tapes.push_back(result(b_, loop, at++));
        return true;
    }

    /// Computes the moved sums over all iterations at once.
    void add_sums(Core& core, const LoopCut& cut, const Ref& all) const {
        std::unordered_map<const Node*, Ref> stands;
        std::vector<Ref> placeholders{induction()}, samples{all};
        for (size_t k = 0; k < cut.tapes.size(); ++k) {
            placeholders.push_back(region_arg(b_, cut.tapes[k]->dtype, cut.tapes[k]->shape));
            samples.push_back(core.tapes[k]);
            stands[cut.tapes[k].get()] = placeholders.back();
        }
        const std::vector<Ref> terms = batched(
            b_, iterations_.count, substitute(b_.table, cut.terms, stands), placeholders, samples);
        for (size_t k = 0, at = 0; k < cut.moved.size(); ++k) {
            if (!cut.moved[k]) continue;
            const Ref sum = reduce(b_, ReduceOp::Sum, terms[at++], {0}, false);
            const Op op = parts_.negated[k] ? Op::Sub : Op::Add;
            const Ref first = expand(b_, parts_.loop->inputs[k + 3], sum->shape);
            core.results[k] =
                cast(b_, elementwise(b_, op, {first, sum}), parts_.body().args[k + 1]->dtype);
        }
    }

    const Builder b_;
    const DeviceProfile& profile_;
    const SymbolFacts& facts_;
    const LoopParts parts_;
    const Iterations iterations_;
    const Asked asked_;
};

/// True if the loop runs to its end, is inside no other loop, and the user did not choose its form.
bool may_be_parted(const RegionFacts& regions, const Node& loop) {
    const LoopAttr& attr = loop.as<LoopAttr>();
    return attr.active < 0 && !attr.host && !attr.open && attr.must_end == MustEnd::No &&
           attr.sizes.empty() && !attr.by_hand() && regions.loops.at(&loop).empty();
}

}  // namespace

Graph distribute_loops(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                       const SymbolFacts& facts) {
    const RegionFacts regions = region_facts(graph);
    std::unordered_map<const Node*, Asked> asked;
    for (const Ref& node : regions.order)
        if (node->op == Op::Result)
            asked[node->inputs[0].get()].push_back(
                static_cast<size_t>(node->as<ResultAttr>().index));
    std::unordered_map<const Node*, std::vector<Ref>> parted;  // results by loop
    const auto visit_region = [&](const Node& node, const Ref& made) -> Ref {
        if (node.op != Op::Loop || !may_be_parted(regions, node)) return nullptr;
        auto iterations = iterations_of(*made, facts);
        if (!iterations) return nullptr;
        Distributor apart(table, profile, facts, made, std::move(*iterations), asked[&node]);
        std::vector<Ref> results = apart.run();
        if (results.empty()) return nullptr;
        parted[made.get()] = std::move(results);
        return made;
    };
    const auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
        if (node.op != Op::Result) return nullptr;
        const auto found = parted.find(inputs[0].get());
        if (found == parted.end()) return nullptr;
        return found->second[static_cast<size_t>(node.as<ResultAttr>().index)];
    };
    Graph out = graph;
    out.results = rewrite(table, graph.results, visit, {}, visit_region);
    return out;
}

}  // namespace firn
