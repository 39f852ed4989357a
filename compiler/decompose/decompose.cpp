// A function of whole tensors as a function of the parts that one process has.
#include "compiler/decompose/decompose.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/decompose/window.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

/// Part of a value: positions by axis of the grid, of which the value has those that it has axes
/// of.
using Box = GridWindow;

/// A window, and the positions at which values are taken from it.
struct Strip {
    GridWindow window;
    Box taken;
};

Ref joined(const Builder& b, const std::vector<Ref>& parts, size_t axis) {
    Size all(0);
    for (const Ref& part : parts) all += part->shape[axis];
    Ref out;
    Size before(0);
    for (const Ref& part : parts) {
        std::vector<Size> left(part->shape.size(), Size(0)), right = left;
        left[axis] = before;
        before += part->shape[axis];
        right[axis] = all - before;
        if (part->shape[axis].is(0)) continue;
        const Ref padded = pad(b, part, left, right, scalar_int(0).to(part->dtype));
        if (!out) {
            out = padded;
            continue;
        }
        // The later part from its first position on.
        const Ref at = index(b, padded->shape, static_cast<int>(axis));
        const Ref first = size_value(b, left[axis]);
        out = elementwise(
            b, Op::Select,
            {elementwise(b, Op::Less, {at, expand(b, first, padded->shape)}), out, padded});
    }
    return out ? out : parts[0];
}

Ref sliced(const Builder& b, const Ref& x, size_t axis, int64_t first, int64_t length) {
    std::vector<Size> begin(x->shape.size(), Size(0)), extent = x->shape;
    if (first == 0 && extent[axis].is(length)) return x;
    begin[axis] = Size(first), extent[axis] = Size(length);
    return slice(b, x, begin, extent, std::vector<int64_t>(x->shape.size(), 1));
}

class Decomposer {
  public:
    Decomposer(const Builder& b, const std::vector<GridAxis>& grid,
               const std::vector<GridPart>& part, const GridTies& ties,
               std::vector<Exchange>* exchanges)
        : b_(b), reaches_(grid), part_(part), ties_(ties), exchanges_(exchanges) {
        for (const GridPart& axis : part) {
            own_.push_back({axis.first, axis.length});
            totals_.push_back(axis.total);
        }
    }

    std::vector<Ref> run(const Graph& graph, const std::vector<Ref>& args) {
        for (size_t k = 0; k < args.size(); ++k) {
            reaches_.add_leaf(graph.args[k]);
            note(graph.args[k], args[k], "argument " + std::to_string(k + 1));
        }
        for (size_t k = 0; k < graph.results.size(); ++k) check_result(graph, k);
        return values_of(graph.results);
    }

  private:
    void check_result(const Graph& graph, size_t k) {
        const Ref& result = graph.results[k];
        make_leaves({result});
        for (const AxisPlace& axis : reaches_.of(result).axes)
            if (axis.grid >= 0 && (axis.offset != 0 || axis.cut != 0))
                throw UserError("grid: result " + std::to_string(k + 1) + " has shape " +
                                text(result->shape) +
                                ", which leaves positions of the grid out; store it into a "
                                "tensor of the grid's shape" +
                                in_brackets(result->lines));
    }

    /// Returns the values at this process's positions.
    std::vector<Ref> values_of(const std::vector<Ref>& values) {
        make_leaves(values);
        std::vector<Ref> wanted, out;
        for (const Ref& value : values)
            if (!own_value_.contains(value.get())) wanted.push_back(value);
        std::unordered_map<const Node*, Ref> made;
        if (!wanted.empty()) {
            const std::vector<Ref> computed = computed_values(wanted);
            for (size_t k = 0; k < wanted.size(); ++k) made[wanted[k].get()] = computed[k];
        }
        for (const Ref& value : values) {
            const auto at = made.find(value.get());
            out.push_back(at != made.end() ? at->second : own_value_.at(value.get()));
        }
        return out;
    }

    // --- Values that all processes make together.

    void make_leaf(const Ref& node, Ref value, const std::string& name) {
        reaches_.add_leaf(node);
        note(node, std::move(value), name);
    }

    void note(const Ref& leaf, Ref value, const std::string& name) {
        own_value_[leaf.get()] = std::move(value);
        names_[leaf.get()] = name;
        order_.emplace(leaf.get(), order_.size());
    }

