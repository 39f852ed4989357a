// Dropout by numbers that its own buffer counts.
#include "compiler/learning/dropout.h"

#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"

namespace firn {

Dropout::Dropout(float p, SourceLine line) : p_(p) {
    LineScope at(line);
    if (!(p >= 0 && p < 1))
        refuse("Dropout: p is " + std::to_string(p) + "; it is from 0 to below 1");
    random = add_buffer("random", {2}, [](const Shape& shape, const RandomOptions& options) {
        return select(index(shape, 0) == 0, bitcast(random_bits(shape, options), i32), 0);
    });
}

Tensor Dropout::operator()(const Operand& x) const {
    LineScope at(x.line());
    if (!training() || p_ == 0) return x.tensor();
    const Tensor state = random.value();
    const Tensor kept = rand(x.tensor().shape(), {.seed = state(0), .stream = state(1)}) >= p_;
    random.set(state + index(state, 0));
    return select(kept, x.tensor() * (1 / (1 - p_)), 0.0f);
}

}  // namespace firn
