// Stage 3: verdicts by cost in one pass from consumers to producers, then groups.
#include "compiler/schedule/schedule.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "compiler/ir/accumulation.h"
#include "compiler/kernel/rows.h"
#include "compiler/program/error.h"
#include "compiler/schedule/access.h"
#include "compiler/schedule/at_hand.h"
#include "compiler/schedule/crowds.h"

namespace firn {
namespace {

constexpr size_t kMapBudget = 48;  // distinct maps of one value that are followed
constexpr double kUnknownTrips =
    8;  // a loop whose trips nothing tells; such loops stand in one another
constexpr double kLongestKnown = 65536;  // bounds beyond it say nothing about a loop's turns
constexpr double kSymbolShare = 4;       // how much more a symbol may be than its estimate
constexpr size_t kMaxOutputs = 12;       // values that leave one kernel
constexpr double kWorkingSet =
    16;  // tensors of this size that pass through the cache between two uses
constexpr double kLongestRow = 16384;  // elements that one invocation walks in a row kernel
constexpr double kSharedRow = 4;       // elements of a row per lane that are worth sharing
constexpr double kStageTurns =
    32;  // a reduction this long inside another one is a stage of its own
constexpr double kLeastRow =
    16;  // elements that a group holds: shorter ones are no range of their own
constexpr int64_t kLargestTile = 8;  // neighbours along an axis that one invocation computes
constexpr double kSharedLoads =
    10;  // loads of cached memory that one of shared memory takes on a CPU driver
constexpr double kExchange = 4;  // loads of shared memory that a store there and a barrier take
constexpr double kMostlyShared =
    0.5;  // of one result's operations: better a longer body than to compute them twice
constexpr double kLittleMore =
    0.25;  // of a body that is too long by itself: better a longer one than one more

/// Simple operations of a value in a kernel's body; what moves elements counts as one.
double body_operations(const Node& node) { return std::max(1.0, own_operations(node)); }

class Scheduler {
  public:
    Scheduler(const Graph& graph, const DeviceProfile& profile, const SymbolFacts& facts,
              bool nested)
        : graph_(graph),
          profile_(profile),
          symbol_facts_(facts),
          nested_(nested),
          facts_(region_facts(graph)),
          maps_(facts),
          crowds_(profile, facts) {
        maps_.set_loop_dependencies([this](const Node& node) { return kernel_loops(node); });
    }

    Schedule run() {
        schedule_.host_loops = facts_.host_loops;
        schedule_.numbers = host_numbers(facts_);
        count_costs();
        find_counts();
        find_roots();
        decide();
        // What leaves a kernel anyhow makes its loop's other results cheaper to keep: judged again,
        // knowing it. So are those that computed rows kept in memory where a group can hold them.
        while (static_cast<int>(note_leaving_loops()) | static_cast<int>(note_held_rows())) {
            forget_verdicts();
            decide();
        }
        if (judged_dearer()) {
            at_hand_ = {std::move(asks_), std::move(schedule_.materialised)};
            forget_verdicts();
            decide();
        }
        while (note_crowds()) {
            forget_verdicts();
            decide();
        }
        schedule_.items = group(nullptr);
        keep_in_kernels(schedule_.items);
        std::reverse(schedule_.verdicts.begin(), schedule_.verdicts.end());
        return std::move(schedule_);
    }

  private:
    double trips(const Node& loop) const {
        auto value = [&](int k) -> std::optional<double> {
            const auto size = host_size(*loop.inputs[k], {});
            if (!size) return std::nullopt;
            for (const std::string& s : size->symbols())
                if (s[0] == '$') return bounded_estimate(*size);
            return estimate(*size, symbol_facts_);
        };
        const auto begin = value(0), end = value(1), step = value(2);
        if (!begin || !end || !step || *step == 0) return kUnknownTrips;
        return std::max(0.0, (*end - *begin) / *step);
    }

    /// A number that the caller chooses: a quarter of the most that it can be, where that is known.
    std::optional<double> bounded_estimate(const Size& size) const {
        const auto most = static_cast<double>(size.upper_bound(symbol_facts_.largest));
        if (most > kLongestKnown) return std::nullopt;
        return std::max(1.0, most / 4);
    }

    std::vector<std::pair<const Node*, double>> kernel_loops(const Node& node) const {
        std::vector<std::pair<const Node*, double>> out;
        for (const Node* loop : facts_.loops.at(&node))
            if (!facts_.host_loops.contains(loop)) out.emplace_back(loop, trips(*loop));
        return out;
    }

    /// How often a value's home region runs.
    double runs(const Node& node) const {
        double out = 1;
        for (const Node* loop : facts_.loops.at(&node))
            if (facts_.host_loops.contains(loop)) out *= std::max(1.0, trips(*loop));
        return out;
    }

    /// It depends on the turn of a loop inside a kernel: it has no memory of its own.
    bool inside_kernel_loop(const Node& node) const {
        for (const Node* loop : facts_.loops.at(&node))
            if (!facts_.host_loops.contains(loop)) return true;
        return false;
    }

    bool lives_in_memory(const Node& node) const {
        if (node.op == Op::Input) return !node.as<InputAttr>().scalar;
        if (node.op == Op::Buffer) return true;
        if (node.op == Op::RegionArg)
            return facts_.host_loops.contains(facts_.arg_owner.at(&node)) &&
                   facts_.arg_index.at(&node) > 0;
        if (node.op == Op::Result && facts_.host_loops.contains(node.inputs[0].get())) return true;
        return schedule_.materialised.contains(&node);
    }

