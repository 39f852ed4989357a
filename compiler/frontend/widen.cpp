// Infers loop bodies again with wider carried values.
#include "compiler/frontend/widen.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/base/error.h"
#include "compiler/frontend/record.h"

namespace firn {
namespace {

/// Returns a shape as a program spells it.
std::string in_braces(const Shape& shape) {
    const std::string in_brackets = text(shape);
    return "{" + in_brackets.substr(1, in_brackets.size() - 2) + "}";
}

class Inference {
  public:
    Inference(Builder b, std::unordered_map<const Node*, Ref> replace, uint64_t oldest)
        : b_(b), memo_(std::move(replace)), oldest_(oldest) {}

    std::vector<Ref> run(const std::vector<Ref>& roots) {
        for (const Ref& node : younger(roots)) memo_.emplace(node.get(), again(node));
        return mapped(roots);
    }

  private:
    /// Returns the nodes that are to be made again, in the order of creation: inputs and bodies
    /// come before their users.
    std::vector<Ref> younger(const std::vector<Ref>& roots) const {
        std::vector<Ref> found, open = roots;
        std::unordered_set<const Node*> seen;
        while (!open.empty()) {
            Ref node = std::move(open.back());
            open.pop_back();
            if (node->serial < oldest_ || memo_.contains(node.get()) ||
                !seen.insert(node.get()).second)
                continue;
            open.insert(open.end(), node->inputs.begin(), node->inputs.end());
            for (const Region* region : regions(*node))
                open.insert(open.end(), region->results.begin(), region->results.end());
            found.push_back(std::move(node));
        }
        std::sort(found.begin(), found.end(),
                  [](const Ref& a, const Ref& b) { return a->serial < b->serial; });
        return found;
    }

    static std::vector<const Region*> regions(const Node& node) {
        if (node.op == Op::Loop) return {node.as<LoopAttr>().body.get()};
        if (node.op == Op::If)
            return {node.as<IfAttr>().then_body.get(), node.as<IfAttr>().else_body.get()};
        return {};
    }

    std::vector<Ref> mapped(const std::vector<Ref>& nodes) const {
        std::vector<Ref> out;
        for (const Ref& node : nodes) {
            auto at = memo_.find(node.get());
            out.push_back(at == memo_.end() ? node : at->second);
        }
        return out;
    }

    Region mapped(const Region& region) const {
        return {mapped(region.args), mapped(region.results)};
    }

    Ref again(const Ref& node) {
        std::vector<Ref> inputs = mapped(node->inputs);
        Builder b{b_.table, first_line(node->lines), b_.guards};
        Ref made = node->op == Op::Loop     ? again_loop(b, node, inputs)
                   : node->op == Op::If     ? again_if(b, node, inputs)
                   : inputs == node->inputs ? node
                                            : again_plain(b, *node, inputs);
        if (made != node) note_lines(*made, node->lines);
        return made;
    }

    Ref again_loop(const Builder& b, const Ref& node, const std::vector<Ref>& inputs) {
        const auto& attr = node->as<LoopAttr>();
        Region body = mapped(*attr.body);
        if (inputs == node->inputs && body.results == attr.body->results) return node;
        if (attr.by_hand()) return again_by_hand(b, *node, inputs, std::move(body));
        return make_loop(b,
                         {inputs[0],
                          inputs[1],
                          inputs[2],
                          {inputs.begin() + 3, inputs.end()},
                          std::move(body),
                          attr.active,
                          attr.must_end,
                          attr.sizes,
                          attr.checkpoint},
                         {}, {});
    }

    /// A kernel by hand stores to tensors that have their shapes.
    Ref again_by_hand(const Builder& b, const Node& node, const std::vector<Ref>& inputs,
                      Region body) {
        for (size_t k = 3; k < inputs.size(); ++k)
            if (inputs[k]->shape != node.inputs[k]->shape)
                refuse_wider(b, *node.inputs[k], *inputs[k]);
        const LoopAttr& attr = node.as<LoopAttr>();
        return kernel_by_hand(b, {inputs.begin() + 3, inputs.end()}, std::move(body), attr.grid,
                              attr.group, attr.rounded);
    }

    [[noreturn]] static void refuse_wider(const Builder& b, const Node& narrow, const Node& wide) {
        fail_at(b.line, "loop: a carried value starts with shape " + text(narrow.shape) +
                            " and becomes " + text(wide.shape) +
                            ", but its first shape was already used; start it as zeros(" +
                            in_braces(wide.shape) + ") or full(...) of that shape");
    }

    Ref again_if(const Builder& b, const Ref& node, const std::vector<Ref>& inputs) {
        const auto& attr = node->as<IfAttr>();
        Region then_body = mapped(*attr.then_body), else_body = mapped(*attr.else_body);
        if (inputs == node->inputs && then_body.results == attr.then_body->results &&
            else_body.results == attr.else_body->results)
            return node;
        return branch(b, inputs[0], std::move(then_body), std::move(else_body));
    }

    /// Returns the value without a flag that was never lowered; null for any other node.
    static Ref without_flag(const Builder& b, const Node& node, const std::vector<Ref>& inputs) {
        auto always = [](const Ref& flag) {
            const Node& one = flag->op == Op::Expand ? *flag->inputs[0] : *flag;
            return one.op == Op::Constant && one.as<ConstantAttr>().value.i != 0;
        };
        if (node.op == Op::Select && always(inputs[0]))
            return expand(b, inputs[1],
                          broadcast_shapes(b, inputs[1]->shape, inputs[2]->shape, "loop"));
        if (node.op != Op::And || !node.dtype.is_bool()) return nullptr;
        for (size_t k = 0; k < 2; ++k)
            if (always(inputs[k]))
                return expand(b, inputs[1 - k],
                              broadcast_shapes(b, inputs[0]->shape, inputs[1]->shape, "loop"));
        return nullptr;
    }

