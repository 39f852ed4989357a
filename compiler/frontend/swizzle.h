// Components of vectors by their letters, as in GLSL: read and written.
#pragma once
#include <array>
#include <cstddef>

#include "compiler/frontend/line_scope.h"
#include "compiler/ir/source_line.h"

namespace firn {

/// The kind of a vector's components. Floats of every width are Float, signed integers Int.
enum class VecKind : uint8_t { Float, Int, Uint, Bool };

template <size_t N, VecKind K = VecKind::Float>
struct Vec;

template <size_t N, VecKind K>
class VecArg;
template <size_t N, VecKind K, size_t... From>
class Swizzled;

/// The letters of a swizzle, of xyzw or of rgba.
struct Swizzle {
    std::array<size_t, 4> from{};
    size_t count = 0;
    /// Two to four letters, as in `swizzle<"wzyx">()`; others do not compile.
    template <size_t M>
    consteval Swizzle(const char (&letters)[M]) : count(M - 1) {
        static_assert(M >= 3 && M <= 5, "a swizzle has two to four letters");
        for (size_t k = 0; k < count; ++k) {
            size_t place = 0;
            while (place < 8 && "xyzwrgba"[place] != letters[k]) ++place;
            from[k] = place == 8 ? 4 : place % 4;
        }
    }
};

/// @cond

/// Returns the component that a letter names.
consteval size_t component_of(char letter) {
    return letter == 'w' ? 3 : static_cast<size_t>(letter - 'x');
}

// clang-format off
#define FIRN_AT(letter) component_of(#letter[0])
#define FIRN_SWIZZLE_2(a, b) \
    Vec<2, K> a##b() const& { return {this->a, this->b}; } \
    auto a##b() & { return Swizzled<N, K, FIRN_AT(a), FIRN_AT(b)>(*this); }
#define FIRN_SWIZZLE_3(a, b, c) \
    Vec<3, K> a##b##c() const& { return {this->a, this->b, this->c}; } \
    auto a##b##c() & { return Swizzled<N, K, FIRN_AT(a), FIRN_AT(b), FIRN_AT(c)>(*this); }
#define FIRN_SWIZZLES_3(a, b) \
    FIRN_SWIZZLE_2(a, b) FIRN_SWIZZLE_3(a, b, x) FIRN_SWIZZLE_3(a, b, y) FIRN_SWIZZLE_3(a, b, z) \
    FIRN_SWIZZLE_3(a, b, w)
#define FIRN_SWIZZLES_2(a) \
    FIRN_SWIZZLES_3(a, x) FIRN_SWIZZLES_3(a, y) FIRN_SWIZZLES_3(a, z) FIRN_SWIZZLES_3(a, w)
// clang-format on

/// @endcond

/// Components of a vector that can be read and assigned, as in GLSL: `p.xy() = q`,
/// `p.zx() *= 2.0f`. Letters that repeat cannot be assigned. A named copy is an ordinary vector:
/// after `auto q = p.xy();` assignments to q leave p as it was.
///
/// Example: after `vec3 p(1, 2, 3);` `p.xy() = p.yx(); p.yz() *= 10.0f;`
/// `auto q = p.xy(); q = vec2(0);` `p` is `{2, 10, 30}`.
template <size_t N, VecKind K, size_t... From>
class Swizzled : public Vec<sizeof...(From), K> {
    static_assert(((From < N) && ...), "the vector has no such component");
    static constexpr size_t kCount = sizeof...(From);
    static consteval bool distinct() {
        const std::array<size_t, kCount> from{From...};
        for (size_t i = 0; i < kCount; ++i)
            for (size_t j = 0; j < i; ++j)
                if (from[i] == from[j]) return false;
        return true;
    }

  public:
    using Value = Vec<kCount, K>;
    using Other = VecArg<kCount, K>;
    /// Components of `of`, which it must not outlive where it is written to.
    explicit Swizzled(Vec<N, K>& of) : Value(of[From]...), of_(&of) {}
    /// The same components of the same vector.
    Swizzled(const Swizzled&) = default;

    /// Assignment to a named copy: the vector that it was taken from stays as it was.
    /// @{
    Swizzled& operator=(const Swizzled& v) & { return *this = static_cast<const Value&>(v); }
    Swizzled& operator=(const Value& v) & {
        Value::operator=(v);
        return *this;
    }
    /// @}

    /// Writes the components of the vector.
    /// @{
    void operator=(const Swizzled& v) && requires(distinct()) { write(v); }
    void operator=(const Value& v) && requires(distinct()) { write(v); }
    /// @}

    using Value::operator+=;
    using Value::operator-=;
    using Value::operator*=;
    using Value::operator/=;
    /// Changes the components of the vector.
    /// @{
    void operator+=(const Other& v) && requires(distinct()) {
        write(by(v, [&] { return *this + v; }));
    }
    void operator-=(const Other& v) && requires(distinct()) {
        write(by(v, [&] { return *this - v; }));
    }
    void operator*=(const Other& v) && requires(distinct()) {
        write(by(v, [&] { return *this * v; }));
    }
    void operator/=(const Other& v) && requires(distinct()) {
        write(by(v, [&] { return *this / v; }));
    }
    /// @}

    /// @cond

    // Overload for two operands of one type, see min of tensors.
    friend Value min(const Swizzled& a, const Swizzled& b, SourceLine line = here()) {
        return min(Value(a), Value(b), line);
    }
    friend Value max(const Swizzled& a, const Swizzled& b, SourceLine line = here()) {
        return max(Value(a), Value(b), line);
    }
    friend Value clamp(const Swizzled& v, const Swizzled& low, const Swizzled& high,
                       SourceLine line = here()) {
        return clamp(Value(v), Value(low), Value(high), line);
    }

    /// @endcond

  private:
    void write(Value v) {
        size_t next = 0;
        (((*of_)[From] = v[next++]), ...);
    }
    template <class F>
    static Value by(const Other& v, const F& value) {
        LineScope at(v.line());
        return value();
    }

    Vec<N, K>* of_;
};

}  // namespace firn
