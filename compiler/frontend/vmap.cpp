// Functions of one sample, for a batch of samples.
#include "compiler/frontend/vmap.h"

#include <string>

#include "compiler/autodiff/batch.h"
#include "compiler/base/error.h"
#include "compiler/frontend/effect_report.h"
#include "compiler/frontend/record.h"
#include "compiler/ir/builder_checks.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

using Nodes = std::vector<Ref>;

Ref moved_axis(const Builder& b, const Ref& x, int from, int to) {
    if (from == to) return x;
    std::vector<int> axes;
    for (int axis = 0; axis < x->rank(); ++axis)
        if (axis != from) axes.push_back(axis);
    axes.insert(axes.begin() + to, from);
    return permute(b, x, axes);
}

/// The samples, and the stand-ins for one of them.
struct Samples {
    std::optional<Size> count;
    std::vector<Ref> placeholders, values;
    std::vector<Tensor> single;  // by tensor: a placeholder, or the tensor that all share
};

Samples samples_of(const Builder& b, const std::vector<Tensor>& xs, const VmapOptions& options) {
    if (!options.axes.empty() && options.axes.size() != xs.size())
        fail(b, "vmap: axes are given for " + std::to_string(options.axes.size()) + " of " +
                    std::to_string(xs.size()) + " tensors; give one for each, or none");
    Samples out;
    for (size_t k = 0; k < xs.size(); ++k) {
        const Ref x = xs[k].node(b.line);
        const std::string what = "vmap: tensor " + std::to_string(k + 1);
        const std::optional<int> along = options.axes.empty() ? std::optional(0) : options.axes[k];
        if (!along) {
            out.single.push_back(xs[k]);
            continue;
        }
        if (x->shape.empty())
            fail(b, what +
                        " is a single number, which has no axis of samples; share it by an axis "
                        "that is std::nullopt");
        const Ref first = moved_axis(b, x, checked_axis(b, *along, x->rank(), what), 0);
        if (!out.count) out.count = first->shape[0];
        require_equal(b, first->shape[0], *out.count,
                      what + " has " + first->shape[0].text() + " samples, and the first " +
                          out.count->text());
        const Shape shape(first->shape.begin() + 1, first->shape.end());
        out.placeholders.push_back(region_arg(b, x->dtype, shape));
        out.values.push_back(first);
        out.single.push_back(Tensor::from_node(out.placeholders.back()));
    }
    if (!out.count) fail(b, "vmap: no tensor has an axis of samples; give one of the axes");
    return out;
}

size_t effects_of(const SessionState& session) {
    size_t out = 0;
    for (const Scope& scope : session.scopes) out += scope.effects.size();
    return out;
}

/// Records f in a scope of its own: nothing in it may be computed, or leave it but by its results.
Nodes record_single(SessionState& session, const Callback<Nodes()>& f, SourceLine line) {
    const size_t effects = effects_of(session);
    push_scope(session, ScopeKind::Branch, line);
    const uint64_t id = session.scopes.back().id;
    const auto leave = [&] {
        while (session.scopes.back().id > id) pop_scope(session);
        return pop_scope(session);
    };
    Nodes out;
    try {
        out = f();
    } catch (...) {
        leave();
        discard_effects(session);
        throw;
    }
    const Scope scope = leave();
    if (effects_of(session) != effects) {
        discard_effects(session);
        fail_at(line,
                "vmap: print_value and assert_value have no rule for batches; use them on the "
                "result of vmap");
    }
    for (const ScopeEntry& entry : scope.entries)
        if (entry.written)
            fail_at(line,
                    "vmap: the function assigns to a tensor from outside, which has one value "
                    "for all samples; return what it computes instead");
    return out;
}

}  // namespace

std::vector<Tensor> vmap(const Callback<std::vector<Tensor>(const std::vector<Tensor>&)>& f,
                         const std::vector<Tensor>& xs, const VmapOptions& options,
                         SourceLine line) {
    SessionState& session = *current_state();
    const Builder b = builder(session, line);
    Samples samples = samples_of(b, xs, options);
    const Nodes results = record_single(
        session,
        [&] {
            std::vector<Tensor> own;
            for (const Tensor& each : samples.single) own.push_back(each);
            Nodes nodes;
            for (const Tensor& each : f(own)) nodes.push_back(each.node(line));
            return nodes;
        },
        line);
    std::vector<Tensor> out;
    for (const Ref& all : batched(b, *samples.count, results, samples.placeholders, samples.values))
        out.push_back(Tensor::from_node(moved_axis(
            b, all, 0, checked_axis(b, options.out_axis, all->rank(), "vmap: out_axis"))));
    return out;
}

Tensor vmap(const Callback<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& xs,
            const VmapOptions& options, SourceLine line) {
    const Callback<std::vector<Tensor>(const std::vector<Tensor>&)> several =
        [&](const std::vector<Tensor>& single) { return std::vector<Tensor>{f(single)}; };
    return vmap(several, xs, options, line)[0];
}

}  // namespace firn