    /// True for the nodes of a loop's body whose iteration is not being made.
    bool is_inside(const Node& node) const {
        return node.free_args && std::any_of(node.free_args->begin(), node.free_args->end(),
                                             [&](uint64_t id) { return !open_args_.contains(id); });
    }

    void make_leaves(const std::vector<Ref>& values) {
        const auto stops = [&](const Node& node) { return reaches_.is_leaf(node); };
        for (const Ref& node : topological(values, stops)) {
            if (reaches_.is_leaf(*node) || is_inside(*node)) continue;
            if (node->op == Op::Reduce && reaches_.reduces_grid(node)) combine(node);
            if (node->op == Op::Result && node->inputs[0]->op == Op::Loop &&
                reaches_.is_joint(node->inputs[0]))
                make_leaf(node,
                          result(b_, joint_loop(node->inputs[0]), node->as<ResultAttr>().index),
                          "a value of a loop");
        }
    }

    void combine(const Ref& node) {
        const ReduceAttr& attr = node->as<ReduceAttr>();
        if (attr.op == ReduceOp::Argmin || attr.op == ReduceOp::Argmax)
            throw UserError(
                "grid: there is no position of an extreme along an axis that is dealt; find it in "
                "the extreme's value" +
                in_brackets(node->lines));
        const Ref input = values_of({node->inputs[0]})[0];
        std::vector<bool> along(part_.size(), false);
        const std::vector<AxisPlace> axes = reaches_.of(node->inputs[0]).axes;
        bool dealt = false;
        for (const int axis : attr.axes)
            if (const int grid = axes[static_cast<size_t>(axis)].grid; grid >= 0) {
                const auto at = static_cast<size_t>(grid);
                along[at] = part_[at].length < part_[at].total;
                dealt = dealt || along[at];
            }
        Ref value = reduce(b_, attr.op, input, attr.axes, false);
        if (dealt) {  // halves are combined in f32
            const DType own = value->dtype;
            value = cast(b_, value, own.is_half() ? f32 : own);
            value = cast(b_, host_call(b_, ties_.combine(attr.op, along), value), own);
        }
        make_leaf(node, std::move(value), "a reduction");
    }

    Ref joint_loop(const Ref& loop) {
        if (const auto at = loops_.find(loop.get()); at != loops_.end()) return at->second;
        const LoopAttr& attr = loop->as<LoopAttr>();
        if (!attr.sizes.empty())
            throw UserError("grid: a loop has sizes that only the data knows; keep room for all" +
                            in_brackets(loop->lines));
        const std::vector<Ref> inputs = values_of(loop->inputs);
        Region body;
        for (size_t k = 0; k < attr.body->args.size(); ++k) {
            const Ref& arg = attr.body->args[k];
            body.args.push_back(
                region_arg(b_, arg->dtype, k == 0 ? Shape() : inputs[k + 2]->shape));
            note(arg, body.args.back(), "a value of a loop");
            open_args_.insert(arg->as<RegionArgAttr>().id);
        }
        body.results = values_of(attr.body->results);
        for (const Ref& arg : attr.body->args) open_args_.erase(arg->as<RegionArgAttr>().id);
        const Ref made =
            firn::loop(b_, inputs[0], inputs[1], inputs[2], {inputs.begin() + 3, inputs.end()},
                       std::move(body), attr.active, attr.must_end, {}, attr.checkpoint);
        return loops_[loop.get()] = made;
    }

    // --- Values that follow from the leaves beside one's own positions.

    /// Returns how far the windows of these values go beyond the positions that are taken from
    /// them, by axis of the grid. The margin is the same to both sides and in all processes: so
    /// every process uses what its neighbours send, and no message is left out on one side alone.
    std::vector<int64_t> margins_of(const std::vector<Ref>& values) {
        std::vector<int64_t> out(part_.size());
        for (const Ref& value : values) {
            const GridPlacement& place = reaches_.of(value);
            for (const auto& [leaf, reach] : place.leaves)
                for (size_t a = 0; a < out.size(); ++a) out[a] = std::max(out[a], width(reach, a));
            for (const AxisPlace& axis : place.axes)
                if (axis.grid >= 0 && !axis.free) {
                    int64_t& margin = out[static_cast<size_t>(axis.grid)];
                    margin = std::max({margin, axis.offset, axis.cut});
                }
        }
        for (size_t a = 0; a < out.size(); ++a)
            if (!is_dealt(a)) out[a] = 0;
        return out;
    }

