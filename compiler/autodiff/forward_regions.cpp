// Tangents of the results of loops and branches.
#include "compiler/autodiff/active_values.h"
#include "compiler/autodiff/forward_run.h"
#include "compiler/autodiff/reverse_run.h"
#include "compiler/autodiff/whole_kernels.h"

namespace firn {
namespace {

/// Tells, for each carried value, whether it changes with a value that has a tangent: at its begin,
/// or in some iteration.
std::vector<bool> changing(const ForwardRun& run, const Node& loop) {
    const Region& body = *loop.as<LoopAttr>().body;
    const std::vector<Ref> order = topological(body.results);
    std::vector<bool> out(body.results.size(), false);
    std::vector<Ref> sources;
    for (const Ref& node : order)
        if (run.tangents.contains(node.get())) sources.push_back(node);
    for (size_t k = 0; k < out.size(); ++k)
        if (run.tangent(loop.inputs[k + 3])) out[k] = true;
    for (bool more = true; more;) {
        std::vector<Ref> all = sources;
        for (size_t k = 0; k < out.size(); ++k)
            if (out[k]) all.push_back(body.args[k + 1]);
        const auto active = active_values(order, all);
        more = false;
        for (size_t k = 0; k < out.size(); ++k)
            if (!out[k] && body.results[k]->dtype.is_float() &&
                active.contains(body.results[k].get()))
                out[k] = more = true;
    }
    return out;
}

std::vector<Ref> forward_kernel(ForwardRun& run, const Node& self) {
    std::vector<Ref> whole = whole_kernel(run.b, self, true, refuse_gradient);
    run.kept.insert(run.kept.end(), whole.begin(), whole.end());
    forward_sweep(run, whole);
    for (Ref& value : whole) value = run.tangent(value);
    return whole;
}

}  // namespace

/// The loop once more, which carries tangents besides: the pass share_loops makes one of both.
std::vector<Ref> forward_loop(ForwardRun& run, const Ref& self) {
    const LoopAttr& attr = self->as<LoopAttr>();
    if (attr.by_hand()) return forward_kernel(run, *self);
    if (!attr.sizes.empty()) refuse_gradient(*self, "loops that make sizes");
    const Builder b = run.b;
    const std::vector<bool> changes = changing(run, *self);
    Region body = with_fresh_args(b.table, *attr.body);
    run.kept.insert(run.kept.end(), body.args.begin(), body.args.end());
    run.kept.insert(run.kept.end(), body.results.begin(), body.results.end());
    std::vector<Ref> inits(self->inputs.begin() + 3, self->inputs.end());
    std::vector<int> places(changes.size(), -1);
    for (size_t k = 0; k < changes.size(); ++k) {
        if (!changes[k]) continue;
        places[k] = static_cast<int>(inits.size());
        inits.push_back(run.tangent_or_zeros(self->inputs[k + 3]));
        const Ref arg = region_arg(b, inits.back()->dtype, inits.back()->shape);
        run.tangents[body.args[k + 1].get()] = arg;
        body.args.push_back(arg);
    }
    forward_sweep(run, body.results);
    for (size_t k = 0; k < changes.size(); ++k)
        if (changes[k]) body.results.push_back(run.tangent_or_zeros(body.results[k]));
    const Ref made = loop(b, self->inputs[0], self->inputs[1], self->inputs[2], std::move(inits),
                          std::move(body), attr.active, attr.must_end, {}, attr.checkpoint);
    std::vector<Ref> out;
    for (int place : places) out.push_back(place < 0 ? nullptr : result(b, made, place));
    return out;
}

std::vector<Ref> forward_branch(ForwardRun& run, const Ref& self) {
    const IfAttr& attr = self->as<IfAttr>();
    Region then_body, else_body;
    std::vector<int> places(attr.then_body->results.size(), -1);
    for (size_t k = 0; k < places.size(); ++k) {
        const Ref &yes = attr.then_body->results[k], &no = attr.else_body->results[k];
        if (!run.tangent(yes) && !run.tangent(no)) continue;
        places[k] = static_cast<int>(then_body.results.size());
        then_body.results.push_back(run.tangent_or_zeros(yes));
        else_body.results.push_back(run.tangent_or_zeros(no));
    }
    const bool any = !then_body.results.empty();
    const Ref made =
        any ? branch(run.b, self->inputs[0], std::move(then_body), std::move(else_body)) : nullptr;
    std::vector<Ref> out;
    for (int place : places) out.push_back(place < 0 ? nullptr : result(run.b, made, place));
    return out;
}

}  // namespace firn
