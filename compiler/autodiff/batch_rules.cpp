// Operations over a batch of samples.
#include <algorithm>

#include "compiler/autodiff/batch.h"
#include "compiler/autodiff/batch_run.h"
#include "compiler/base/error.h"

namespace firn {

Ref batch_movement(BatchRun& run, const Ref& self) {
    const Ref x = run.all(self->inputs[0]);
    switch (self->op) {
        case Op::Reshape: return reshape(run.b, x, run.with_samples(self->shape));
        case Op::Expand: return run.fitted(x, self->shape);
        case Op::Permute: {
            std::vector<int> axes{0};
            for (int axis : self->as<PermuteAttr>().axes) axes.push_back(axis + 1);
            return permute(run.b, x, axes);
        }
        case Op::Slice: {
            SliceAttr attr = self->as<SliceAttr>();
            attr.begin.insert(attr.begin.begin(), Size(0));
            attr.step.insert(attr.step.begin(), 1);
            return slice(run.b, x, attr.begin, run.with_samples(self->shape), attr.step);
        }
        case Op::Pad: {
            PadAttr attr = self->as<PadAttr>();
            attr.before.insert(attr.before.begin(), Size(0));
            attr.after.insert(attr.after.begin(), Size(0));
            return pad(run.b, x, attr.before, attr.after, attr.value);
        }
        default: throw InternalError("internal error: movement without a rule for batches");
    }
}

Ref batch_access(BatchRun& run, const Ref& self) {
    const bool stores = self->op == Op::Scatter;
    const Ref& source = self->inputs[0];
    const bool own = stores || run.depends(source);  // each sample has one of its own
    std::vector<Ref> at;
    const Shape& positions = stores ? self->inputs[1]->shape : self->shape;
    if (own) at.push_back(index(run.b, run.with_samples(positions), 0));
    for (size_t k = stores ? 2 : 1; k < self->inputs.size(); ++k)
        at.push_back(run.all(self->inputs[k]));
    if (stores) {
        const ScatterAttr& attr = self->as<ScatterAttr>();
        return scatter(run.b, run.all(source), run.all(self->inputs[1]), at, attr);
    }
    const GatherAttr& attr = self->as<GatherAttr>();
    std::vector<Bounds> modes = attr.modes;
    // A promise that a read stays inside holds only for the samples that execute it.
    if (run.lockstep.contains(self.get()))
        std::replace(modes.begin(), modes.end(), Bounds::Unchecked, Bounds::Clamp);
    if (own) modes.insert(modes.begin(), Bounds::Unchecked);
    return gather(run.b, own ? run.all(source) : source, at, modes, attr.fill, attr.own);
}

namespace {

/// The placeholders of one sample while a rule of single samples is applied.
struct OneSample {
    Builder b;
    std::vector<Ref> placeholders, samples;

    Ref of(const Ref& batch, DType dtype, const Shape& shape) {
        placeholders.push_back(region_arg(b, dtype, shape));
        samples.push_back(batch);
        return placeholders.back();
    }
    /// A placeholder like `like` for each value with a part for each sample (`own`); the other
    /// values themselves.
    std::vector<Ref> of_all(const std::vector<Ref>& batch, const std::vector<Ref>& like,
                            const std::vector<bool>& own) {
        std::vector<Ref> out;
        for (size_t k = 0; k < batch.size(); ++k)
            out.push_back(batch[k] && own[k] ? of(batch[k], like[k]->dtype, like[k]->shape)
                                             : batch[k]);
        return out;
    }
    std::vector<Ref> batched(const Size& count, const std::vector<Ref>& results) const {
        return firn::batched(b, count, results, placeholders, samples);
    }
};

}  // namespace

/// Gradient rules are written for one sample: they are recorded for one, and their results are
/// rewritten for a batch.
Ref batch_ruled(BatchRun& run, const Ref& self) {
    const std::vector<Ref> singles(self->inputs.begin() + 1, self->inputs.end());
    std::vector<Ref> inputs;
    std::vector<bool> own;
    for (const Ref& each : singles) {
        own.push_back(run.depends(each));
        inputs.push_back(own.back() ? run.all(each) : each);
    }
    const RuledAttr rules = self->as<RuledAttr>();
    const auto of_batch = [b = run.b, rules, singles, own, count = run.count, dtype = self->dtype,
                           shape = self->shape](const Ref& value, const Ref& g,
                                                const std::vector<Ref>& all) {
        OneSample one{{b.table, b.line}, {}, {}};
        const Ref y = one.of(value, dtype, shape), one_g = one.of(g, dtype, shape);
        std::vector<Ref> parts = (*rules.rule)(y, one_g, one.of_all(all, singles, own)), given;
        for (const Ref& part : parts)
            if (part) given.push_back(part);
        given = one.batched(count, given);
        for (size_t k = 0, n = 0; k < parts.size(); ++k) {
            if (!parts[k]) continue;
            parts[k] = given[n++];
            if (k < own.size() && !own[k])
                parts[k] = reduce(one.b, ReduceOp::Sum, parts[k], {0}, false);
        }
        return parts;
    };
    ForwardRule forwards;
    if (rules.forward)
        forwards = [b = run.b, rules, singles, own, count = run.count, dtype = self->dtype,
                    shape = self->shape](const Ref& value, const std::vector<Ref>& tangents,
                                         const std::vector<Ref>& all) -> Ref {
            OneSample one{{b.table, b.line}, {}, {}};
            const Ref y = one.of(value, dtype, shape),
                      found = (*rules.forward)(y, one.of_all(tangents, singles, own),
                                               one.of_all(all, singles, own));
            return found ? one.batched(count, {found})[0] : nullptr;
        };
    return ruled(run.b, run.all(self->inputs[0]), inputs, of_batch, forwards);
}

}  // namespace firn
