// Index arithmetic of the walk: bounds modes, reshape, projection, the grid.
#include "compiler/lower/walk_index.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "compiler/base/error.h"
#include "compiler/ir/reshape_blocks.h"
#include "compiler/program/index_limits.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// Flat position in a block of dimensions; unflatten is its inverse.
NodeId flatten(KernelBuilder& b, const std::vector<NodeId>& at, const Shape& shape) {
    NodeId flat = b.integer(0);
    Size stride(1);
    for (size_t k = shape.size(); k-- > 0;) {
        flat = b.add(flat, b.mul(at[k], b.size(stride)));
        stride = stride * shape[k];
    }
    return flat;
}

std::vector<NodeId> unflatten(KernelBuilder& b, NodeId flat, const Shape& shape) {
    std::vector<NodeId> at(shape.size());
    for (size_t k = shape.size(); k-- > 0;) {
        if (k == 0) {
            at[k] = flat;
            break;
        }
        const NodeId extent = b.size(shape[k]);
        at[k] = b.make(KernelOp::Mod, i32, {flat, extent});
        flat = b.make(KernelOp::Div, i32, {flat, extent});
    }
    return at;
}

/// x, y, z, and then w, each with the number of the range.
std::string range_name(size_t dim) { return std::string(1, "xyzw"[std::min<size_t>(dim, 3)]); }

}  // namespace

WalkGrid make_grid(KernelBuilder& b, const Shape& shape, bool flat, bool in_memory) {
    WalkGrid grid;
    auto new_range = [&](const Size& extent, const std::string& name) {
        Range range;
        range.name = name;
        range.extent = extent;
        return b.range(b.add_range(range));
    };
    if (flat || shape.size() < 2) {
        grid.flat = new_range(element_count(shape), "x");
        if (flat || !shape.empty()) grid.indices = {grid.flat};
        return grid;
    }
    // Blocks of logical dimensions, one range each: small tails join their neighbour.
    std::vector<Shape> blocks;
    for (const Size& n : shape) blocks.push_back({n});
    auto join_last = [&](size_t k) {
        blocks[k].insert(blocks[k].end(), blocks[k + 1].begin(), blocks[k + 1].end());
        blocks.erase(blocks.begin() + static_cast<long>(k) + 1);
    };
    auto small = [](const Shape& s) {
        const Size n = element_count(s);
        return n.is_constant() && n.constant() < costs::kSmallDimension;
    };
    auto countable = [&](size_t k) {
        return in_memory || b.countable(element_count(blocks[k]) * element_count(blocks[k + 1]));
    };
    while (blocks.size() > 1 && small(blocks.back()) && countable(blocks.size() - 2))
        join_last(blocks.size() - 2);
    std::vector<NodeId> ranges;
    Shape extents;
    for (size_t k = 0; k < blocks.size(); ++k) {
        extents.push_back(element_count(blocks[k]));
        ranges.push_back(new_range(extents.back(), range_name(blocks.size() - 1 - k)));
        const std::vector<NodeId> inner = unflatten(b, ranges.back(), blocks[k]);
        grid.indices.insert(grid.indices.end(), inner.begin(), inner.end());
    }
    if (in_memory) grid.flat = flatten(b, ranges, extents);
    return grid;
}

bool is_flat_kernel(const std::vector<Ref>& outputs, const Shape& shape,
                    const LowerContext& context) {
    if (shape.size() < 2) return false;  // a single dimension is flat
    std::unordered_set<const Node*> seen;
    std::vector<const Node*> queue;
    for (const Ref& r : outputs) queue.push_back(r.get());
    std::unordered_set<const Node*> own(queue.begin(), queue.end());
    auto single = [](const Shape& s) { return element_count(s).is(1); };
    while (!queue.empty()) {
        const Node& node = *queue.back();
        queue.pop_back();
        if (!seen.insert(&node).second || node.shape.empty()) continue;
        // The walk computes an Index again rather than load it.
        if (context.buffers.contains(&node) && !own.contains(&node) && node.op != Op::Index) {
            if (node.shape != shape) return false;
            continue;
        }
        if (node.op == Op::Expand && single(node.inputs[0]->shape) &&
            node.inputs[0]->shape.empty()) {
            queue.push_back(node.inputs[0].get());
        } else if (is_elementwise(node.op) && node.shape == shape) {
            for (const Ref& input : node.inputs) queue.push_back(input.get());
        } else if (node.op == Op::Result && node.inputs[0]->op == Op::Loop && node.shape == shape) {
            const Node& loop = *node.inputs[0];
            for (const Ref& input : loop.inputs) queue.push_back(input.get());
            for (const Ref& r : loop.as<LoopAttr>().body->results) queue.push_back(r.get());
        } else if (node.op != Op::RegionArg || node.shape != shape) {
            return false;
        }
    }
    return true;
}