    /// Seconds to evaluate one element where it is inlined.
    void count_costs() {
        const double operation = costs_.operation = 1 / profile_.operations_per_second;
        const double load = costs_.load = profile_.seconds_per_load;
        costs_.is_free = [this](const Node& node) {
            return (info(node.op).properties & kLeaf && !lives_in_memory(node)) ||
                   known_to_host(node);
        };
        costs_.is_in_memory = [this](const Node& node) { return lives_in_memory(node); };
        costs_.is_computed = [this](const Node& node) {
            return (is_elementwise(node.op) || is_movement(node.op) || node.op == Op::Gather) &&
                   !is_of_invocations(node) && !written(node);
        };
        std::unordered_map<const Node*, int> uses;
        for (const Ref& ref : facts_.order)
            for (const Ref& input : ref->inputs) ++uses[input.get()];
        for (const Ref& ref : facts_.order) {
            const Node& node = *ref;
            double cost = 0;
            if (schedule_.numbers.place.contains(&node)) {
                cost = 0;
            } else if (lives_in_memory(node)) {
                cost = load;
            } else if (node.op == Op::Reduce) {
                cost = reduction_turns(node) * (costs_.seconds[node.inputs[0].get()] + operation);
            } else if (node.op == Op::Result) {
                cost = result_seconds(node);
            } else if (!(info(node.op).properties & kLeaf)) {
                std::set<const Node*> distinct;
                // A value that serves others too, or many elements of this one, would be kept in
                // memory where that is cheaper; one that serves only this node would not: the node
                // itself would.
                for (const Ref& input : node.inputs)
                    if (distinct.insert(input.get()).second)
                        cost += uses[input.get()] > 1 || node.op == Op::Expand
                                    ? std::min(costs_.seconds[input.get()], load)
                                    : costs_.seconds[input.get()];
                if (!widens_a_load(node)) cost += operation * own_operations(node);
            }
            costs_.seconds[&node] = cost;
        }
    }

    double result_seconds(const Node& node) {
        const Node& owner = *node.inputs[0];
        double cost = 0;
        if (owner.op == Op::Loop) {
            for (const Ref& r : owner.as<LoopAttr>().body->results)
                cost += costs_.seconds[r.get()] * std::max(1.0, trips(owner));
            return cost;
        }
        for (const auto& body : {owner.as<IfAttr>().then_body, owner.as<IfAttr>().else_body})
            cost += costs_.seconds[body->results[node.as<ResultAttr>().index].get()];
        return cost;
    }

    void force(const Ref& ref, const char* reason) {
        if (lives_in_memory(*ref)) return;
        forced_.emplace(ref.get(), reason);
    }

    void find_roots() {
        for (const Ref& r : graph_.results) force(r, kReasonResult);
        for (const Ref& ref : facts_.order) {
            if (const Written w = written(*ref); w && !inside_kernel_loop(*ref))
                force(ref, kReasonStore);
            if (is_stored_by_hand(*ref)) force(ref, kReasonByHand);
            if (!facts_.host_loops.contains(ref.get())) continue;
            for (size_t k = 3; k < ref->inputs.size(); ++k) force(ref->inputs[k], kReasonCarried);
            for (const Ref& r : ref->as<LoopAttr>().body->results) force(r, kReasonCarried);
        }
    }

    /// The Loop inside a kernel that gives the value back element by element, null where none does.
    const Node* loop_of_result(const Node& node) const {
        if (node.op != Op::Result || node.inputs[0]->op != Op::Loop || written(node) ||
            is_stored_by_hand(node))
            return nullptr;
        const Node* loop = node.inputs[0].get();
        return facts_.host_loops.contains(loop) ? nullptr : loop;
    }

    /// Notes the loops of which some result is materialised; true where there are new ones.
    bool note_leaving_loops() {
        bool changed = false;
        for (const ValueVerdict& v : schedule_.verdicts)
            if (v.verdict == Verdict::Materialised)
                if (const Node* loop = loop_of_result(*v.value))
                    changed |= leaving_.emplace(loop, v.value->shape).second;
        return changed;
    }

    /// Something is in memory only because computing it where it is asked seems dearer.
    bool judged_dearer() const {
        return std::any_of(schedule_.verdicts.begin(), schedule_.verdicts.end(),
                           [](const ValueVerdict& v) { return v.reason == kReasonDearer; });
    }

    void forget_verdicts() {
        schedule_.verdicts.clear();
        schedule_.materialised.clear();
        asks_.clear();
        inner_.clear();
        row_reductions_.clear();
        reached_.clear();
        crowds_.restart();
    }

    bool is_loaded(const Node& node) const { return lives_in_memory(node) && !known_to_host(node); }

    /// Adds what is in memory by the verdicts, and what is computed from it; true where there is
    /// more.
    bool find_memory_readers() {
        const size_t before = reads_memory_.size();
        for (const Ref& ref : facts_.order) {
            bool reads = is_loaded(*ref);
            for (const Ref& input : ref->inputs) reads |= reads_memory_.contains(input.get());
            if (ref->op == Op::Loop || ref->op == Op::If)
                for (const Ref& r : region_results(*ref)) reads |= reads_memory_.contains(r.get());
            if (reads) reads_memory_.insert(ref.get());
        }
        return reads_memory_.size() > before;
    }

    /// Notes the kernels that bind more than the device does; true where more is known of them.
    bool note_crowds() {
        BindingCount all;
        all.texels = all.storage = std::count_if(facts_.order.begin(), facts_.order.end(),
                                                 [&](const Ref& ref) { return is_loaded(*ref); });
        if (all.fits(profile_)) return false;
        bool changed = false, crowded = false;
        for (const ValueVerdict& v : schedule_.verdicts) {
            if (v.verdict != Verdict::Materialised || fits({v.value}, needs_of(*v.value))) continue;
            crowded = true;
            changed |= crowds_.add(*v.value);
        }
        return crowded && (find_memory_readers() || changed);
    }

    /// A version that is written by position starts as the value, and takes its place.
    bool starts(const Node& version, const Node& value, int map) {
        return lives_in_memory(value) && written(version).target.get() == &value &&
               map == maps_.identity(value.shape);
    }