    static Ref read_at_more(const Builder& b, const Node& node, std::vector<Ref> inputs) {
        Shape places;
        for (size_t k = 1; k < inputs.size(); ++k)
            places = broadcast_shapes(b, places, inputs[k]->shape, "loop");
        for (size_t k = 1; k < inputs.size(); ++k) inputs[k] = expand(b, inputs[k], places);
        return remake(b, node, inputs, node.attr);
    }

    Ref again_plain(const Builder& b, const Node& node, const std::vector<Ref>& inputs) {
        if (node.op == Op::Result) return result(b, inputs[0], node.as<ResultAttr>().index);
        if (Ref made = without_flag(b, node, inputs)) return made;
        const Node* narrow = nullptr;
        const Node* wide = nullptr;
        for (size_t k = 0; k < inputs.size() && !narrow; ++k)
            if (inputs[k]->shape != node.inputs[k]->shape) {
                narrow = node.inputs[k].get();
                wide = inputs[k].get();
            }
        if (!narrow || node.op == Op::Cast || node.op == Op::Bitcast)
            return remake(b, node, inputs, node.attr);
        if (node.op == Op::Expand)
            return expand(b, inputs[0], broadcast_shapes(b, inputs[0]->shape, node.shape, "loop"));
        if (is_elementwise(node.op)) return elementwise(b, node.op, inputs);
        // A read of one element becomes a read of one at each of more places.
        if (node.op == Op::Gather && node.shape.empty() &&
            inputs[0]->shape == node.inputs[0]->shape)
            return read_at_more(b, node, inputs);
        // A store of more positions: each element stores for itself.
        if (node.op == Op::Scatter && inputs[0]->shape == node.shape)
            return remake(b, node, inputs, node.attr);
        refuse_wider(b, *narrow, *wide);
    }

    Builder b_;
    std::unordered_map<const Node*, Ref> memo_;
    uint64_t oldest_;
};

void check_asked(const Asked& asked, const std::vector<Ref>& now, size_t first) {
    for (size_t k = 0; k < asked.size(); ++k) {
        const Shape& before = asked[k].first->shape;
        const Shape& after = now[first + k]->shape;
        if (before != after)
            fail_at(asked[k].second, "loop: a carried value has shape " + text(before) +
                                         " where its shape is asked for, and becomes " +
                                         text(after) + " later; start it as zeros(" +
                                         in_braces(after) + ") or full(...)");
    }
}

/// A pass over the body: its results with the arguments at `shapes`, and whether a shape grew.
struct Pass {
    std::vector<Ref> args, results;
    bool grew = false;
};

Pass infer(const Builder& b, const RecordedLoop& parts, std::vector<Shape>& shapes,
           std::unordered_map<const Node*, Ref> replace, const Asked& asked) {
    Pass pass;
    pass.args.push_back(parts.body.args[0]);
    for (size_t k = 0; k < shapes.size(); ++k) {
        const Ref& arg = parts.body.args[k + 1];
        pass.args.push_back(arg);
        if (arg->shape == shapes[k]) continue;
        pass.args.back() = region_arg({b.table, first_line(arg->lines)}, arg->dtype, shapes[k]);
        replace[arg.get()] = pass.args.back();
    }
    std::vector<Ref> roots = parts.body.results;
    for (const auto& [node, line] : asked) roots.push_back(node);
    pass.results = infer_again(b, roots, std::move(replace), parts.body.args[0]);
    for (size_t k = 0; k < shapes.size(); ++k) {
        Shape joined = broadcast_shapes(b, shapes[k], pass.results[k]->shape,
                                        "loop: a variable keeps its shape (start it with the final "
                                        "one, and store to its parts by index)");
        pass.grew |= joined != shapes[k];
        shapes[k] = std::move(joined);
    }
    if (!pass.grew) check_asked(asked, pass.results, shapes.size());
    pass.results.resize(shapes.size());
    return pass;
}

}  // namespace

std::vector<Ref> infer_again(Builder b, const std::vector<Ref>& roots,
                             std::unordered_map<const Node*, Ref> replace, const Ref& oldest) {
    return Inference(b, std::move(replace), oldest->serial).run(roots);
}

Ref make_loop(Builder b, RecordedLoop parts, const std::unordered_map<const Node*, Ref>& replace,
              const Asked& asked) {
    std::vector<Shape> shapes;
    for (const Ref& init : parts.inits) shapes.push_back(init->shape);
    Pass pass = infer(b, parts, shapes, replace, asked);
    while (pass.grew) pass = infer(b, parts, shapes, replace, asked);
    for (size_t k = 0; k < shapes.size(); ++k) {
        parts.inits[k] = expand(b, parts.inits[k], shapes[k]);
        pass.results[k] = expand(b, pass.results[k], shapes[k]);
    }
    return loop(b, parts.begin, parts.end, parts.step, std::move(parts.inits),
                Region{std::move(pass.args), std::move(pass.results)}, parts.active, parts.must_end,
                std::move(parts.sizes), parts.checkpoint);
}

}  // namespace firn
