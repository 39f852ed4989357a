// Splits large reductions with few results into stages that keep the whole device busy.
#include "compiler/passes/profiled/split_reductions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <unordered_set>

#include "compiler/ir/builder.h"
#include "compiler/ir/reshape_blocks.h"
#include "compiler/program/device_profile.h"
#include "compiler/program/index_limits.h"
#include "compiler/schedule/access.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// Returns `x` as [outer..., count], with the reduced axes as one axis at the end.
Ref reduced_last(Builder b, const Ref& x, const std::vector<int>& axes) {
    std::vector<int> order;
    Shape rows;
    Size count(1);
    for (int axis = 0; axis < x->rank(); ++axis) {
        if (std::find(axes.begin(), axes.end(), axis) != axes.end()) continue;
        order.push_back(axis);
        rows.push_back(x->shape[static_cast<size_t>(axis)]);
    }
    for (int axis : axes) count = count * x->shape[static_cast<size_t>(axis)];
    order.insert(order.end(), axes.begin(), axes.end());
    rows.push_back(count);
    return reshape(b, permute(b, x, order), rows);
}

/// Splits the reductions of one graph for one device.
struct Cutter {
    Builder b;
    ReduceOp op;
    const SymbolFacts& facts;
    bool shared = false;  // the lanes of a subgroup share a reduction
    int64_t lanes = 1;
    int64_t rows = 0;   // of a part of columns; 0: chosen by the row count
    int64_t small = 0;  // elements that are reduced in one go
    double enough = 0;  // reductions at once that keep the device busy

    double estimated(const Size& size) const { return std::max(1.0, estimate(size, facts)); }
    bool is_small(const Size& count) const { return count.upper_bound(facts.largest) <= small; }

    bool divides(const Size& count, int64_t size) const { return count.divisor() % size == 0; }
    /// Returns the number of elements in whole parts, as a product: splitting it into its factors
    /// takes no division, even if it is known to be all of `count`.
    static Size whole_parts(const Size& count, int64_t size) {
        return floor_div(count, Size(size)) * Size(size);
    }

    /// A part is [rows, columns]: its rows are reduced to one partial result per column.
    struct Part {
        int64_t rows = 1, columns = 1;
        int64_t size() const { return rows * columns; }
    };