    /// What comes from memory, and is asked by who computes the value: in a loop, all that its
    /// turns need.
    std::vector<const Node*> asked_instead(const Node& value, int map) {
        std::vector<const Node*> out;
        std::unordered_set<const Node*> seen;
        std::vector<std::pair<const Node*, int>> queue{{&value, map}};
        while (!queue.empty()) {
            const auto [node, at] = queue.back();
            queue.pop_back();
            expand(*node, at, [&](const Node& input, int to) {
                if (!reads_memory_.contains(&input) || !seen.insert(&input).second) return;
                if (inside_kernel_loop(input))
                    queue.emplace_back(&input, to);
                else
                    out.push_back(&input);
            });
        }
        return out;
    }

    /// Some asker binds too much where it computes the value itself.
    bool overcrowds(const Node& node, const std::set<Ask>& asks) {
        if (crowds_.empty() || !reads_memory_.contains(&node) || inside_kernel_loop(node) ||
            is_of_invocations(node))
            return false;
        const std::vector<const Node*> inputs = asked_instead(node, asks.begin()->map);
        return std::any_of(asks.begin(), asks.end(), [&](const Ask& a) {
            return crowds_.contains(*a.root) && crowds_.exceeds(*a.root, node, inputs);
        });
    }

    /// Another result of its loop, of the same shape, leaves a kernel already, and not every asker
    /// can be part of that kernel: this one needs no turn and no launch of its own to leave it too.
    bool leaves_with_its_loop(const Node& node, const std::set<Ask>& asks) {
        const Node* loop = loop_of_result(node);
        const auto it = loop ? leaving_.find(loop) : leaving_.end();
        if (it == leaving_.end() || it->second != node.shape) return false;
        const int own = maps_.identity(node.shape);
        return std::any_of(asks.begin(), asks.end(), [&](const Ask& a) {
            return a.map != own || grid_shape(*a.root) != node.shape || inner_.contains(a.root);
        });
    }

    /// The host can compute it, so that a kernel has it as a parameter.
    bool known_to_host(const Node& node) const {
        if (schedule_.numbers.place.contains(&node)) return true;
        return node.shape.empty() && node.dtype == i32 &&
               host_size(node, schedule_.numbers.inductions).has_value();
    }

    /// A value of a narrow type as a wider one: a GPU loads it with less traffic, and converts it
    /// as it comes. CPU drivers load narrow elements one by one.
    bool widens_a_load(const Node& node) const {
        if (profile_.device_class != DeviceClass::Gpu || node.op != Op::Cast) return false;
        return node.dtype.bytes() == 4 && node.inputs[0]->dtype.bytes() < 4;
    }

    /// From consumers to producers: by the time a value is reached, all its askers are decided.
    void decide() {
        for (size_t k = facts_.order.size(); k-- > 0;) {
            const Node& node = *facts_.order[k];
            if (node.op == Op::Loop || node.op == Op::If || lives_in_memory(node)) continue;
            const auto forced = forced_.find(&node);
            auto asked = asks_.find(&node);
            if (forced == forced_.end() && asked == asks_.end()) continue;
            if (node.op == Op::RegionArg && forced == forced_.end()) continue;
            ValueVerdict verdict =
                forced != forced_.end()
                    ? ValueVerdict{facts_.order[k], Verdict::Materialised, forced->second}
                    : judge(facts_.order[k], asked->second);
            if (verdict.verdict != Verdict::Materialised && overcrowds(node, asked->second)) {
                verdict.verdict = Verdict::Materialised;
                verdict.reason = kReasonBindings;
                crowds_.add(node);  // it takes over what was too much
            }
            if (verdict.verdict == Verdict::Materialised) {
                schedule_.materialised.insert(&node);
                ask_inputs(node, {{&node, maps_.identity(grid_shape(node))}});
            } else {
                for (const Ask& a : asked->second)
                    if (crowds_.contains(*a.root)) crowds_.inlined(*a.root, node);
                if (verdict.reason == kReasonGroup) {
                    combine_in_groups(node, asked->second);
                } else {
                    if (verdict.verdict == Verdict::Staged) stage(asked->second);
                    ask_inputs(node, asked->second);
                }
            }
            if (!node.shape.empty() || verdict.verdict == Verdict::Materialised)
                schedule_.verdicts.push_back(std::move(verdict));
        }
    }

    ValueVerdict judge(const Ref& ref, const std::set<Ask>& asks) {
        const Node& node = *ref;
        ValueVerdict v{ref, Verdict::Inlined, kReasonOnce};
        const double bytes = node.dtype.bytes();
        const double each = costs_.seconds.at(&node),
                     size = estimate(element_count(node.shape), symbol_facts_);
        const double own_turns = node.op == Op::Reduce ? reduction_turns(node) : 1;
        v.elements = std::max(1.0, size) * runs(node);
        double loads = 0, streams = -runs(node);  // the first read comes with the write
        std::set<const Node*> readers;
        for (const Ask& a : asks) {
            if (readers.insert(a.root).second) streams += runs(*a.root);
            const double grid = estimate(element_count(grid_shape(*a.root)), symbol_facts_);
            const double asked = evaluated_at(a) * maps_.turns(a.map) * runs(*a.root);
            v.evaluations += asked;
            const double busy = idle(grid * sharing_lanes(std::max(own_turns, maps_.turns(a.map))));
            v.inline_seconds += asked * each * busy;
            loads += asked * profile_.seconds_per_load * busy;
        }
        // A value too large for the cache comes from memory again for every further kernel.
        if (streams > 0 && size * bytes * kWorkingSet > static_cast<double>(profile_.cache_bytes))
            loads += streams * size * bytes / profile_.bytes_per_second;
        const bool joins = leaves_with_its_loop(node, asks);
        v.materialise_seconds = v.elements * 2 * bytes / profile_.bytes_per_second + loads;
        if (!joins)
            v.materialise_seconds += v.elements * each * idle(size * sharing_lanes(own_turns)) +
                                     runs(node) * profile_.seconds_per_launch;
        v.stage_seconds = stage_seconds(node, asks);
        const bool free = node.op == Op::Constant || node.op == Op::SizeValue ||
                          node.op == Op::Index || node.op == Op::Input || is_movement(node.op) ||
                          known_to_host(node) || widens_a_load(node);
        if (inside_kernel_loop(node) || free) return v;
        if (combines_in_groups(node, asks)) {
            v.verdict = Verdict::Staged;
            v.reason = kReasonGroup;
            v.stage_seconds = combine_seconds(node.inputs[0]->shape);
            return v;
        }
        if (asks.size() > kMapBudget) {
            v.verdict = Verdict::Materialised;
            v.reason = kReasonBudget;
        } else if (overgrown(asks)) {
            v.verdict = Verdict::Materialised;
            v.reason = kReasonLarge;
        } else if (exceeds_turns(node, asks)) {
            v.verdict = Verdict::Materialised;
            v.reason = kReasonTurns;
        } else if (!nested_ && (node.op == Op::Reduce || loop_of_result(node)) &&
                   asked_in_a_range(asks)) {
            v.verdict = Verdict::Materialised;
            v.reason = kReasonTurns;
        } else if (node.op == Op::Reduce && reduction_turns(node) >= kStageTurns &&
                   asked_in_a_range(asks)) {
            v.verdict = Verdict::Materialised;
            v.reason = kReasonStage;
        } else if (v.stage_seconds > 0 &&
                   v.stage_seconds < std::min(v.inline_seconds, v.materialise_seconds)) {
            v.verdict = Verdict::Staged;
            v.reason = kReasonRow;
        } else if (v.inline_seconds > v.materialise_seconds) {
            const double beside =
                at_hand_.asks.empty() ? v.inline_seconds : inline_seconds_beside(node, asks);
            v.verdict = beside > v.materialise_seconds ? Verdict::Materialised : Verdict::Inlined;
            v.reason = beside > v.materialise_seconds ? kReasonDearer : kReasonAtHand;
            v.inline_seconds = std::min(v.inline_seconds, beside);
        } else if (asks.size() > 1 || v.evaluations > v.elements) {
            v.reason = kReasonCheaper;
        }
        return v;
    }

