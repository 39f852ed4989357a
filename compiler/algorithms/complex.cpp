// Complex arithmetic by its parts.
#include "compiler/algorithms/complex.h"

#include "compiler/algorithms/elementwise.h"
#include "compiler/frontend/line_scope.h"

namespace firn {
namespace {

Tensor imaginary(const ComplexArg& z) { return z.im ? z.im->tensor() : z.re.tensor() * 0; }

/// Returns z with both parts in one type.
Complex whole(const ComplexArg& z) { return {z.re.tensor(), imaginary(z)}; }

Complex times(const Complex& z, const Arg& number) { return {z.re * number, z.im * number}; }

}  // namespace

ComplexArg::ComplexArg(const Complex& z, SourceLine line)
    : re(z.re, line), im(Arg(z.im, line)), line(line) {}

Complex complex_negative(const ComplexArg& z) {
    LineScope at(z.line);
    return {-z.re, -imaginary(z)};
}

Complex complex_sum(const ComplexArg& a, const ComplexArg& b) {
    LineScope at(a.line);
    const Tensor re = a.re + b.re;
    if (!a.im && !b.im) return {re, re * 0};
    return {re, !a.im ? b.im->tensor() : !b.im ? a.im->tensor() : *a.im + *b.im};
}

Complex complex_difference(const ComplexArg& a, const ComplexArg& b) {
    LineScope at(a.line);
    const Tensor re = a.re - b.re;
    if (!a.im && !b.im) return {re, re * 0};
    return {re, !a.im ? -*b.im : !b.im ? a.im->tensor() : *a.im - *b.im};
}

Complex complex_product(const ComplexArg& a, const ComplexArg& b) {
    LineScope at(a.line);
    if (!b.im) return times(whole(a), b.re);
    if (!a.im) return times(whole(b), a.re);
    return {a.re * b.re - *a.im * *b.im, a.re * *b.im + *a.im * b.re};
}

Complex complex_quotient(const ComplexArg& a, const ComplexArg& b) {
    LineScope at(a.line);
    if (!b.im) return {a.re / b.re, imaginary(a) / b.re};
    // Both parts by the larger one, so that no square leaves the range.
    const Tensor size = max(abs(b.re.tensor()), abs(b.im->tensor()));
    const Tensor re = b.re / size, im = *b.im / size;
    const Tensor square = re * re + im * im;
    const Complex above = complex_product(a, Complex{re, -im});
    return {above.re / square / size, above.im / square / size};
}

Complex conj(const Complex& z, SourceLine line) {
    LineScope at(line);
    return {z.re, -z.im};
}

Tensor squared_magnitude(const Complex& z, SourceLine line) {
    LineScope at(line);
    return z.re * z.re + z.im * z.im;
}

Tensor abs(const Complex& z, SourceLine line) { return hypot(z.re, z.im, line); }
Tensor angle(const Complex& z, SourceLine line) { return atan2(z.im, z.re, line); }

Complex from_polar(const Arg& radius, const Arg& angle, SourceLine line) {
    LineScope at(line);
    return {radius * cos(angle.tensor()), radius * sin(angle.tensor())};
}

Complex exp(const Complex& z, SourceLine line) {
    LineScope at(line);
    return from_polar(exp(z.re), z.im);
}

Complex log(const Complex& z, SourceLine line) {
    LineScope at(line);
    return {log(abs(z)), angle(z)};
}

Complex sqrt(const Complex& z, SourceLine line) {
    LineScope at(line);
    // The larger part first; the other one from 2 re im, of which no digit is lost.
    const Tensor large = sqrt((abs(z.re) + abs(z)) * 0.5f);
    const Tensor small = select(large == 0, 0, z.im / (2.0f * large));
    const Tensor right = z.re >= 0;
    return {select(right, large, abs(small)), select(right, small, copysign(large, z.im))};
}

Complex sin(const Complex& z, SourceLine line) {
    LineScope at(line);
    return {sin(z.re) * cosh(z.im), cos(z.re) * sinh(z.im)};
}

Complex cos(const Complex& z, SourceLine line) {
    LineScope at(line);
    return {cos(z.re) * cosh(z.im), -(sin(z.re) * sinh(z.im))};
}

Complex tanh(const Complex& z, SourceLine line) {
    LineScope at(line);
    // W. Kahan, "Branch cuts for complex elementary functions", 1987: by tan and sinh alone. Beyond
    // 20 the real part is 1, and sinh would soon overflow.
    const Tensor x = clamp(z.re, -20.0f, 20.0f), t = tan(z.im), s = sinh(x);
    const Tensor beta = 1.0f + t * t, rho = sqrt(1.0f + s * s);
    const Tensor below = 1.0f + beta * s * s;
    return {beta * rho * s / below, t / below};
}

Complex tan(const Complex& z, SourceLine line) {
    LineScope at(line);
    const Complex turned = tanh(Complex{-z.im, z.re});
    return {turned.im, -turned.re};
}

Complex sinh(const Complex& z, SourceLine line) {
    LineScope at(line);
    return {sinh(z.re) * cos(z.im), cosh(z.re) * sin(z.im)};
}

Complex cosh(const Complex& z, SourceLine line) {
    LineScope at(line);
    return {cosh(z.re) * cos(z.im), sinh(z.re) * sin(z.im)};
}

Complex complex_power(const ComplexArg& a, const ComplexArg& b, SourceLine line) {
    LineScope at(line);
    const Complex x = whole(a), power = exp(complex_product(b, log(x)));
    const Tensor exponent = b.re.tensor();
    const Tensor none = b.im ? (exponent == 0) & (b.im->tensor() == 0) : exponent == 0;
    const Tensor zero = (x.re == 0) & (x.im == 0) & (exponent > 0);
    return {select(none, 1, select(zero, 0, power.re)), select(none | zero, 0, power.im)};
}

Complex complex_choice(const Arg& condition, const ComplexArg& a, const ComplexArg& b,
                       SourceLine line) {
    LineScope at(line);
    return {select_of(condition, a.re, b.re), select_of(condition, imaginary(a), imaginary(b))};
}

std::ostream& operator<<(std::ostream& out, const Complex& z) {
    return stream_components(out, "Complex", {z.re, z.im});
}

}  // namespace firn