    bool is_dealt(size_t a) const { return part_[a].below || part_[a].above; }
    static int64_t width(const LeafReach& reach, size_t a) {
        return std::max(-reach.axes[a].lo, reach.axes[a].hi);
    }
    /// Positions that windows may have beside one's own.
    int64_t below(const std::vector<int64_t>& margins, size_t a) const {
        return part_[a].below ? margins[a] : 0;
    }
    int64_t above(const std::vector<int64_t>& margins, size_t a) const {
        return part_[a].above ? margins[a] : 0;
    }

    std::vector<Ref> computed_values(const std::vector<Ref>& values) {
        const std::vector<int64_t> margins = margins_of(values);
        const std::vector<Strip> strips = strips_for(margins, have_all_positions(values));
        std::vector<Ref> out = on(values, strips.front(), margins);
        for (size_t k = 1; k < strips.size(); ++k) {
            const std::vector<Ref> parts = on(values, strips[k], margins);
            for (size_t v = 0; v < values.size(); ++v)
                out[v] = stored(values[v], out[v], parts[v], strips[k].taken);
        }
        return out;
    }

    /// True if the values have every position of the grid, so that strips can be stored into them.
    bool have_all_positions(const std::vector<Ref>& values) {
        return std::all_of(values.begin(), values.end(), [&](const Ref& value) {
            const std::vector<AxisPlace>& axes = reaches_.of(value).axes;
            return std::all_of(axes.begin(), axes.end(), [](const AxisPlace& axis) {
                return axis.grid < 0 || (axis.offset == 0 && axis.cut == 0);
            });
        });
    }

    /// The window of one's own positions first, then those of the strips that it computes wrong. A
    /// part that is all strips has one window, and so have values that leave positions out.
    std::vector<Strip> strips_for(const std::vector<int64_t>& margins, bool all_positions) const {
        GridWindow whole = own_;
        bool narrow = false;
        for (size_t a = 0; a < own_.size(); ++a) {
            whole[a].first -= below(margins, a);
            whole[a].length += below(margins, a) + above(margins, a);
            narrow = narrow || own_[a].length < 2 * margins[a];
        }
        if (whole == own_) return {{own_, own_}};
        if (narrow || !all_positions) return {{whole, own_}};
        std::vector<Strip> out{{own_, own_}};
        Box rest = own_;            // what the strips so far leave
        GridWindow window = whole;  // along later axes with their rims
        for (size_t a = 0; a < own_.size(); ++a) {
            const int64_t lo = below(margins, a), hi = above(margins, a), each = margins[a];
            const auto add = [&](int64_t first) {
                Strip strip{window, rest};
                strip.window[a] = {first - each, 3 * each};
                strip.taken[a] = {first, each};
                out.push_back(std::move(strip));
            };
            if (lo > 0) add(own_[a].first);
            if (hi > 0) add(own_[a].end() - each);
            rest[a] = {rest[a].first + lo, rest[a].length - lo - hi};
            window[a] = own_[a];
        }
        return out;
    }

    /// Returns the values on a strip's window, at the positions that are taken. No message is
    /// needed for the window of the process's own positions.
    std::vector<Ref> on(const std::vector<Ref>& values, const Strip& strip,
                        const std::vector<int64_t>& margins) {
        std::unordered_map<const Node*, Ref> leaves;
        std::map<size_t, std::pair<const Node*, LeafReach>> reaches;  // in one order everywhere
        for (const Ref& value : values)
            for (const auto& [leaf, reach] : reaches_.of(value).leaves) {
                if (!leaf) continue;
                auto& [node, all] = reaches[order_.at(leaf)];
                node = leaf;
                all.axes.resize(part_.size());
                all.diagonal = all.diagonal || reach.diagonal;
                for (size_t a = 0; a < part_.size(); ++a)
                    all.axes[a] = {std::min(all.axes[a].lo, reach.axes[a].lo),
                                   std::max(all.axes[a].hi, reach.axes[a].hi)};
            }
        for (const auto& [number, known] : reaches)
            leaves[known.first] = leaf_on(*known.first, known.second, strip.window, margins);
        const std::vector<Ref> computed =
            on_window(b_, reaches_, values, strip.window, totals_, leaves);
        std::vector<Ref> out;
        for (size_t v = 0; v < values.size(); ++v)
            out.push_back(taken(values[v], computed[v], strip));
        return out;
    }

