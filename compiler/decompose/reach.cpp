// Finds the positions of its inputs that a value needs, along axes that processes share.
#include "compiler/decompose/reach.h"

#include <algorithm>

#include "compiler/base/error.h"
#include "compiler/ir/affine_index.h"
#include "compiler/ir/by_hand.h"
#include "compiler/ir/regions.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

[[noreturn]] void refuse(const Node& node, const std::string& why, const std::string& way_out) {
    throw UserError("grid: " + why + "; " + way_out + in_brackets(node.lines));
}

bool is_still(const LeafReach& reach) {
    return std::all_of(reach.axes.begin(), reach.axes.end(),
                       [](const Reach& axis) { return axis == Reach(); });
}

/// The hull of both.
void join(LeafReach& to, const LeafReach& from) {
    to.axes.resize(from.axes.size());
    for (size_t a = 0; a < from.axes.size(); ++a) {
        to.axes[a].lo = std::min(to.axes[a].lo, from.axes[a].lo);
        to.axes[a].hi = std::max(to.axes[a].hi, from.axes[a].hi);
    }
    to.diagonal = to.diagonal || from.diagonal;
}

/// True if a read moves along two of the axes or more.
bool moves_along_two(const std::vector<Reach>& axes) {
    return std::count_if(axes.begin(), axes.end(),
                         [](const Reach& axis) { return !(axis == Reach()); }) > 1;
}

bool is_whole(const GridPlacement& place) {
    return std::all_of(place.axes.begin(), place.axes.end(),
                       [](const AxisPlace& axis) { return axis.grid < 0; });
}

}  // namespace

void Reaches::add_leaf(const Ref& node) {
    leaves_.insert(node.get());
    kept_.push_back(node);
    GridPlacement own;
    for (size_t axis = 0; axis < node->shape.size(); ++axis)
        own.axes.push_back(place_of(*node, axis));
    for (const AxisPlace& axis : own.axes)
        if (axis.cut != 0)
            refuse(*node,
                   "a value of shape " + text(node->shape) + " leaves positions of the grid out",
                   "store it into a tensor of the grid's shape");
    own.leaves[node.get()].axes.resize(grid_.size());
    known_[node.get()] = std::move(own);
}

AxisPlace Reaches::place_of(const Node& node, size_t axis) const {
    const Size& size = node.shape[axis];
    for (size_t a = 0; a < grid_.size(); ++a) {
        if (!mentions(size, grid_[a].symbol)) continue;
        const Size missing = Size::symbol(grid_[a].symbol) - size;
        if (!missing.is_constant())
            refuse(node,
                   "axis " + std::to_string(axis) + " has size " + size.text() +
                       ", which is no axis of the grid and no number",
                   "only sizes such as " + grid_[a].symbol + " and " + grid_[a].symbol +
                       " - 2 can be dealt");
        return {static_cast<int>(a), 0, missing.constant(), false};
    }
    return {};
}

const GridPlacement& Reaches::of(const Ref& node) {
    if (const auto at = known_.find(node.get()); at != known_.end()) return at->second;
    // Inputs first, without recursion: graphs are deep.
    for (const Ref& each :
         topological({node}, [&](const Node& inner) { return known_.contains(&inner); })) {
        if (known_.contains(each.get()) || each->op == Op::Loop || each->op == Op::If) continue;
        kept_.push_back(each);
        GridPlacement made = found(each);
        known_[each.get()] = std::move(made);
    }
    return known_.at(node.get());
}

void Reaches::add(GridPlacement& out, const Ref& input, const std::vector<Reach>& moved) {
    const bool still =
        std::all_of(moved.begin(), moved.end(), [](const Reach& axis) { return axis == Reach(); });
    for (const auto& [leaf, reach] : of(input).leaves) {
        LeafReach part = reach;
        part.axes.resize(grid_.size());
        for (size_t a = 0; a < grid_.size(); ++a)
            part.axes[a] = {part.axes[a].lo + moved[a].lo, part.axes[a].hi + moved[a].hi};
        if (!still) {
            // The reach contains the position itself: values are dealt with it.
            for (Reach& axis : part.axes)
                axis = {std::min<int64_t>(axis.lo, 0), std::max<int64_t>(axis.hi, 0)};
            part.diagonal = part.diagonal || moves_along_two(part.axes);
        }
        join(out.leaves[leaf], part);
    }
}

