// Complex numbers: a pair of tensors, with the operators and functions of C's <complex.h>.
#pragma once
#include <optional>
#include <vector>

#include "compiler/frontend/create.h"
#include "compiler/frontend/math.h"

namespace firn {

struct Complex;

/// An operand of complex arithmetic: a Complex, or a real tensor or number.
class ComplexArg {
  public:
    /// Both parts of z.
    ComplexArg(const Complex& z, SourceLine line = here());
    /// A real number: a tensor, an access or a C++ scalar, which is weak.
    template <class T>
    requires std::constructible_from<Arg, const T&, SourceLine> ComplexArg(const T& real,
                                                                           SourceLine line = here())
        : re(real, line), line(line) {}

    Arg re;
    std::optional<Arg> im = std::nullopt;  ///< none: a real number
    SourceLine line;
};

/// @cond

Complex complex_negative(const ComplexArg& z);
Complex complex_sum(const ComplexArg& a, const ComplexArg& b);
Complex complex_difference(const ComplexArg& a, const ComplexArg& b);
Complex complex_product(const ComplexArg& a, const ComplexArg& b);
Complex complex_quotient(const ComplexArg& a, const ComplexArg& b);
Complex complex_power(const ComplexArg& a, const ComplexArg& b, SourceLine line);
Complex complex_choice(const Arg& condition, const ComplexArg& a, const ComplexArg& b,
                       SourceLine line);

/// @endcond

/// The real and the imaginary part, of one type, which broadcast against one another. A function
/// takes and gives it as one value, loops carry it, and gradients are those of the two parts.
/// Numbers in braces, `Complex{1.0f, 2.0f}`, make one of rank 0.
///
/// Examples: after `Complex z{tensor({3.0f, 0.0f}), tensor({4.0f, 1.0f})};` `(z * z).re` is
/// `{-7, -1}`, `(2 - z).im` is `{-4, -1}`, `z(1).im` is `1`.
struct Complex {
    Tensor re, im;

    /// The elements at these indices, as of a tensor; to be read.
    template <class... Index>
    Complex operator()(const Index&... indices) const {
        return {re(indices...), im(indices...)};
    }
    /// Rows of elements, as std::complex<float> or another type that is made of two numbers.
    template <class C>
    std::vector<C> to_vector(SourceLine line = here()) const {
        const auto a = re.to_vector<typename C::value_type>(line),
                   b = im.to_vector<typename C::value_type>(line);
        std::vector<C> out;
        for (size_t k = 0; k < a.size(); ++k) out.push_back(C(a[k], b[k]));
        return out;
    }

    /// Changes it by an operand, as the operator without `=` does.
    /// @{
    Complex& operator+=(const ComplexArg& b) & { return *this = complex_sum(*this, b); }
    Complex& operator-=(const ComplexArg& b) & { return *this = complex_difference(*this, b); }
    Complex& operator*=(const ComplexArg& b) & { return *this = complex_product(*this, b); }
    Complex& operator/=(const ComplexArg& b) & { return *this = complex_quotient(*this, b); }
    /// @}

    /// The arithmetic of complex numbers, also beside real tensors and numbers.
    /// @{
    friend Complex operator-(const ComplexArg& z) { return complex_negative(z); }
    friend Complex operator+(const ComplexArg& a, const ComplexArg& b) { return complex_sum(a, b); }
    friend Complex operator-(const ComplexArg& a, const ComplexArg& b) {
        return complex_difference(a, b);
    }
    friend Complex operator*(const ComplexArg& a, const ComplexArg& b) {
        return complex_product(a, b);
    }
    /// @}

