// A node of a kernel that is being built, with the operators of C++.
#pragma once
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "compiler/kernel/kernel_builder.h"

namespace firn {

/// A scalar value in the kernel of `builder`. Numbers beside it take its type. Every operation is
/// done as it stands, never re-associated; a target may round a product that one sum alone takes
/// with that sum.
struct KernelValue {
    KernelBuilder* builder = nullptr;
    NodeId id;

    DType dtype() const { return builder->node(id).dtype; }
    /// Returns a constant of this value's type.
    template <class T>
    requires std::is_arithmetic_v<T> KernelValue same(T number)
    const {
        const Scalar value = dtype().is_float() ? scalar_float(static_cast<double>(number), dtype())
                                                : scalar_int(static_cast<int64_t>(number), dtype());
        return {builder, builder->constant(value)};
    }
};

template <class T>
concept KernelNumber = std::is_arithmetic_v<T>;

/// Makes an elementwise operation: its result has the type of the last operand, or is a bool.
KernelValue operation(KernelOp op, KernelValue a);
KernelValue operation(KernelOp op, KernelValue a, KernelValue b);

/// Operators of values, and of values and numbers.
/// @{
#define FIRN_KERNEL_OPERATOR(sign, op)                               \
    inline KernelValue operator sign(KernelValue a, KernelValue b) { \
        return operation(KernelOp::op, a, b);                        \
    }                                                                \
    template <KernelNumber T>                                        \
    KernelValue operator sign(KernelValue a, T b) {                  \
        return operation(KernelOp::op, a, a.same(b));                \
    }                                                                \
    template <KernelNumber T>                                        \
    KernelValue operator sign(T a, KernelValue b) {                  \
        return operation(KernelOp::op, b.same(a), b);                \
    }
FIRN_KERNEL_OPERATOR(+, Add)
FIRN_KERNEL_OPERATOR(-, Sub)
FIRN_KERNEL_OPERATOR(*, Mul)
FIRN_KERNEL_OPERATOR(/, Div)
FIRN_KERNEL_OPERATOR(&, And)
FIRN_KERNEL_OPERATOR(|, Or)
FIRN_KERNEL_OPERATOR(^, Xor)
FIRN_KERNEL_OPERATOR(<<, ShiftLeft)
FIRN_KERNEL_OPERATOR(>>, ShiftRight)
FIRN_KERNEL_OPERATOR(<, Less)
FIRN_KERNEL_OPERATOR(<=, LessEqual)
FIRN_KERNEL_OPERATOR(==, Equal)
FIRN_KERNEL_OPERATOR(!=, NotEqual)
#undef FIRN_KERNEL_OPERATOR
template <KernelNumber T>
KernelValue operator>(KernelValue a, T b) {
    return a.same(b) < a;
}
inline KernelValue operator>(KernelValue a, KernelValue b) { return b < a; }
inline KernelValue operator-(KernelValue a) { return operation(KernelOp::Neg, a); }
inline KernelValue operator!(KernelValue a) { return operation(KernelOp::Not, a); }
/// @}

inline KernelValue abs(KernelValue x) { return operation(KernelOp::Abs, x); }
inline KernelValue floor(KernelValue x) { return operation(KernelOp::Floor, x); }
inline KernelValue round(KernelValue x) { return operation(KernelOp::Round, x); }  // halves to even
inline KernelValue sqrt(KernelValue x) { return operation(KernelOp::Sqrt, x); }
template <KernelNumber T>
KernelValue min(KernelValue x, T most) {
    return operation(KernelOp::Min, x, x.same(most));
}
/// Returns x in [least, most]; `least` for nan.
template <KernelNumber T>
KernelValue clamp(KernelValue x, T least, T most) {
    return min(operation(KernelOp::Max, x, x.same(least)), most);
}

KernelValue select(KernelValue condition, KernelValue yes, KernelValue no);
template <KernelNumber T>
KernelValue select(KernelValue condition, T yes, KernelValue no) {
    return select(condition, no.same(yes), no);
}
template <KernelNumber T>
KernelValue select(KernelValue condition, KernelValue yes, T no) {
    return select(condition, yes, yes.same(no));
}

/// Converts to another type; floats to integers truncate and saturate.
KernelValue cast(KernelValue x, DType dtype);
/// Returns the bits of x as another type of its width.
KernelValue bitcast(KernelValue x, DType dtype);
/// Returns the bits of a float as an unsigned integer of its width, and the float of such bits.
KernelValue bits_of(KernelValue x);
KernelValue float_of(KernelValue bits);
/// Returns infinity, and a nan, of the type of x.
KernelValue infinity_like(KernelValue x);
KernelValue nan_like(KernelValue x);
/// Returns a value without a sign, with that of `of`.
KernelValue with_sign_of(KernelValue size, KernelValue of);
/// The bits of a float but for its sign are those of a number, not of infinity or nan.
KernelValue is_finite(KernelValue x);

/// Two values by one condition; the side that is not taken is not evaluated where a target
/// branches.
std::pair<KernelValue, KernelValue> branch(KernelValue condition,
                                           const std::pair<KernelValue, KernelValue>& yes,
                                           const std::pair<KernelValue, KernelValue>& no);

}  // namespace firn
