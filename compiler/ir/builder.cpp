// Leaves, type promotion, broadcasting and elementwise nodes.
#include "compiler/ir/builder.h"

#include <algorithm>
#include <cctype>

#include "compiler/base/error.h"
#include "compiler/ir/builder_checks.h"

namespace firn {

void fail(const Builder& b, const std::string& message) {
    throw UserError(b.line.line ? message + " (" + text(b.line) + ")" : message);
}

std::string spoken_name(Op op) {
    std::string out;
    for (const char* c = info(op).name; *c; ++c) {
        if (std::isupper(static_cast<unsigned char>(*c)) && !out.empty()) out += '_';
        out += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
    }
    return out;
}

namespace {

void add_guard(const Builder& b, const Size& left, const Size& right, const std::string& message) {
    for (const Guard& guard : *b.guards)
        if ((guard.left == left && guard.right == right) ||
            (guard.left == right && guard.right == left))
            return;
    b.guards->push_back({left, right, b.line.line ? message + " (" + text(b.line) + ")" : message});
}

/// No call can check a size that only the device knows.
void refuse_data_size(const Builder& b, const Size& size, const std::string& message) {
    const std::vector<SizeAtom> symbols = data_symbols(size);
    if (symbols.empty()) return;
    const std::string name = Size::data(symbols[0].name, symbols[0].args[0]).text();
    fail(b, message + "; " + name +
                " is a size that only the device knows, so that this cannot be checked: use sizes "
                "that come from the same condition, or call the tensor's shape() outside of the "
                "recording, which reads it back");
}

}  // namespace

void require_equal(const Builder& b, const Size& left, const Size& right,
                   const std::string& message) {
    if (left == right) return;
    const Size difference = left - right;
    if (difference.is_constant()) fail(b, message);
    refuse_data_size(b, difference, message);
    if (!b.guards)
        fail(b, message + "; " + left.text() + " = " + right.text() + " is not known here");
    add_guard(b, left, right, message);
}

void require_less_equal(const Builder& b, const Size& left, const Size& right,
                        const std::string& message) {
    if (proved_less_equal(left, right)) return;
    Size excess = left - right;
    if (excess.is_constant() || excess.lower_bound() > 0) fail(b, message);
    refuse_data_size(b, excess, message);
    if (!b.guards)
        fail(b, message + "; " + left.text() + " <= " + right.text() + " is not known here");
    add_guard(b, min(left, right), left, message);
}

int checked_axis(const Builder& b, int axis, int rank, const std::string& what) {
    if (axis < -rank || axis >= rank)
        fail(b, what + ": axis " + std::to_string(axis) + " does not exist, the tensor has rank " +
                    std::to_string(rank) +
                    (rank ? "; give an axis from " + std::to_string(-rank) + " to " +
                                std::to_string(rank - 1)
                          : "; a scalar has no axes"));
    return axis < 0 ? axis + rank : axis;
}

Ref constant(Builder b, Scalar value) {
    DType dtype = value.dtype;
    return b.table.intern(Op::Constant, dtype, {}, {}, ConstantAttr{value}, b.line);
}
Ref parameter(Builder b, Scalar value, uint64_t id) {
    DType dtype = value.dtype;
    return b.table.intern(Op::Constant, dtype, {}, {}, ConstantAttr{value, id}, b.line);
}
Ref constant_float(Builder b, double value, DType dtype) {
    return constant(b, scalar_float(value, dtype));
}
Ref constant_int(Builder b, int64_t value, DType dtype) {
    return constant(b, scalar_int(value, dtype));
}

Ref size_value(Builder b, const Size& size) {
    if (size.is_constant()) {
        if (size.constant() < INT32_MIN || size.constant() > INT32_MAX)
            fail(b, "the size " + size.text() +
                        " does not fit the i32 that sizes are among tensors; multiply its factors "
                        "as floats or i64");
        return constant_int(b, size.constant());
    }
    return b.table.intern(Op::SizeValue, i32, {}, {}, SizeAttr{size}, b.line);
}

Ref empty(Builder b, DType dtype, Shape shape) {
    return b.table.intern(Op::Empty, dtype, std::move(shape), {}, {}, b.line);
}

Ref input(Builder b, int index, DType dtype, Shape shape, bool scalar) {
    ensure(!scalar || shape.empty(), "a scalar argument has a shape");
    return b.table.intern(Op::Input, dtype, std::move(shape), {}, InputAttr{index, scalar}, b.line);
}

Ref region_arg(Builder b, DType dtype, Shape shape) {
    return b.table.intern(Op::RegionArg, dtype, std::move(shape), {}, RegionArgAttr{}, b.line);
}

Ref index(Builder b, Shape shape, int axis) {
    axis = checked_axis(b, axis, static_cast<int>(shape.size()), "index of shape " + text(shape));
    return b.table.intern(Op::Index, i32, std::move(shape), {}, IndexAttr{axis}, b.line);
}

// --- types ---------------------------------------------------------------------------------------

DType join(DType a, DType b) {
    if (a == b) return a;
    if (a.is_float() != b.is_float()) return a.is_float() ? a : b;
    if (a.is_bool() != b.is_bool()) return a.is_bool() ? b : a;
    if (a.is_half() && b.is_half()) return f32;  // f16 has more digits, bf16 more magnitudes
    const DType wide = a.bytes() >= b.bytes() ? a : b, other = wide == a ? b : a;
    if (wide.bytes() > other.bytes() &&
        (wide.is_signed() || !wide.is_narrow() || !other.is_signed()))
        return wide;
    if (wide.is_narrow()) return i32;  // u16 holds no negative i8, and i16 not every u16
    return a.is_signed() ? a : b;
}

namespace {

bool is_bitwise_logic(Op op) { return op == Op::And || op == Op::Or || op == Op::Xor; }

/// Returns the common dtype of all value inputs; weak ones adapt.
DType joined(const std::vector<Ref>& values, const std::vector<bool>& weak) {
    bool any_strong = std::find(weak.begin(), weak.end(), false) != weak.end();
    DType dtype = boolean;
    bool first = true, weak_float = false, weak_int = false;
    for (size_t k = 0; k < values.size(); ++k) {
        if (any_strong && weak[k]) {
            weak_float |= values[k]->dtype.is_float();
            weak_int |= values[k]->dtype.is_integer();
            continue;
        }
        dtype = first ? values[k]->dtype : join(dtype, values[k]->dtype);
        first = false;
    }
    if (weak_float && !dtype.is_float()) return f32;
    if (weak_int && dtype.is_bool()) return i32;
    return dtype;
}

/// The dtype that the value inputs of `op` are cast to.
DType operand_type(const Builder& b, Op op, DType dtype) {
    if (op == Op::Select || op == Op::Cast) return dtype;
    if (op == Op::Not) return boolean;
    if (op == Op::IsNan || op == Op::IsInf) return dtype.is_float() ? dtype : f32;
    if (info(op).result == ResultRule::Float) return dtype.is_float() ? dtype : f32;
    if (info(op).result == ResultRule::Int && dtype.is_float())
        fail(b, spoken_name(op) + " works on integers and bools, and this is " + dtype.name() +
                    "; cast it, or use bitcast for its bits");
    bool keeps_bool = is_bitwise_logic(op) || op == Op::Equal || op == Op::NotEqual;
    if (keeps_bool && dtype.is_bool()) return dtype;
    return arithmetic_type(dtype);
}

}  // namespace

// --- shapes --------------------------------------------------------------------------------------

Shape broadcast_shapes(Builder b, const Shape& x, const Shape& y, const std::string& what) {
    if (x == y) return x;
    const Shape& longer = x.size() >= y.size() ? x : y;
    const Shape& shorter = x.size() >= y.size() ? y : x;
    Shape out = longer;
    size_t offset = longer.size() - shorter.size();
    for (size_t k = 0; k < shorter.size(); ++k) {
        const Size& a = longer[offset + k];
        const Size& c = shorter[k];
        if (a == c || c.is(1)) continue;
        if (a.is(1)) {
            out[offset + k] = c;
            continue;
        }
        require_equal(
            b, a, c,
            what + ": shapes " + text(x) + " and " + text(y) + " do not broadcast, " + a.text() +
                " and " + c.text() +
                " meet in one dimension; sizes must be equal, or one of them 1 (use unsqueeze "
                "or reshape to line the axes up)");
        if (c.is_constant()) out[offset + k] = c;
    }
    return out;
}

Ref fit(const Builder& b, const Ref& x, const Shape& shape, const std::string& what) {
    if (x->shape == shape) return x;
    size_t offset = shape.size() - x->shape.size();
    Shape own = x->shape;
    for (size_t k = 0; k < own.size(); ++k) {
        const Size& wanted = shape[offset + k];
        if (own[k] == wanted || own[k].is(1)) continue;
        require_equal(b, own[k], wanted,
                      what + ": shape " + text(x->shape) + " cannot become " + text(shape) + ", " +
                          own[k].text() + " is neither 1 nor " + wanted.text());
        own[k] = wanted;
    }
    Ref y = x;
    // Sizes that only a guard makes equal are renamed by a slice from 0, which moves nothing.
    if (own != x->shape)
        y = b.table.intern(
            Op::Slice, x->dtype, own, {x},
            SliceAttr{std::vector<Size>(own.size()), std::vector<int64_t>(own.size(), 1)}, b.line);
    if (own == shape) return y;
    return b.table.intern(Op::Expand, x->dtype, shape, {y}, {}, b.line);
}

Ref expand(Builder b, const Ref& x, const Shape& shape) {
    if (x->shape.size() > shape.size())
        fail(b, "expand: " + text(x->shape) + " has more dimensions than " + text(shape) +
                    "; reduce or squeeze the extra ones first");
    return fit(b, x, shape, "expand");
}

// --- elementwise ---------------------------------------------------------------------------------

Ref cast(Builder b, const Ref& x, DType dtype) {
    if (x->dtype == dtype) return x;
    if (x->op == Op::Constant) return constant(b, x->as<ConstantAttr>().value.to(dtype));
    return b.table.intern(Op::Cast, dtype, x->shape, {x}, {}, b.line);
}

Ref bitcast(Builder b, const Ref& x, DType dtype) {
    if (x->dtype == dtype) return x;
    std::string asked = std::string("bitcast: ") + x->dtype.name() + " to " + dtype.name();
    if (x->dtype.is_bool() || dtype.is_bool()) fail(b, asked + ": a bool has no bits; cast it");
    if (x->dtype.bytes() != dtype.bytes())
        fail(b, asked + ": " + std::to_string(x->dtype.bytes()) + " bytes are not " +
                    std::to_string(dtype.bytes()) + "; choose a type of the same width, or cast");
    return b.table.intern(Op::Bitcast, dtype, x->shape, {x}, {}, b.line);
}

Ref elementwise(Builder b, Op op, std::vector<Ref> inputs, std::vector<bool> weak) {
    const OpInfo& row = info(op);
    ensure(is_elementwise(op) && op != Op::Cast && op != Op::Bitcast,
           "elementwise of another operation");
    ensure(static_cast<int>(inputs.size()) == row.arity,
           "an operation has a fixed number of inputs");
    weak.resize(inputs.size(), false);
    size_t first_value = op == Op::Select ? 1 : 0;
    std::vector<Ref> values(inputs.begin() + first_value, inputs.end());
    DType dtype = joined(values, {weak.begin() + static_cast<long>(first_value), weak.end()});
    if (op == Op::BitNot && dtype.is_bool()) op = Op::Not;
    dtype = operand_type(b, op, dtype);

    std::string what = spoken_name(op);
    Shape shape = inputs[0]->shape;
    for (size_t k = 1; k < inputs.size(); ++k)
        if (inputs[k]->shape != shape) shape = broadcast_shapes(b, shape, inputs[k]->shape, what);
    for (size_t k = 0; k < inputs.size(); ++k) {
        inputs[k] = cast(b, inputs[k], k < first_value ? boolean : dtype);
        if (inputs[k]->shape != shape) inputs[k] = fit(b, inputs[k], shape, what);
    }
    DType result = info(op).result == ResultRule::Bool ? boolean : dtype;
    return b.table.intern(op, result, std::move(shape), std::move(inputs), {}, b.line);
}

}  // namespace firn
