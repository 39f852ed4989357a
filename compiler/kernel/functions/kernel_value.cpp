// Operators of C++ on nodes of a kernel that is being built.
#include "compiler/kernel/functions/kernel_value.h"

#include <limits>

#include "compiler/base/error.h"

namespace firn {
namespace {

KernelValue make(KernelOp op, DType dtype, KernelBuilder* builder, std::vector<NodeId> args) {
    return {builder, builder->make(op, dtype, std::move(args))};
}

DType result_of(KernelOp op, KernelValue operand) {
    return info(op).result == ResultRule::Bool ? boolean : operand.dtype();
}

/// The bits of a float that are not its sign.
KernelValue size_bits(KernelValue x) {
    return bits_of(x) & (x.dtype() == f64 ? uint64_t{0x7fffffffffffffff} : uint64_t{0x7fffffff});
}

}  // namespace

KernelValue operation(KernelOp op, KernelValue a) {
    return make(op, result_of(op, a), a.builder, {a.id});
}

KernelValue operation(KernelOp op, KernelValue a, KernelValue b) {
    ensure(a.dtype() == b.dtype(), "an operation of a function has operands of two types");
    return make(op, result_of(op, b), a.builder, {a.id, b.id});
}

KernelValue select(KernelValue condition, KernelValue yes, KernelValue no) {
    return make(KernelOp::Select, yes.dtype(), yes.builder, {condition.id, yes.id, no.id});
}

KernelValue cast(KernelValue x, DType dtype) {
    return make(KernelOp::Cast, dtype, x.builder, {x.id});
}

KernelValue bitcast(KernelValue x, DType dtype) {
    return make(KernelOp::Bitcast, dtype, x.builder, {x.id});
}

KernelValue bits_of(KernelValue x) { return bitcast(x, x.dtype() == f64 ? u64 : u32); }

KernelValue float_of(KernelValue bits) { return bitcast(bits, bits.dtype() == u64 ? f64 : f32); }

KernelValue infinity_like(KernelValue x) { return x.same(std::numeric_limits<double>::infinity()); }

KernelValue nan_like(KernelValue x) { return x.same(std::numeric_limits<double>::quiet_NaN()); }

KernelValue with_sign_of(KernelValue size, KernelValue of) {
    const uint64_t sign = size.dtype() == f64 ? uint64_t{1} << 63 : uint64_t{1} << 31;
    return float_of(bits_of(size) | (bits_of(of) & sign));
}

KernelValue is_finite(KernelValue x) {
    return size_bits(x) < (x.dtype() == f64 ? uint64_t{0x7ff0000000000000} : uint64_t{0x7f800000});
}

std::pair<KernelValue, KernelValue> branch(KernelValue condition,
                                           const std::pair<KernelValue, KernelValue>& yes,
                                           const std::pair<KernelValue, KernelValue>& no) {
    KernelBuilder& b = *condition.builder;
    const auto region = [&](const std::pair<KernelValue, KernelValue>& values) {
        const RegionId made = b.add_region();
        b.code()[made].yields = {values.first.id, values.second.id};
        return made;
    };
    const RegionId taken = region(yes), other = region(no);
    const NodeId made = b.branch(condition.id, taken, other, false);
    return {{&b, b.result(made, 0)}, {&b, b.result(made, 1)}};
}

}  // namespace firn
