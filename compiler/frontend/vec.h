// Shader types over tensors: vec2 vec3 vec4 and their int, uint and bool kinds, with GLSL's names.
#pragma once
#include <array>
#include <utility>

#include "compiler/frontend/function.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/swizzle.h"
#include "compiler/frontend/tensor.h"

namespace firn {

/// Vectors by GLSL's names: of floats, and with `i`, `u` and `b` of signed and unsigned integers
/// and bools.
/// @{
using vec2 = Vec<2>;
using vec3 = Vec<3>;
using vec4 = Vec<4>;
using ivec2 = Vec<2, VecKind::Int>;
using ivec3 = Vec<3, VecKind::Int>;
using ivec4 = Vec<4, VecKind::Int>;
using uvec2 = Vec<2, VecKind::Uint>;
using uvec3 = Vec<3, VecKind::Uint>;
using uvec4 = Vec<4, VecKind::Uint>;
using bvec2 = Vec<2, VecKind::Bool>;
using bvec3 = Vec<3, VecKind::Bool>;
using bvec4 = Vec<4, VecKind::Bool>;
/// @}

/// @cond

/// Returns x converted to `kind`: unchanged if it has that kind, else as f32, i32, u32 or bool.
Tensor to_kind(const Arg& x, VecKind kind);
/// An operand beside vectors of `kind`: numbers take their type, integers become floats; UserError
/// where something would be lost.
Arg operand_of_kind(const Arg& x, VecKind kind);
/// Makes later assignments to the tensor convert as `operand_of_kind` does.
void keep_kind(Tensor& component, VecKind kind);

/// @endcond

/// The components of a vector by their names.
template <size_t N>
struct VecFields;
/// The fields of a vector of two.
template <>
struct VecFields<2> {
    Tensor x, y;
    static constexpr std::array kAll{&VecFields::x, &VecFields::y};
};
/// The fields of a vector of three.
template <>
struct VecFields<3> {
    Tensor x, y, z;
    static constexpr std::array kAll{&VecFields::x, &VecFields::y, &VecFields::z};
};
/// The fields of a vector of four.
template <>
struct VecFields<4> {
    Tensor x, y, z, w;
    static constexpr std::array kAll{&VecFields::x, &VecFields::y, &VecFields::z, &VecFields::w};
};

/// An operand of functions on vectors: a vector, or a tensor or number that stands for all
/// components.
template <size_t N, VecKind K>
class VecArg {
  public:
    /// A vector of the kind; where that is Float, also one of integers, which are converted.
    template <VecKind L>
    requires(L == K || (K == VecKind::Float && L != VecKind::Bool))
        VecArg(const Vec<N, L>& v, SourceLine line = here())
        : VecArg([&](size_t k) { return Arg(v[k], line); }, line, std::make_index_sequence<N>()) {}
    /// A tensor or number for all components. UserError where it would change the vectors' kind.
    template <class T>
    requires std::constructible_from<Arg, const T&> VecArg(const T& value, SourceLine line = here())
        : VecArg([&](size_t) { return Arg(value, line); }, line, std::make_index_sequence<N>()) {}

    /// A component, converted to the kind.
    const Arg& operator[](size_t k) const { return parts_[k]; }
    /// Returns its line in the user's program.
    SourceLine line() const { return line_; }

  private:
    template <class F, size_t... I>
    VecArg(const F& part, SourceLine line, std::index_sequence<I...>)
        : parts_{operand_of_kind(part(I), K)...}, line_(line) {}