void Reaches::add_ends(GridPlacement& out, int grid, int64_t below, int64_t above) const {
    LeafReach ends;
    ends.axes.resize(grid_.size());
    ends.axes[static_cast<size_t>(grid)] = {-std::max<int64_t>(below, 0),
                                            std::max<int64_t>(above, 0)};
    join(out.leaves[nullptr], ends);
}

GridPlacement Reaches::of_elementwise(const Node& node) {
    GridPlacement out;
    for (size_t axis = 0; axis < node.shape.size(); ++axis) {
        AxisPlace place = place_of(node, axis);
        place.free = true;
        for (const Ref& input : node.inputs) {
            const AxisPlace& given = of(input).axes[axis];
            if (given.grid < 0 || given.free) continue;
            place = given;
            break;
        }
        out.axes.push_back(place);
    }
    for (const Ref& input : node.inputs) {
        std::vector<Reach> moved(grid_.size());
        const std::vector<AxisPlace>& given = of(input).axes;
        for (size_t axis = 0; axis < given.size(); ++axis) {
            if (given[axis].grid < 0 || given[axis].free) continue;
            const int64_t by = given[axis].offset - out.axes[axis].offset;
            moved[static_cast<size_t>(given[axis].grid)] = {by, by};
        }
        add(out, input, moved);
    }
    return out;
}

GridPlacement Reaches::of_reshape(const Node& node) {
    const Ref& input = node.inputs[0];
    const GridPlacement& given = of(input);
    GridPlacement out;
    for (size_t axis = 0; axis < node.shape.size(); ++axis)
        out.axes.push_back(place_of(node, axis));
    // Axes of the grid keep their order, and what lies between two of them its size.
    const auto split = [&](const Shape& shape, const std::vector<AxisPlace>& axes,
                           std::vector<Size>& between, std::vector<size_t>& dealt) {
        between.emplace_back(1);
        for (size_t axis = 0; axis < axes.size(); ++axis) {
            if (axes[axis].grid < 0) {
                between.back() = between.back() * shape[axis];
                continue;
            }
            dealt.push_back(axis);
            between.emplace_back(1);
        }
    };
    std::vector<Size> before, after;
    std::vector<size_t> from, to;
    split(input->shape, given.axes, before, from);
    split(node.shape, out.axes, after, to);
    bool fits = before == after && from.size() == to.size();
    for (size_t k = 0; fits && k < from.size(); ++k)
        fits = input->shape[from[k]] == node.shape[to[k]];
    if (!fits)
        refuse(node,
               "reshape from " + text(input->shape) + " to " + text(node.shape) +
                   " mixes an axis of the grid with others",
               "keep the grid's axes as they are");
    for (size_t k = 0; k < from.size(); ++k) out.axes[to[k]] = given.axes[from[k]];
    add(out, input, std::vector<Reach>(grid_.size()));
    return out;
}

