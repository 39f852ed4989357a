// Evaluates common operations of simulations in typed loops, and all others element by element
// through evaluate().
#include "compiler/ir/interpret_elementwise.h"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "compiler/base/error.h"
#include "compiler/ir/evaluate.h"
#include "compiler/program/extremes.h"

namespace firn {
namespace {

template <class T>
T element(const HostTensor& tensor, int64_t k) {
    T value;
    std::memcpy(&value, tensor.data.data() + k * static_cast<int64_t>(sizeof(T)), sizeof(T));
    return value;
}

template <class T>
void put(HostTensor& tensor, int64_t k, T value) {
    std::memcpy(tensor.data.data() + k * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

using Inputs = std::span<const HostTensor* const>;

/// out[k] = f(x[k]) with elements of T; bools are 32-bit words.
template <class T, class R, class F>
bool map_one(HostTensor& out, Inputs in, F f) {
    for (int64_t k = 0, n = out.elements(); k < n; ++k) put<R>(out, k, f(element<T>(*in[0], k)));
    return true;
}
template <class T, class R, class F>
bool map_two(HostTensor& out, Inputs in, F f) {
    for (int64_t k = 0, n = out.elements(); k < n; ++k)
        put<R>(out, k, f(element<T>(*in[0], k), element<T>(*in[1], k)));
    return true;
}

bool f32_loop(Op op, HostTensor& out, Inputs in) {
    switch (op) {
        case Op::Neg: return map_one<float, float>(out, in, [](float x) { return -x; });
        case Op::Abs: return map_one<float, float>(out, in, [](float x) { return std::fabs(x); });
        case Op::Floor:
            return map_one<float, float>(out, in, [](float x) { return std::floor(x); });
        case Op::Frac:
            return map_one<float, float>(out, in, [](float x) { return x - std::floor(x); });
        case Op::Sqrt: return map_one<float, float>(out, in, [](float x) { return std::sqrt(x); });
        case Op::Rcp: return map_one<float, float>(out, in, [](float x) { return 1 / x; });
        case Op::Add: return map_two<float, float>(out, in, [](float x, float y) { return x + y; });
        case Op::Sub: return map_two<float, float>(out, in, [](float x, float y) { return x - y; });
        case Op::Mul: return map_two<float, float>(out, in, [](float x, float y) { return x * y; });
        case Op::Div: return map_two<float, float>(out, in, [](float x, float y) { return x / y; });
        case Op::Min: return map_two<float, float>(out, in, smaller<float>);
        case Op::Max: return map_two<float, float>(out, in, larger<float>);
        case Op::Less:
            return map_two<float, int32_t>(out, in, [](float x, float y) { return x < y; });
        case Op::LessEqual:
            return map_two<float, int32_t>(out, in, [](float x, float y) { return x <= y; });
        case Op::Equal:
            return map_two<float, int32_t>(out, in, [](float x, float y) { return x == y; });
        case Op::NotEqual:
            return map_two<float, int32_t>(out, in, [](float x, float y) { return x != y; });
        default: return false;
    }
}

/// Integers of 32 bits. Unsigned arithmetic wraps as the operations promise; a quotient by zero is
/// zero.
template <class I>
bool integer_loop(Op op, HostTensor& out, Inputs in) {
    using U = uint32_t;
    const auto is_minus_one = [](I x) { return std::is_signed_v<I> && x == I(-1); };
    switch (op) {
        case Op::Neg: return map_one<U, U>(out, in, [](U x) { return 0 - x; });
        case Op::BitNot: return map_one<U, U>(out, in, [](U x) { return ~x; });
        case Op::Add: return map_two<U, U>(out, in, [](U x, U y) { return x + y; });
        case Op::Sub: return map_two<U, U>(out, in, [](U x, U y) { return x - y; });
        case Op::Mul: return map_two<U, U>(out, in, [](U x, U y) { return x * y; });
        case Op::Div:
            return map_two<I, I>(out, in, [&](I x, I y) {
                return y == 0 ? I(0) : is_minus_one(y) ? I(0 - U(x)) : I(x / y);
            });
        case Op::Mod:
            return map_two<I, I>(
                out, in, [&](I x, I y) { return y == 0 || is_minus_one(y) ? I(0) : I(x % y); });
        case Op::Min: return map_two<I, I>(out, in, [](I x, I y) { return y < x ? y : x; });
        case Op::Max: return map_two<I, I>(out, in, [](I x, I y) { return x < y ? y : x; });
        case Op::And: return map_two<U, U>(out, in, [](U x, U y) { return x & y; });
        case Op::Or: return map_two<U, U>(out, in, [](U x, U y) { return x | y; });
        case Op::Xor: return map_two<U, U>(out, in, [](U x, U y) { return x ^ y; });
        case Op::ShiftLeft: return map_two<U, U>(out, in, [](U x, U y) { return x << (y & 31); });
        case Op::ShiftRight: return map_two<I, I>(out, in, [](I x, I y) { return x >> (y & 31); });
        case Op::Less: return map_two<I, U>(out, in, [](I x, I y) { return U{x < y}; });
        case Op::LessEqual: return map_two<I, U>(out, in, [](I x, I y) { return U{x <= y}; });
        case Op::Equal: return map_two<I, U>(out, in, [](I x, I y) { return U{x == y}; });
        case Op::NotEqual: return map_two<I, U>(out, in, [](I x, I y) { return U{x != y}; });
        default: return false;
    }
}

bool bool_loop(Op op, HostTensor& out, Inputs in) {
    using U = uint32_t;
    switch (op) {
        case Op::Not: return map_one<U, U>(out, in, [](U x) { return U{x == 0}; });
        case Op::And: return map_two<U, U>(out, in, [](U x, U y) { return U{x && y}; });
        case Op::Or: return map_two<U, U>(out, in, [](U x, U y) { return U{x || y}; });
        case Op::Xor:
            return map_two<U, U>(out, in, [](U x, U y) { return U{(x != 0) != (y != 0)}; });
        default: return false;
    }
}

bool select_loop(HostTensor& out, Inputs in) {
    if (out.dtype.bytes() != 4) return false;
    for (int64_t k = 0, n = out.elements(); k < n; ++k)
        put(out, k, element<uint32_t>(element<uint32_t>(*in[0], k) ? *in[1] : *in[2], k));
    return true;
}

bool cast_loop(DType dtype, HostTensor& out, Inputs in) {
    DType from = in[0]->dtype;
    if (dtype == f32 && from == i32)
        return map_one<int32_t, float>(out, in, [](int32_t x) { return static_cast<float>(x); });
    if (dtype == f32 && from == u32)
        return map_one<uint32_t, float>(out, in, [](uint32_t x) { return static_cast<float>(x); });
    if ((dtype == i32 && from == u32) || (dtype == u32 && from == i32))
        return map_one<uint32_t, uint32_t>(out, in, [](uint32_t x) { return x; });
    if ((dtype == i32 || dtype == u32) && from == boolean)
        return map_one<uint32_t, uint32_t>(out, in, [](uint32_t x) { return uint32_t{x != 0}; });
    if (dtype == f32 && from == boolean)
        return map_one<uint32_t, float>(out, in, [](uint32_t x) { return x ? 1.0f : 0.0f; });
    return false;
}

bool typed_loop(Op op, DType dtype, HostTensor& out, Inputs in) {
    if (op == Op::Select) return select_loop(out, in);
    if (op == Op::Cast) return cast_loop(dtype, out, in);
    if (in[0]->dtype == f32) return f32_loop(op, out, in);
    if (in[0]->dtype == i32) return integer_loop<int32_t>(op, out, in);
    if (in[0]->dtype == u32) return integer_loop<uint32_t>(op, out, in);
    if (in[0]->dtype == boolean) return bool_loop(op, out, in);
    return false;
}

}  // namespace

HostTensor interpret_elementwise(Op op, DType dtype, const std::vector<int64_t>& shape,
                                 Inputs inputs) {
    HostTensor out = HostTensor::make(dtype, shape);
    for (const HostTensor* input : inputs)
        ensure(input->shape == shape, "elementwise inputs have different shapes");
    if (typed_loop(op, dtype, out, inputs)) return out;
    Scalar values[3];
    for (int64_t k = 0, n = out.elements(); k < n; ++k) {
        for (size_t j = 0; j < inputs.size(); ++j) values[j] = inputs[j]->at(k);
        out.set(k, evaluate(op, dtype, {values, inputs.size()}));
    }
    return out;
}

}  // namespace firn