    std::array<Arg, N> parts_;
    SourceLine line_;
};

/// @cond

/// f of the components of the operands, one after the other, at the first one's line.
template <VecKind K, size_t N, VecKind L, class F, class... V>
Vec<N, K> by_component(F f, const VecArg<N, L>& first, const V&... more) {
    LineScope at(first.line());
    Vec<N, K> out;
    for (size_t k = 0; k < N; ++k) out[k] = f(first[k], more[k]...);
    return out;
}

/// @endcond

/// A vector of N tensors, which broadcast against one another: `vec3 p(x, y, 0.0f)`. Every
/// component is a value of its own, carried by loops and merged by branches as any tensor; no axis
/// is spent on them. Operators go component by component; the other side may be one tensor or
/// number. Integer vectors become floats beside floats, and floats never become integers
/// implicitly; an assignment to a component converts too: after `p.x = 3` p.x is a float.
///
/// Functions by GLSL's names go component by component, too: `min`, `max` and `clamp` of numbers,
/// `select` of every kind; `mod`, which has the sign of the divisor, `pow`, `atan2`, `step`, whose
/// edge comes first, `mix` and `smoothstep` of floats; `lessThan`, `lessThanEqual`, `greaterThan`,
/// `greaterThanEqual`, `equal` and `notEqual`, which give vectors of bools, where `==` and `!=`
/// give one bool for the whole vector. With vec_math.h also `abs` and `sign`, and of floats
/// `floor`, `ceil`, `round`, `trunc`, `fract`, `exp`, `exp2`, `log`, `log2`, `sqrt`, `inversesqrt`,
/// `sin`, `cos`, `tan`, `asin`, `acos` and `atan`.
///
/// Examples: after `vec3 p(1, 2, 3);` `p * 2.0f + vec3(1)` is `{3, 5, 7}`, `p.zyx()` is
/// `{3, 2, 1}`, `mod(-p, 2)` is `{1, 0, 1}`, `lessThan(p, 2)` is `{true, false, false}`,
/// `p == p.zyx()` is `false`, and after `p.x = 3;` `p.x / 2` is `1.5`; integers stay integers:
/// `ivec2(5, -7) / 2` is `{2, -3}`.
template <size_t N, VecKind K>
struct Vec : VecFields<N> {
    static constexpr size_t kSize = N;
    static constexpr VecKind kKind = K;

    /// A vector without a value, as Tensor().
    Vec() {
        for (size_t k = 0; k < N; ++k) keep_kind((*this)[k], K);
    }
    /// All components are `all`.
    explicit Vec(const Arg& all) : Vec() {
        for (size_t k = 0; k < N; ++k) (*this)[k] = to_kind(all, K);
    }
    /// The components in order, from tensors, numbers and shorter vectors, converted to the kind.
    template <class A, class B, class... More>
    Vec(const A& a, const B& b, const More&... more) : Vec() {
        size_t next = 0;
        append(next, a), append(next, b), (append(next, more), ...);
        static_assert(width<A>() + width<B>() + (width<More>() + ... + 0) == N,
                      "the parts of a vector must have as many components as it has");
    }
    /// Another kind, converted; or the first components of a longer vector.
    template <size_t M, VecKind L>
    requires(M >= N && !(M == N && L == K)) explicit Vec(const Vec<M, L>& from) : Vec() {
        for (size_t k = 0; k < N; ++k) (*this)[k] = to_kind(from[k], K);
    }

    /// A copy is a value of its own.
    Vec(const Vec& from) : Vec() { *this = from; }
    /// Another value; copies that were made before keep theirs.
    Vec& operator=(const Vec&) & = default;

    /// The component with this number, to assign to; std::out_of_range where there is none.
    Tensor& operator[](size_t k) { return this->*(VecFields<N>::kAll.at(k)); }
    /// The component with this number; std::out_of_range where there is none.
    const Tensor& operator[](size_t k) const { return this->*(VecFields<N>::kAll.at(k)); }

    /// @cond

    FIRN_SWIZZLES_2(x)
    FIRN_SWIZZLES_2(y)
    FIRN_SWIZZLES_2(z)
    FIRN_SWIZZLES_2(w)

    /// @endcond

