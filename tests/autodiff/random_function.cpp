// Random expressions of floats.
#include "tests/autodiff/random_function.h"

namespace firn {
namespace {

Tensor own_index(const Shape& shape, int axis) { return index(shape, axis); }

}  // namespace

Tensor RandomFunction::expression(const Shape& shape, int depth) {
    if (depth <= 0) return leaf(shape);
    const int kind = dice_.below(100);
    if (kind < 14) return leaf(shape);
    if (kind < 38) return unary(expression(shape, depth - 1));
    if (kind < 60) {
        const Tensor a = expression(shape, depth - 1);
        return binary(a, expression(shape, depth - 1));
    }
    if (kind < 70) return choice(shape, depth);
    if (kind < 79) return read(shape);
    if (kind < 83) return read_anywhere(shape);
    if (kind < 91) return reduced(shape, depth);
    if (kind < 97) return moved(shape, depth);
    return by_own_rule(expression(shape, depth - 1));
}

Tensor RandomFunction::leaf(const Shape& shape) {
    std::vector<Tensor> fitting;
    for (const FloatVariable& each : variables_)
        if (each.shape == shape || each.shape.empty()) fitting.push_back(each.value);
    const int kind = dice_.below(100);
    if (kind < 6 && !shape.empty())
        return 0.3f * own_index(shape, dice_.below(static_cast<int>(shape.size()))).as(dtype_);
    Tensor out = kind < 18 ? Tensor(0.25f * float(1 + dice_.below(7))) : dice_.of(fitting);
    return expand(out.as(dtype_), shape);
}

Tensor RandomFunction::unary(const Tensor& x) {
    switch (dice_.below(24)) {
        case 0: return sin(x);
        case 1: return cos(1.3f * x);
        case 2: return tanh(x);
        case 3: return exp(tanh(x));
        case 4: return sqrt(1.5f + sin(x));
        case 5: return log(1.5f + cos(x));
        case 6: return atan(x);
        case 7: return sigmoid(x);
        case 8: return rcp(2.0f + sin(x));
        case 9: return abs(x);
        case 10: return square(x);
        case 11: return erf(x);
        case 12: return asin(0.9f * sin(x));
        case 13: return acos(0.8f * tanh(x));
        case 14: return pow(1.5f + sin(x), 1.7f);
        case 15: return x * floor(x + 0.37f);
        case 16: return frac(0.4f * x + 0.11f);
        case 17: return log1p(0.9f * tanh(x)) + expm1(0.5f * sin(x));
        case 18: return rsqrt(1.5f + cos(x));
        case 19: return log2(1.5f + sin(x)) + exp2(tanh(x));
        case 20: return sinh(tanh(x)) - cosh(sin(x));
        case 21: return tan(tanh(x));
        case 22: return x * sign(x - 0.2f) + round(x) - ceil(x) * trunc(x);
        default: return -x;
    }
}

Tensor RandomFunction::binary(const Tensor& a, const Tensor& b) {
    switch (dice_.below(10)) {
        case 0:
        case 1: return a + b;
        case 2: return a - b;
        case 3:
        case 4: return a * b;
        case 5: return a / (1.7f + sin(b));
        case 6: return min(a, b);
        case 7: return max(a, b);
        case 8: return dice_.chance(50) ? atan2(a, b) : a % (1.6f + tanh(b));
        default: return pow(1.5f + sin(a), b);
    }
}

Tensor RandomFunction::condition(const Shape& shape) {
    switch (dice_.below(4)) {
        case 0:
            if (!shape.empty())
                return own_index(shape, dice_.below(static_cast<int>(shape.size()))) % 2 == 0;
            return leaf(shape) > 0.1f;
        case 1: return leaf(shape) < leaf(shape) + 0.2f;
        case 2: return (leaf(shape) > -0.6f) & (sin(leaf(shape)) < 0.8f);
        default: return leaf(shape) > 0.13f;
    }
}

/// Some of them with a side that is no number where it is not taken.
Tensor RandomFunction::choice(const Shape& shape, int depth) {
    const Tensor a = expression(shape, depth - 1);
    switch (dice_.below(4)) {
        case 0: return select(a > 0.05f, log(a), 2.0f * a);
        case 1: return select(a < 0.01f, square(a), sqrt(a));
        default: {
            const Tensor test = condition(shape);
            return select(test, a, expression(shape, depth - 1));
        }
    }
}

Tensor RandomFunction::place(const Shape& shape, const Shape& of, int axis) {
    const Size extent = of[static_cast<size_t>(axis)];
    switch (dice_.below(5)) {
        case 0: return expand(Tensor(dice_.below(4) - 1), shape);
        case 1: return cast<int>(floor(2.1f * leaf(shape) + 0.17f));
        default: break;
    }
    if (shape.empty()) return Tensor(extent) - (1 + dice_.below(2));
    const Tensor i = own_index(shape, dice_.below(static_cast<int>(shape.size())));
    switch (dice_.below(5)) {
        case 0: return 2 * i - 1;
        case 1: return Tensor(extent) - 1 - i;
        case 2: return i % 3;
        case 3: return i / 2;
        default: return i + (dice_.below(5) - 2);
    }
}

Tensor RandomFunction::read(const Shape& shape) {
    const FloatVariable from = dice_.of(variables_);
    if (from.shape.empty()) return leaf(shape);
    const int mode = dice_.below(5);
    const bool aligned = from.shape == shape && dice_.chance(60);
    std::vector<Tensor> at;
    for (int axis = 0; axis < static_cast<int>(from.shape.size()); ++axis)
        at.push_back(aligned ? own_index(shape, axis) + (dice_.below(5) - 2)
                             : place(shape, from.shape, axis));
    const auto by = [&](const auto& reader) -> Tensor {
        return at.size() == 1 ? Tensor(reader(at[0])) : Tensor(reader(at[0], at[1]));
    };
    const Tensor value = from.value;
    const Tensor out = mode == 0   ? by(value)
                       : mode == 1 ? by(wrap(value))
                       : mode == 2 ? by(mirror(value))
                       : mode == 3 ? by(zero(value))
                                   : by(fill(value, 0.7f));
    return expand(out, shape);
}

Tensor RandomFunction::read_anywhere(const Shape& shape) {
    const Tensor flat = reshape(variables_[0].value, {-1});
    const Tensor at = cast<int>(floor(1.9f * leaf(shape) + 0.4f));
    return dice_.chance(50) ? Tensor(flat(at)) : wrap(flat)(at);
}

Tensor RandomFunction::reduced(const Shape& shape, int depth) {
    const Tensor x = expression(main_, depth - 1);
    const int rank = static_cast<int>(main_.size()), kind = dice_.below(5);
    const bool all = shape != main_ || dice_.chance(30);
    const int axis = dice_.below(rank);
    const auto by = [&](const auto& reduce) {
        return all ? reduce(x, ReduceOptions{})
                   : reduce(x, ReduceOptions{.axis = axis, .keep_dims = true});
    };
    const auto run = [&]() -> Tensor {
        switch (kind) {
            case 0: return by([](const Tensor& a, const ReduceOptions& o) { return sum(a, o); });
            case 1: return by([](const Tensor& a, const ReduceOptions& o) { return max(a, o); });
            case 2: return by([](const Tensor& a, const ReduceOptions& o) { return min(a, o); });
            case 3:
                return by([](const Tensor& a, const ReduceOptions& o) {
                    return prod(1.0f + 0.3f * sin(a), o);
                });
            default: return by([](const Tensor& a, const ReduceOptions& o) { return mean(a, o); });
        }
    };
    return expand(run(), shape);
}

Tensor RandomFunction::moved(const Shape& shape, int depth) {
    const Tensor x = expression(shape, depth - 1);
    const int rank = static_cast<int>(shape.size());
    if (rank == 0) return x;
    const int axis = dice_.below(rank);
    const Size extent = shape[static_cast<size_t>(axis)];
    switch (dice_.below(7)) {
        case 6: {
            std::vector<Size> before(shape.size(), 0), none = before;
            before[static_cast<size_t>(axis)] = 1;
            const Tensor wider = pad(x, {.before = before, .after = none, .value = 0.4f});
            return slice(wider, {.axis = axis, .begin = 0, .end = extent});
        }
        case 0: return flip(x, {axis});
        case 1: return roll(x, 1 + dice_.below(2), {.axis = axis});
        case 2: {
            std::vector<int> back;
            for (int k = rank; k-- > 0;) back.push_back(k);
            return reshape(permute(x, back), shape);
        }
        case 3: {
            const Tensor joined = concat({x, cos(x)}, {.axis = axis});
            return slice(joined, {.axis = axis, .begin = extent, .end = extent + extent});
        }
        case 4: {
            const Tensor joined = concat({x, square(x)}, {.axis = axis});
            const int64_t step = dice_.chance(50) ? 2 : -2;
            return slice(joined, {.axis = axis, .begin = 0, .end = extent + extent, .step = step});
        }
        default: return sum(stack({x, sin(x), x * x}, {.axis = 0}), {.axis = 0});
    }
}

/// x^2 sin(x), by a rule.
Tensor RandomFunction::by_own_rule(const Tensor& x) {
    return custom_gradient(
        [](const std::vector<Tensor>& a) { return a[0] * a[0] * sin(a[0]); }, {x},
        [](const std::vector<Tensor>& a, const Tensor&, const Tensor& g) {
            const Tensor slope = 2.0f * a[0] * sin(a[0]) + a[0] * a[0] * cos(a[0]);
            return std::vector<Tensor>{g * slope};
        });
}

}  // namespace firn