    /// Seconds to compute it where it is asked, beside all that the askers' kernels have at hand.
    double inline_seconds_beside(const Node& node, const std::set<Ask>& asks) {
        double total = 0;
        for (const Ask& a : asks) {
            const double grid = estimate(element_count(grid_shape(*a.root)), symbol_facts_);
            total += evaluated_at(a) * maps_.turns(a.map) * runs(*a.root) *
                     idle(grid * sharing_lanes(maps_.turns(a.map))) *
                     std::min(costs_.seconds.at(&node),
                              seconds_beside(node, a, at_hand_, costs_, maps_));
        }
        return total;
    }

    // --- staging: the kernel's grid is a prefix of its result's dimensions, and the rest is walked
    // by each invocation, which keeps in registers what does not depend on the rest.

    /// Grid indices at which an asker's kernel evaluates a value.
    double evaluated_at(const Ask& a) const {
        const Shape& shape = grid_shape(*a.root);
        const auto staged = inner_.find(a.root);
        const int rank = static_cast<int>(shape.size());
        const bool of_held_row = held_.contains(a.root) && maps_.turns(a.map) == 1;
        const int inner = staged != inner_.end() ? staged->second : of_held_row ? 1 : 0;
        if (inner == 0 || maps_.prefix(a.map, rank) > rank - inner)
            return estimate(element_count(shape), symbol_facts_);
        return prefix_size(shape, inner);
    }

    /// The row's length is known to stay below what one invocation may walk.
    bool row_fits(const Shape& shape, int inner) const {
        const Size row = element_count(Shape(shape.end() - inner, shape.end()));
        return row.upper_bound(symbol_facts_.largest) <= static_cast<int64_t>(kLongestRow) * 2;
    }

    double prefix_size(const Shape& shape, int inner) const {
        return estimate(element_count(Shape(shape.begin(), shape.end() - inner)), symbol_facts_);
    }

    /// Seconds when every asker keeps the value per row; 0 where that is not possible.
    double stage_seconds(const Node& node, const std::set<Ask>& asks) const {
        double total = 0;
        std::set<const Node*> roots;
        for (const Ask& a : asks) {
            const Node& root = *a.root;
            if (is_stored_by_hand(root)) return 0;  // its rows are its user's
            const int inner = inner_dimensions(a);
            // In the turns of a loop only elements side by side share what they compute.
            const double turns = maps_.turns(a.map);
            if (inner <= 0 || held_.contains(&root) ||
                (turns > 1 && !is_short_row(root.shape, inner)))
                return 0;
            if (!roots.insert(&root).second) continue;
            const double rows = prefix_size(root.shape, inner);
            const double all = estimate(element_count(root.shape), symbol_facts_);
            if (rows <= 0 || all / rows > kLongestRow || !row_fits(root.shape, inner)) return 0;
            // Lanes that share long rows keep the device as busy as that many more rows.
            const double busy = rows * sharing_lanes(all / rows);
            total += runs(root) * (rows * turns * costs_.seconds.at(&node) * idle(busy) +
                                   all * costs_.seconds.at(&root) * (idle(busy) - idle(all)));
        }
        return total;
    }

    /// Trailing dimensions of the asker's result that the value does not depend on; the same for
    /// all that this asker stages.
    int inner_dimensions(const Ask& a) const {
        const Node& root = *a.root;
        if (written(root)) return 0;
        const int inner = root.rank() - maps_.prefix(a.map, root.rank());
        const auto staged = inner_.find(&root);
        if (staged == inner_.end()) return inner;
        return inner >= staged->second ? staged->second : 0;
    }

    void stage(const std::set<Ask>& asks) {
        for (const Ask& a : asks) inner_.emplace(a.root, inner_dimensions(a));
    }

    // --- rows held by groups: every invocation of a group computes elements of a row, and keeps
    // them while the group combines what the row's reductions ask for.