    /// The components that the letters say, of xyzw or rgba. Two and three of xyzw are functions of
    /// that name, as `xy()` and `zyx()`. `p.xy() = q` writes to p, see Swizzled.
    ///
    /// Example: after `vec4 p(1, 2, 3, 4);` `p.swizzle<"wzyx">()` is `{4, 3, 2, 1}`, `p.xxz()` is
    /// `{1, 1, 3}`.
    template <Swizzle letters>
    Vec<letters.count, K> swizzle() const& {
        return [&]<size_t... I>(std::index_sequence<I...>) {
            static_assert(((letters.from[I] < N) && ...), "the vector has no such component");
            return Vec<letters.count, K>((*this)[letters.from[I]]...);
        }
        (std::make_index_sequence<letters.count>());
    }
    /// The same of a vector that can be written to.
    template <Swizzle letters>
    auto swizzle() & {
        return [&]<size_t... I>(std::index_sequence<I...>) {
            static_assert(((letters.from[I] < N) && ...), "the vector has no such component");
            return Swizzled<N, K, letters.from[I]...>(*this);
        }
        (std::make_index_sequence<letters.count>());
    }
    /// x, as the red of a colour.
    const Tensor& r() const { return this->x; }
    /// y, as the green of a colour.
    const Tensor& g() const { return this->y; }
    /// z, as the blue of a colour.
    const Tensor& b() const { return this->z; }
    /// w, as the opacity of a colour.
    const Tensor& a() const { return this->w; }
    /// x, to assign to.
    Tensor& r() { return this->x; }
    /// y, to assign to.
    Tensor& g() { return this->y; }
    /// z, to assign to.
    Tensor& b() { return this->z; }
    /// w, to assign to.
    Tensor& a() { return this->w; }
    /// x, y and z, as a colour without its opacity.
    Vec<3, K> rgb() const& { return this->xyz(); }
    /// x, y and z, to write to, see Swizzled.
    auto rgb() & { return this->xyz(); }

    using Other = VecArg<N, K>;
    /// Adds component by component; the other side may be one tensor or number.
    Vec& operator+=(const Other& v) & {
        LineScope at(v.line());
        return *this = *this + v;
    }
    /// Subtracts component by component.
    Vec& operator-=(const Other& v) & {
        LineScope at(v.line());
        return *this = *this - v;
    }
    /// Multiplies component by component.
    Vec& operator*=(const Other& v) & {
        LineScope at(v.line());
        return *this = *this * v;
    }
    /// Divides component by component.
    Vec& operator/=(const Other& v) & {
        LineScope at(v.line());
        return *this = *this / v;
    }

/// @cond

// Hidden friends convert both sides.
#define FIRN_VEC_BINARY(kind, name, expression, condition)                                       \
    friend Vec<N, kind> name(const VecArg<N, K>& a, const VecArg<N, K>& b) requires(condition) { \
        return by_component<kind>([](const Arg& s, const Arg& t) { return expression; }, a, b);  \
    }
    FIRN_VEC_BINARY(K, operator+, s + t, K != VecKind::Bool)
    FIRN_VEC_BINARY(K, operator-, s - t, K != VecKind::Bool)
    FIRN_VEC_BINARY(K, operator*, s* t, K != VecKind::Bool)
    FIRN_VEC_BINARY(K, operator/, s / t, K != VecKind::Bool)
    FIRN_VEC_BINARY(K, operator%, s % t, K == VecKind::Int || K == VecKind::Uint)
    FIRN_VEC_BINARY(K, operator<<, s << t, K == VecKind::Int || K == VecKind::Uint)
    FIRN_VEC_BINARY(K, operator>>, s >> t, K == VecKind::Int || K == VecKind::Uint)
    FIRN_VEC_BINARY(K, operator&, s& t, K != VecKind::Float)
    FIRN_VEC_BINARY(K, operator|, s | t, K != VecKind::Float)
    FIRN_VEC_BINARY(K, operator^, s ^ t, K != VecKind::Float)
    FIRN_VEC_BINARY(VecKind::Bool, lessThan, s < t, K != VecKind::Bool)
    FIRN_VEC_BINARY(VecKind::Bool, lessThanEqual, s <= t, K != VecKind::Bool)
    FIRN_VEC_BINARY(VecKind::Bool, greaterThan, s > t, K != VecKind::Bool)
    FIRN_VEC_BINARY(VecKind::Bool, greaterThanEqual, s >= t, K != VecKind::Bool)
    FIRN_VEC_BINARY(VecKind::Bool, equal, s == t, true)
    FIRN_VEC_BINARY(VecKind::Bool, notEqual, s != t, true)
    FIRN_VEC_BINARY(K, min, min_of(s, t), K != VecKind::Bool)
    FIRN_VEC_BINARY(K, max, max_of(s, t), K != VecKind::Bool)
    FIRN_VEC_BINARY(K, mod, s % t, K == VecKind::Float)  // the sign of the divisor
    FIRN_VEC_BINARY(K, pow, pow_of(s, t), K == VecKind::Float)
    FIRN_VEC_BINARY(K, atan2, atan2_of(s, t), K == VecKind::Float)
    FIRN_VEC_BINARY(K, step, step_of(s, t), K == VecKind::Float)  // the edge comes first
#undef FIRN_VEC_BINARY
    // Overload for two operands of one type, see min of tensors.
    friend Vec min(const Vec& a, const Vec& b, SourceLine line = here()) {
        return min(Other(a, line), b);
    }
    friend Vec max(const Vec& a, const Vec& b, SourceLine line = here()) {
        return max(Other(a, line), b);
    }
    friend Vec clamp(const Vec& v, const Vec& low, const Vec& high, SourceLine line = here()) {
        return clamp(Other(v, line), low, high);
    }

