// Numbers that the host computes once per call.
#include "compiler/program/host_scalar.h"

#include <cmath>

#include "compiler/program/error.h"

namespace firn {
namespace {

/// In double, where the oracle does it too.
double of_one(HostOp op, double x) {
    switch (op) {
        case HostOp::Neg: return -x;
        case HostOp::Abs: return std::fabs(x);
        case HostOp::Floor: return std::floor(x);
        case HostOp::Sqrt: return std::sqrt(x);
        case HostOp::Rsqrt: return 1 / std::sqrt(x);
        case HostOp::Rcp: return 1 / x;
        case HostOp::Exp: return std::exp(x);
        case HostOp::Exp2: return std::exp2(x);
        case HostOp::Log: return std::log(x);
        case HostOp::Log2: return std::log2(x);
        case HostOp::Sin: return std::sin(x);
        case HostOp::Cos: return std::cos(x);
        case HostOp::Tan: return std::tan(x);
        case HostOp::Tanh: return std::tanh(x);
        default: throw InternalError("a number that the host computes has an operand too few");
    }
}

double of_two(HostOp op, double x, double y) {
    switch (op) {
        case HostOp::Add: return x + y;
        case HostOp::Sub: return x - y;
        case HostOp::Mul: return x * y;
        case HostOp::Div: return x / y;
        case HostOp::Min: return smaller(x, y);
        case HostOp::Max: return larger(x, y);
        case HostOp::Pow: return std::pow(x, y);
        default: throw InternalError("a number that the host computes has an operand too many");
    }
}

Scalar value_of(const HostScalar& s, const std::vector<Scalar>& arguments, const std::vector<Scalar>& before) {
    const auto of = [&](int k) {
        ensure(k >= 0 && static_cast<size_t>(k) < before.size(), "a number that the host computes needs a later one");
        return before[static_cast<size_t>(k)].f;
    };
    switch (s.op) {
        case HostOp::Constant: return scalar_float(s.constant);
        case HostOp::Argument:
            ensure(s.argument >= 0 && static_cast<size_t>(s.argument) < arguments.size(),
                   "a number that the host computes names a scalar argument that was not given");
            return arguments[static_cast<size_t>(s.argument)].to(f32);
        case HostOp::Size: throw InternalError("a number that the host computes has an unknown size");
        default: return scalar_float(s.b < 0 ? of_one(s.op, of(s.a)) : of_two(s.op, of(s.a), of(s.b)));
    }
}

}  // namespace

std::vector<HostScalar> with_sizes(std::vector<HostScalar> scalars, const SizeEnv& env) {
    for (HostScalar& s : scalars)
        if (s.op == HostOp::Size) s.op = HostOp::Constant, s.constant = scalar_int(s.size.evaluate(env)).to(f32).f;
    return scalars;
}

void host_values(const std::vector<HostScalar>& scalars, const std::vector<Scalar>& arguments, std::vector<Scalar>& values) {
    values.clear();
    for (const HostScalar& s : scalars) values.push_back(value_of(s, arguments, values));
}

}  // namespace firn