GridPlacement Reaches::of_movement(const Node& node) {
    if (node.op == Op::Reshape) return of_reshape(node);
    const Ref& input = node.inputs[0];
    const GridPlacement& given = of(input);
    GridPlacement out;
    for (size_t axis = 0; axis < node.shape.size(); ++axis) {
        AxisPlace place = place_of(node, axis);
        if (node.op == Op::Permute) {
            place = given.axes[static_cast<size_t>(node.as<PermuteAttr>().axes[axis])];
        } else if (node.op == Op::Expand) {
            const size_t added = node.shape.size() - input->shape.size();
            place.free = true;
            if (axis >= added && given.axes[axis - added].grid >= 0)
                place = given.axes[axis - added];
        } else if (given.axes[axis].grid >= 0) {
            const AxisPlace& was = given.axes[axis];
            const Size first = node.op == Op::Slice ? node.as<SliceAttr>().begin[axis]
                                                    : Size(0) - node.as<PadAttr>().before[axis];
            const bool unit = node.op == Op::Pad || node.as<SliceAttr>().step[axis] == 1;
            if (!unit || !first.is_constant() || place.grid != was.grid)
                refuse(node,
                       "a slice or frame of axis " + std::to_string(axis) + ", from " +
                           text(input->shape) + " to " + text(node.shape) +
                           ", keeps no position beside its neighbours",
                       "slice by numbers from both ends, in steps of 1");
            place.offset = was.offset + first.constant();
            place.cut = place.cut - place.offset;
            place.free = was.free;
            if (node.op == Op::Pad && !was.free)
                add_ends(out, place.grid, first.constant() < 0 ? was.offset : 0,
                         place.cut < was.cut ? was.cut : 0);
        } else if (place.grid >= 0) {
            refuse(node, "an axis of the grid is made of one that is none",
                   "make it by expand or indices");
        }
        out.axes.push_back(place);
    }
    add(out, input, std::vector<Reach>(grid_.size()));
    return out;
}

GridPlacement Reaches::of_gather(const Node& node) {
    const Ref& source = node.inputs[0];
    const GatherAttr& attr = node.as<GatherAttr>();
    GridPlacement out;
    for (size_t axis = 0; axis < node.shape.size(); ++axis) {
        out.axes.push_back(place_of(node, axis));
        out.axes.back().free = true;
    }
    std::vector<Reach> moved(grid_.size());
    const std::vector<AxisPlace> given = of(source).axes;
    for (size_t j = 0; j < given.size(); ++j) {
        if (given[j].grid < 0) continue;
        const GridAxis& along = grid_[static_cast<size_t>(given[j].grid)];
        const Node& index = *node.inputs[j + 1];
        const std::string what =
            "the read of axis " + std::to_string(j) + " of " + text(source->shape);
        int axis = -1;  // of the result, along the same axis of the grid
        for (size_t k = 0; k < out.axes.size(); ++k)
            if (out.axes[k].grid == given[j].grid) axis = static_cast<int>(k);
        std::optional<Reach> far;
        if (const auto affine = affine_index(index); affine && affine->offset.is_constant()) {
            if (affine->axis == axis && axis >= 0)
                far = Reach{affine->offset.constant(), affine->offset.constant()};
        } else if (axis >= 0) {
            far = displacement(index, axis, along.symbol);
        }
        if (!far)
            refuse(node, what + " is bounded by no number of neighbours",
                   "bound how far it goes, as in clamp(displacement, -4, 4), or read a value that "
                   "every process has");
        const bool inside = attr.modes[j] == Bounds::Unchecked || (far->lo >= 0 && far->hi <= 0);
        if (along.periodic && attr.modes[j] != Bounds::Wrap && !inside)
            refuse(node, what + " does not go around, and axis " + along.symbol + " is periodic",
                   "read it with bounds::wrap, or make the axis of the grid not periodic");
        if (!along.periodic && attr.modes[j] == Bounds::Wrap && !inside)
            refuse(node, what + " goes around, and axis " + along.symbol + " is not periodic",
                   "make the axis of the grid periodic");
        if (!given[j].free) {
            out.axes[static_cast<size_t>(axis)].free = false;
            moved[static_cast<size_t>(given[j].grid)] = {far->lo + given[j].offset,
                                                         far->hi + given[j].offset};
        }
    }
    for (AxisPlace& place : out.axes)
        if (place.grid >= 0) place.cut -= place.offset;
    add(out, source, moved);
    for (size_t k = 1; k < node.inputs.size(); ++k) {
        std::vector<Reach> beside(grid_.size());
        const std::vector<AxisPlace>& index = of(node.inputs[k]).axes;
        for (size_t axis = 0; axis < index.size(); ++axis)
            if (index[axis].grid >= 0 && !index[axis].free)
                beside[static_cast<size_t>(index[axis].grid)] = {index[axis].offset,
                                                                 index[axis].offset};
        add(out, node.inputs[k], beside);
    }
    return out;
}

