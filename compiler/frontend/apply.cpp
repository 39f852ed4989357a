// C++ scalars become constants of the type that they will be used in, so that nothing is lost
// twice.
#include "compiler/frontend/apply.h"

#include <algorithm>

#include "compiler/frontend/record.h"

namespace firn {
namespace {

bool holds(DType dtype, const Scalar& value) {
    int bits = 8 * dtype.bytes();
    if (bits == 64) return true;
    if (value.dtype == u64 && value.i < 0) return false;
    // Bit patterns such as ~0 are meant for unsigned types too.
    return value.i >= -(int64_t{1} << (bits - 1)) && value.i < (int64_t{1} << bits);
}

/// The type of the constant that a scalar becomes beside tensors that meet in `strong`.
std::optional<DType> constant_type(const Arg& arg, DType strong) {
    const Scalar& value = arg.scalar();
    if (value.dtype.is_bool()) return boolean;
    if (strong.is_float()) return strong;
    if (value.dtype.is_float() || strong.is_bool() || strong.is_narrow()) return std::nullopt;
    if (!holds(strong, value))
        fail_at(arg.line(), "the constant " + text(value) + " does not fit the tensor's type " +
                                strong.name() +
                                "; cast the tensor to i64, or use a smaller constant");
    return strong;
}

std::vector<Tensor> in_type(const std::vector<Arg>& args, DType type) {
    std::vector<Tensor> out;
    for (const Arg& arg : args) {
        // Straight to the type: 0.1 beside an f64 is not the f32 nearest to it.
        Ref own = arg.is_scalar() ? arg.node(constant_type(arg, type)) : arg.node();
        out.push_back(Tensor::from_node(cast(builder_at(arg), own, type)));
    }
    return out;
}

}  // namespace

namespace {

/// The type of meeting_type(), but narrow integers and bools keep their own.
DType joined_type(const std::vector<Arg>& args) {
    std::vector<DType> strong, weak;
    for (const Arg& arg : args) (arg.is_scalar() ? weak : strong).push_back(arg.node()->dtype);
    auto joined = [](std::vector<DType> types) {
        // The widest first: i16 and u16 meet in i32, but beside a u32 in that, in any order.
        std::stable_sort(types.begin(), types.end(),
                         [](DType a, DType b) { return a.bytes() > b.bytes(); });
        DType all = types[0];
        for (DType type : types) all = join(all, type);
        return all;
    };
    const DType type = joined(strong.empty() ? weak : strong);
    return !weak.empty() && joined(weak).is_float() && !type.is_float() ? f32 : type;
}

}  // namespace

DType meeting_type(const std::vector<Arg>& args) { return arithmetic_type(joined_type(args)); }

Tensor in_own_type(const Tensor& value, const std::vector<Arg>& args) {
    const DType type = joined_type(args);
    for (const Arg& arg : args)
        if (arg.is_scalar() &&
            (loses_value(arg.scalar(), type) || (type.is_bool() && !arg.scalar().dtype.is_bool())))
            return value;
    return type == arithmetic_type(type) ? value : value.as(type);
}

std::vector<Tensor> meet(const std::vector<Arg>& args) { return in_type(args, meeting_type(args)); }

std::vector<Tensor> meet_as_floats(const std::vector<Arg>& args) {
    const DType type = meeting_type(args);
    return in_type(args, type.is_float() ? type : f32);
}

Builder builder_at(const Arg& arg) { return builder(*current_state(), arg.line()); }

Tensor apply(Op op, const std::vector<Arg>& args) {
    SourceLine line;
    for (const Arg& arg : args)
        if (!line.line) line = arg.line();
    std::optional<DType> strong;
    size_t first_value = op == Op::Select ? 1 : 0;
    for (size_t k = first_value; k < args.size(); ++k)
        if (!args[k].is_scalar()) {
            DType own = args[k].node()->dtype;
            strong = strong ? join(*strong, own) : own;
        }
    std::vector<Ref> inputs;
    std::vector<bool> weak;
    for (size_t k = 0; k < args.size(); ++k) {
        bool scalar = args[k].is_scalar();
        weak.push_back(scalar);
        inputs.push_back(scalar && strong && k >= first_value
                             ? args[k].node(constant_type(args[k], *strong))
                             : args[k].node());
    }
    return Tensor::from_node(
        elementwise(builder(*current_state(), line), op, std::move(inputs), std::move(weak)));
}

}  // namespace firn
