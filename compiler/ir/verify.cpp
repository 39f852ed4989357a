// The rules of graph.h, checked node by node.
#include <algorithm>
#include <unordered_set>

#include "compiler/base/error.h"
#include "compiler/ir/monoid.h"
#include "compiler/ir/regions.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

std::string describe(const Node& node) {
    std::string out =
        std::string(info(node.op).name) + " : " + node.dtype.name() + text(node.shape) + " (";
    for (size_t k = 0; k < node.inputs.size(); ++k)
        out += (k ? ", " : "") + std::string(node.inputs[k]->dtype.name()) +
               text(node.inputs[k]->shape);
    out += ")";
    for (SourceLine line : node.lines) out += " " + text(line);
    return out;
}

struct Checker {
    std::string after;

    [[noreturn]] void broken(const std::string& rule, const std::string& where) const {
        throw InternalError("internal error: after " + after + ": " + rule + ": " + where);
    }
    void check(bool holds, const char* rule, const Node& node) const {
        if (!holds) broken(rule, describe(node));
    }

    void elementwise(const Node& node) const {
        ResultRule rule = info(node.op).result;
        size_t first_value = node.op == Op::Select ? 1 : 0;
        for (const Ref& input : node.inputs)
            check(input->shape == node.shape, "an elementwise input has exactly the node's shape",
                  node);
        if (first_value)
            check(node.inputs[0]->dtype.is_bool(), "a Select's condition is a bool", node);
        DType value = node.inputs[first_value]->dtype;
        for (size_t k = first_value; k < node.inputs.size(); ++k)
            check(node.inputs[k]->dtype == value, "value inputs have one dtype", node);
        if (rule == ResultRule::Bool) check(node.dtype.is_bool(), "the result is a bool", node);
        if (rule == ResultRule::Same || rule == ResultRule::Float || rule == ResultRule::Int)
            check(node.dtype == value, "the result has the inputs' dtype", node);
        if (rule == ResultRule::Float) check(value.is_float(), "the inputs are floats", node);
        if (rule == ResultRule::Int)
            check(!value.is_float(), "the inputs are integers or bools", node);
        if (node.op == Op::Not) check(value.is_bool(), "a Not is of bools", node);
        if (node.op == Op::Bitcast)
            check(value.bytes() == node.dtype.bytes(), "a Bitcast keeps the width", node);
    }

    /// Sizes that a guard made equal count as equal here.
    static bool may_be_equal(const Size& a, const Size& b) {
        return a == b || !(a - b).is_constant();
    }

    void movement(const Node& node) const {
        const Node& x = *node.inputs[0];
        size_t rank = node.shape.size();
        check(node.dtype == x.dtype, "movement keeps the dtype", node);
        switch (node.op) {
            case Op::Reshape:
                check(may_be_equal(element_count(node.shape), element_count(x.shape)),
                      "a Reshape keeps the number of elements", node);
                break;
            case Op::Permute: {
                auto axes = node.as<PermuteAttr>().axes;
                check(axes.size() == rank && x.shape.size() == rank, "a Permute names every axis",
                      node);
                for (size_t k = 0; k < rank; ++k)
                    check(axes[k] >= 0 && axes[k] < static_cast<int>(rank) &&
                              node.shape[k] == x.shape[static_cast<size_t>(axes[k])],
                          "a Permute's axis k is input axis axes[k]", node);
                std::sort(axes.begin(), axes.end());
                check(std::adjacent_find(axes.begin(), axes.end()) == axes.end(),
                      "a Permute names every axis once", node);
                break;
            }
            case Op::Expand: {
                check(x.shape.size() <= rank, "an Expand only adds dimensions", node);
                size_t offset = rank - x.shape.size();
                for (size_t k = 0; k < x.shape.size(); ++k)
                    check(x.shape[k].is(1) || x.shape[k] == node.shape[offset + k],
                          "an Expand repeats dimensions of size 1", node);
                break;
            }
            case Op::Slice: {
                const auto& a = node.as<SliceAttr>();
                check(a.begin.size() == rank && a.step.size() == rank && x.shape.size() == rank,
                      "a Slice has a begin and a step per axis", node);
                for (size_t k = 0; k < rank; ++k) slice_axis(node, k);
                break;
            }
            case Op::Pad: {
                const auto& a = node.as<PadAttr>();
                check(a.before.size() == rank && a.after.size() == rank && x.shape.size() == rank,
                      "a Pad has two widths per axis", node);
                for (size_t k = 0; k < rank; ++k)
                    check(node.shape[k] == a.before[k] + x.shape[k] + a.after[k],
                          "a Pad grows every axis by its widths", node);
                check(a.value.dtype == node.dtype, "a Pad's value has the node's dtype", node);
                break;
            }
            default: broken("movement without a rule", describe(node));
        }
    }