    /// The quotient, without overflow on the way; by 0 it is nan. A real divisor divides both
    /// parts. R. Smith, "Algorithm 116: Complex division", 1962.
    ///
    /// Example: after `Complex z = Complex{1.0f, 2.0f} / Complex{3.0f, -4.0f};` `z.re` is `-0.2`
    /// and `z.im` is `0.4`.
    friend Complex operator/(const ComplexArg& a, const ComplexArg& b) {
        return complex_quotient(a, b);
    }
    /// exp(b log(a)); 1 where b is 0, and 0 where a is 0 and the real part of b is above 0.
    ///
    /// Examples: `pow(Complex{0.0f, 1.0f}, 2).re` is `-1`, `pow(Complex{0.0f, 0.0f}, 0).re` is `1`.
    friend Complex pow(const ComplexArg& a, const ComplexArg& b, SourceLine line = here()) {
        return complex_power(a, b, line);
    }
    /// a where the condition holds, else b, by parts; both parts of both are computed.
    ///
    /// Example: `select(tensor({true, false}), Complex{1.0f, 2.0f}, 0).im` is `{2, 0}`.
    friend Complex select(const Arg& condition, const ComplexArg& a, const ComplexArg& b,
                          SourceLine line = here()) {
        return complex_choice(condition, a, b, line);
    }
};

/// Two numbers that make a complex one, such as std::complex<float>.
template <class C>
concept ComplexNumber = requires(const C& z) {
    typename C::value_type;
    { z.real() } -> Arithmetic;
    { z.imag() } -> Arithmetic;
};
/// Data in: `tensor(std::vector<std::complex<float>>{..}, {n, m})`, in row-major order; without a
/// shape it is 1-D. UserError where the shape has another number of elements.
/// @{
template <ComplexNumber C>
Complex tensor(const std::vector<C>& values, const Shape& shape, SourceLine line = here()) {
    std::vector<typename C::value_type> re, im;
    for (const C& z : values) re.push_back(z.real()), im.push_back(z.imag());
    return {tensor(re, shape, line), tensor(im, shape, line)};
}
template <ComplexNumber C>
Complex tensor(const std::vector<C>& values, CallerLine line = here()) {
    return tensor(values, Shape{Size(values.size())}, line);
}
/// @}

/// The complex conjugate.
///
/// Example: `conj(Complex{1.0f, 2.0f}).im` is `-2`.
Complex conj(const Complex& z, SourceLine line = here());
/// |z| squared; beyond the type's range it is infinite.
///
/// Example: `squared_magnitude(Complex{3.0f, 4.0f})` is `25`.
Tensor squared_magnitude(const Complex& z, SourceLine line = here());
/// |z|, without overflow on the way.
///
/// Example: `abs(Complex{3e30f, 4e30f})` is `5e30`.
Tensor abs(const Complex& z, SourceLine line = here());
/// The angle from the positive real axis, -pi to pi, by numpy's name; C's carg.
///
/// Examples: `angle(Complex{0.0f, 2.0f})` is `1.5708`, `angle(Complex{-1.0f, 0.0f})` is `3.14159`.
Tensor angle(const Complex& z, SourceLine line = here());
/// radius exp(i angle), of an angle in radians.
///
/// Example: `from_polar(2.0f, 1.5707963f).im` is `2`.
Complex from_polar(const Arg& radius, const Arg& angle, SourceLine line = here());

/// Principal values of the elementary functions, cut along the negative real axis (C17 7.3);
/// infinite and nan arguments give nan where the formulas do.
///
/// Examples: `exp(Complex{0.0f, 3.14159265f}).re` is `-1`, `log(Complex{-1.0f, 0.0f}).im` is
/// `3.14159`, `sqrt(Complex{-4.0f, 0.0f}).im` is `2`, `sqrt(Complex{-4.0f, -0.0f}).im` is `-2`,
/// `sin(Complex{0.0f, 1.0f}).im` is `1.1752`, `cos(Complex{0.0f, 1.0f}).re` is `1.54308`,
/// `tan(Complex{0.0f, 1.0f}).im` is `0.76159`, `sinh(Complex{0.0f, 1.5707963f}).im` is `1`,
/// `cosh(Complex{0.0f, 3.14159265f}).re` is `-1`, `tanh(Complex{0.0f, 0.78539816f}).im` is `1`.
/// @{
Complex exp(const Complex& z, SourceLine line = here());
Complex log(const Complex& z, SourceLine line = here());
Complex sqrt(const Complex& z, SourceLine line = here());
Complex sin(const Complex& z, SourceLine line = here());
Complex cos(const Complex& z, SourceLine line = here());
Complex tan(const Complex& z, SourceLine line = here());
Complex sinh(const Complex& z, SourceLine line = here());
Complex cosh(const Complex& z, SourceLine line = here());
Complex tanh(const Complex& z, SourceLine line = here());
/// @}

/// Both parts as they are shown: `Complex(1, 2)`.
std::ostream& operator<<(std::ostream& out, const Complex& z);

}  // namespace firn
