// Stores that combine, by their operation.
#include "compiler/frontend/scatter.h"

#include "compiler/ir/graph.h"

namespace firn {
namespace {

void combine(const Access& place, const Arg& value, ScatterOp op) {
    Access(place).store(value, ScatterAttr{op});
}

}  // namespace

void scatter_add(const Access& place, const Arg& value) { combine(place, value, ScatterOp::Add); }
void scatter_mul(const Access& place, const Arg& value) { combine(place, value, ScatterOp::Mul); }
void scatter_min(const Access& place, const Arg& value) { combine(place, value, ScatterOp::Min); }
void scatter_max(const Access& place, const Arg& value) { combine(place, value, ScatterOp::Max); }
void scatter_and(const Access& place, const Arg& value) { combine(place, value, ScatterOp::And); }
void scatter_or(const Access& place, const Arg& value) { combine(place, value, ScatterOp::Or); }
void scatter_xor(const Access& place, const Arg& value) { combine(place, value, ScatterOp::Xor); }

void store(const Access& place, const Arg& value, const ScatterOptions& options) {
    Access(place).store(value, ScatterAttr{ScatterOp::Last, options.unique || options.permutation,
                                           options.permutation});
}

}  // namespace firn
