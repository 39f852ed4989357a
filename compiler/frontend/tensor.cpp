// Tensors, operands and element accesses over slots.
#include "compiler/frontend/tensor.h"

#include <algorithm>
#include <cstring>

#include "compiler/frontend/apply.h"
#include "compiler/frontend/data_size.h"
#include "compiler/frontend/promises.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/run_graph.h"
#include "compiler/program/error.h"

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

}  // namespace

// --- Tensor --------------------------------------------------------------------------------------

Tensor::Tensor() : slot_(make_slot(current_state(), nullptr)) {}

Tensor::Tensor(const Scalar& value, SourceLine line)
    : slot_(make_slot(current_state(),
                      constant(builder(*current_state(), line), value.to(natural_type(value))))) {}

Tensor::Tensor(const Size& size, SourceLine line)
    : slot_(make_slot(current_state(), size_value(builder(*current_state(), line), size))) {}

Tensor::Tensor(const Tensor& other)
    : slot_(make_slot(current_state(),
                      has_value(other.slot_) ? read_slot(other.slot_, {}) : nullptr)) {}

Tensor::~Tensor() = default;

Tensor Tensor::from_node(SharedPtr<const Node> node) {
    Tensor out;
    out.slot_->node = std::move(node);
    return out;
}

Tensor& Tensor::operator=(const Tensor& other) & {
    if (this == &other) return *this;
    if (!has_value(other.slot_) && !has_value(slot_)) return *this;
    Ref node = read_slot(other.slot_, {});
    if (!write_slot(slot_, node, {})) slot_ = make_slot(current_state(), std::move(node));
    return *this;
}

