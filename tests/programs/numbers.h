// Arithmetic on single numbers by type, as the contract states it; independent of the compiler's.
#pragma once
#include <stdexcept>

#include "tests/programs/program.h"

namespace firn::programs {

/// A program that says nothing about the compiler: its floats round (so that their order counts),
/// it takes too long, or it is no program at all.
struct Unsuitable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A number: `f` of a float type, `i` of others (u64 by its bits).
struct Number {
    double f = 0;
    int64_t i = 0;
};

/// The type that two tensors meet in.
DType joined(DType a, DType b);
/// The type that sums, products and bits of integers are computed in: bool and 8 bits are only
/// storage.
DType computed_type(DType dtype);
DType reduced_type(Fn fn, DType dtype);

struct Operand {
    DType dtype;
    bool weak = false;   // a C++ number
    int64_t number = 0;  // which, where it is an integer
};
struct FnTypes {
    DType operand, result;
};
/// Returns the types to which the value operands of an elementwise function (for Select: without
/// the condition) are converted.
FnTypes types_of(Fn fn, const std::vector<Operand>& operands);

/// Throws Unsuitable where a float would round.
Number converted(const Number& x, DType from, DType to);
Number number_of(double value, DType dtype);
/// The operands have the type `types_of` gives.
Number applied(Fn fn, DType dtype, const Number& a, const Number& b = {});
bool equal(const Number& a, const Number& b, DType dtype);
std::string text(const Number& x, DType dtype);

}  // namespace firn::programs
