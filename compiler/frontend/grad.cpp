// Gradients of recorded values.
#include "compiler/frontend/grad.h"

#include <functional>
#include <string>

#include "compiler/autodiff/active_values.h"
#include "compiler/autodiff/forward.h"
#include "compiler/autodiff/reverse.h"
#include "compiler/base/error.h"
#include "compiler/frontend/apply.h"
#include "compiler/frontend/outer_values.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/used_gradients.h"
#include "compiler/frontend/with_history.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

void require_float(const Node& node, const std::string& what, SourceLine line) {
    if (node.dtype.is_float()) return;
    fail_at(line, "grad: " + what + " is " + node.dtype.name() +
                      ", and only floats have gradients; cast it to f32 before it is used");
}

std::vector<Ref> nodes_of(const std::vector<Tensor>& xs, SourceLine line) {
    std::vector<Ref> out;
    for (const Tensor& x : xs) {
        out.push_back(x.node(line));
        require_float(*out.back(), "tensor " + std::to_string(out.size()), line);
    }
    return out;
}

ReverseOptions reverse_options(const SessionState& session) {
    ReverseOptions out;
    if (session.executor)
        out.most_tape_bytes = static_cast<int64_t>(session.executor->profile().max_storage_range);
    return out;
}

Ref zeros_of(const Builder& b, const Node& node) {
    return expand(b, constant(b, scalar_float(0, node.dtype)), node.shape);
}

Ref ones_of(const Builder& b, const Node& node) {
    return expand(b, constant(b, scalar_float(1, node.dtype)), node.shape);
}

/// Checks the inputs in a kernel by hand: a tensor from outside is one for all invocations, and
/// stored elements may be another invocation's: neither has a gradient there.
void check_in_kernel(const SessionState& session, const Differentiated& of, SourceLine line) {
    const size_t depth = kernel_depth(session);
    if (depth == 0) return;
    for (size_t k = 0; k < of.xs.size(); ++k)
        if (!is_of_invocation(session, of.xs[k]))
            fail_at(line, "grad: inside a kernel, tensor " + std::to_string(k + 1) +
                              " is one for all invocations; differentiate by a value of the "
                              "invocation, such as x(i), or take the gradient outside of the "
                              "kernel, of what it stores");
    const std::vector<Ref> order = topological(of.ys);
    const auto active = active_values(order, of.xs);
    for (const Ref& node : order)
        if (node->op == Op::Scatter && active.contains(node.get()))
            fail_at(line,
                    "grad: inside a kernel, the value depends on the tensor through what was "
                    "stored" +
                        in_brackets(node->lines) +
                        "; keep it in a Tensor of the invocation, or take the gradient outside of "
                        "the kernel, of what it stores");
}

[[noreturn]] void fail_unused(const Ref& y, const std::string& of, SourceLine line) {
    const std::string carried = carried_by_loops(*current_state(), *y);
    fail_at(line, "grad: the value does not depend on " + of +
                      (carried.empty() ? "; use it before" : carried) +
                      ", or ask with {.allow_unused = true}");
}

/// Returns the result of `derive` for ys and xs, also through values that were computed already;
/// inside of loops, for their values outside, if these differ and the loops leave them unchanged.
/// Null where there is none.
std::vector<Ref> found_in_loops(
    const Differentiated& of, SourceLine line,
    const std::function<std::vector<Ref>(const Differentiated& of)>& derive) {
    SessionState& session = *current_state();
    check_in_kernel(session, of, line);
    const auto derive_behind = [&](Differentiated each) {
        each.ys = with_history(session, each.ys, each.xs, line);
        return derive(each);
    };
    std::vector<Ref> out = derive_behind(of);
    const AsOutside outside = as_outside(session, of, line);
    if (!outside.differs()) return out;
    const Builder b = builder(session, line);
    const std::vector<Ref> there = derive_behind(outside.of);
    bool inside = true;
    for (size_t k = 0; k < out.size(); ++k) inside &= out[k] || !there[k];
    const Ref chosen = chosen_outside(session, outside, inside, line);
    for (size_t k = 0; k < out.size(); ++k) {
        if (!out[k] && !there[k]) continue;
        const Node& like = out[k] ? *out[k] : *there[k];
        out[k] = elementwise(
            b, Op::Select,
            {chosen, there[k] ? there[k] : zeros_of(b, like), out[k] ? out[k] : zeros_of(b, like)});
    }
    return out;
}