    /// Every asker holds its rows in groups, and the value reduces something of its shape along the
    /// row that asks.
    bool combines_in_groups(const Node& node, const std::set<Ask>& asks) {
        if (held_.empty() || node.op != Op::Reduce) return false;
        const Shape& whole = node.inputs[0]->shape;
        const std::vector<int>& axes = node.as<ReduceAttr>().axes;
        if (axes.size() != 1 || axes[0] + 1 != static_cast<int>(whole.size())) return false;
        if (node.dtype != f16 && !lanes_exchange(node.dtype)) return false;
        return std::all_of(asks.begin(), asks.end(), [&](const Ask& a) {
            return held_.contains(a.root) && a.root->shape == whole &&
                   maps_.begins(a.map, maps_.identity(whole));
        });
    }

    void combine_in_groups(const Node& node, const std::set<Ask>& asks) {
        for (const Ask& a : asks) {
            row_reductions_[a.root].push_back(&node);
            ask(*node.inputs[0], {a.root, maps_.identity(a.root->shape)});
        }
    }

    /// Neighbours along an axis that one invocation is likely to compute.
    double likely_tile(const Size& extent) const {
        for (int64_t tile = kLargestTile; tile > 1; tile /= 2)
            if (extent.divisor() % tile == 0) return static_cast<double>(tile);
        return 1;
    }

    /// Subgroups that hold a row, with lanes behind its end; 0 where no group does.
    double subgroups_of(const Size& row) const {
        const int64_t tile = row_tile(row, kLargestTile, profile_, symbol_facts_);
        if (tile == 0) return 0;
        return std::ceil(estimate(row, symbol_facts_) / static_cast<double>(tile) /
                         profile_.subgroup_size);
    }

    /// Seconds of one such reduction of values of this shape, which subgroups exchange through
    /// shared memory.
    double combine_seconds(const Shape& shape) const {
        const double lanes = profile_.subgroup_size, subgroups = subgroups_of(shape.back());
        if (subgroups <= 1) return 0;
        const double rows =
            estimate(element_count(Shape(shape.begin(), shape.end() - 1)), symbol_facts_);
        const double tile = shape.size() > 1 ? likely_tile(shape[shape.size() - 2]) : 1;
        const double loads =
            subgroups > lanes ? subgroups / lanes + kExchange : std::ceil(subgroups * tile / lanes);
        return rows / tile * subgroups * (loads + kExchange) * lanes * kSharedLoads *
               profile_.seconds_per_load;
    }

    /// What a kernel would compute once, did its groups hold the rows that it keeps in memory now:
    /// notes such kernels. Those that keep it in memory all the same go back to what they were.
    /// True where something changed.
    bool note_held_rows() {
        bool changed = false;
        for (const ValueVerdict& v : schedule_.verdicts) {
            if (v.verdict != Verdict::Materialised) continue;
            if (const auto by = held_for_.find(v.value.get());
                by != held_for_.end() && held_.erase(by->second))
                changed = true;
            if (v.reason != kReasonDearer && v.reason != kReasonStage) continue;
            const Node* root = only_row_asker(*v.value);
            if (!root || !gains_by_holding(v) || !held_for_.emplace(v.value.get(), root).second)
                continue;
            changed |= held_.insert(root).second;
        }
        return changed;
    }

    /// The one kernel that asks for a value of its own shape, at its own index and all over its
    /// row; null: there is none.
    const Node* only_row_asker(const Node& node) {
        const std::set<Ask>& asks = asks_.at(&node);
        const Node& root = *asks.begin()->root;
        if (root.shape != node.shape || node.shape.empty() || written(root) ||
            is_stored_by_hand(root))
            return nullptr;
        if (home_loop(facts_, root) != home_loop(facts_, node)) return nullptr;
        const int own = maps_.identity(node.shape);
        const auto in_own_row = [&](const Ask& a) {
            return a.root == &root && maps_.same_row(a.map, own);
        };
        return asks.size() > 1 && std::all_of(asks.begin(), asks.end(), in_own_row) ? &root
                                                                                    : nullptr;
    }

    /// A group can hold the row, and what that costs is less than the memory that it saves.
    bool gains_by_holding(const ValueVerdict& v) {
        const Shape& shape = v.value->shape;
        const double row = estimate(shape.back(), symbol_facts_),
                     subgroups = subgroups_of(shape.back());
        if (row < kLeastRow || subgroups == 0) return false;
        const double compute = v.elements * costs_.seconds.at(v.value.get()) * idle(v.elements);
        const auto tile =
            static_cast<double>(row_tile(shape.back(), kLargestTile, profile_, symbol_facts_));
        const double waste = subgroups * tile * profile_.subgroup_size / row - 1;
        const double passes = static_cast<double>(asks_.at(v.value.get()).size()) - 1;
        const double extra = compute * waste + passes * runs(*v.value) * combine_seconds(shape);
        return extra < v.materialise_seconds - compute;
    }

    /// A kernel that asks for the value has a body that is long enough already.
    bool overgrown(const std::set<Ask>& asks) const {
        return std::any_of(asks.begin(), asks.end(), [&](const Ask& a) {
            return reached_.at(a.root) >= profile_.max_body_operations;
        });
    }

    /// The result of a loop inside a kernel, asked in the turns of a reduction: together they may
    /// take more turns than the driver lets an invocation take. Symbols count with the most that
    /// they can be.
    bool exceeds_turns(const Node& node, const std::set<Ask>& asks) const {
        const Node* loop = loop_of_result(node);
        if (!profile_.max_back_edges || !loop) return false;
        return std::any_of(asks.begin(), asks.end(), [&](const Ask& a) {
            const double turns = maps_.turns(a.map);
            return turns > 1 && kSymbolShare * turns * most_trips(*loop) > profile_.max_back_edges;
        });
    }

    double most_trips(const Node& loop) const {
        const auto begin = host_size(*loop.inputs[0], schedule_.numbers.inductions),
                   end = host_size(*loop.inputs[1], schedule_.numbers.inductions);
        if (!begin || !end) return profile_.max_back_edges;
        const Size &from = *begin, &to = *end;
        const int64_t most = std::max((to - from).upper_bound(symbol_facts_.largest),
                                      (from - to).upper_bound(symbol_facts_.largest));
        return std::clamp(static_cast<double>(most), 1.0,
                          static_cast<double>(profile_.max_back_edges));
    }

