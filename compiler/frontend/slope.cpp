// Elementwise functions with an explicit derivative.
#include "compiler/frontend/slope.h"

#include "compiler/frontend/grad.h"
#include "compiler/frontend/math.h"

namespace firn {

Tensor scaled_cotangent(const Tensor& cotangent, const Tensor& slope) {
    return select(cotangent == 0, 0, cotangent * slope);
}

Tensor with_slope(const Tensor& value, const Tensor& x, const Slope& slope) {
    return custom_gradient(
        [&](const std::vector<Tensor>&) { return value; }, {x},
        [slope](const std::vector<Tensor>& xs, const Tensor& y, const Tensor& g) {
            return std::vector<Tensor>{scaled_cotangent(g, slope(xs[0], y))};
        });
}

}  // namespace firn