/// Null where the value does not depend on the tensor.
std::vector<Ref> found_gradients(const Differentiated& of, const Ref& seed, SourceLine line) {
    const Builder b = builder(*current_state(), line);
    return found_in_loops(of, line, [&](const Differentiated& each) {
        return reverse_gradients(b, each.ys, {seed}, each.xs, reverse_options(*current_state()));
    });
}

std::vector<Tensor> gradients(const Differentiated& of, const Ref& seed, const GradOptions& options,
                              SourceLine line) {
    const Builder b = builder(*current_state(), line);
    const std::vector<Ref> found = found_gradients(of, seed, line);
    const std::vector<Ref>& xs = of.xs;
    std::vector<Tensor> out;
    for (size_t k = 0; k < xs.size(); ++k) {
        if (!found[k] && !options.allow_unused)
            fail_unused(of.ys[0],
                        "tensor " + std::to_string(k + 1) + " (" + xs[k]->dtype.name() +
                            text(xs[k]->shape) + ")",
                        line);
        out.push_back(Tensor::from_node(found[k] ? found[k] : zeros_of(b, *xs[k])));
    }
    return out;
}

std::vector<Ref> tangents_of(const Builder& b, const std::vector<Ref>& xs,
                             const std::vector<Tensor>& tangents, SourceLine line) {
    if (xs.size() != tangents.size())
        fail_at(line, "jvp: " + std::to_string(tangents.size()) + " tangents are given for " +
                          std::to_string(xs.size()) + " tensors; give one for each");
    std::vector<Ref> out;
    for (size_t k = 0; k < xs.size(); ++k) {
        const Ref t = cast(b, tangents[k].node(line), xs[k]->dtype);
        if (t->shape.size() > xs[k]->shape.size())
            fail_at(line, "jvp: tangent " + std::to_string(k + 1) + " has shape " + text(t->shape) +
                              ", and the tensor " + text(xs[k]->shape) + "; give it the tensor's");
        out.push_back(expand(b, t, xs[k]->shape));
    }
    return out;
}

}  // namespace

std::vector<Tensor> vjp(const Tensor& y, const std::vector<Tensor>& xs, const Tensor& cotangent,
                        const GradOptions& options, SourceLine line) {
    const Ref node = y.node(line);
    require_float(*node, "the value", line);
    const Builder b = builder(*current_state(), line);
    Ref seed = cast(b, cotangent.node(line), node->dtype);
    if (seed->shape.size() > node->shape.size())
        fail_at(line, "vjp: the cotangent has shape " + text(seed->shape) + ", and the value " +
                          text(node->shape) + "; give it the value's");
    return gradients({{node}, nodes_of(xs, line)}, expand(b, seed, node->shape), options, line);
}

std::vector<Tensor> grad(const Tensor& y, const std::vector<Tensor>& xs, const GradOptions& options,
                         SourceLine line) {
    const Ref node = y.node(line);
    require_float(*node, "the value", line);
    const Builder b = builder(*current_state(), line);
    return gradients({{node}, nodes_of(xs, line)}, ones_of(b, *node), options, line);
}

std::vector<std::optional<Tensor>> used_gradients(const Tensor& y, const std::vector<Tensor>& xs,
                                                  SourceLine line) {
    const Ref node = y.node(line);
    require_float(*node, "the value", line);
    const Ref seed = ones_of(builder(*current_state(), line), *node);
    std::vector<std::optional<Tensor>> out;
    for (const Ref& found : found_gradients({{node}, nodes_of(xs, line)}, seed, line))
        out.push_back(found ? std::optional(Tensor::from_node(found)) : std::nullopt);
    return out;
}

Tensor jvp(const Tensor& y, const std::vector<Tensor>& xs, const std::vector<Tensor>& tangents,
           const GradOptions& options, SourceLine line) {
    const Ref node = y.node(line);
    require_float(*node, "the value", line);
    const std::vector<Ref> inputs = nodes_of(xs, line);
    const Builder b = builder(*current_state(), line);
    const std::vector<Ref> by = tangents_of(b, inputs, tangents, line);
    const Ref found = found_in_loops({{node}, inputs}, line, [&](const Differentiated& each) {
        return forward_tangents(b, each.ys, each.xs, by);
    })[0];
    if (!found && !options.allow_unused) fail_unused(node, "any of the tensors", line);
    return Tensor::from_node(found ? found : zeros_of(b, *node));
}