    double reduction_turns(const Node& node) const {
        double turns = 1;
        for (int axis : node.as<ReduceAttr>().axes)
            turns *= estimate(node.inputs[0]->shape[axis], symbol_facts_);
        return turns;
    }

    bool asked_in_a_range(const std::set<Ask>& asks) const {
        return std::any_of(asks.begin(), asks.end(),
                           [&](const Ask& a) { return maps_.turns(a.map) > 1; });
    }

    /// How much longer work takes on a grid too small to fill the device.
    double idle(double grid) const {
        return std::max(1.0, profile_.parallel_invocations / std::max(1.0, grid));
    }

    /// Lanes that share a reduction of so many turns for one index of a grid.
    double sharing_lanes(double turns) const {
        return lanes_share(profile_) && turns >= kSharedRow * profile_.subgroup_size
                   ? profile_.subgroup_size
                   : 1;
    }

    Written written(const Node& node) const { return firn::written(node, facts_.host_loops); }

    const Shape& grid_shape(const Node& root) const {
        if (is_stored_by_hand(root)) return root.inputs[0]->as<LoopAttr>().grid;
        const Written w = written(root);
        return w ? w.positions() : root.shape;
    }

    void ask(const Node& node, const Ask& a) {
        std::set<Ask>& asks = asks_[&node];
        if (asks.size() <= kMapBudget && asks.insert(a).second)
            reached_[a.root] += body_operations(node);
        if (crowds_.contains(*a.root) && reads_memory_.contains(&node) &&
            !starts(*a.root, node, a.map))
            crowds_.ask(*a.root, node);
    }

    void ask_inputs(const Node& node, std::set<Ask> asks) {
        for (const Ask& a : asks) {
            auto asked = [&](const Node& input, int map) { ask(input, {a.root, map}); };
            if (is_of_invocations(node)) {
                for_by_hand(node, asked);
                continue;
            }
            if (written(node)) {
                for_written(node, a.map, asked);
                continue;
            }
            if (node.op == Op::Result) {
                ask_owner(node, a);
                continue;
            }
            for (size_t k = 0; k < node.inputs.size(); ++k)
                ask(*node.inputs[k], {a.root, maps_.input_map(node, static_cast<int>(k), a.map)});
        }
    }

    /// Has one meaning for each invocation of a kernel by hand, whatever the index it is asked at.
    bool is_of_invocations(const Node& node) const {
        return facts_.arrays.contains(&node) || is_stored_by_hand(node) ||
               node.op == Op::Invocation || node.op == Op::Fetched || node.op == Op::Subgroup;
    }

    /// What such a node asks for: everything at the invocation's own index; of the tensors that the
    /// kernel stores to, all that they were.
    template <class Visit>
    void for_by_hand(const Node& node, Visit visit) {
        if (node.op == Op::RegionArg) return;
        const bool result = is_stored_by_hand(node);
        const Node& kernel = result ? *node.inputs[0] : *kernel_by_hand(facts_, node);
        const Shape& grid = kernel.as<LoopAttr>().grid;
        const int own = maps_.identity(grid);
        auto visit_own = [&](const Ref& to) {
            const bool whole = facts_.arrays.contains(to.get()) || to->shape.size() > grid.size();
            visit(*to, whole ? own : maps_.projected(own, grid, to->shape));
        };
        if (node.op != Op::Result) {
            for (const Ref& input : node.inputs) visit_own(input);
            return;
        }
        const Node& loop = *node.inputs[0];
        for (size_t k = 0; k < loop.inputs.size(); ++k) {
            if (k < 3 || result)
                visit(*loop.inputs[k], maps_.identity(loop.inputs[k]->shape));
            else
                visit_own(loop.inputs[k]);
        }
        for (const Ref& next : loop.as<LoopAttr>().body->results) visit_own(next);
    }

    /// What a value that is written by position asks for, with the map: its target element by
    /// element, what is written where by position.
    template <class Visit>
    void for_written(const Node& node, int map, Visit visit) {
        const Written w = written(node);
        visit(*w.target, maps_.identity(node.shape));
        for (const Node* scatter : w.scatters)
            for (size_t k = 1; k < scatter->inputs.size(); ++k) visit(*scatter->inputs[k], map);
        if (w.loop) for_carried(*w.loop, map, w.positions(), visit);
    }

    /// What the turns of a loop ask for at one element: bounds, and carried values that are of
    /// elements.
    template <class Visit>
    void for_carried(const Node& loop, int map, const Shape& shape, Visit visit) {
        for (int bound = 0; bound < 3; ++bound) visit(*loop.inputs[bound], maps_.identity({}));
        const Region& body = *loop.as<LoopAttr>().body;
        for (size_t j = 0; j < body.results.size(); ++j) {
            if (facts_.arrays.contains(body.results[j].get())) {
                visit(*body.results[j], map);
                continue;
            }
            if (body.results[j]->shape.size() > shape.size() || !accumulation(loop, j).empty())
                continue;
            for (const Ref& to : {loop.inputs[j + 3], body.results[j]})
                visit(*to, maps_.projected(map, shape, to->shape));
        }
    }

    void ask_owner(const Node& node, const Ask& a) {
        const Node& owner = *node.inputs[0];
        const int k = node.as<ResultAttr>().index;
        auto project = [&](const Ref& to) {
            ask(*to, {a.root, maps_.projected(a.map, node.shape, to->shape)});
        };
        if (owner.op == Op::If) {
            project(owner.inputs[0]);
            project(owner.as<IfAttr>().then_body->results[k]);
            project(owner.as<IfAttr>().else_body->results[k]);
            return;
        }
        // Every carried value of the loop may be needed: all are asked at the same element.
        for_carried(owner, a.map, node.shape, [&](const Node& to, int map) {
            ask(to, {a.root, map});
        });
    }

    // --- groups