    Part part_of(const Size& count, double results) const {
        if (shared) {
            const double fair = estimated(count) * results / (enough * costs::kPartsAtOnce);
            const auto least = static_cast<double>(costs::kLeastPart * lanes);
            return {power_of_two(std::clamp(fair, least, double{costs::kLargestPart})), 1};
        }
        // All invocations are busy already, so the fewest partial results are best.
        if (count.is_constant() && results >= enough) return {small, 1};
        // Neighbouring invocations read neighbours in a row together.
        const int64_t most = count.upper_bound(facts.largest);
        return {std::clamp<int64_t>(most / costs::kColumns / costs::kLeastParts, costs::kLeastRows,
                                    costs::kRows),
                costs::kColumns};
    }
    static int64_t power_of_two(double value) {
        return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(value)));
    }

    /// Returns a run of x along `axis`.
    Ref part(const Ref& x, int axis, const Size& begin, const Size& extent) const {
        std::vector<Size> begins(x->shape.size(), Size(0)), extents = x->shape;
        begins[static_cast<size_t>(axis)] = begin;
        extents[static_cast<size_t>(axis)] = extent;
        // The run is inside by construction, so the call needs no guard.
        if (extents == x->shape) return x;
        return b.table.intern(Op::Slice, x->dtype, extents, {x},
                              SliceAttr{begins, std::vector<int64_t>(x->shape.size(), 1)}, b.line);
    }

    /// Combines `whole` with the reduction of the elements that remain after the parts of `size`
    /// along `axis` of x.
    Ref with_rest(const Ref& whole, const Ref& x, int axis, int64_t size,
                  const std::vector<int>& axes) const {
        const Size& count = x->shape[static_cast<size_t>(axis)];
        if (divides(count, size)) return whole;
        const Ref left = part(x, axis, whole_parts(count, size), mod(count, Size(size)));
        const Ref rest = reduce(b, op, left, axes, false);
        return elementwise(b, reduce_step(op), {whole, rest});
    }

    /// Reduces the last axis of x, shape [outer..., count].
    Ref reduce_last(const Ref& x) const {
        const Size& count = x->shape.back();
        const int axis = x->rank() - 1;
        if (is_small(count)) return reduce(b, op, x, {axis}, false);
        Shape flat(x->shape.begin(), x->shape.end() - 1);
        const Part size = part_of(count, estimated(element_count(flat)));
        const Size parts = floor_div(count, Size(size.size()));
        Shape split = flat;
        split.insert(split.end(), {parts, Size(size.rows), Size(size.columns)});
        flat.push_back(parts * Size(size.columns));
        const Ref whole =
            reshape(b, part(x, axis, Size(0), whole_parts(count, size.size())), split);
        const Ref partial = reshape(b, reduce(b, op, whole, {axis + 1}, false), flat);
        return with_rest(reduce_last(partial), x, axis, size.size(), {axis});
    }

    /// Returns how many of the last of `axes` have few elements together, but possibly enough for
    /// every lane: 0 if none or all of them do.
    size_t inner_axes(const Ref& x, const std::vector<int>& axes) const {
        Size count(1);
        size_t found = 0;
        for (size_t k = axes.size(); k-- > 1;) {
            count = count * x->shape[static_cast<size_t>(axes[k])];
            if (is_small(count) && count.upper_bound(facts.largest) >= costs::kLeastPart * lanes)
                found = axes.size() - k;
        }
        return found;
    }

    /// Returns how many of the last of `axes` have together no more elements than can be counted as
    /// one axis: usually all of them.
    size_t countable_axes(const Ref& x, const std::vector<int>& axes) const {
        Size count(1);
        for (size_t k = axes.size(); k-- > 0;) {
            count = count * x->shape[static_cast<size_t>(axes[k])];
            if (count.upper_bound(facts.largest) > kMostIndices)
                return std::max<size_t>(1, axes.size() - k - 1);
        }
        return axes.size();
    }

    /// Reduces `axes` from the last on, in runs that end between two axes if possible.
    Ref reduce_rows(const Ref& x, std::vector<int> axes) const {
        const size_t inner = inner_axes(x, axes);
        const size_t together = inner ? inner : countable_axes(x, axes);
        if (together == axes.size()) return reduce_last(reduced_last(b, x, axes));
        const std::vector<int> last(axes.end() - static_cast<long>(together), axes.end());
        Size run(1);
        for (int axis : last) run = run * x->shape[static_cast<size_t>(axis)];
        if (!inner && run.upper_bound(facts.largest) < costs::kLargestPart)
            return reduce_runs(x, axes, together, run);
        axes.resize(axes.size() - together);
        const Ref partial = inner ? reduce(b, op, x, last, false) : reduce_rows(x, last);
        // The reduced axes came after the remaining ones, or between these and the axes that are
        // kept.
        Size count(1);
        for (int axis : axes) count = count * partial->shape[static_cast<size_t>(axis)];
        return is_small(count) ? reduce(b, op, partial, axes, false) : reduce_rows(partial, axes);
    }

    /// Reduces `axes` in parts along one axis. The axes after that one are a short `run`; together
    /// with it they have too many elements to count.
    Ref reduce_runs(const Ref& x, const std::vector<int>& axes, size_t together,
                    const Size& run) const {
        const size_t before = axes.size() - together - 1;
        const int axis = axes[before];
        const Size& count = x->shape[static_cast<size_t>(axis)];
        const int64_t size = std::bit_floor(static_cast<uint64_t>(
            costs::kLargestPart / std::max<int64_t>(1, run.upper_bound(facts.largest))));
        Shape split = x->shape;
        split[static_cast<size_t>(axis)] = floor_div(count, Size(size));
        split.insert(split.begin() + axis + 1, Size(size));
        std::vector<int> inside{axis + 1};
        for (size_t k = before + 1; k < axes.size(); ++k) inside.push_back(axes[k] + 1);
        const Ref whole = reshape(b, part(x, axis, Size(0), whole_parts(count, size)), split);
        const std::vector<int> left(axes.begin(), axes.begin() + static_cast<long>(before) + 1);
        const Ref reduced = reduce_rows(reduce(b, op, whole, inside, false), left);
        if (divides(count, size)) return reduced;
        const Ref rest = part(x, axis, whole_parts(count, size), mod(count, Size(size)));
        return elementwise(b, reduce_step(op), {reduced, reduce_rows(rest, axes)});
    }

    /// Reduces `axes` of results that lie side by side. Parts are runs along the longest axis, and
    /// each is summed for all neighbours at once.
    Ref reduce_columns(const Ref& x, const std::vector<int>& axes) const {
        const int axis = *std::max_element(axes.begin(), axes.end(), [&](int p, int q) {
            return estimated(x->shape[static_cast<size_t>(p)]) <
                   estimated(x->shape[static_cast<size_t>(q)]);
        });
        const Size& count = x->shape[static_cast<size_t>(axis)];
        const double fair =
            count.is_constant() ? std::sqrt(estimated(count)) : double{costs::kRows};
        const int64_t run =
            rows ? rows
                 : power_of_two(std::clamp(fair, double{costs::kLeastRows}, double{costs::kRows}));
        const Size groups = floor_div(count, Size(run));
        Shape split = x->shape;
        split[static_cast<size_t>(axis)] = groups;
        split.insert(split.begin() + axis + 1, Size(run));
        std::vector<int> inside{axis + 1};
        int before = 0;
        for (int other : axes) {
            if (other != axis) inside.push_back(other < axis ? other : other + 1);
            before += other < axis;
        }
        std::sort(inside.begin(), inside.end());
        const Ref partial =
            reduce(b, op, reshape(b, part(x, axis, Size(0), whole_parts(count, run)), split),
                   inside, false);
        const std::vector<int> left{axis - before};
        const Ref whole =
            is_small(groups) ? reduce(b, op, partial, left, false) : reduce_columns(partial, left);
        return with_rest(whole, x, axis, run, axes);
    }
};