    /// Returns the positions of a value on a window that are taken.
    Ref taken(const Ref& value, Ref on_window, const Strip& strip) {
        const std::vector<AxisPlace> axes = reaches_.of(value).axes;
        for (size_t axis = 0; axis < axes.size(); ++axis) {
            if (axes[axis].grid < 0) continue;
            const auto a = static_cast<size_t>(axes[axis].grid);
            const auto [first, end] = positions(axes[axis], strip.taken[a], a);
            const int64_t from = strip.window[a].first + axes[axis].offset;
            on_window =
                sliced(b_, on_window, axis, first - from, std::max<int64_t>(0, end - first));
        }
        return on_window;
    }

    /// The positions of a span that a value has: at the ends of the grid it may have fewer.
    std::pair<int64_t, int64_t> positions(const AxisPlace& place, const Span& span,
                                          size_t a) const {
        if (place.free && place.offset == 0 && place.cut == 0) return {span.first, span.end()};
        const int64_t first = part_[a].below ? span.first : std::max(span.first, place.offset);
        const int64_t end =
            part_[a].above ? span.end() : std::min(span.end(), totals_[a] - place.cut);
        return {first, end};
    }

    /// `all` with `part` at the positions taken.
    Ref stored(const Ref& value, const Ref& all, const Ref& part, const Box& box) {
        const std::vector<AxisPlace> axes = reaches_.of(value).axes;
        if (std::none_of(axes.begin(), axes.end(), [](const auto& a) { return a.grid >= 0; }))
            return all;
        std::vector<Ref> indices;
        for (size_t axis = 0; axis < axes.size(); ++axis) {
            Ref at = index(b_, part->shape, static_cast<int>(axis));
            if (axes[axis].grid >= 0) {
                const auto a = static_cast<size_t>(axes[axis].grid);
                const int64_t by = positions(axes[axis], box[a], a).first -
                                   positions(axes[axis], own_[a], a).first;
                if (by != 0)
                    at = elementwise(b_, Op::Add, {at, constant_int(b_, by)}, {false, true});
            }
            indices.push_back(std::move(at));
        }
        ScatterAttr attr{ScatterOp::Last, true};
        attr.apart = true;
        return scatter(b_, all, part, indices, attr);
    }

    // --- Leaves beside one's own positions.

    /// A leaf on a window.
    Ref leaf_on(const Node& leaf, const LeafReach& reach, const GridWindow& window,
                const std::vector<int64_t>& margins) {
        if (window == own_) return own_value_.at(&leaf);
        Ref out = extended(leaf, reach, margins);
        const std::vector<AxisPlace> axes = reaches_.of_leaf(leaf).axes;
        for (size_t axis = 0; axis < axes.size(); ++axis) {
            if (axes[axis].grid < 0) continue;
            const auto a = static_cast<size_t>(axes[axis].grid);
            const int64_t first = own_[a].first - below(margins, a);
            out = sliced(b_, out, axis, window[a].first - first, window[a].length);
        }
        return out;
    }

    /// A leaf with the positions beside one's own that windows have: of its neighbours as far as
    /// its values are read there, else 0.
    Ref extended(const Node& leaf, const LeafReach& reach, const std::vector<int64_t>& margins) {
        const auto key = std::pair(order_.at(&leaf), margins);
        if (const auto at = extended_.find(key); at != extended_.end()) return at->second;
        const std::vector<AxisPlace> axes = reaches_.of_leaf(leaf).axes;
        Ref out = own_value_.at(&leaf);
        for (size_t a = 0; a < part_.size(); ++a)
            for (size_t axis = 0; axis < axes.size(); ++axis) {
                if (axes[axis].grid != static_cast<int>(a) || margins[a] == 0) continue;
                Rims rims;
                if (const int64_t wide = width(reach, a); wide > 0)
                    rims = exchanged(leaf, reach.diagonal ? out : own_value_.at(&leaf), axis, a,
                                     wide, reach.diagonal);
                out = joined(b_,
                             {rim(rims.below, out, axis, true, axes, margins), out,
                              rim(rims.above, out, axis, false, axes, margins)},
                             axis);
            }
        return extended_[key] = out;
    }