    struct Needs {
        std::unordered_map<const Node*, bool>
            items;                              // other items: true where only at its own index
        std::unordered_set<const Node*> loads;  // what it reads of memory
        bool sizes = false;                     // that only the device knows
        std::set<std::pair<const Node*, int>> values;  // all that it reaches, by index map
        double operations = 0;                         // simple ones, that these take
    };

    /// What a kernel's body takes for a value: a load where it is in memory.
    double in_body(const Node& node) const {
        return lives_in_memory(node) || schedule_.materialised.contains(&node)
                   ? 1
                   : body_operations(node);
    }

    bool reach(Needs& needs, const Node& node, int map) const {
        const bool first = needs.values.insert({&node, map}).second;
        if (first) needs.operations += in_body(node);
        return first;
    }

    /// What a root's kernel needs.
    Needs needs_of(const Node& root) {
        Needs out;
        std::vector<std::pair<const Node*, int>> queue;
        auto push = [&](const Node& node, int map) {
            if (reach(out, node, map)) queue.push_back({&node, map});
        };
        expand(root, maps_.identity(grid_shape(root)), push);
        needs_sizes(root, out);
        while (!queue.empty()) {
            const auto [node, map] = queue.back();
            queue.pop_back();
            needs_sizes(*node, out);
            if (lives_in_memory(*node) && !known_to_host(*node) && !starts(root, *node, map))
                out.loads.insert(node);
            if (node->op == Op::Result && facts_.host_loops.contains(node->inputs[0].get())) {
                out.items[node->inputs[0].get()] = false;
                continue;
            }
            if (schedule_.materialised.contains(node)) {
                const bool own = node->shape == grid_shape(root) &&
                                 map == maps_.identity(node->shape) && root.op != Op::Scatter &&
                                 !written(root) && !is_stored_by_hand(root);
                auto [it, added] = out.items.emplace(node, own);
                if (!added) it->second = it->second && own;
                continue;
            }
            if (lives_in_memory(*node)) continue;
            expand(*node, map, push);
        }
        return out;
    }

    /// Sizes that only the device knows are computed by a kernel before.
    void needs_sizes(const Node& node, Needs& needs) const {
        if (counts_.empty()) return;
        for_sizes(node, [&](const Size& size) {
            for (const SizeAtom& symbol : data_symbols(size)) {
                const Node* count = counts_.at(symbol.name);
                const bool of_loop =
                    count->op == Op::Result && facts_.host_loops.contains(count->inputs[0].get());
                needs.items[of_loop ? count->inputs[0].get() : count] = false;
                needs.sizes = true;
            }
        });
    }

    void find_counts() {
        const auto note = [&](const std::vector<Size>& sizes, const std::vector<Ref>& counts) {
            for (size_t k = 0; k < sizes.size(); ++k)
                counts_[data_symbols(sizes[k]).at(0).name] = counts[k].get();
        };
        note(graph_.data_sizes, graph_.results);
        for (const Ref& ref : facts_.order)
            if (ref->op == Op::Loop)
                note(ref->as<LoopAttr>().sizes, ref->as<LoopAttr>().body->results);
    }

    template <class Push>
    void expand(const Node& node, int map, Push push) {
        if (node.op == Op::RegionArg) return;
        if (is_of_invocations(node)) return for_by_hand(node, push);
        if (written(node)) return for_written(node, map, push);
        if (node.op != Op::Result) {
            for (size_t k = 0; k < node.inputs.size(); ++k)
                push(*node.inputs[k], maps_.input_map(node, static_cast<int>(k), map));
            return;
        }
        const Node& owner = *node.inputs[0];
        auto project = [&](const Ref& to) {
            if (to->shape.size() <= node.shape.size())
                push(*to, maps_.projected(map, node.shape, to->shape));
        };
        if (owner.op == Op::If) {
            const int k = node.as<ResultAttr>().index;
            project(owner.inputs[0]);
            project(owner.as<IfAttr>().then_body->results[k]);
            project(owner.as<IfAttr>().else_body->results[k]);
            return;
        }
        for_carried(owner, map, node.shape, push);
    }

    struct Readers {
        std::vector<const Node*> roots;
        bool all_at_own_index = true;
    };

    struct Group {
        ScheduleItem item;
        bool heavy = false;  // has loops: kept apart from plain elementwise kernels
        Needs needs;         // of memory, sizes and values
    };

    /// The device binds what a kernel with these outputs needs.
    bool fits(const std::vector<Ref>& outputs, const Needs& needs) const {
        BindingCount count;
        count.storage = needs.sizes ? 1 : 0;
        for (const Ref& output : outputs)
            count.add(bound_value(*output, true), profile_, symbol_facts_);
        for (const Node* load : needs.loads) {
            const auto is_load = [&](const Ref& output) { return output.get() == load; };
            if (std::none_of(outputs.begin(), outputs.end(), is_load))
                count.add(bound_value(*load, false), profile_, symbol_facts_);
        }
        return count.fits(profile_);
    }

    bool fits_with(const Group& group, const Ref& root, const Needs& needs) const {
        std::vector<Ref> outputs = group.item.outputs;
        outputs.push_back(root);
        Needs all = needs;
        all.loads.insert(group.needs.loads.begin(), group.needs.loads.end());
        all.sizes |= group.needs.sizes;
        return fits(outputs, all);
    }

    bool heavy(const Node& root) const {
        std::set<const Node*> seen;
        std::vector<const Node*> queue{&root};
        while (!queue.empty()) {
            const Node* node = queue.back();
            queue.pop_back();
            if (!seen.insert(node).second || (node != &root && lives_in_memory(*node))) continue;
            if (node->op == Op::Reduce ||
                (node->op == Op::Result && node->inputs[0]->op == Op::Loop))
                return true;
            if (node->op == Op::Result) continue;
            for (const Ref& input : node->inputs) queue.push_back(input.get());
        }
        return false;
    }