/// True if reducing `x` reads some tensor in memory element by element: its rows are not read
/// again.
bool streams(const Ref& x) {
    std::vector<const Node*> waiting{x.get()};
    std::unordered_set<const Node*> seen{x.get()};
    while (!waiting.empty()) {
        const Node& node = *waiting.back();
        waiting.pop_back();
        if (node.op == Op::Input || node.op == Op::Buffer) return true;
        if (!is_elementwise(node.op)) continue;
        for (const Ref& input : node.inputs)
            if (input->shape == x->shape && seen.insert(input.get()).second)
                waiting.push_back(input.get());
    }
    return false;
}

/// True if an invocation that walks down columns looks up a new page for each row, because rows
/// have many columns. In parts with few rows, neighbouring columns find the pages that are in use
/// already.
bool walks_far(const Cutter& cut, const Ref& x, const std::vector<int>& axes) {
    if (axes.size() != 1) return false;
    double row = x->dtype.bytes();
    for (int axis = axes[0] + 1; axis < x->rank(); ++axis)
        row *= cut.estimated(x->shape[static_cast<size_t>(axis)]);
    return row >= costs::kFarBytes &&
           cut.estimated(x->shape[static_cast<size_t>(axes[0])]) >=
               costs::kFarWalk * costs::kNearRows &&
           streams(x);
}

/// Returns the axis before the Reshape that becomes this one; -1 if no single axis does.
int axis_before(const Node& reshape, int axis) {
    const auto at = static_cast<size_t>(axis);
    for (const ReshapeBlock& block : reshape_blocks(reshape.shape, reshape.inputs[0]->shape))
        if (block.i0 == at && block.i == at + 1 && block.j == block.j0 + 1)
            return static_cast<int>(block.j0);
    return -1;
}

/// The value and the axis of it that remain below nodes which only repeat or permute elements.
struct Source {
    const Node* node = nullptr;
    int axis = -1;  // -1: it is repeated along the axis
};
Source source_of(const Node& value, int axis) {
    Source out{&value, axis};
    while (out.axis >= 0) {
        const Node& node = *out.node;
        if (node.op == Op::Permute) {
            out.axis = node.as<PermuteAttr>().axes[static_cast<size_t>(out.axis)];
        } else if (node.op == Op::Expand) {
            const Node& input = *node.inputs[0];
            out.axis -= node.rank() - input.rank();
            if (out.axis >= 0 && input.shape[static_cast<size_t>(out.axis)].is(1)) out.axis = -1;
        } else if (node.op == Op::Reshape) {
            out.axis = axis_before(node, out.axis);
            if (out.axis < 0) return {&node, axis};
        } else {
            break;
        }
        out.node = node.inputs[0].get();
        axis = out.axis;
    }
    return out;
}