NodeId flat_index(KernelBuilder& b, const std::vector<NodeId>& at, const Shape& shape) {
    if (at.size() == 1 && shape.size() != 1) return at[0];
    return flatten(b, at, shape);
}

std::vector<NodeId> project(KernelBuilder& b, const std::vector<NodeId>& at, const Shape& from,
                            const Shape& to) {
    if (from == to) return at;
    std::vector<NodeId> out;
    const size_t skip = from.size() - to.size();
    for (size_t k = 0; k < to.size(); ++k) {
        if (to[k].is(1))
            out.push_back(b.integer(0));
        else
            out.push_back(at[k + skip]);
    }
    return out;
}

namespace {

/// Computes unflatten(flatten()) in 64 bits.
std::vector<NodeId> renumbered(KernelBuilder& b, const std::vector<NodeId>& at, const Shape& from,
                               const Shape& to) {
    auto wide = [&](NodeId x) { return b.make(KernelOp::Cast, i64, {x}); };
    NodeId flat = wide(b.integer(0));
    for (size_t k = 0; k < at.size(); ++k)
        flat = b.make(KernelOp::Add, i64,
                      {b.make(KernelOp::Mul, i64, {flat, wide(b.size(from[k]))}), wide(at[k])});
    std::vector<NodeId> out(to.size());
    for (size_t k = to.size(); k-- > 0;) {
        const NodeId extent = wide(b.size(to[k]));
        out[k] =
            b.make(KernelOp::Cast, i32, {k ? b.make(KernelOp::Mod, i64, {flat, extent}) : flat});
        b.assume(out[k], Size(0), max(to[k] - Size(1), Size(0)));
        flat = b.make(KernelOp::Div, i64, {flat, extent});
    }
    return out;
}

}  // namespace

std::vector<NodeId> reshape_index(KernelBuilder& b, const std::vector<NodeId>& at, const Shape& out,
                                  const Shape& in, bool countable) {
    std::vector<NodeId> result(in.size(), b.integer(0));
    for (const ReshapeBlock& block : reshape_blocks(out, in)) {
        const auto slice = [](const auto& all, size_t begin, size_t end) {
            return std::decay_t<decltype(all)>(all.begin() + static_cast<long>(begin),
                                               all.begin() + static_cast<long>(end));
        };
        const std::vector<NodeId> from = slice(at, block.i0, block.i);
        const Shape from_shape = slice(out, block.i0, block.i),
                    to_shape = slice(in, block.j0, block.j);
        const std::vector<NodeId> to = countable || counts_in_32_bits(block, b.symbol_facts())
                                           ? unflatten(b, flatten(b, from, from_shape), to_shape)
                                           : renumbered(b, from, from_shape, to_shape);
        std::copy(to.begin(), to.end(), result.begin() + static_cast<long>(block.j0));
    }
    return result;
}

namespace {

/// Returns whether an axis of size n that is read at i has elements: true if i runs over as many,
/// or the whole grid does.
NodeId has_elements(KernelBuilder& b, NodeId i, const Size& n) {
    if (n.lower_bound() > 0 || n.is(0)) return b.boolean_value(!n.is(0));
    const KernelCode& code = b.code();
    const std::vector<RangeId>& around = b.dependencies(i);
    for (RangeId id : code.ranges.ids()) {
        const Range& range = code[id];
        const bool runs = range.kind == RangeKind::Grid ||
                          std::find(around.begin(), around.end(), id) != around.end();
        if (runs && !range.extent.is(0) && mod(range.extent, n).is(0)) return b.boolean_value(true);
    }
    return b.make(KernelOp::Less, boolean, {b.integer(0), b.size(n)});
}

}  // namespace

