// The affine layer: a product and an epilogue.
#include "compiler/learning/linear.h"

#include <cmath>

#include "compiler/algorithms/matmul.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/movement.h"
#include "compiler/learning/initialise.h"
#include "compiler/learning/may_equal.h"

namespace firn {

Linear::Linear(int64_t in, int64_t out, const LinearOptions& options, SourceLine line) {
    LineScope at(line);
    if (in < 1 || out < 1)
        refuse("Linear: from " + std::to_string(in) + " to " + std::to_string(out) +
               " features; give 1 or more");
    const auto bound = static_cast<float>(1 / std::sqrt(double(in)));
    const Initialiser uniform = uniform_init(-bound, bound);
    weight = add_parameter("weight", {out, in}, options.init ? options.init : uniform);
    if (options.bias) bias = add_parameter("bias", {out}, uniform);
}

Tensor Linear::operator()(const Operand& x) const {
    LineScope at(x.line());
    const Tensor w = computed_in(*this, weight.value()), in = computed_in(*this, x.tensor());
    const Shape shape = in.shape();
    if (shape.empty() || !may_equal({shape.back()}, {w.shape()[1]}))
        refuse("Linear: x is " + text(shape) + " and the weight " + text(w.shape()) +
               "; the last axis of x is to have the weight's last size");
    const Tensor product = matmul(in, transpose(w));
    return bias.exists() ? product + computed_in(*this, bias.value()) : product;
}

}  // namespace firn