    /// @endcond

    /// Returns one bool, as in GLSL: all components are equal.
    friend Tensor operator==(const VecArg<N, K>& a, const VecArg<N, K>& b) {
        LineScope at(a.line());
        Tensor out = a[0] == b[0];
        for (size_t k = 1; k < N; ++k) out = out & (a[k] == b[k]);
        return out;
    }
    /// Returns one bool, as in GLSL: some components differ.
    friend Tensor operator!=(const VecArg<N, K>& a, const VecArg<N, K>& b) {
        LineScope at(a.line());
        Tensor out = a[0] != b[0];
        for (size_t k = 1; k < N; ++k) out = out | (a[k] != b[k]);
        return out;
    }
    /// v kept between low and high.
    friend Vec clamp(const VecArg<N, K>& v, const VecArg<N, K>& low, const VecArg<N, K>& high) {
        return by_component<K>(
            [](const Arg& s, const Arg& l, const Arg& h) { return clamp_of(s, l, h); }, v, low,
            high);
    }
    /// a where the condition holds, else b; the condition is one bool or one of each component.
    friend Vec select(const VecArg<N, VecKind::Bool>& condition, const VecArg<N, K>& a,
                      const VecArg<N, K>& b) {
        return by_component<K>(select_of, condition, a, b);
    }
    /// a at t = 0, b at t = 1, and on the line between.
    friend Vec mix(const VecArg<N, K>& a, const VecArg<N, K>& b,
                   const VecArg<N, K>& t) requires(K == VecKind::Float) {
        return by_component<K>(mix_of, a, b, t);
    }
    /// 0 below low, 1 above high, and 3t^2 - 2t^3 between.
    friend Vec smoothstep(const VecArg<N, K>& low, const VecArg<N, K>& high,
                          const VecArg<N, K>& v) requires(K == VecKind::Float) {
        return by_component<K>(smoothstep_of, low, high, v);
    }