    void slice_axis(const Node& node, size_t k) const {
        const auto& a = node.as<SliceAttr>();
        check(a.step[k] != 0, "a Slice's step is not 0", node);
        if (node.shape[k].is(0)) return;
        Size last = a.begin[k] + Size(a.step[k]) * (node.shape[k] - 1);
        for (const Size& end : {a.begin[k], last}) {
            Size beyond = end - node.inputs[0]->shape[k];
            check(!end.is_constant() || end.constant() >= 0, "a Slice stays inside", node);
            check(!beyond.is_constant() || beyond.constant() < 0, "a Slice stays inside", node);
        }
    }

    void indexed(const Node& node, size_t first_index, const Shape& shape) const {
        const Node& source = *node.inputs[0];
        check(node.inputs.size() == first_index + source.shape.size(),
              "there is one index per source axis", node);
        check(node.dtype == source.dtype, "the result has the source's dtype", node);
        for (size_t k = first_index; k < node.inputs.size(); ++k)
            check(node.inputs[k]->dtype == i32 && node.inputs[k]->shape == shape,
                  "indices are i32 and of one shape", node);
    }

    void reduce(const Node& node) const {
        const auto& a = node.as<ReduceAttr>();
        const Node& x = *node.inputs[0];
        Shape kept;
        for (int axis = 0; axis < x.rank(); ++axis)
            if (!std::binary_search(a.axes.begin(), a.axes.end(), axis))
                kept.push_back(x.shape[static_cast<size_t>(axis)]);
        check(std::is_sorted(a.axes.begin(), a.axes.end()) && node.shape == kept &&
                  x.shape.size() - kept.size() == a.axes.size(),
              "a Reduce's axes are sorted, exist and disappear", node);
        const Monoid& by = monoid(a.op);
        check(node.dtype == (by.position_of ? i32 : x.dtype),
              "a Reduce keeps the dtype, and a position is i32", node);
        check(by.logical == x.dtype.is_bool(), "Any and All are of bools, the others are not",
              node);
        check(!by.position_of || a.axes.size() == 1, "a position is along one axis", node);
    }

    void loop(const Node& node) const {
        const auto& a = node.as<LoopAttr>();
        size_t count = node.inputs.size() - 3;
        check(node.inputs.size() >= 3 && a.body->args.size() == count + 1 &&
                  a.body->results.size() == count,
              "a Loop has an argument and a result per carried value", node);
        for (size_t k = 0; k < 3; ++k)
            check(node.inputs[k]->dtype == i32 && node.inputs[k]->shape.empty(),
                  "bounds are rank-0 i32", node);
        for (size_t k = 0; k < count; ++k)
            for (const Ref& each : {node.inputs[k + 3], a.body->results[k]})
                check(each->dtype == a.body->args[k + 1]->dtype &&
                          each->shape == a.body->args[k + 1]->shape,
                      "a carried value keeps its dtype and shape", node);
        for (const Ref& arg : a.body->args)
            check(arg->op == Op::RegionArg, "region arguments are RegionArgs", node);
        check(a.active < static_cast<int>(count) &&
                  (a.active < 0 || node.inputs[3 + static_cast<size_t>(a.active)]->dtype.is_bool()),
              "the active value is a carried bool", node);
        check(a.sizes.size() <= count, "the sizes of an iteration are carried", node);
        for (size_t k = 0; k < a.sizes.size(); ++k)
            check(data_symbols(a.sizes[k]).size() == 1 && a.body->results[k]->dtype == i32 &&
                      a.body->results[k]->shape.empty(),
                  "the first values of a Loop are those of its iterations' sizes", node);
    }

