// Loops, branches and their results; making a node again with other inputs.
#include <algorithm>

#include "compiler/base/error.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/builder_checks.h"

namespace firn {
namespace {

std::string type_text(const Node& node) { return node.dtype.name() + text(node.shape); }

Ref loop_bound(const Builder& b, const Ref& bound, const char* name) {
    if (!bound->shape.empty())
        fail(b, std::string("loop: the ") + name + " has shape " + text(bound->shape) +
                    "; bounds are scalars, so reduce it, or run to the largest and stop elements "
                    "with break_");
    if (!bound->dtype.is_integer())
        fail(b, std::string("loop: the ") + name + " is " + bound->dtype.name() +
                    "; bounds are integers, so cast it");
    return cast(b, bound, i32);
}

void check_carried(const Builder& b, const Ref& init, const Ref& arg, const Ref& next, size_t k) {
    if (init->dtype != arg->dtype || next->dtype != arg->dtype)
        fail(b, "loop: carried value " + std::to_string(k) + " starts as " + type_text(*init) +
                    " and is assigned " + type_text(*next) +
                    "; a carried value keeps its type, so cast one of them");
    if (init->shape != arg->shape || next->shape != arg->shape)
        fail(b,
             "loop: carried value " + std::to_string(k) + " starts with shape " +
                 text(init->shape) + " and is assigned shape " + text(next->shape) +
                 "; a carried value keeps its shape, so start it as zeros(...) of the final one");
}

}  // namespace

std::string never_ended(SourceLine line) {
    return "while_: its condition still held after the last allowed iteration; give a .max_steps "
           "if it is to end there, or raise the limit by Session::limit_while or "
           "FIRN_MAX_STEPS" +
           (line.line ? " (" + text(line) + ")" : std::string());
}

std::string never_ended(const Node& loop) { return never_ended(first_line(loop.lines)); }

Ref loop(Builder b, const Ref& begin, const Ref& end, const Ref& step, std::vector<Ref> inits,
         Region body, int active, MustEnd must_end, std::vector<Size> sizes, int64_t checkpoint) {
    ensure(!body.args.empty() && body.args.size() == inits.size() + 1 &&
               body.results.size() == inits.size(),
           "a loop body has the induction value and one argument and one result per carried value");
    ensure(active >= -1 && active < static_cast<int>(inits.size()),
           "the active value of a loop is carried");
    ensure(body.args[0]->dtype == i32 && body.args[0]->shape.empty(),
           "an induction value is a rank-0 i32");
    ensure(sizes.size() <= inits.size(),
           "the sizes of an iteration are values that the loop carries");
    for (size_t k = 0; k < inits.size(); ++k)
        check_carried(b, inits[k], body.args[k + 1], body.results[k], k);
    if (active >= 0) {
        const Node& mask = *body.args[static_cast<size_t>(active) + 1];
        ensure(mask.dtype.is_bool(), "the active value of a loop is a bool");
    }
    std::vector<Ref> inputs = {loop_bound(b, begin, "begin"), loop_bound(b, end, "end"),
                               loop_bound(b, step, "step")};
    if (inputs[2]->op == Op::Constant && inputs[2]->as<ConstantAttr>().value.i == 0)
        fail(b,
             "loop: the step is 0 and the loop would never end; use 1, or a negative step to count "
             "down");
    inputs.insert(inputs.end(), inits.begin(), inits.end());
    return b.table.intern(Op::Loop, i32, {}, std::move(inputs),
                          LoopAttr{std::make_shared<Region>(std::move(body)), active, false, false,
                                   must_end, std::move(sizes), checkpoint},
                          b.line);
}

std::vector<uint32_t> usual_group(size_t rank) {
    constexpr uint32_t kMembers = 64;
    std::vector<uint32_t> group(rank, 1);
    group.back() = kMembers;
    if (rank > 1) group[rank - 2] = group.back() = 8;
    return group;
}

Ref invocation(Builder b, const Ref& iteration, const Shape& grid, int axis) {
    return b.table.intern(Op::Invocation, i32, grid, {iteration}, IndexAttr{axis}, b.line);
}

Ref kernel_by_hand(Builder b, std::vector<Ref> inits, Region body, Shape grid,
                   std::vector<uint32_t> group, bool rounded) {
    ensure(grid.size() == group.size() && !group.empty(),
           "a kernel by hand has a group size for each axis of its grid");
    const Ref iteration = loop(b, constant_int(b, 0), constant_int(b, 1), constant_int(b, 1),
                               std::move(inits), std::move(body), -1);
    LoopAttr attr = iteration->as<LoopAttr>();
    attr.grid = std::move(grid);
    attr.group = std::move(group);
    attr.rounded = rounded;
    return b.table.intern(Op::Loop, iteration->dtype, iteration->shape, iteration->inputs,
                          std::move(attr), b.line);
}

Ref fetched(Builder b, const Ref& scatter) {
    ensure(scatter->op == Op::Scatter, "only a store has something that was there before");
    std::vector<Ref> inputs = {scatter};
    inputs.insert(inputs.end(), scatter->inputs.begin(), scatter->inputs.end());
    return b.table.intern(Op::Fetched, scatter->dtype, scatter->inputs[1]->shape, std::move(inputs),
                          {}, b.line);
}

Ref branch(Builder b, const Ref& condition, Region then_body, Region else_body) {
    ensure(then_body.args.empty() && else_body.args.empty(), "branches take no arguments");
    ensure(then_body.results.size() == else_body.results.size(), "branches have the same results");
    for (size_t k = 0; k < then_body.results.size(); ++k) {
        const Node& yes = *then_body.results[k];
        const Node& no = *else_body.results[k];
        if (yes.dtype != no.dtype)
            fail(b, "if_: value " + std::to_string(k) + " is " + type_text(yes) +
                        " in one branch and " + type_text(no) +
                        " in the other; a value keeps its type, so cast one of them");
        Shape both = broadcast_shapes(b, yes.shape, no.shape, "if_: value " + std::to_string(k));
        broadcast_shapes(b, both, condition->shape,
                         "if_: value " + std::to_string(k) + " and the condition");
    }
    return b.table.intern(Op::If, i32, {}, {cast(b, condition, boolean)},
                          IfAttr{std::make_shared<Region>(std::move(then_body)),
                                 std::make_shared<Region>(std::move(else_body))},
                          b.line);
}

Ref result(Builder b, const Ref& region_node, int index) {
    size_t k = static_cast<size_t>(index);
    if (region_node->op == Op::Loop) {
        const Region& body = *region_node->as<LoopAttr>().body;
        ensure(k < body.results.size(), "a loop has no result with this index");
        const Node& carried = *body.args[k + 1];
        return b.table.intern(Op::Result, carried.dtype, carried.shape, {region_node},
                              ResultAttr{index}, b.line);
    }
    ensure(region_node->op == Op::If, "only loops and branches have results");
    const auto& attr = region_node->as<IfAttr>();
    ensure(k < attr.then_body->results.size(), "a branch has no result with this index");
    const Node& yes = *attr.then_body->results[k];
    // The guards were added when the branch was made.
    std::vector<Guard> known;
    Builder quiet{b.table, b.line, &known};
    Shape shape = broadcast_shapes(quiet, yes.shape, attr.else_body->results[k]->shape, "if_");
    shape = broadcast_shapes(quiet, shape, region_node->inputs[0]->shape, "if_");
    return b.table.intern(Op::Result, yes.dtype, std::move(shape), {region_node}, ResultAttr{index},
                          b.line);
}

namespace {

bool same_types(const std::vector<Ref>& a, const std::vector<Ref>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Ref& x, const Ref& y) {
        return x->dtype == y->dtype && x->shape == y->shape;
    });
}