  private:
    template <class T>
    static consteval size_t width() {
        if constexpr (std::constructible_from<Arg, const T&>)
            return 1;
        else
            return T::kSize;
    }
    template <class T>
    void append(size_t& next, const T& part) {
        if constexpr (std::constructible_from<Arg, const T&>)
            (*this)[next++] = to_kind(part, K);
        else
            for (size_t k = 0; k < width<T>(); ++k) (*this)[next++] = to_kind(part[k], K);
    }
};
#undef FIRN_AT
#undef FIRN_SWIZZLE_2
#undef FIRN_SWIZZLE_3
#undef FIRN_SWIZZLES_2
#undef FIRN_SWIZZLES_3

/// Returns whether any component is true, or all are; element by element.
///
/// Example: after `vec2 p(1, 3);` `any(lessThan(p, 2))` is `true`, `all(lessThan(p, 2))` is
/// `false`.
/// @{
template <size_t N>
Tensor any(const Vec<N, VecKind::Bool>& v, SourceLine line = here()) {
    LineScope at(line);
    Tensor out = v.x;
    for (size_t k = 1; k < N; ++k) out = out | v[k];
    return out;
}
template <size_t N>
Tensor all(const Vec<N, VecKind::Bool>& v, SourceLine line = here()) {
    LineScope at(line);
    Tensor out = v.x;
    for (size_t k = 1; k < N; ++k) out = out & v[k];
    return out;
}
/// @}

/// @cond

/// Returns the components of a tensor whose last axis has `count` of them, else UserError.
std::vector<Tensor> components(const Operand& x, size_t count);
/// The components along a new last axis, broadcast to one shape.
Tensor stack_components(const std::vector<Tensor>& parts, SourceLine line);

/// @endcond

/// A tensor with a last axis of N components as a vector over the other axes; `stack(v)` is the way
/// back. UserError where the last axis has another size.
///
/// Example: after `Tensor t = tensor({1, 2, 3, 4}, {2, 2});` `vec_of<ivec2>(t).y` is `{2, 4}`.
template <class V>
V vec_of(const Operand& x) {
    V out;
    std::vector<Tensor> parts = components(x, V::kSize);
    for (size_t k = 0; k < parts.size(); ++k) out[k] = to_kind(Arg(parts[k], x.line()), V::kKind);
    return out;
}
/// The same for vectors of floats.
///
/// Example: after `Tensor t = tensor({1.0f, 2.0f, 3.0f, 4.0f});` `vec4_of(t).w` is `4`,
/// `vec3_of(t(range(3))).z` is `3`, `vec2_of(t(range(2, 4))).x` is `3`.
/// @{
inline vec2 vec2_of(const Operand& x) { return vec_of<vec2>(x); }
inline vec3 vec3_of(const Operand& x) { return vec_of<vec3>(x); }
inline vec4 vec4_of(const Operand& x) { return vec_of<vec4>(x); }
/// @}

/// The components along a new last axis, broadcast to one shape.
///
/// Example: `stack(vec3(arange(2), 0, 1))` is `{{0, 0, 1}, {1, 0, 1}}`.
template <size_t N, VecKind K>
Tensor stack(const Vec<N, K>& v, SourceLine line = here()) {
    std::vector<Tensor> parts;
    for (size_t k = 0; k < N; ++k) parts.push_back(v[k]);
    return stack_components(parts, line);
}

/// Prints as in GLSL: `vec2(1, 2)` is shown as `vec2(1, 2)`, and tensors as they are shown.
template <size_t N, VecKind K>
std::ostream& operator<<(std::ostream& out, const Vec<N, K>& v) {
    constexpr const char* kPrefixes[] = {"", "i", "u", "b"};
    std::vector<Tensor> parts;
    for (size_t k = 0; k < N; ++k) parts.push_back(v[k]);
    return stream_components(out, kPrefixes[static_cast<size_t>(K)] + ("vec" + std::to_string(N)),
                             parts);
}
/// The components that it stands for.
template <size_t N, VecKind K, size_t... From>
std::ostream& operator<<(std::ostream& out, const Swizzled<N, K, From...>& v) {
    return out << Vec<sizeof...(From), K>(v);
}

/// @cond

/// Compiled functions may return vectors: every component is a result.
template <size_t N, VecKind K>
struct Results<Vec<N, K>> {
    using Type = Vec<N, K>;
    static constexpr size_t count = N, vectors = 0, each = 0;
    static void take(const Type& from, FlatValue& to) {
        for (size_t k = 0; k < N; ++k) to.tensors.push_back(from[k]);
    }
    static Type give(FlatReader& from) {
        Type out;
        for (size_t k = 0; k < N; ++k) out[k] = from.tensor();
        return out;
    }
};
template <size_t N, VecKind K, size_t... From>
struct Results<Swizzled<N, K, From...>> : Results<Vec<sizeof...(From), K>> {};

/// @endcond

}  // namespace firn