    /// The positions of windows below `own`, or above it, of which those next to it are `found`;
    /// null: none are.
    Ref rim(const Ref& found, const Ref& own, size_t axis, bool before_own,
            const std::vector<AxisPlace>& axes, const std::vector<int64_t>& margins) {
        const auto a = static_cast<size_t>(axes[axis].grid);
        const int64_t wanted = before_own ? below(margins, a) : above(margins, a);
        Shape shape = own->shape;
        shape[axis] = Size(wanted);
        if (!found || wanted == 0)
            return expand(b_, constant(b_, scalar_int(0).to(own->dtype)), shape);
        std::vector<Size> before(shape.size(), Size(0)), after = before;
        for (size_t k = 0; k < shape.size(); ++k) {
            const Size missing = shape[k] - found->shape[k];
            if (k == axis)
                (before_own ? before : after)[k] = missing;
            else if (!missing.is(0)) {  // the rims of an earlier axis
                const int grid = axes[k].grid;
                before[k] = Size(below(margins, static_cast<size_t>(grid)));
                after[k] = missing - before[k];
            }
        }
        return pad(b_, found, before, after, scalar_int(0).to(own->dtype));
    }

    struct Rims {
        Ref below, above;  // null: none
    };

    /// So many positions on both sides of `from`, from the processes that have them.
    Rims exchanged(const Node& leaf, const Ref& from, size_t axis, size_t a, int64_t wide,
                   bool corners) {
        if (wide > part_[a].shortest)
            throw UserError("grid: a rim of " + std::to_string(wide) + " positions along axis " +
                            reaches_.grid()[a].symbol + " is wider than the " +
                            std::to_string(part_[a].shortest) +
                            " that some process has; use fewer processes" +
                            in_brackets(leaf.lines));
        if (const auto at = rims_.find({from.get(), a, wide}); at != rims_.end()) return at->second;
        const Builder b{b_.table, leaf.lines.empty() ? b_.line : leaf.lines[0], b_.guards};
        const int64_t length = from->shape[axis].constant();
        int64_t across = 1;
        for (size_t k = 0; k < from->shape.size(); ++k)
            if (k != axis) across *= from->shape[k].constant();
        const int64_t under = part_[a].below ? wide : 0, over = part_[a].above ? wide : 0;
        const auto flat = [&](const Ref& x) { return reshape(b, x, {element_count(x->shape)}); };
        const Ref sent = joined(b,
                                {flat(sliced(b, from, axis, 0, under)),
                                 flat(sliced(b, from, axis, length - over, over))},
                                0);
        const Ref got = host_call(
            b, ties_.exchange(a, under * across, over * across, under * across, over * across),
            sent);
        const auto part = [&](int64_t begin, int64_t count) -> Ref {
            if (count == 0) return nullptr;
            Shape shape = from->shape;
            shape[axis] = Size(count);
            return reshape(b, sliced(b, got, 0, begin * across, count * across), shape);
        };
        if (exchanges_)
            exchanges_->push_back({names_.at(&leaf), leaf.lines.empty() ? "" : text(leaf.lines[0]),
                                   a, under, over, corners});
        kept_.push_back(from);
        return rims_[{from.get(), a, wide}] = {part(0, under), part(under, over)};
    }

    Builder b_;
    Reaches reaches_;
    const std::vector<GridPart>& part_;
    const GridTies& ties_;
    std::vector<Exchange>* exchanges_;
    GridWindow own_;
    std::vector<int64_t> totals_;
    std::unordered_map<const Node*, Ref> own_value_;  // of leaves, at this process's positions
    std::unordered_map<const Node*, std::string> names_;
    std::unordered_map<const Node*, Ref> loops_;
    std::unordered_set<uint64_t> open_args_;         // of loops whose bodies are being made
    std::unordered_map<const Node*, size_t> order_;  // of leaves, as they were made
    std::map<std::pair<size_t, std::vector<int64_t>>, Ref> extended_;
    std::map<std::tuple<const Node*, size_t, int64_t>, Rims> rims_;
    std::vector<Ref> kept_;  // what `rims_` names
};

}  // namespace

GridPart grid_part(int64_t total, int processes, int place, bool periodic) {
    GridPart part;
    part.total = total;
    const int64_t each = total / processes, more = total % processes;
    part.length = each + (place < more);
    part.first = each * place + std::min<int64_t>(place, more);
    part.shortest = each;
    part.below = processes > 1 && (periodic || place > 0);
    part.above = processes > 1 && (periodic || place + 1 < processes);
    return part;
}

std::vector<Ref> decomposed(const Builder& b, const Graph& graph, const std::vector<GridAxis>& grid,
                            const std::vector<GridPart>& part, const GridTies& ties,
                            const std::vector<Ref>& args, std::vector<Exchange>* exchanges) {
    return Decomposer(b, grid, part, ties, exchanges).run(graph, args);
}

}  // namespace firn