    void branch(const Node& node) const {
        const auto& a = node.as<IfAttr>();
        check(node.inputs[0]->dtype.is_bool(), "an If's condition is a bool", node);
        check(a.then_body->results.size() == a.else_body->results.size() &&
                  a.then_body->args.empty() && a.else_body->args.empty(),
              "branches have equal results and no arguments", node);
        for (size_t k = 0; k < a.then_body->results.size(); ++k)
            check(a.then_body->results[k]->dtype == a.else_body->results[k]->dtype,
                  "branches give equal dtypes", node);
    }

    void result(const Node& node) const {
        const Node& owner = *node.inputs[0];
        size_t k = static_cast<size_t>(node.as<ResultAttr>().index);
        check(owner.op == Op::Loop || owner.op == Op::If, "a Result is of a Loop or an If", node);
        const auto& results = owner.op == Op::Loop ? owner.as<LoopAttr>().body->results
                                                   : owner.as<IfAttr>().then_body->results;
        check(k < results.size() && results[k]->dtype == node.dtype,
              "a Result exists and keeps the dtype", node);
        if (owner.op == Op::Loop)
            check(results[k]->shape == node.shape, "a Result of a Loop has the carried shape",
                  node);
    }

    void by_hand(const Node& node) const {
        if (node.op == Op::Invocation)
            check(node.dtype == i32 && node.as<IndexAttr>().axis < node.rank(),
                  "an Invocation is an i32 along an axis", node);
        if (node.op == Op::Barrier || node.op == Op::Subgroup) {
            const size_t value = node.op == Op::Subgroup ? 1 : 0;
            check(node.inputs.size() > value && node.inputs[value]->shape == node.shape &&
                      node.inputs[value]->dtype == node.dtype,
                  "its value keeps its dtype and shape", node);
        }
        if (node.op == Op::Fetched)
            check(node.inputs.size() >= 3 && node.inputs[0]->op == Op::Scatter &&
                      node.shape == node.inputs[2]->shape,
                  "a Fetched reads a Scatter, and has the shape of its positions", node);
    }

    void attribute(const Node& node) const {
        size_t expected = 0;
        switch (node.op) {
            case Op::Constant: expected = Attr(ConstantAttr{}).index(); break;
            case Op::SizeValue: expected = Attr(SizeAttr{}).index(); break;
            case Op::Input: expected = Attr(InputAttr{}).index(); break;
            case Op::Buffer: expected = Attr(BufferAttr{}).index(); break;
            case Op::RegionArg: expected = Attr(RegionArgAttr{}).index(); break;
            case Op::Index: expected = Attr(IndexAttr{}).index(); break;
            case Op::Permute: expected = Attr(PermuteAttr{}).index(); break;
            case Op::Slice: expected = Attr(SliceAttr{}).index(); break;
            case Op::Pad: expected = Attr(PadAttr{}).index(); break;
            case Op::Gather: expected = Attr(GatherAttr{}).index(); break;
            case Op::Scatter: expected = Attr(ScatterAttr{}).index(); break;
            case Op::Reduce: expected = Attr(ReduceAttr{}).index(); break;
            case Op::Loop: expected = Attr(LoopAttr{}).index(); break;
            case Op::If: expected = Attr(IfAttr{}).index(); break;
            case Op::Result: expected = Attr(ResultAttr{}).index(); break;
            case Op::Invocation: expected = Attr(IndexAttr{}).index(); break;
            case Op::Array: expected = Attr(ArrayAttr{}).index(); break;
            case Op::Barrier: expected = Attr(BarrierAttr{}).index(); break;
            case Op::Subgroup: expected = Attr(SubgroupAttr{}).index(); break;
            case Op::Ruled: expected = Attr(RuledAttr{}).index(); break;
            case Op::HostCall: expected = Attr(HostCallAttr{}).index(); break;
            default: break;
        }
        check(node.attr.index() == expected, "a node has the attribute of its operation", node);
    }

