// Numbers that the host computes.
#include "compiler/program/host_scalar.h"

#include <bit>
#include <cmath>

#include "compiler/base/error.h"
#include "compiler/program/extremes.h"
#include "compiler/program/index_limits.h"

namespace firn {
namespace {

/// Computes in double, as the oracle does.
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

Scalar value_of(const HostScalar& s, const std::vector<Scalar>& arguments,
                const std::vector<Scalar>& before) {
    const auto of = [&](int k) {
        ensure(k >= 0 && static_cast<size_t>(k) < before.size(),
               "a number that the host computes needs a later one");
        return before[static_cast<size_t>(k)].f;
    };
    switch (s.op) {
        case HostOp::Constant: return scalar_float(s.constant);
        case HostOp::Argument:
            ensure(s.argument >= 0 && static_cast<size_t>(s.argument) < arguments.size(),
                   "a number that the host computes names a scalar argument that was not given");
            return arguments[static_cast<size_t>(s.argument)].to(f32);
        case HostOp::Size:
            throw InternalError("a number that the host computes has an unknown size");
        default:
            return scalar_float(s.b < 0 ? of_one(s.op, of(s.a)) : of_two(s.op, of(s.a), of(s.b)));
    }
}

}  // namespace

int PlacedNumbers::place(const std::vector<HostScalar>& scalars, int k, const SizeEnv& env) {
    ensure(k >= 0 && static_cast<size_t>(k) < scalars.size(),
           "a kernel parameter names a number that the host does not compute");
    std::map<int, int> done;
    const auto place = [&](const auto& self, int at) -> int {
        if (at < 0) return -1;
        if (const auto found = done.find(at); found != done.end()) return found->second;
        HostScalar number = scalars[static_cast<size_t>(at)];
        ensure(number.a < at && number.b < at, "a number that the host computes needs a later one");
        if (number.op == HostOp::Size)
            number.op = HostOp::Constant,
            number.constant =
                scalar_int(index_value(number.size, env, "a number that the host computes"))
                    .to(f32)
                    .f,
            number.size = Size();
        number.a = self(self, number.a), number.b = self(self, number.b);
        return done[at] = take(number);
    };
    return place(place, k);
}

/// Equal ones have one place.
int PlacedNumbers::take(const HostScalar& number) {
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(number.constant));
    const auto [at, added] = places_.try_emplace(
        {number.op, bits, number.argument, number.a, number.b}, static_cast<int>(placed_.size()));
    if (added) placed_.push_back(number);
    return at->second;
}

void host_values(const std::vector<HostScalar>& scalars, const std::vector<Scalar>& arguments,
                 std::vector<Scalar>& values) {
    values.clear();
    for (const HostScalar& s : scalars) values.push_back(value_of(s, arguments, values));
}

}  // namespace firn
