// Results of elementwise operations on floats, computed in wider floats: sums, products, quotients
// and roots so wide that rounding them once more gives the nearest number of the type (2 p + 2
// digits are enough: Figueroa, "When is double rounding innocuous?", 1995), functions in 64 digits.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "compiler/ir/op.h"
#include "compiler/program/dtype.h"

namespace firn::exact {

__extension__ using Quad = __float128;  // 113 binary digits

/// The nearest number with `digits` binary digits and exponents from `least` on, up to `most`; of
/// two the even one.
inline double nearest(double x, int digits, int least, double most) {
    if (x == 0 || !std::isfinite(x)) return x;
    const double step = std::ldexp(1.0, std::max(std::ilogb(x), least) - digits + 1);
    const double steps = std::fabs(x) / step, below = std::trunc(steps), rest = steps - below;
    const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2) == 1);
    const double found = (below + up) * step;
    return std::copysign(found > most ? std::numeric_limits<double>::infinity() : found, x);
}

/// The type to which operations on `dtype` are rounded after each step: halves are computed in f32.
inline double step_of(Quad x, DType dtype) {
    if (dtype == f64) return static_cast<double>(x);
    return static_cast<double>(static_cast<float>(x));
}
inline double result_of(double x, DType dtype) {
    if (dtype == bf16) return nearest(x, 8, -126, 0xffp120);
    return dtype == f16 ? nearest(x, 11, -14, 65504) : x;
}

inline double floor_of(double x) {
    if (std::fabs(x) >= 0x1p62 || std::isnan(x)) return x;
    const auto cut = static_cast<double>(static_cast<int64_t>(x));
    return std::copysign(cut > x ? cut - 1 : cut, x);
}
inline double even_of(double x) {
    if (std::fabs(x) >= 0x1p52 || std::isnan(x)) return x;
    const double low = floor_of(x), rest = x - low;
    const bool up = rest > 0.5 || (rest == 0.5 && static_cast<int64_t>(low) % 2 != 0);
    return std::copysign(up ? low + 1 : low, x);
}
inline Quad root_of(double x) {
    const long double near = sqrtl(x);
    if (!(x > 0) || std::isinf(x)) return near;
    return (static_cast<Quad>(near) + static_cast<Quad>(x) / static_cast<Quad>(near)) / 2;
}

/// Returns the remainder of |x| after subtracting multiples of |y|, each at least half of the rest,
/// so that differences are exact; moved to the sign of y by one sum.
inline double remainder_of(double x, double y, DType dtype) {
    const double by = std::fabs(y);
    double rest = std::fabs(x);
    if (std::isnan(x) || std::isnan(y) || std::isinf(x) || y == 0)
        return std::numeric_limits<double>::quiet_NaN();
    while (rest >= by && by > 0) {
        const double whole = std::ldexp(by, std::ilogb(rest) - std::ilogb(by));
        rest -= whole > rest ? whole / 2 : whole;
    }
    if (rest > 0 && (x < 0) != (y < 0)) rest = step_of(Quad(by) - Quad(rest), dtype);
    return std::copysign(rest, y);
}

/// Functions in long double.
inline long double function_of(Op op, long double x, long double y) {
    switch (op) {
        case Op::Pow: return powl(x, y);
        case Op::Atan2: return atan2l(x, y);
        case Op::Exp: return expl(x);
        case Op::Exp2: return exp2l(x);
        case Op::Expm1: return expm1l(x);
        case Op::Log: return logl(x);
        case Op::Log2: return log2l(x);
        case Op::Log1p: return log1pl(x);
        case Op::Sin: return sinl(x);
        case Op::Cos: return cosl(x);
        case Op::Tan: return tanl(x);
        case Op::Asin: return asinl(x);
        case Op::Acos: return acosl(x);
        case Op::Atan: return atanl(x);
        case Op::Sinh: return sinhl(x);
        case Op::Cosh: return coshl(x);
        case Op::Tanh: return tanhl(x);
        case Op::Erf: return erfl(x);
        default: ADD_FAILURE() << "no reference for " << info(op).name; return 0;
    }
}

/// The value of an operation on numbers of `dtype` that gives one of them.
inline double value_of(Op op, double x, double y, DType dtype) {
    const auto step = [&](Quad value) { return result_of(step_of(value, dtype), dtype); };
    switch (op) {
        case Op::Add: return step(Quad(x) + Quad(y));
        case Op::Sub: return step(Quad(x) - Quad(y));
        case Op::Mul: return step(Quad(x) * Quad(y));
        case Op::Div: return step(Quad(x) / Quad(y));
        case Op::Mod: return result_of(remainder_of(x, y, dtype), dtype);
        case Op::Frac: return step(Quad(x) - Quad(floor_of(x)));
        case Op::Neg: return std::copysign(x, std::signbit(x) ? 1.0 : -1.0);
        case Op::Abs: return std::copysign(x, 1.0);
        case Op::Floor: return floor_of(x);
        case Op::Ceil: return -floor_of(-x);
        case Op::Round: return even_of(x);
        case Op::Trunc: return x < 0 ? -floor_of(-x) : floor_of(x);
        case Op::Sqrt: return step(root_of(x));
        case Op::Rsqrt: return step(1 / root_of(x));
        case Op::Rcp: return step(Quad(1) / Quad(x));
        default: return step(function_of(op, x, y));
    }
}

}  // namespace firn::exact