void Tensor::take_version(SharedPtr<const Node> node, SourceLine line) {
    if (!store_slot(slot_, node, line)) slot_ = make_slot(current_state(), std::move(node));
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

SharedPtr<const Node> Tensor::node(SourceLine line) const {
    Ref node = read_slot(slot_, line);
    return is_recording(*slot_->session) ? node : with_read_sizes(*slot_->session, node);
}

TensorShape Tensor::shape(SourceLine line) const {
    Ref here_and_now = node(line);
    SessionState& session = *slot_->session;
    // A function of the library goes on with symbols; who asks from outside wants numbers.
    if (!is_recording(session) && !session.caller.line) {
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

Tensor::Index::Index() = default;
Tensor::Index::Index(Arg&& arg) : arg_(std::move(arg)) {}
Tensor::Index::~Index() = default;

const Tensor::Index& Tensor::none() {
    static const Index absent;
    return absent;
}

namespace {

std::vector<Arg> given(std::initializer_list<const Tensor::Index*> indices, SourceLine& line) {
    std::vector<Arg> out;
    bool ended = false;
    for (const Tensor::Index* index : indices) {
        if (!index->arg()) {
            ended = true;
            continue;
        }
        if (!line.line) line = index->arg()->line();
        if (ended) fail_at(line, "access: an index is missing before another; give them in order");
        out.push_back(*index->arg());
    }
    return out;
}

std::vector<Ref> nodes_of(const std::vector<Arg>& args) {
    std::vector<Ref> out;
    for (const Arg& arg : args) out.push_back(arg.node());
    return out;
}

Ref read_elements(const Ref& source, const std::vector<Arg>& indices, Bounds mode,
                  const Scalar& fill, SourceLine line, bool own = false) {
    // A promise that holds only where a branch is taken is none for the stores of the branch, which
    // are made at masked positions.
    const SessionState& session = *current_state();
    const bool in_branch =
        std::any_of(session.scopes.begin(), session.scopes.end(),
                    [](const Scope& scope) { return scope.condition != nullptr; });
    std::vector<Ref> places = nodes_of(indices);
    Builder b = builder(*current_state(), line);
    if (mode == Bounds::Unchecked && places.size() <= source->shape.size() &&
        checks_promises(*current_state()))
        check_read(*current_state(), b, source->shape, places);
    if (mode == Bounds::Unchecked && in_branch) mode = Bounds::Clamp;
    std::vector<Bounds> modes(indices.size(), mode);
    return gather(b, source, std::move(places), std::move(modes), fill, own);
}

/// In a kernel by hand, values that are made there are one element for each invocation, or whole
/// tensors that it reads.
void require_memory(const SessionState& session, const Slot& slot, SourceLine line) {
    if (!slot.array && slot.scope >= session.scopes[kernel_depth(session)].id)
        fail_at(line,
                "inside a kernel, a store to a tensor that was made there; store to a tensor from "
                "outside, or to memory "
                "of the kernel's own: local(...) of an invocation, shared(...) of a group");
}

/// In a kernel by hand every invocation stores one element.
void require_one_each(const Builder& b, const std::vector<Ref>& indices, const Node& value,
                      const Node& target, const Shape& grid) {
    Shape all = value.shape;
    for (const Ref& index : indices)
        all = broadcast_shapes(b, all, index->shape, "a store: the indices and the value");
    if (broadcast_shapes(b, all, grid, "a store inside a kernel: its indices and the kernel's") !=
            grid ||
        indices.size() != target.shape.size())
        fail_at(b.line,
                "inside a kernel an invocation stores one element: give an index for each of the " +
                    std::to_string(target.shape.size()) +
                    " axes of the tensor, and a single value");
}

}  // namespace

Access Tensor::operator()(const Index& i, const Index& j, const Index& k, const Index& l,
                          const Index& m, const Index& n) & {
    SourceLine line;
    std::vector<Arg> indices = given({&i, &j, &k, &l, &m, &n}, line);
    return Access(*this, std::move(indices), line);
}

Tensor Tensor::operator()(const Index& i, const Index& j, const Index& k, const Index& l,
                          const Index& m, const Index& n) const& {
    SourceLine line;
    std::vector<Arg> indices = given({&i, &j, &k, &l, &m, &n}, line);
    return from_node(read_elements(node(line), indices, Bounds::Clamp, scalar_int(0), line));
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

// --- Access --------------------------------------------------------------------------------------

Access::Access(Tensor& target, std::vector<Arg> indices, SourceLine line)
    : target_(&target), version_(target.node(line)), indices_(std::move(indices)), line_(line) {}

SharedPtr<const Node> Access::read() const {
    return read_elements(version_, indices_, Bounds::Clamp, scalar_int(0), line_);
}
Access::Access(const Access& other) = default;
Access::~Access() = default;

Access::operator Tensor() const { return Tensor::from_node(read()); }

SharedPtr<const Node> Access::store(const Arg& value, const ScatterAttr& how) && {
    Builder b = builder(*current_state(), value.line());
    std::vector<Ref> indices = nodes_of(indices_);
    ScatterAttr attr = how;
    if (const Shape* grid = kernel_grid(*current_state())) {
        attr.by_hand = true;
        require_memory(*current_state(), *target_->slot(), value.line());
        require_one_each(b, indices, *value.node(), *version_, *grid);
        indices[0] = expand(b, indices[0], *grid);
    }
    indices = masked_indices(b, target_->slot(), std::move(indices));
    if (attr.unique && checks_promises(*current_state()))
        check_store(*current_state(), b, version_->shape, indices,
                    store_mask(target_->slot(), value.line()), attr);
    Ref version = scatter(b, version_, value.node(), std::move(indices), attr);
    target_->take_version(version, value.line());
    return version;
}

void Access::operator=(const Arg& value) && { std::move(*this).store(value, ScatterAttr{}); }

void Access::operator+=(const Arg& value) && {
    std::move(*this) = Arg(*this, value.line()) + value;
}
void Access::operator-=(const Arg& value) && {
    std::move(*this) = Arg(*this, value.line()) - value;
}
void Access::operator*=(const Arg& value) && {
    std::move(*this) = Arg(*this, value.line()) * value;
}
void Access::operator/=(const Arg& value) && {
    std::move(*this) = Arg(*this, value.line()) / value;
}

// --- reading with a bounds mode ------------------------------------------------------------------

Tensor Reader::operator()(const Index& i, const Index& j, const Index& k, const Index& l,
                          const Index& m, const Index& n) const {
    SourceLine line;
    std::vector<Arg> indices = given({&i, &j, &k, &l, &m, &n}, line);
    indices.insert(indices.begin(), first_.begin(), first_.end());
    return Tensor::from_node(read_elements(source_.node(), indices, mode_, fill_, line, own_));
}

Reader::Reader(const Operand& source, std::vector<Arg> first)
    : source_(source),
      mode_(Bounds::Clamp),
      fill_(scalar_int(0)),
      own_(true),
      first_(std::move(first)) {
    if (!kernel_depth(*current_state()))
        fail_at(source.line(),
                "own: only inside kernel(...), where other invocations store at the same time");
}

Reader wrap(const Operand& x) { return Reader(x, Bounds::Wrap, scalar_int(0)); }
Reader mirror(const Operand& x) { return Reader(x, Bounds::Mirror, scalar_int(0)); }
Reader zero(const Operand& x) { return Reader(x, Bounds::Constant, scalar_int(0)); }
Reader own(const Operand& x) { return Reader(x, std::vector<Arg>{}); }
Reader unchecked(const Operand& x) { return Reader(x, Bounds::Unchecked, scalar_int(0)); }
Reader fill(const Operand& x, const Arg& value) {
    Ref node = value.node();
    if (node->op != Op::Constant)
        fail_at(value.line(),
                "fill: the value outside must be a number known while recording; for a tensor read "
                "with clamping and choose by select");
    return Reader(x, Bounds::Constant, node->as<ConstantAttr>().value);
}

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
    return apply(Op::Not, {Arg(x, node->lines.empty() ? SourceLine{} : node->lines.front())});
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