/// Returns the values from which the elements of `x` are computed and that have an axis of it, each
/// once.
std::vector<Source> factors_of(const Node& x, int axis) {
    std::vector<Source> out;
    std::vector<const Node*> waiting{&x};
    std::unordered_set<const Node*> seen{&x};
    while (!waiting.empty()) {
        const Node& node = *waiting.back();
        waiting.pop_back();
        for (const Ref& input : node.inputs) {
            if (!seen.insert(input.get()).second) continue;
            const Source source = source_of(*input, axis);
            if (source.node == input.get() && is_elementwise(input->op))
                waiting.push_back(input.get());
            else if (source.axis >= 0 && seen.insert(source.node).second)
                out.push_back(source);
        }
    }
    return out;
}

/// True for a product of values one of which has long rows and serves few results each: an
/// invocation that walks such rows looks up a new page for each, as in walks_far. In runs of rows,
/// neighbours find the pages in use already, and the partial results are few compared with what is
/// read.
bool walks_far_for_few(const Cutter& cut, const Node& x, int axis, double count, double results) {
    if (count < costs::kLeastParts * costs::kRows) return false;
    return std::any_of(x.inputs.begin(), x.inputs.end(), [&](const Ref& input) {
        const Source source = source_of(*input, axis);
        if (source.axis < 0) return false;
        double row = source.node->dtype.bytes();
        for (int k = source.axis + 1; k < source.node->rank(); ++k)
            row *= cut.estimated(source.node->shape[static_cast<size_t>(k)]);
        const double columns = cut.estimated(element_count(source.node->shape)) / count;
        return row >= costs::kFarBytes && results > columns &&
               costs::kLittleLeft * results <= costs::kRows * columns;
    });
}

/// Returns the rows of a run for a product of several values each of which serves many results.
/// Every tile of results walks all rows, which the core must load again if it cannot hold them. All
/// tiles of one run find its rows in the core's cache. 0 if the rows are few, or if a run that fits
/// in the cache leaves too many partial results compared with what is read.
int64_t rows_near_core(const Cutter& cut, const Node& x, int axis, double count, double results) {
    const std::vector<Source> factors = factors_of(x, axis);
    if (factors.size() < 2) return 0;
    double columns = 0, bytes = 0;
    for (const Source& factor : factors) {
        const double own = cut.estimated(element_count(factor.node->shape)) / count;
        if (results < costs::kReadAgain * own) return 0;
        columns += own, bytes += own * factor.node->dtype.bytes();
    }
    int64_t rows = costs::kRows;
    while (rows * columns < costs::kLittleLeft * results) rows *= 2;
    const bool fits = rows * bytes <= costs::kRunBytes;
    const bool is_long = count >= costs::kLeastParts * rows &&
                         count * bytes >= costs::kLeastParts * costs::kRunBytes;
    return fits && is_long ? rows : 0;
}

/// Returns the rows of the runs in which a product is best summed; 0 if runs do not help.
int64_t rows_of_runs(const Cutter& cut, const Node& x, const std::vector<int>& axes,
                     double results) {
    if (axes.size() != 1 || !is_elementwise(x.op)) return 0;
    const double count = cut.estimated(x.shape[static_cast<size_t>(axes[0])]);
    if (walks_far_for_few(cut, x, axes[0], count, results)) return costs::kRows;
    return rows_near_core(cut, x, axes[0], count, results);
}