GridPlacement Reaches::of_scatter(const Node& node) {
    const Ref &target = node.inputs[0], &values = node.inputs[1];
    GridPlacement out;
    const GridPlacement& given = of(target);
    for (size_t axis = 0; axis < node.shape.size(); ++axis) {
        AxisPlace place = given.axes[axis];
        if (place.grid >= 0 && place.free) place.free = false;
        out.axes.push_back(place);
    }
    add(out, target, std::vector<Reach>(grid_.size()));
    std::vector<Reach> moved(grid_.size());
    std::vector<bool> used(values->shape.size());
    const std::vector<AxisPlace> stored = of(values).axes;
    for (size_t t = 0; t < out.axes.size(); ++t) {
        if (out.axes[t].grid < 0) continue;
        const auto affine = affine_index(*node.inputs[t + 2]);
        const auto a = static_cast<size_t>(out.axes[t].grid);
        if (affine && affine->axis < 0) continue;  // one position, which one process has
        const bool along = affine && affine->offset.is_constant() &&
                           stored[static_cast<size_t>(affine->axis)].grid == out.axes[t].grid;
        if (!along)
            refuse(node,
                   "the store along axis " + std::to_string(t) + " of " + text(node.shape) +
                       " is not beside its own position",
                   "store at positions such as i and i + 1");
        const AxisPlace& from = stored[static_cast<size_t>(affine->axis)];
        used[static_cast<size_t>(affine->axis)] = true;
        const int64_t first = affine->offset.constant() + out.axes[t].offset;
        const int64_t by = (from.free ? 0 : from.offset) - first;
        moved[a] = {from.free ? 0 : by, from.free ? 0 : by};
        const int64_t length_less = from.free
                                        ? place_of(*values, static_cast<size_t>(affine->axis)).cut
                                        : from.offset + from.cut;
        add_ends(out, out.axes[t].grid, first, length_less - first);
    }
    for (size_t axis = 0; axis < stored.size(); ++axis)
        if (stored[axis].grid >= 0 && !stored[axis].free && !used[axis])
            refuse(node, "a store of values along the grid goes to few positions",
                   "reduce them before");
    add(out, values, moved);
    for (size_t k = 2; k < node.inputs.size(); ++k) add(out, node.inputs[k], moved);
    return out;
}

GridPlacement Reaches::of_result(const Node& node) {
    const Ref& owner = node.inputs[0];
    if (owner->op == Op::Loop) return of_loop(*owner, node);
    const IfAttr& branch = owner->as<IfAttr>();
    const auto k = static_cast<size_t>(node.as<ResultAttr>().index);
    GridPlacement out;
    const std::vector<Ref> sides{branch.then_body->results[k], branch.else_body->results[k],
                                 owner->inputs[0]};
    for (size_t axis = 0; axis < node.shape.size(); ++axis) {
        AxisPlace place = place_of(node, axis);
        place.free = true;
        for (const Ref& side : sides) {
            const size_t missing = node.shape.size() - side->shape.size();
            if (axis < missing) continue;
            const AxisPlace& given = of(side).axes[axis - missing];
            if (given.grid < 0 || given.free) continue;
            if (!place.free && place.offset != given.offset)
                refuse(node, "the sides of a branch lie at other positions",
                       "choose between values of equal places");
            place = given;
        }
        out.axes.push_back(place);
    }
    for (const Ref& side : sides) add(out, side, std::vector<Reach>(grid_.size()));
    return out;
}

/// Every result may need what any value of the loop does.
GridPlacement Reaches::of_loop(const Node& loop, const Node& result) {
    const LoopAttr& attr = loop.as<LoopAttr>();
    const auto own = static_cast<size_t>(result.as<ResultAttr>().index);
    GridPlacement out;
    for (size_t axis = 0; axis < result.shape.size(); ++axis) {
        AxisPlace place = of(loop.inputs[own + 3]).axes[axis];
        if (place.grid >= 0) place.free = false;
        out.axes.push_back(place);
    }
    const std::vector<Reach> still(grid_.size());
    for (const Ref& input : loop.inputs) add(out, input, still);
    for (const Ref& each : attr.body->results) {
        add(out, each, still);
        for (const Ref& arg : attr.body->args) out.leaves.erase(arg.get());
    }
    return out;
}

