// The logistic function and its complement as nodes with rules of their own.
#include "compiler/autodiff/logistic.h"

namespace firn {
namespace {

Ref number(const Builder& b, double value, DType dtype) {
    return constant(b, scalar_float(value, dtype));
}

/// g * factor, and 0 where g is 0: a factor that a choice left out may have any value.
Ref product(const Builder& b, const Ref& g, const Ref& factor) {
    const Ref zero = number(b, 0, g->dtype);
    return elementwise(
        b, Op::Select,
        {elementwise(b, Op::Equal, {g, zero}), zero, elementwise(b, Op::Mul, {g, factor})});
}

Ref exp_of_negative(const Builder& b, const Ref& x) {
    return elementwise(b, Op::Exp, {elementwise(b, Op::Neg, {x})});
}

}  // namespace

Ref logistic(const Builder& b, const Ref& x) {
    const Ref sum = elementwise(b, Op::Add, {exp_of_negative(b, x), number(b, 1, x->dtype)});
    return ruled(b, elementwise(b, Op::Rcp, {sum}), {x},
                 [b](const Ref& y, const Ref& g, const std::vector<Ref>& in) {
                     const Ref rest = logistic_complement(b, in[0], y);
                     return std::vector<Ref>{product(b, g, elementwise(b, Op::Mul, {y, rest}))};
                 });
}

Ref logistic_complement(const Builder& b, const Ref& x, const Ref& y) {
    const Ref one = number(b, 1, x->dtype);
    // exp(-x) y is at most 1; it is nan where the exponential is infinite and y 0.
    const Ref rest = elementwise(b, Op::Mul, {exp_of_negative(b, x), y});
    const Ref value =
        elementwise(b, Op::Select, {elementwise(b, Op::Less, {rest, one}), rest, one});
    return ruled(b, value, {x, y}, [b](const Ref& z, const Ref& g, const std::vector<Ref>& in) {
        const Ref slope = elementwise(b, Op::Neg, {elementwise(b, Op::Mul, {in[1], z})});
        return std::vector<Ref>{product(b, g, slope), nullptr};
    });
}

}  // namespace firn
