// Tensors and operands over slots.
#include "compiler/frontend/tensor.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "compiler/base/error.h"
#include "compiler/frontend/apply.h"
#include "compiler/frontend/data_size.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/run_graph.h"

namespace firn {
namespace {

bool fits(const Scalar& value, DType dtype) {
    if (value.dtype == u64 && value.i < 0) return dtype == u64;
    int bits = 8 * dtype.bytes();
    if (bits == 64) return true;
    if (dtype.is_signed())
        return value.i >= -(int64_t{1} << (bits - 1)) && value.i < (int64_t{1} << (bits - 1));
    return value.i >= 0 && value.i < (int64_t{1} << bits);
}

/// The type that a C++ scalar has on its own: f32, i32 where it fits, else wider.
DType natural_type(const Scalar& value) {
    if (value.dtype.is_float()) return f32;
    if (value.dtype.is_bool() || value.dtype == u32) return value.dtype;
    for (DType type : {i32, u32, i64})
        if (fits(value, type)) return type;
    return u64;
}

/// True if a handle takes the value of another one along with its session, because one of the two
/// is of a session that is not current.
bool takes_elsewhere(const Slot& target, const Slot& value) {
    const bool same_kind = !target.kind || target.kind == value.kind;
    return (is_elsewhere(value) || (is_elsewhere(target) && value.node)) && same_kind &&
           !is_recording(*target.session);
}

}  // namespace

// --- Tensor --------------------------------------------------------------------------------------

void Tensor::own(SharedPtr<Slot> slot) {
    if (slot_) {
        slot_->handle = nullptr;
        slot->kind = slot_->kind;
    }
    slot_ = std::move(slot);
    slot_->handle = this;
}

Tensor::Tensor() { own(make_slot(current_state(), nullptr)); }

Tensor::Tensor(const Scalar& value, SourceLine line) {
    SessionState& session = *current_state();
    Ref number = constant(builder(session, line), value.to(natural_type(value)));
    own(make_slot(current_state(), own_value(session, std::move(number))));
}

Tensor::Tensor(const Size& size, SourceLine line) {
    own(make_slot(current_state(), size_value(builder(*current_state(), line), size)));
}

Tensor::Tensor(const Tensor& other) {
    if (is_elsewhere(*other.slot_))
        own(make_slot(other.slot_->session, other.slot_->node));
    else
        own(make_slot(current_state(),
                      has_value(other.slot_) ? read_slot(other.slot_, {}) : nullptr));
}

Tensor::~Tensor() { slot_->handle = nullptr; }

Tensor Tensor::from_node(SharedPtr<const Node> node) {
    return tensor_of(own_value(*current_state(), std::move(node)));
}

Tensor tensor_of(Ref node) {
    Tensor out;
    out.slot()->node = std::move(node);
    return out;
}

Tensor& Tensor::operator=(const Tensor& other) & {
    if (this == &other) return *this;
    if (takes_elsewhere(*slot_, *other.slot_)) {
        const Ref node =
            is_elsewhere(*other.slot_) ? other.slot_->node : read_slot(other.slot_, {});
        own(make_slot(other.slot_->session, node));
        return *this;
    }
    if (!has_value(other.slot_) && !has_value(slot_)) return *this;
    Ref node = read_slot(other.slot_, {});
    if (slot_->kind) node = component_of_kind(node, *slot_->kind);
    if (!write_slot(slot_, node, {})) own(make_slot(current_state(), std::move(node)));
    return *this;
}

void Tensor::take_version(SharedPtr<const Node> node, SourceLine line) {
    node = own_value(*slot_->session, std::move(node));
    if (!store_slot(slot_, node, line)) own(make_slot(current_state(), std::move(node)));
}

Tensor& Tensor::operator+=(const Arg& value) & { return *this = Arg(*this, value.line()) + value; }
Tensor& Tensor::operator-=(const Arg& value) & { return *this = Arg(*this, value.line()) - value; }
Tensor& Tensor::operator*=(const Arg& value) & { return *this = Arg(*this, value.line()) * value; }
Tensor& Tensor::operator/=(const Arg& value) & { return *this = Arg(*this, value.line()) / value; }
Tensor& Tensor::operator%=(const Arg& value) & { return *this = Arg(*this, value.line()) % value; }
Tensor& Tensor::operator&=(const Arg& value) & { return *this = Arg(*this, value.line()) & value; }
Tensor& Tensor::operator|=(const Arg& value) & { return *this = Arg(*this, value.line()) | value; }
Tensor& Tensor::operator^=(const Arg& value) & { return *this = Arg(*this, value.line()) ^ value; }
Tensor& Tensor::operator<<=(const Arg& value) & {
    return *this = Arg(*this, value.line()) << value;
}
Tensor& Tensor::operator>>=(const Arg& value) & {
    return *this = Arg(*this, value.line()) >> value;
}

Tensor& operator++(const CountedTensor& x) { return x.tensor += Arg(1, x.line); }
Tensor& operator--(const CountedTensor& x) { return x.tensor -= Arg(1, x.line); }
Tensor operator++(const CountedTensor& x, int) {
    Tensor old = x.tensor;
    ++x;
    return old;
}
Tensor operator--(const CountedTensor& x, int) {
    Tensor old = x.tensor;
    --x;
    return old;
}

SharedPtr<const Node> Tensor::node(SourceLine line) const {
    Ref node = read_slot(slot_, line);
    return is_recording(*slot_->session) ? node : with_read_sizes(*slot_->session, node);
}

TensorShape Tensor::shape(SourceLine line) const {
    Ref here_and_now = node(line);
    SessionState& session = *slot_->session;
    // A library function continues with symbols; a caller outside needs numbers. The arguments of a
    // gradient rule stand for values that do not exist yet.
    const bool is_held = here_and_now->free_args && !here_and_now->free_args->empty();
    if (!is_recording(session) && !session.caller.line && !is_held) {
        here_and_now = with_known_sizes(session, here_and_now, line);
        if (has_data_sizes(slot_->node->shape)) slot_->node = here_and_now;
    }
    note_asked(*slot_->session, here_and_now, line);
    return TensorShape(here_and_now->shape, line);
}

Dimension Tensor::size(int axis, SourceLine line) const {
    TensorShape own = shape(line);
    int rank = static_cast<int>(own.size());
    if (axis < -rank || axis >= rank)
        fail_at(line, "size: axis " + std::to_string(axis) +
                          " does not exist, the tensor has shape " + text(own) +
                          "; give an axis below its rank " + std::to_string(rank));
    return own[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
}

int Tensor::rank(SourceLine line) const { return static_cast<int>(shape(line).size()); }
DType Tensor::dtype(SourceLine line) const { return node(line)->dtype; }

Tensor Tensor::as(DType dtype, SourceLine line) const {
    Ref value = node(line);
    return from_node(cast(builder(*slot_->session, line), value, dtype));
}

// --- Arg -----------------------------------------------------------------------------------------

Arg::Arg(const Tensor& x, SourceLine line) : node_(x.node(line)), slot_(x.slot()), line_(line) {}
Arg::Arg(const Access& x, SourceLine line) : node_(x.read()), line_(line) {}
Arg::Arg(Tensor&& x, SourceLine line) : slot_(x.slot()), line_(line), donated_(true) { node(); }
Arg::Arg(const Scalar& scalar, SourceLine line) : scalar_(scalar), line_(line) {}
Arg::Arg(const Arg& other) = default;
Arg::Arg(Arg&& other) = default;
Arg& Arg::operator=(const Arg& other) = default;
Arg& Arg::operator=(Arg&& other) = default;
Arg::~Arg() = default;
Arg::Arg(const Size& size, SourceLine line)
    : node_(size_value(builder(*current_state(), line), size)), line_(line) {}

SharedPtr<const Node> Arg::node(std::optional<DType> dtype) const {
    if (donated_) return read_slot(slot_, line_);
    if (!scalar_) return node_;
    return constant(builder(*current_state(), line_),
                    scalar_->to(dtype.value_or(natural_type(*scalar_))));
}

// --- for debuggers -------------------------------------------------------------------------------

// firn_gdb.py reads a tensor's node, and that node's type and shape, at these offsets.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
extern "C" const size_t firn_debug_layout[3];
const size_t firn_debug_layout[] = {offsetof(Slot, node), offsetof(Node, dtype),
                                    offsetof(Node, shape)};

// --- operators -----------------------------------------------------------------------------------

Tensor operator+(const Arg& a, const Arg& b) { return apply(Op::Add, {a, b}); }
Tensor operator-(const Arg& a, const Arg& b) { return apply(Op::Sub, {a, b}); }
Tensor operator*(const Arg& a, const Arg& b) { return apply(Op::Mul, {a, b}); }
Tensor operator/(const Arg& a, const Arg& b) { return apply(Op::Div, {a, b}); }
Tensor operator%(const Arg& a, const Arg& b) { return apply(Op::Mod, {a, b}); }
Tensor operator&(const Arg& a, const Arg& b) { return apply(Op::And, {a, b}); }
Tensor operator|(const Arg& a, const Arg& b) { return apply(Op::Or, {a, b}); }
Tensor operator^(const Arg& a, const Arg& b) { return apply(Op::Xor, {a, b}); }
Tensor operator<<(const Arg& a, const Arg& b) { return apply(Op::ShiftLeft, {a, b}); }
Tensor operator>>(const Arg& a, const Arg& b) { return apply(Op::ShiftRight, {a, b}); }
Tensor operator<(const Arg& a, const Arg& b) { return apply(Op::Less, {a, b}); }
Tensor operator>(const Arg& a, const Arg& b) { return apply(Op::Less, {b, a}); }
Tensor operator<=(const Arg& a, const Arg& b) { return apply(Op::LessEqual, {a, b}); }
Tensor operator>=(const Arg& a, const Arg& b) { return apply(Op::LessEqual, {b, a}); }
Tensor operator==(const Arg& a, const Arg& b) { return apply(Op::Equal, {a, b}); }
Tensor operator!=(const Arg& a, const Arg& b) { return apply(Op::NotEqual, {a, b}); }
Tensor operator+(const Arg& x) { return Tensor::from_node(x.node()); }
Tensor operator-(const Arg& x) { return apply(Op::Neg, {x}); }
Tensor operator~(const Arg& x) { return apply(Op::BitNot, {x}); }
Tensor operator!(const Tensor& x) {
    Ref node = x.node();
    return apply(Op::Not, {Arg(x, first_line(node->lines))});
}
Tensor operator!(const Access& x) { return !Tensor(x); }

// --- data out ------------------------------------------------------------------------------------

std::vector<std::byte> Tensor::read(SourceLine line) const { return read_tensor(*this, line); }

void Tensor::copy_bytes(const std::vector<std::byte>& from, void* to) {
    if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

void Tensor::require_single(SourceLine line) const {
    Ref value = with_known_sizes(*slot_->session, node(line), line);
    if (!element_count(value->shape).is(1))
        fail_at(line, "item: the tensor has shape " + text(value->shape) +
                          " and item gives a single element; use to_vector, or index one");
}

}  // namespace firn