std::vector<Tensor> hessian_product(const Tensor& y, const std::vector<Tensor>& xs,
                                    const std::vector<Tensor>& tangents, const GradOptions& options,
                                    SourceLine line) {
    const std::vector<Ref> inputs = nodes_of(xs, line);
    const Builder b = builder(*current_state(), line);
    const std::vector<Ref> by = tangents_of(b, inputs, tangents, line);
    std::vector<Ref> slopes;
    for (const Tensor& each : grad(y, xs, options, line)) slopes.push_back(each.node(line));
    const auto derive = [&](const Differentiated& each) {
        return forward_tangents(b, each.ys, each.xs, by);
    };
    std::vector<Tensor> out;
    for (const Ref& found : found_in_loops({slopes, inputs}, line, derive))
        out.push_back(Tensor::from_node(found ? found : zeros_of(b, *inputs[out.size()])));
    return out;
}

ValueAndGradients value_and_grad(const Callback<Tensor(const std::vector<Tensor>&)>& f,
                                 const std::vector<Tensor>& xs, const GradOptions& options,
                                 SourceLine line) {
    const Builder b = builder(*current_state(), line);
    std::vector<Tensor> own;
    for (const Ref& node : nodes_of(xs, line))
        own.push_back(
            Tensor::from_node(ruled(b, node, {node}, [](const Ref&, const Ref& g, const auto&) {
                return std::vector<Ref>{g};
            })));
    const Tensor value = f(own);
    return {value, grad(value, own, options, line)};
}

Tensor grad(const Tensor& y, const Tensor& x, const GradOptions& options, SourceLine line) {
    return grad(y, std::vector<Tensor>{x}, options, line)[0];
}

Tensor stop_gradient(const Operand& x) {
    return Tensor::from_node(
        ruled(builder_at(x), x.node(), {},
              [](const Ref&, const Ref&, const auto&) { return std::vector<Ref>{}; }));
}

Tensor straight_through(const Tensor& value, const Tensor& surrogate, SourceLine line) {
    const Ref node = value.node(line), other = surrogate.node(line);
    if (node->shape != other->shape)
        fail_at(line, "straight_through: the value has shape " + text(node->shape) +
                          ", and the surrogate " + text(other->shape));
    require_float(*node, "the value", line);
    require_float(*other, "the surrogate", line);
    const Builder b = builder(*current_state(), line);
    return Tensor::from_node(ruled(b, node, {other}, [](const Ref&, const Ref& g, const auto&) {
        return std::vector<Ref>{g};
    }));
}

Tensor custom_gradient(const Callback<Tensor(const std::vector<Tensor>&)>& f,
                       const std::vector<Tensor>& xs, const GradientRule& rule, SourceLine line) {
    return custom_gradient(f, xs, GradientRules{rule}, line);
}

Tensor custom_gradient(const Callback<Tensor(const std::vector<Tensor>&)>& f,
                       const std::vector<Tensor>& xs, const GradientRules& rules, SourceLine line) {
    if (!rules.reverse) fail_at(line, "custom_gradient: there is no reverse rule; give one");
    const Builder b = builder(*current_state(), line);
    const auto tensors_of = [](const std::vector<Ref>& nodes) {
        std::vector<Tensor> out;
        for (const Ref& node : nodes) out.push_back(tensor_of(node));
        return out;
    };
    std::vector<Ref> inputs;
    for (const Tensor& x : xs) inputs.push_back(x.node(line));
    const auto by_nodes = [rule = rules.reverse, tensors_of](const Ref& y, const Ref& g,
                                                             const std::vector<Ref>& nodes) {
        std::vector<Ref> out;
        for (const Tensor& each : rule(tensors_of(nodes), tensor_of(y), tensor_of(g)))
            out.push_back(each.node());
        return out;
    };
    ForwardRule forwards;
    if (rules.forward)
        forwards = [rule = rules.forward, tensors_of, line](const Ref& y, std::vector<Ref> tangents,
                                                            const std::vector<Ref>& nodes) {
            const Builder b = builder(*current_state(), line);
            for (size_t k = 0; k < tangents.size(); ++k)
                if (!tangents[k]) tangents[k] = zeros_of(b, *nodes[k]);
            return rule(tensors_of(nodes), tensor_of(y), tensors_of(tangents)).node();
        };
    return Tensor::from_node(ruled(b, f(xs).node(line), inputs, by_nodes, forwards));
}

}  // namespace firn