Read bounded(KernelBuilder& b, NodeId i, const Size& n, Bounds mode) {
    const NodeId yes = mode == Bounds::Constant || mode == Bounds::Unchecked
                           ? b.boolean_value(true)
                           : has_elements(b, i, n);
    const NodeId zero = b.integer(0), count = b.size(n), last = b.size(n - Size(1));
    auto clamp = [&](NodeId x) {
        return b.make(KernelOp::Max, i32, {b.make(KernelOp::Min, i32, {x, last}), zero});
    };
    switch (mode) {
        case Bounds::Unchecked: return {i, yes};
        case Bounds::Clamp: return {clamp(i), yes};
        case Bounds::Constant: {
            const NodeId inside = b.make(KernelOp::And, boolean,
                                         {b.make(KernelOp::LessEqual, boolean, {zero, i}),
                                          b.make(KernelOp::Less, boolean, {i, count})});
            return {clamp(i), inside};
        }
        case Bounds::Wrap: {
            const bool near = b.countable(n * Size(2)) &&
                              b.proved_less_equal(b.sub(zero, count), i) &&
                              b.proved_less_equal(i, b.size(n * Size(2) - Size(1)));
            if (near) {
                const NodeId up =
                    b.select(b.make(KernelOp::Less, boolean, {i, zero}), b.add(i, count), i);
                const NodeId down =
                    b.select(b.make(KernelOp::LessEqual, boolean, {count, i}), b.sub(i, count), up);
                return {clamp(down), yes};
            }
            const NodeId rest = b.make(KernelOp::Mod, i32, {i, count});
            const NodeId up =
                b.select(b.make(KernelOp::Less, boolean, {rest, zero}), b.add(rest, count), rest);
            return {clamp(up), yes};
        }
        case Bounds::Mirror: {
            const NodeId period = b.size(n * Size(2));
            const NodeId rest = b.make(KernelOp::Mod, i32, {i, period});
            const NodeId up =
                b.select(b.make(KernelOp::Less, boolean, {rest, zero}), b.add(rest, period), rest);
            const NodeId back = b.sub(b.size(n * Size(2) - Size(1)), up);
            return {clamp(b.select(b.make(KernelOp::Less, boolean, {up, count}), up, back)), yes};
        }
        case Bounds::Reflect: {
            // The period of a single element would be 0.
            const NodeId period = b.size(max(n * Size(2) - Size(2), Size(1)));
            const NodeId rest = b.make(KernelOp::Mod, i32, {i, period});
            const NodeId up =
                b.select(b.make(KernelOp::Less, boolean, {rest, zero}), b.add(rest, period), rest);
            const NodeId back = b.sub(period, up);
            return {clamp(b.select(b.make(KernelOp::Less, boolean, {up, count}), up, back)), yes};
        }
    }
    throw InternalError("bounded: unknown mode");
}

RangeId serial_range(KernelBuilder& b, const Size& extent, const std::string& name) {
    Range range;
    range.name = name;
    range.kind = RangeKind::Serial;
    range.extent = extent;
    range.extent_node = b.size(extent);
    const int64_t most = extent.upper_bound(b.symbol_facts().largest);
    range.max_trips = most >= INT32_MAX ? -1 : most;
    return b.add_range(range);
}

RangeId loop_range(KernelBuilder& b, NodeId begin, NodeId end, NodeId step, NodeId starts) {
    const NodeId zero = b.integer(0), one = b.integer(1);
    const NodeId distance = b.sub(end, begin);
    NodeId trips;
    if (b.is_constant(step)) {
        const int64_t s = b.node(step).as<Scalar>().i;
        if (s == 1)
            trips = distance;
        else if (s > 0)
            trips = b.make(KernelOp::Div, i32, {b.add(distance, b.integer(s - 1)), b.integer(s)});
        else if (s < 0)
            trips = b.make(KernelOp::Div, i32,
                           {b.add(b.sub(zero, distance), b.integer(-s - 1)), b.integer(-s)});
        else
            trips = zero;
    } else {
        const NodeId up = b.make(KernelOp::Div, i32, {b.add(distance, b.sub(step, one)), step});
        const NodeId down =
            b.make(KernelOp::Div, i32,
                   {b.sub(b.sub(zero, distance), b.add(step, one)), b.sub(zero, step)});
        trips = b.select(b.make(KernelOp::Less, boolean, {zero, step}), up, down);
    }
    trips = b.select(starts, b.make(KernelOp::Max, i32, {trips, zero}), zero);
    Range range;
    range.name = "t";
    range.kind = RangeKind::Serial;
    range.extent_node = trips;
    const KernelNode& n = b.node(trips);
    const auto* param = n.get_if<ParamAttr>();
    if (const auto* constant = n.get_if<Scalar>())
        range.extent = Size(constant->i);
    else if (param && b.code().params[param->param].scalar < 0)
        range.extent = b.code().params[param->param].size;
    else
        range.extent = Size(0);
    range.max_trips = n.interval.hi >= INT32_MAX ? -1 : n.interval.hi;
    return b.add_range(range);
}

}  // namespace firn
