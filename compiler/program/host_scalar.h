// Numbers that the host computes once per call, from scalar arguments, sizes and constants.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/program/dtype.h"
#include "compiler/program/size.h"

namespace firn {

/// How a number comes to be; all are f32, rounded after each operation.
enum class HostOp : uint8_t {
    Constant,  // HostScalar::constant
    Argument,  // scalar argument `argument`, converted
    Size,      // HostScalar::size, converted
    Neg,
    Abs,
    Floor,
    Sqrt,
    Rsqrt,
    Rcp,
    Exp,
    Exp2,
    Log,
    Log2,
    Sin,
    Cos,
    Tan,
    Tanh,  // of `a`
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
    Pow,  // of `a` and `b`
};

/// One of them; operands are numbers before it in Program::host_scalars.
struct HostScalar {
    HostOp op = HostOp::Constant;
    double constant = 0;
    int argument = -1;
    Size size;
    int a = -1, b = -1;
};

/// The same numbers where the sizes are known: no Size is left.
std::vector<HostScalar> with_sizes(std::vector<HostScalar> scalars, const SizeEnv& env);

/// The values of numbers without sizes, in `values`, which keeps its memory.
void host_values(const std::vector<HostScalar>& scalars, const std::vector<Scalar>& arguments,
                 std::vector<Scalar>& values);

}  // namespace firn
