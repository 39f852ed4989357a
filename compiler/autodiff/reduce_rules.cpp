// Cotangents behind reductions.
#include "compiler/autodiff/reduce_parts.h"
#include "compiler/autodiff/reverse_run.h"

namespace firn {

void reverse_reduce(ReverseRun& run, const Ref& self, const Cotangent& g) {
    const Ref& x = self->inputs[0];
    switch (self->as<ReduceAttr>().op) {
        case ReduceOp::Sum: return contribute(run, x, spread(run.b, *self, g.value), g.chosen);
        case ReduceOp::Prod: {
            const Cotangent all{spread(run.b, *self, g.value), g.chosen};
            return contribute(run, x, scaled(run, all, product_of_others(run.b, self)), g.chosen);
        }
        case ReduceOp::Min:
        case ReduceOp::Max: {
            const Extremes found = extremes(run.b, self);
            const Ref share = spread(run.b, *self, over_count(run.b, g.value, found.count));
            const Ref zero = constant(run.b, scalar_float(0, x->dtype));
            return contribute(run, x, elementwise(run.b, Op::Select, {found.is, share, zero}),
                              true);
        }
        default: refuse_gradient(*self, "any and all");
    }
}

}  // namespace firn