bool Reaches::is_joint(const Ref& loop) {
    if (const auto at = joint_.find(loop.get()); at != joint_.end()) return at->second;
    const Region& body = *loop->as<LoopAttr>().body;
    if (loop->as<LoopAttr>().by_hand())
        refuse(*loop, "a kernel by hand has no parts", "write it with tensors and loops");
    for (const Ref& arg : body.args) add_leaf(arg);
    bool joint = false;
    for (const Ref& each :
         topological(body.results, [&](const Node& node) { return is_leaf(node); })) {
        if (each->op == Op::Loop && is_joint(each)) joint = true;
        if (each->op == Op::Reduce && !joint) joint = reduces_grid(each);
        if (joint) break;
    }
    for (size_t k = 0; k < body.results.size() && !joint; ++k)
        for (const Ref& arg : body.args) {
            const GridPlacement& result = of(body.results[k]);
            const auto at = result.leaves.find(arg.get());
            if (at != result.leaves.end() && !is_still(at->second)) joint = true;
            const auto ends = result.leaves.find(nullptr);
            if (ends != result.leaves.end() && !is_still(ends->second)) joint = true;
            for (size_t axis = 0; axis < result.axes.size(); ++axis)
                if (result.axes[axis].grid >= 0 && !result.axes[axis].free &&
                    result.axes[axis].offset != known_[body.args[k + 1].get()].axes[axis].offset)
                    joint = true;
        }
    return joint_[loop.get()] = joint;
}

bool Reaches::reduces_grid(const Ref& reduce) {
    const GridPlacement& input = of(reduce->inputs[0]);
    const std::vector<int>& axes = reduce->as<ReduceAttr>().axes;
    return std::any_of(axes.begin(), axes.end(), [&](int axis) {
        const int along = input.axes[static_cast<size_t>(axis)].grid;
        return along >= 0;
    });
}

GridPlacement Reaches::found(const Ref& ref) {
    const Node& node = *ref;
    if (is_elementwise(node.op)) return of_elementwise(node);
    if (is_movement(node.op)) return of_movement(node);
    GridPlacement out;
    switch (node.op) {
        case Op::Constant:
        case Op::SizeValue: return out;
        case Op::Index:
        case Op::Empty:
            for (size_t axis = 0; axis < node.shape.size(); ++axis) {
                out.axes.push_back(place_of(node, axis));
                out.axes.back().free = true;
            }
            return out;
        case Op::Gather: return of_gather(node);
        case Op::Scatter: return of_scatter(node);
        case Op::Ruled:
            out.axes = of(node.inputs[0]).axes;
            for (const Ref& input : node.inputs) add(out, input, std::vector<Reach>(grid_.size()));
            return out;
        case Op::Result:
            if (node.inputs[0]->op == Op::Loop && is_joint(node.inputs[0]))
                throw InternalError("internal error: a loop of all processes is no leaf");
            return of_result(node);
        case Op::Reduce: {
            if (reduces_grid(ref))
                throw InternalError("internal error: a reduction along the grid is no leaf");
            const std::vector<int>& axes = node.as<ReduceAttr>().axes;
            const GridPlacement& input = of(node.inputs[0]);
            for (size_t axis = 0; axis < input.axes.size(); ++axis)
                if (!std::binary_search(axes.begin(), axes.end(), static_cast<int>(axis)))
                    out.axes.push_back(input.axes[axis]);
            add(out, node.inputs[0], std::vector<Reach>(grid_.size()));
            return out;
        }
        case Op::HostCall:
            if (is_whole(of(node.inputs[0]))) {
                out.axes.resize(node.shape.size());
                add(out, node.inputs[0], std::vector<Reach>(grid_.size()));
                return out;
            }
            refuse(node, "a call of the host takes a value that is dealt",
                   "call it outside of the function of the grid");
        default:
            refuse(node, std::string(info(node.op).name) + " has no parts",
                   "write it with tensors and loops");
    }
}

}  // namespace firn
