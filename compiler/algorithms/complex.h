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
    ComplexArg(const Complex& z, SourceLine line = here());
    template <class T>
    requires std::constructible_from<Arg, const T&, SourceLine> ComplexArg(const T& real,
                                                                           SourceLine line = here())
        : re(real, line), line(line) {}

    Arg re;
    std::optional<Arg> im = std::nullopt;  // none: a real number
    SourceLine line;
};

Complex complex_negative(const ComplexArg& z);
Complex complex_sum(const ComplexArg& a, const ComplexArg& b);
Complex complex_difference(const ComplexArg& a, const ComplexArg& b);
Complex complex_product(const ComplexArg& a, const ComplexArg& b);
Complex complex_quotient(const ComplexArg& a, const ComplexArg& b);
Complex complex_power(const ComplexArg& a, const ComplexArg& b, SourceLine line);
Complex complex_choice(const Arg& condition, const ComplexArg& a, const ComplexArg& b,
                       SourceLine line);

/// The real and the imaginary part, of one type, which broadcast against one another. A function
/// takes and gives it as one value, loops carry it, and gradients are those of the two parts.
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

    Complex& operator+=(const ComplexArg& b) & { return *this = complex_sum(*this, b); }
    Complex& operator-=(const ComplexArg& b) & { return *this = complex_difference(*this, b); }
    Complex& operator*=(const ComplexArg& b) & { return *this = complex_product(*this, b); }
    Complex& operator/=(const ComplexArg& b) & { return *this = complex_quotient(*this, b); }
    friend Complex operator-(const ComplexArg& z) { return complex_negative(z); }
    friend Complex operator+(const ComplexArg& a, const ComplexArg& b) { return complex_sum(a, b); }
    friend Complex operator-(const ComplexArg& a, const ComplexArg& b) {
        return complex_difference(a, b);
    }
    friend Complex operator*(const ComplexArg& a, const ComplexArg& b) {
        return complex_product(a, b);
    }
    /// Without overflow on the way (R. Smith, "Algorithm 116: Complex division", 1962); by 0 it is
    /// nan.
    friend Complex operator/(const ComplexArg& a, const ComplexArg& b) {
        return complex_quotient(a, b);
    }
    /// exp(b log(a)); 1 where b is 0, and 0 where a is 0 and the real part of b is above 0.
    friend Complex pow(const ComplexArg& a, const ComplexArg& b, SourceLine line = here()) {
        return complex_power(a, b, line);
    }
    /// By parts.
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
/// `tensor(std::vector<std::complex<float>>{..})`, in row-major order.
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

/// The complex conjugate.
Complex conj(const Complex& z, SourceLine line = here());
/// |z| squared.
Tensor squared_magnitude(const Complex& z, SourceLine line = here());
/// |z|, without overflow on the way.
Tensor abs(const Complex& z, SourceLine line = here());
/// From -pi to pi, numpy's name; C's carg.
Tensor angle(const Complex& z, SourceLine line = here());
/// radius exp(i angle).
Complex from_polar(const Arg& radius, const Arg& angle, SourceLine line = here());

// Principal values, cut along the negative real axis (C17 7.3); infinite and nan arguments give nan
// where the formulas do.
Complex exp(const Complex& z, SourceLine line = here());
Complex log(const Complex& z, SourceLine line = here());
Complex sqrt(const Complex& z, SourceLine line = here());
Complex sin(const Complex& z, SourceLine line = here());
Complex cos(const Complex& z, SourceLine line = here());
Complex tan(const Complex& z, SourceLine line = here());
Complex sinh(const Complex& z, SourceLine line = here());
Complex cosh(const Complex& z, SourceLine line = here());
Complex tanh(const Complex& z, SourceLine line = here());

}  // namespace firn
