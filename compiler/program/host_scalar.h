// Numbers that the host computes, from scalar arguments, sizes, iterations of loops of steps and
// constants.
#pragma once
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "compiler/program/dtype.h"
#include "compiler/program/size.h"
#include "compiler/program/size_env.h"

namespace firn {

/// The operations of host numbers; all are f32, rounded after each operation.
enum class HostOp : uint8_t {
    Constant,  // HostScalar::constant
    Argument,  // scalar argument `argument`, converted
    Size,      // HostScalar::size as an i32, converted
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

/// A number that the host computes; operands are numbers before it in Program::host_scalars. Its
/// size may hold inductions of loops of steps, not scalar arguments.
struct HostScalar {
    HostOp op = HostOp::Constant;
    double constant = 0;
    int argument = -1;
    Size size;
    int a = -1, b = -1;
};

/// The numbers of a program where the sizes are known, each as often as iterations of loops give it
/// another value.
class PlacedNumbers {
  public:
    /// Number `k` of `scalars` with the symbols of a step: its place in the list that host_values()
    /// takes.
    int place(const std::vector<HostScalar>& scalars, int k, const SizeEnv& env);
    /// The numbers without sizes; their operands are places.
    const std::vector<HostScalar>& placed() const { return placed_; }

  private:
    int take(const HostScalar& number);

    std::vector<HostScalar> placed_;
    std::map<std::tuple<HostOp, uint32_t, int, int, int>, int> places_;  // the constant as bits
};

/// The values of numbers without sizes, in `values`, which keeps its memory.
void host_values(const std::vector<HostScalar>& scalars, const std::vector<Scalar>& arguments,
                 std::vector<Scalar>& values);

/// Returns whether number `k` is computed from a size for which `is` holds.
template <class Is>
bool any_size(const std::vector<HostScalar>& scalars, int k, const Is& is) {
    std::vector<bool> needed(static_cast<size_t>(k) + 1);
    needed.back() = true;
    for (auto at = needed.size(); at-- > 0;) {
        if (!needed[at]) continue;
        const HostScalar& s = scalars[at];
        if (s.op == HostOp::Size && is(s.size)) return true;
        for (int operand : {s.a, s.b})
            if (operand >= 0) needed[static_cast<size_t>(operand)] = true;
    }
    return false;
}

}  // namespace firn
