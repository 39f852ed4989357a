// Initialisers by the fans of a weight.
#include "compiler/learning/initialise.h"

#include <cmath>

#include "compiler/algorithms/linear_algebra.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/indexing.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"

namespace firn {
namespace {

/// The product of the sizes from `axis` on.
int64_t elements(const Shape& shape, size_t axis) {
    int64_t product = 1;
    for (size_t k = axis; k < shape.size(); ++k) product *= shape[k].constant();
    return product;
}

void require_fans(const Shape& weight) {
    if (weight.size() < 2)
        refuse("initialiser: a tensor of shape " + text(weight) +
               " has no fans; it is [out, in, ..], or give uniform_init, normal_init or "
               "constant_init");
}

Tensor uniform(const Shape& shape, const RandomOptions& random, double bound) {
    return rand(shape, random) * (2 * bound) - bound;
}

}  // namespace

int64_t fan_in(const Shape& weight) {
    require_fans(weight);
    return elements(weight, 1);
}
int64_t fan_out(const Shape& weight) {
    require_fans(weight);
    return weight[0].constant() * elements(weight, 2);
}

Initialiser constant_init(float value) {
    // Constants are data here: equal constants would be one tensor, and neither of two could be
    // changed in place.
    return [value](const Shape& shape, const RandomOptions&) {
        return tensor(std::vector<float>(static_cast<size_t>(elements(shape, 0)), value), shape);
    };
}
Initialiser uniform_init(float low, float high) {
    return [low, high](const Shape& shape, const RandomOptions& random) {
        return rand(shape, random) * (high - low) + low;
    };
}
Initialiser normal_init(float deviation) {
    return [deviation](const Shape& shape, const RandomOptions& random) {
        return randn(shape, random) * deviation;
    };
}

Initialiser xavier_uniform(float gain) {
    return [gain](const Shape& shape, const RandomOptions& random) {
        return uniform(shape, random,
                       gain * std::sqrt(6.0 / double(fan_in(shape) + fan_out(shape))));
    };
}
Initialiser xavier_normal(float gain) {
    return [gain](const Shape& shape, const RandomOptions& random) {
        return randn(shape, random) *
               (gain * std::sqrt(2.0 / double(fan_in(shape) + fan_out(shape))));
    };
}
Initialiser he_uniform(float slope) {
    return [slope](const Shape& shape, const RandomOptions& random) {
        return uniform(shape, random,
                       std::sqrt(6.0 / ((1 + double(slope) * slope) * double(fan_in(shape)))));
    };
}
Initialiser he_normal(float slope) {
    return [slope](const Shape& shape, const RandomOptions& random) {
        return randn(shape, random) *
               std::sqrt(2.0 / ((1 + double(slope) * slope) * double(fan_in(shape))));
    };
}

Initialiser orthogonal(float gain) {
    return [gain](const Shape& shape, const RandomOptions& random) {
        require_fans(shape);
        const int64_t rows = shape[0].constant(), columns = fan_in(shape);
        const bool wide = rows < columns;
        Tensor normal = randn(wide ? Shape{columns, rows} : Shape{rows, columns}, random);
        auto [q, r] = qr(normal);
        // With the signs of the diagonal, all orthogonal matrices are equally likely.
        Tensor signs = select(diagonal(r) < 0.0f, -1.0f, 1.0f);
        Tensor frame = q * signs * gain;
        return reshape(wide ? transpose(frame) : frame, shape);
    };
}

}  // namespace firn
