// Operations over a batch of samples.
#include "compiler/autodiff/batch.h"
#include "compiler/autodiff/batch_run.h"
#include "compiler/program/error.h"

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
        if (attr.by_hand) refuse_batch(*self, "kernels by hand");
        return scatter(run.b, run.all(source), run.all(self->inputs[1]), at, attr);
    }
    const GatherAttr& attr = self->as<GatherAttr>();
    std::vector<Bounds> modes = attr.modes;
    if (own) modes.insert(modes.begin(), Bounds::Unchecked);
    return gather(run.b, own ? run.all(source) : source, at, modes, attr.fill, attr.own);
}

/// The rule is one of single samples: it is asked for one, and what it gives is for a batch.
Ref batch_ruled(BatchRun& run, const Ref& self) {
    const std::vector<Ref> singles(self->inputs.begin() + 1, self->inputs.end());
    std::vector<Ref> inputs;
    std::vector<bool> own;
    for (const Ref& each : singles) {
        own.push_back(run.depends(each));
        inputs.push_back(own.back() ? run.all(each) : each);
    }
    const std::shared_ptr<const ReverseRule> rule = self->as<RuledAttr>().rule;
    const auto of_batch = [b = run.b, rule, singles, own, count = run.count, dtype = self->dtype,
                           shape = self->shape](const Ref& value, const Ref& g,
                                                const std::vector<Ref>& all) {
        const Builder made{b.table, b.line};
        const Ref one = region_arg(made, dtype, shape), one_g = region_arg(made, dtype, shape);
        std::vector<Ref> ones = singles, placeholders{one, one_g}, samples{value, g};
        for (size_t k = 0; k < ones.size(); ++k) {
            if (!own[k]) continue;
            ones[k] = region_arg(made, singles[k]->dtype, singles[k]->shape);
            placeholders.push_back(ones[k]);
            samples.push_back(all[k]);
        }
        std::vector<Ref> parts = (*rule)(one, one_g, ones), given;
        for (const Ref& part : parts)
            if (part) given.push_back(part);
        given = batched(made, count, given, placeholders, samples);
        for (size_t k = 0, n = 0; k < parts.size(); ++k) {
            if (!parts[k]) continue;
            parts[k] = given[n++];
            if (k < own.size() && !own[k])
                parts[k] = reduce(made, ReduceOp::Sum, parts[k], {0}, false);
        }
        return parts;
    };
    return ruled(run.b, run.all(self->inputs[0]), inputs, of_batch);
}

}  // namespace firn