/// The position of an extreme along an axis, by two reductions that `split` may split: of the
/// extreme, and of the least position where it stands. Parts of one reduction would have to combine
/// pairs.
template <class Split>
Ref position_of(Builder b, ReduceOp extreme, const Ref& x, int axis, const Split& split) {
    Shape kept = x->shape;
    kept[static_cast<size_t>(axis)] = 1;
    const Ref best = reshape(b, split(reduce(b, extreme, x, {axis}, false)), kept);
    const Ref i = index(b, x->shape, axis), none = constant_int(b, kNoPosition),
              is_it = elementwise(b, Op::Equal, {x, expand(b, best, x->shape)});
    Ref place = elementwise(b, Op::Select, {is_it, i, none});
    if (x->dtype.is_float()) {
        const Ref marked = elementwise(b, Op::Or, {i, constant_int(b, kNanPosition)});
        place = elementwise(b, Op::Select, {elementwise(b, Op::IsNan, {x}), marked, place});
    }
    const Ref first = split(reduce(b, ReduceOp::Min, place, {axis}, false));
    return elementwise(b, Op::Select,
                       {elementwise(b, Op::Equal, {first, none}), constant_int(b, 0),
                        elementwise(b, Op::And, {first, none})});
}

}  // namespace

Graph split_reductions(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                       const SymbolFacts& facts) {
    const ClassRules& rules = rules_of(profile);
    Graph out = graph;
    std::function<Ref(const Node&, const std::vector<Ref>&)> visit;
    const auto split = [&](const Ref& whole) {
        const Ref parts = visit(*whole, whole->inputs);
        return parts ? parts : whole;
    };
    visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
        if (node.op != Op::Reduce) return nullptr;
        const auto& attr = node.as<ReduceAttr>();
        const Ref& input = inputs[0];
        // Partial sums have the accumulator's type.
        const DType type = input->dtype.is_half() && attr.op == ReduceOp::Sum ? f32 : input->dtype;
        Cutter cut{{table, first_line(node.lines), &out.guards}, attr.op, facts};
        // So many results keep every invocation slot busy several times over.
        cut.enough = profile.parallel_invocations * rules.results;
        const double results = estimate(element_count(node.shape), facts);
        const bool last_kept = attr.axes.back() != input->rank() - 1;
        const bool columns = last_kept && cut.estimated(input->shape.back()) >= costs::kBeside &&
                             attr.axes.size() > 0;
        cut.shared = !columns && lanes_share(profile) && lanes_exchange(type);
        cut.lanes = cut.shared ? profile.subgroup_size : 1;
        cut.small = cut.shared ? cut.lanes * rules.small_share : costs::kSmallReduction;
        // Several reductions may share one kernel whose lanes do not share them after all.
        if (profile.max_back_edges)
            cut.small =
                std::min<int64_t>(cut.small, profile.max_back_edges / costs::kBackEdgeFraction);
        Size count(1);
        for (int axis : attr.axes) count = count * input->shape[static_cast<size_t>(axis)];
        const auto trips = static_cast<double>(count.upper_bound(facts.largest));
        const bool cut_off = profile.max_back_edges && trips > profile.max_back_edges;
        cut.enough /= static_cast<double>(cut.lanes);
        if (rules.subgroups_run_serially) cut.rows = rows_of_runs(cut, *input, attr.axes, results);
        const bool in_runs = cut.rows > 0;
        if (!in_runs && rules.subgroups_run_serially && columns && walks_far(cut, input, attr.axes))
            cut.rows = costs::kNearRows;
        if (!cut.rows && (cut.is_small(count) || (results >= cut.enough && !cut_off)))
            return nullptr;
        if (const auto extreme = monoid(attr.op).position_of)
            return position_of(cut.b, *extreme, input, attr.axes[0], split);
        if (in_runs) {
            // The partial results of a run lie side by side.
            std::vector<int> order{attr.axes[0]};
            for (int axis = 0; axis < input->rank(); ++axis)
                if (axis != attr.axes[0]) order.push_back(axis);
            const Ref x = permute(cut.b, cast(cut.b, input, type), order);
            return cast(cut.b, cut.reduce_columns(x, {0}), node.dtype);
        }
        const Ref x = cast(cut.b, input, type);
        const Ref reduced =
            columns ? cut.reduce_columns(x, attr.axes) : cut.reduce_rows(x, attr.axes);
        return cast(cut.b, reduced, node.dtype);
    };
    out.results = rewrite(table, graph.results, visit);
    return out;
}

}  // namespace firn