std::vector<Ref> after(const std::vector<Ref>& inputs, size_t count) {
    return {inputs.begin() + static_cast<long>(count), inputs.end()};
}

Ref remake_movement(const Builder& b, const Node& node, const Ref& x, const Attr& attr) {
    switch (node.op) {
        case Op::Reshape: return reshape(b, x, node.shape);
        case Op::Permute: return permute(b, x, std::get<PermuteAttr>(attr).axes);
        case Op::Expand: return expand(b, x, node.shape);
        case Op::Slice: {
            const auto& a = std::get<SliceAttr>(attr);
            return slice(b, x, a.begin, node.shape, a.step);
        }
        case Op::Pad: {
            const auto& a = std::get<PadAttr>(attr);
            return pad(b, x, a.before, a.after, a.value);
        }
        default: throw InternalError("internal error: no rule to make this movement again");
    }
}

}  // namespace

Ref remake(Builder b, const Node& node, std::vector<Ref> inputs, Attr attr) {
    ensure(inputs.size() == node.inputs.size(), "a node made again has the same number of inputs");
    if (node.op == Op::Loop) {
        const auto& a = std::get<LoopAttr>(attr);
        const Ref made = loop(b, inputs[0], inputs[1], inputs[2], after(inputs, 3), *a.body,
                              a.active, a.must_end, a.sizes, a.checkpoint);
        LoopAttr kept = made->as<LoopAttr>();
        kept.host = a.host;
        kept.open = a.open;
        kept.grid = a.grid;
        kept.group = a.group;
        kept.rounded = a.rounded;
        return b.table.intern(Op::Loop, made->dtype, made->shape, made->inputs, kept, b.line);
    }
    if (node.op == Op::If) {
        const auto& a = std::get<IfAttr>(attr);
        std::vector<Guard> known;
        return branch({b.table, b.line, b.guards ? b.guards : &known}, inputs[0], *a.then_body,
                      *a.else_body);
    }
    if (node.op == Op::Result) return result(b, inputs[0], std::get<ResultAttr>(attr).index);
    if (same_types(inputs, node.inputs) && equal_attr(attr, node.attr))
        return b.table.intern(node.op, node.dtype, node.shape, std::move(inputs), std::move(attr),
                              b.line);
    if (node.op == Op::Cast) return cast(b, inputs[0], node.dtype);
    if (node.op == Op::Bitcast) return bitcast(b, inputs[0], node.dtype);
    if (is_elementwise(node.op)) return elementwise(b, node.op, std::move(inputs));
    if (is_movement(node.op)) return remake_movement(b, node, inputs[0], attr);
    if (node.op == Op::Gather) {
        const auto& a = std::get<GatherAttr>(attr);
        return gather(b, inputs[0], after(inputs, 1), a.modes, a.fill, a.own);
    }
    if (node.op == Op::Scatter)
        return scatter(b, inputs[0], inputs[1], after(inputs, 2), std::get<ScatterAttr>(attr));
    if (node.op == Op::HostCall)
        return host_call(b, std::get<HostCallAttr>(attr).operation, inputs[0]);
    if (node.op == Op::Reduce) {
        const auto& a = std::get<ReduceAttr>(attr);
        return reduce(b, a.op, inputs[0], a.axes, false);
    }
    return b.table.intern(node.op, node.dtype, node.shape, std::move(inputs), std::move(attr),
                          b.line);
}

}  // namespace firn