    std::vector<ScheduleItem> group(const Node* home) {
        std::vector<Group> groups;
        std::unordered_map<const Node*, size_t> group_of;  // roots and loops of this region
        for (const Ref& ref : facts_.order) {
            const bool root = schedule_.materialised.contains(ref.get());
            const bool loop = facts_.host_loops.contains(ref.get());
            if ((!root && !loop) || home_loop(facts_, *ref) != home) continue;
            if (loop) {
                Group g;
                g.item.loop = ref;
                g.item.body = group(ref.get());
                group_of[ref.get()] = groups.size();
                groups.push_back(std::move(g));
                continue;
            }
            const Needs needs = needs_of(*ref);
            for (const auto& [node, own] : needs.items) {
                Readers& readers = readers_[node];
                readers.roots.push_back(ref.get());
                readers.all_at_own_index = readers.all_at_own_index && own;
            }
            const bool is_heavy = heavy(*ref);
            const auto rows = inner_.find(ref.get());
            const auto held = row_reductions_.find(ref.get());
            const bool alone = rows != inner_.end() || held != row_reductions_.end();
            size_t first = 0;
            for (const auto& [node, own] : needs.items)
                if (auto it = group_of.find(node); it != group_of.end())
                    first = std::max(first,
                                     it->second + (own && !groups[it->second].item.loop ? 0 : 1));
            size_t at = first;
            while (at < groups.size() && (alone || !can_join(groups[at], ref, is_heavy, needs)))
                ++at;
            if (at == groups.size()) {
                groups.emplace_back();
                groups.back().heavy = is_heavy;
                if (rows != inner_.end()) groups.back().item.inner = rows->second;
                if (held != row_reductions_.end()) groups.back().item.row_reductions = held->second;
            }
            groups[at].item.outputs.push_back(ref);
            groups[at].needs.loads.insert(needs.loads.begin(), needs.loads.end());
            groups[at].needs.sizes |= needs.sizes;
            for (const auto& [node, map] : needs.values) reach(groups[at].needs, *node, map);
            group_of[ref.get()] = at;
        }
        std::vector<ScheduleItem> out;
        for (Group& g : groups) out.push_back(std::move(g.item));
        return out;
    }

    /// What nobody but the outputs of its own kernel reads, each at its own index, is at hand
    /// there: nothing would load it. After the groups, which had to place it before its readers.
    void keep_in_kernels(std::vector<ScheduleItem>& items) {
        for (ScheduleItem& item : items) {
            keep_in_kernels(item.body);
            std::set<const Node*> members;
            for (const Ref& output : item.outputs) members.insert(output.get());
            std::erase_if(item.outputs, [&](const Ref& output) {
                if (!read_only_by(members, *output)) return false;
                schedule_.materialised.erase(output.get());
                for (ValueVerdict& v : schedule_.verdicts)
                    if (v.value == output) v.verdict = Verdict::Inlined, v.reason = kReasonKernel;
                return true;
            });
        }
    }

    bool read_only_by(const std::set<const Node*>& members, const Node& value) const {
        const auto found = readers_.find(&value);
        if (found == readers_.end() || !found->second.all_at_own_index || forced_.contains(&value))
            return false;
        return std::all_of(found->second.roots.begin(), found->second.roots.end(),
                           [&](const Node* root) { return members.contains(root); });
    }

    /// The kernel of both has a body that the driver's compiler bears; what they share counts once.
    bool bears(const Needs& a, const Needs& b) const {
        const double most = profile_.max_body_operations, both = a.operations + b.operations;
        const auto [less, more] = std::minmax(a.operations, b.operations);
        if (both <= most || (more > most && less <= kLittleMore * more)) return true;
        double shared = 0;
        for (const auto& [node, map] : b.values)
            if (a.values.contains({node, map})) shared += in_body(*node);
        return both - shared <= most || shared >= kMostlyShared * less;
    }

    bool can_join(const Group& group, const Ref& ref, bool is_heavy, const Needs& needs) const {
        const Node& root = *ref;
        if (group.item.loop || group.item.inner || !group.item.row_reductions.empty() ||
            group.heavy != is_heavy ||
            (group.item.outputs.size() >= kMaxOutputs && !is_stored_by_hand(root)))
            return false;
        const Node& other = *group.item.outputs[0];
        if (is_stored_by_hand(root) || is_stored_by_hand(other))
            return is_stored_by_hand(root) && is_stored_by_hand(other) &&
                   root.inputs[0] == other.inputs[0];
        if (!bears(group.needs, needs)) return false;
        // Stores by position join where the positions are the same.
        const Written a = written(root), b = written(other);
        return static_cast<bool>(a) == static_cast<bool>(b) && a.loop == b.loop &&
               grid_shape(other) == grid_shape(root) && fits_with(group, ref, needs);
    }

    const Graph& graph_;
    const DeviceProfile& profile_;
    const SymbolFacts& symbol_facts_;
    const bool nested_;
    RegionFacts facts_;
    AccessMaps maps_;
    Schedule schedule_;
    std::unordered_map<std::string, const Node*> counts_;  // what gives each data symbol its value
    std::unordered_map<const Node*, Shape>
        leaving_;  // loops inside kernels with a result in memory; its shape
    ElementCosts costs_;
    AtHand at_hand_;  // what the round before asked for
    std::unordered_map<const Node*, double>
        reached_;  // simple operations of the values that a root's kernel asks for
    std::unordered_set<const Node*>
        reads_memory_;  // values that need a binding, of their own or of what they come from
    Crowds crowds_;
    std::unordered_map<const Node*, int>
        inner_;                             // roots that stage values: dimensions walked inside
    std::unordered_set<const Node*> held_;  // roots whose groups hold whole rows
    std::unordered_map<const Node*, const Node*>
        held_for_;  // what was in memory before, and the root that holds it
    std::unordered_map<const Node*, std::vector<const Node*>> row_reductions_;  // of those roots
    std::unordered_map<const Node*, const char*> forced_;
    std::unordered_map<const Node*, Readers> readers_;  // of values in memory
    Asks asks_;
};

}  // namespace

Schedule make_schedule(const Graph& graph, const DeviceProfile& profile, const SymbolFacts& facts,
                       bool nested) {
    return Scheduler(graph, profile, facts, nested).run();
}

}  // namespace firn
