// The operators of tensors, and of types that stand for one.
#pragma once
#include "compiler/ir/source_line.h"

namespace firn {

class Tensor;
class Access;
class Arg;

/// @cond

// Overloads for operands of one type, which `using namespace std` would hand to std; see math.h.
Tensor min_at(const Tensor& a, const Tensor& b, SourceLine line);
Tensor max_at(const Tensor& a, const Tensor& b, SourceLine line);
Tensor min_at(const Tensor& a, const Tensor& b, const Arg& c, SourceLine line);
Tensor max_at(const Tensor& a, const Tensor& b, const Arg& c, SourceLine line);
Tensor clamp_at(const Tensor& x, const Tensor& low, const Tensor& high, SourceLine line);
// clang-format off
#define FIRN_BESIDE_STD_(T, name) \
    friend Tensor name(const T& a, const T& b, SourceLine line = here()) { return name##_at(a, b, line); } \
    template <class C> \
    friend Tensor name(const T& a, const T& b, const C& c, SourceLine line = here()) { return name##_at(a, b, c, line); }
#define FIRN_BESIDE_STD(T) FIRN_BESIDE_STD_(T, min) FIRN_BESIDE_STD_(T, max) \
    friend Tensor clamp(const T& x, const T& low, const T& high, SourceLine line = here()) { return clamp_at(x, low, high, line); }
// clang-format on

/// @endcond

/// Operators of Tensor and Access (and of Arg), found through either operand; the other may be a
/// C++ scalar, which takes the tensor's type, or a Size. Shapes broadcast as in numpy. `&&` and
/// `||` do not exist: `&`, `|`.
///
/// Examples: `tensor({1, 2}) + tensor({10, 20}, {2, 1})` is `{{11, 12}, {21, 22}}`,
/// `tensor({1, 2}) * 0.5f` is `{0.5, 1}`, `(tensor({1, 2}) > 1) | (tensor({1, 2}) == 0)` is
/// `{false, true}`.
struct TensorOperators {
    /// Sums, differences and products. Integers wrap; those of 8 and 16 bits and bools are computed
    /// in i32.
    ///
    /// Example: `tensor({2147483647}) + 1 < 0` is `{true}`.
    /// @{
    friend Tensor operator+(const Arg& a, const Arg& b);
    friend Tensor operator-(const Arg& a, const Arg& b);
    friend Tensor operator*(const Arg& a, const Arg& b);
    /// @}

    /// A quotient. Integers truncate, and x / 0 is 0.
    ///
    /// Examples: `tensor({7, -7}) / 2` is `{3, -3}`, `tensor({7, -7}) / 0` is `{0, 0}`,
    /// `tensor({7.0f, -7.0f}) / 0` is `{inf, -inf}`.
    friend Tensor operator/(const Arg& a, const Arg& b);
    /// The remainder of the division: floats take the divisor's sign, integers the dividend's; x %
    /// 0 is 0 for integers.
    ///
    /// Examples: `tensor({-7.0f, 7.0f}) % 4` is `{1, 3}`, `tensor({-7, 7}) % 4` is `{-3, 3}`.
    friend Tensor operator%(const Arg& a, const Arg& b);
    /// Bits of integers, or bools.
    ///
    /// Examples: `tensor({6}) & 3` is `{2}`, `tensor({true, false}) ^ true` is `{false, true}`.
    /// @{
    friend Tensor operator&(const Arg& a, const Arg& b);
    friend Tensor operator|(const Arg& a, const Arg& b);
    friend Tensor operator^(const Arg& a, const Arg& b);
    /// @}

    /// Integers shifted; the count is masked to the width, and signed types keep their sign.
    ///
    /// Examples: `tensor({1, 3}) << 2` is `{4, 12}`, `tensor({-8, 8}) >> 1` is `{-4, 4}`,
    /// `tensor({5}) << 33` is `{10}`.
    /// @{
    friend Tensor operator<<(const Arg& a, const Arg& b);
    friend Tensor operator>>(const Arg& a, const Arg& b);
    /// @}

    /// Comparisons, which give bools: beside a nan `!=` alone holds.
    ///
    /// Examples: `tensor({1, 2, 3}) >= 2` is `{false, true, true}`, `tensor({NAN}) == NAN` is
    /// `{false}`.
    /// @{
    friend Tensor operator<(const Arg& a, const Arg& b);
    friend Tensor operator>(const Arg& a, const Arg& b);
    friend Tensor operator<=(const Arg& a, const Arg& b);
    friend Tensor operator>=(const Arg& a, const Arg& b);
    friend Tensor operator==(const Arg& a, const Arg& b);
    friend Tensor operator!=(const Arg& a, const Arg& b);
    /// @}

    /// The operand itself, its negative, and its bitwise complement; of a bool `~` is `!`.
    ///
    /// Examples: `-tensor({1, -2})` is `{-1, 2}`, `~tensor({0, 5})` is `{-1, -6}`,
    /// `~tensor({true, false})` is `{false, true}`.
    /// @{
    friend Tensor operator+(const Arg& x);
    friend Tensor operator-(const Arg& x);
    friend Tensor operator~(const Arg& x);
    /// @}

    /// True where x is 0.
    ///
    /// Example: `!tensor({0, 5})` is `{true, false}`.
    /// @{
    // Exact types: an Arg would be as good as the deleted conversion to bool.
    friend Tensor operator!(const Tensor& x);
    friend Tensor operator!(const Access& x);
    /// @}
};

}  // namespace firn
