// The table of monoids.
#include "compiler/ir/monoid.h"

#include <limits>

#include "compiler/base/error.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

using Identity = Monoid::Identity;

// clang-format off
constexpr Monoid kMonoids[] = {
    {Op::Add, Identity::Zero,     ReduceOp::Sum,    ScatterOp::Add},
    {Op::Mul, Identity::One,      ReduceOp::Prod,   ScatterOp::Mul},
    {Op::Min, Identity::Largest,  ReduceOp::Min,    ScatterOp::Min},
    {Op::Max, Identity::Smallest, ReduceOp::Max,    ScatterOp::Max},
    {Op::Or,  Identity::Zero,     ReduceOp::Any,    std::nullopt, true},
    {Op::And, Identity::One,      ReduceOp::All,    std::nullopt, true},
    {Op::Min, Identity::Largest,  ReduceOp::Argmin, std::nullopt, false, ReduceOp::Min},
    {Op::Max, Identity::Smallest, ReduceOp::Argmax, std::nullopt, false, ReduceOp::Max},
    {Op::And, Identity::AllBits,  std::nullopt,     ScatterOp::And},
    {Op::Or,  Identity::Zero,     std::nullopt,     ScatterOp::Or},
    {Op::Xor, Identity::Zero,     std::nullopt,     ScatterOp::Xor},
};
// clang-format on

/// The largest or the smallest value of a dtype.
Scalar extreme(bool largest, DType dtype) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (dtype.is_float()) return scalar_float(largest ? kInfinity : -kInfinity, dtype);
    if (dtype.is_bool()) return scalar_bool(largest);
    const int bits = 8 * dtype.bytes();
    if (dtype.is_signed()) {
        const int64_t low = bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1));
        return scalar_int(largest ? -(low + 1) : low, dtype);
    }
    const int64_t high = bits == 64 ? -1 : (int64_t{1} << bits) - 1;
    return scalar_int(largest ? high : 0, dtype);
}

}  // namespace

const Monoid& monoid(ReduceOp op) {
    for (const Monoid& m : kMonoids)
        if (m.reduce == op) return m;
    throw InternalError("an unknown reduction");
}

const Monoid& monoid(ScatterOp op) {
    for (const Monoid& m : kMonoids)
        if (m.scatter == op) return m;
    throw InternalError("a store that replaces combines nothing");
}

Scalar identity(const Monoid& monoid, DType dtype) {
    switch (monoid.identity) {
        case Identity::Zero: return scalar_int(0).to(dtype);
        case Identity::One: return scalar_int(1).to(dtype);
        case Identity::Largest: return extreme(true, dtype);
        case Identity::Smallest: return extreme(false, dtype);
        case Identity::AllBits: return scalar_int(-1).to(dtype);
    }
    throw InternalError("an unknown identity");
}

Op combining_op(ScatterOp op) { return monoid(op).step; }
std::optional<ReduceOp> reduce_op(ScatterOp op) {
    return op == ScatterOp::Last ? std::nullopt : monoid(op).reduce;
}
Op reduce_step(ReduceOp op) { return monoid(op).step; }
Scalar reduce_identity(ReduceOp op, DType dtype) { return identity(monoid(op), dtype); }

const char* name(ReduceOp op) {
    static constexpr const char* kNames[] = {"sum", "prod", "min",    "max",
                                             "any", "all",  "argmin", "argmax"};
    return kNames[static_cast<size_t>(op)];
}

const char* name(ScatterOp op) {
    static constexpr const char* kNames[] = {"last", "add", "mul", "min",
                                             "max",  "and", "or",  "xor"};
    return kNames[static_cast<size_t>(op)];
}

}  // namespace firn