    void leaf(const Node& node) const {
        if (node.op == Op::Constant)
            check(node.shape.empty() && node.as<ConstantAttr>().value.dtype == node.dtype,
                  "a Constant has rank 0 and its value's dtype", node);
        if (node.op == Op::SizeValue)
            check(node.shape.empty() && node.dtype == i32, "a SizeValue is a rank-0 i32", node);
        if (node.op == Op::Index)
            check(node.dtype == i32 && node.as<IndexAttr>().axis >= 0 &&
                      node.as<IndexAttr>().axis < node.rank(),
                  "an Index is an i32 along an axis that exists", node);
    }

    void node(const Node& node) const {
        const OpInfo& row = info(node.op);
        check(row.arity < 0 || node.inputs.size() == static_cast<size_t>(row.arity),
              "an operation has its number of inputs", node);
        attribute(node);
        for (const Ref& input : node.inputs)
            check((info(input->op).result == ResultRule::None) == (node.op == Op::Result),
                  "a Loop or If is only read by Results", node);
        if (row.properties & kElementwise) return elementwise(node);
        if (row.properties & kMovement) return movement(node);
        if (row.properties & kLeaf) return leaf(node);
        switch (node.op) {
            case Op::Gather:
                check(!node.inputs.empty() &&
                          node.as<GatherAttr>().modes.size() + 1 == node.inputs.size(),
                      "a Gather has one bounds mode per axis", node);
                return indexed(node, 1, node.shape);
            case Op::Scatter:
                check(node.inputs.size() >= 2 && node.shape == node.inputs[0]->shape &&
                          node.inputs[1]->dtype == node.dtype,
                      "a Scatter keeps its target's shape and dtype", node);
                return indexed(node, 2, node.inputs[1]->shape);
            case Op::Ruled:
                return check(!node.inputs.empty() && node.inputs[0]->shape == node.shape &&
                                 node.inputs[0]->dtype == node.dtype,
                             "a value with a rule keeps its dtype and shape", node);
            case Op::HostCall:
                return check(
                    node.as<HostCallAttr>().operation && node.inputs[0]->dtype == node.dtype,
                    "a call of the host keeps its input's dtype", node);
            case Op::Reduce: return reduce(node);
            case Op::Loop: return loop(node);
            case Op::If: return branch(node);
            case Op::Result: return result(node);
            case Op::Invocation:
            case Op::Array:
            case Op::Barrier:
            case Op::Fetched:
            case Op::Subgroup: return by_hand(node);
            default: broken("an operation has its rules", describe(node));
        }
    }

    void graph(const Graph& graph) const {
        std::unordered_set<const Node*> inputs;
        for (size_t k = 0; k < graph.args.size(); ++k) {
            const Node& arg = *graph.args[k];
            check(arg.op == Op::Input && arg.as<InputAttr>().index == static_cast<int>(k),
                  "args[k] is the Input with index k", arg);
            inputs.insert(&arg);
        }
        for (const Ref& each : topological(graph.results)) {
            check(each->op != Op::Input || inputs.contains(each.get()),
                  "every Input is an argument", *each);
            node(*each);
        }
        for (const Ref& result : graph.results)
            check(info(result->op).result != ResultRule::None, "a result has a value", *result);
        for (size_t k = 0; k < graph.data_sizes.size(); ++k)
            check(k < graph.results.size() && graph.results[k]->dtype == i32 &&
                      graph.results[k]->shape.empty(),
                  "the first results are the values of the data symbols", *graph.results[0]);
    }
};

}  // namespace

void verify(const Graph& graph, const std::string& after) {
    Checker checker{after};
    checker.graph(graph);
    try {
        place(graph.results);
    } catch (const InternalError& error) {
        checker.broken("placement", error.what());
    }
}

}  // namespace firn
