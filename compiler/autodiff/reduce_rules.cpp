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
        case ReduceOp::Max:
            return contribute(
                run, x,
                elementwise(run.b, Op::Mul,
                            {spread(run.b, *self, g.value), share_of_extreme(run.b, self)}),
                g.chosen);
        default: refuse_gradient(*self, "any and all");
    }
}

}  // namespace firn
