// Element accesses: reading by index, with a bounds mode, and storing.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "compiler/frontend/promises.h"
#include "compiler/frontend/reader.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/reduce.h"
#include "compiler/frontend/subscripts.h"
#include "compiler/frontend/tensor.h"

namespace firn {

Tensor::Index::Index() = default;
Tensor::Index::Index(Arg&& arg) : is_(Is::Value), arg_(std::move(arg)), line_(arg_->line()) {}
Tensor::Index::Index(const IndexRange& range, SourceLine line)
    : is_(Is::Range), range_(std::make_shared<const IndexRange>(range)), line_(line) {}
Tensor::Index::Index(NewAxis, SourceLine line) : is_(Is::NewAxis), line_(line) {}
Tensor::Index::Index(Ellipsis, SourceLine line) : is_(Is::Ellipsis), line_(line) {}
Tensor::Index::Index(Tensor (*given)(const Operand&, const ReduceOptions&), SourceLine line)
    : Index(IndexRange{}, line) {
    if (given != static_cast<decltype(given)>(all))
        fail_at(line,
                "access: a function is given as an index; `all` is a whole axis, and other "
                "functions are called");
}
Tensor::Index::~Index() = default;

const Tensor::Index& Tensor::absent() {
    static const Index absent;
    return absent;
}

namespace {

std::vector<Tensor::Index> given(std::initializer_list<const Tensor::Index*> indices,
                                 SourceLine& line) {
    std::vector<Tensor::Index> out;
    bool ended = false;
    for (const Tensor::Index* index : indices) {
        if (index->is() == Tensor::Index::Is::Absent) {
            ended = true;
            continue;
        }
        if (!line.line) line = index->line();
        if (ended) fail_at(line, "access: an index is missing before another; give them in order");
        out.push_back(*index);
    }
    return out;
}

std::vector<Ref> nodes_of(const std::vector<Tensor::Index>& indices) {
    std::vector<Ref> out;
    for (const Tensor::Index& index : indices) out.push_back(index.arg()->node());
    return out;
}

Ref read_part(const Ref& source, const std::vector<Tensor::Index>& indices, Bounds mode,
              const Scalar& fill, SourceLine line) {
    const Builder b = builder(*current_state(), line);
    const Chosen part = chosen(b, source, indices);
    if (part.mask)
        fail_at(line,
                "access: only the data says how many elements a mask chooses; compact(x, mask) "
                "gives those along the first axis (of several axes: reshape both "
                "to {-1} before), select(mask, x, other) keeps the shape, and to the left of an "
                "assignment x(mask) = v stores where it holds");
    return read_chosen(b, part, mode, fill);
}

/// Warns of a negative index: in numpy it counts from the end.
void warn_of_negative(const std::vector<Tensor::Index>& indices, SourceLine line) {
    for (const Tensor::Index& index : indices)
        if (index.arg()->is_scalar() && index.arg()->scalar().as_int() < 0)
            std::fprintf(
                stderr,
                "firn: warning: %s: an index of %s clamps to the edge and reads element 0; "
                "x(x.size(0) - 1) or x(range(-1, none)) count from the end\n",
                text(line).c_str(), text(index.arg()->scalar()).c_str());
}

Ref read_elements(const Ref& source, const std::vector<Tensor::Index>& indices, Bounds mode,
                  const Scalar& fill, SourceLine line, bool own = false) {
    if (!are_elements(indices)) {
        if (own) fail_at(line, "own: give a number or a tensor of integers for each axis");
        return read_part(source, indices, mode == Bounds::Unchecked ? Bounds::Clamp : mode, fill,
                         line);
    }
    // A promise that holds only where a branch is taken does not hold for the stores of the branch,
    // because these are made at masked positions.
    const SessionState& session = *current_state();
    const bool in_branch =
        std::any_of(session.scopes.begin(), session.scopes.end(),
                    [](const Scope& scope) { return scope.condition != nullptr; });
    std::vector<Ref> places = nodes_of(indices);
    Builder b = builder(*current_state(), line);
    if (mode == Bounds::Clamp && checks_promises(*current_state())) warn_of_negative(indices, line);
    if (mode == Bounds::Unchecked && places.size() <= source->shape.size() &&
        checks_promises(*current_state()))
        check_read(*current_state(), b, source->shape, places);
    if (mode == Bounds::Unchecked && in_branch) mode = Bounds::Clamp;
    std::vector<Bounds> modes(indices.size(), mode);
    return gather(b, source, std::move(places), std::move(modes), fill, own);
}

/// Requires a tensor in memory: in a kernel by hand, values made there are one element for each
/// invocation, or whole tensors that it reads.
void require_memory(const SessionState& session, const Slot& slot, SourceLine line) {
    if (!slot.array && slot.scope >= session.scopes[kernel_depth(session)].id)
        fail_at(line,
                "inside a kernel, a store to a tensor that was made there; store to a tensor from "
                "outside, or to memory "
                "of the kernel's own: local(...) of an invocation, shared(...) of a group");
}

/// Requires that every invocation of a kernel by hand stores one element.
void require_one_each(const Builder& b, const std::vector<Ref>& indices, const Node& value,
                      const Node& target, const Shape& grid) {
    if (target.shape.empty())
        fail_at(b.line,
                "inside a kernel an invocation stores to an element, and the tensor is one number; "
                "start it as zeros({1}) and store to x(0)");
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
                          const Index& m, const Index& n, const Index& o, const Index& p) & {
    SourceLine line;
    std::vector<Index> indices = given({&i, &j, &k, &l, &m, &n, &o, &p}, line);
    return Access(*this, std::move(indices), line);
}

Tensor Tensor::operator()(const Index& i, const Index& j, const Index& k, const Index& l,
                          const Index& m, const Index& n, const Index& o, const Index& p) const& {
    SourceLine line;
    std::vector<Index> indices = given({&i, &j, &k, &l, &m, &n, &o, &p}, line);
    return from_node(read_elements(node(line), indices, Bounds::Clamp, scalar_int(0), line));
}

// --- Access --------------------------------------------------------------------------------------

Access::Access(Tensor& target, std::vector<Tensor::Index> indices, SourceLine line)
    : slot_(target.slot()),
      version_(target.node(line)),
      indices_(std::move(indices)),
      line_(line) {}

Access::Access(const Access& other) = default;
Access::~Access() = default;

SharedPtr<const Node> Access::read() const {
    return read_elements(version_, indices_, Bounds::Clamp, scalar_int(0), line_);
}

Access::operator Tensor() const { return Tensor::from_node(read()); }

SharedPtr<const Node> Access::read_all() const {
    if (are_elements(indices_)) return read();
    const Builder b = builder(*current_state(), line_);
    return read_chosen(b, chosen(b, version_, indices_), Bounds::Clamp, scalar_int(0));
}

std::vector<SharedPtr<const Node>> Access::places() const {
    std::vector<SharedPtr<const Node>> out;
    if (are_elements(indices_)) {
        for (const Tensor::Index& index : indices_) out.push_back(index.arg()->node());
        return out;
    }
    const Builder b = builder(*current_state(), line_);
    Chosen part = chosen(b, version_, indices_);
    if (part.places.empty())
        fail_at(line_,
                "store: the tensor is one number; assign to it, x = v, or inside a kernel start "
                "it as zeros({1}) and store to x(0)");
    if (part.mask)
        part.places[0] =
            elementwise(b, Op::Select, {part.mask, part.places[0], constant_int(b, -1)});
    out.assign(part.places.begin(), part.places.end());
    return out;
}

void Access::leave(SharedPtr<const Node> version, SourceLine line) const {
    if (!slot_->handle)
        fail_at(line,
                "store: the tensor of this access has been destroyed; keep the tensor as long as "
                "its accesses");
    slot_->handle->take_version(std::move(version), line);
}

bool Access::store_by_mask(const Arg& value) {
    if (are_elements(indices_) || kernel_grid(*current_state())) return false;
    const Builder b = builder(*current_state(), value.line());
    const Chosen part = chosen(b, version_, indices_);
    if (!part.mask) return false;
    Ref before = read_chosen(b, part, Bounds::Clamp, scalar_int(0));
    Ref given = cast(b, value.node(version_->dtype), version_->dtype);
    if (broadcast_shapes(b, part.shape, given->shape, "a store by a mask") != part.shape)
        fail_at(value.line(), "store: a value of shape " + text(given->shape) +
                                  " where a mask "
                                  "chooses among " +
                                  text(part.shape) +
                                  "; it is one number, or broadcasts to that shape (numpy's vector "
                                  "of as many values as the mask has is not taken)");
    const Tensor all = Tensor::from_node(elementwise(b, Op::Select, {part.mask, given, before}));
    indices_ = without_masks(indices_);
    std::move(*this).store(Arg(all, value.line()), ScatterAttr{});
    return true;
}

SharedPtr<const Node> Access::store(const Arg& value, const ScatterAttr& how) && {
    Builder b = builder(*current_state(), value.line());
    std::vector<Ref> indices;
    for (SharedPtr<const Node>& place : places()) indices.push_back(std::move(place));
    ScatterAttr attr = how;
    if (const Shape* grid = kernel_grid(*current_state())) {
        attr.by_hand = true;
        if (!are_elements(indices_))
            fail_at(value.line(),
                    "inside a kernel an invocation stores one element: give a number or a tensor "
                    "as each index, no range and no mask (if_ stores where a condition holds)");
        require_memory(*current_state(), *slot_, value.line());
        require_one_each(b, indices, *value.node(), *version_, *grid);
        indices[0] = expand(b, indices[0], *grid);
    }
    indices = masked_indices(b, slot_, std::move(indices));
    if (attr.unique && checks_promises(*current_state()))
        check_store(*current_state(), b, version_->shape, indices, store_mask(slot_, value.line()),
                    attr);
    Ref version = scatter(b, version_, value.node(), std::move(indices), attr);
    leave(version, value.line());
    return version;
}

void Access::operator=(const Arg& value) && {
    if (!store_by_mask(value)) std::move(*this).store(value, ScatterAttr{});
}

void Access::operator=(const Access& value) && {
    const bool same = same_mask(indices_, value.indices_);
    const Tensor version = tensor_of(value.version_);
    std::move(*this) = same ? Arg(version, line_) : Arg(value, line_);
}

namespace {

/// Stores the result of `after` for the old value.
template <class After>
void store_changed(Access&& place, const Tensor& before, const Arg& value, After after) {
    const Tensor changed = after(Arg(before, value.line()), value);
    std::move(place) = Arg(changed, value.line());
}

}  // namespace

void Access::operator+=(const Arg& value) && {
    store_changed(std::move(*this), Tensor::from_node(read_all()), value,
                  [](const Arg& a, const Arg& b) { return a + b; });
}
void Access::operator-=(const Arg& value) && {
    store_changed(std::move(*this), Tensor::from_node(read_all()), value,
                  [](const Arg& a, const Arg& b) { return a - b; });
}
void Access::operator*=(const Arg& value) && {
    store_changed(std::move(*this), Tensor::from_node(read_all()), value,
                  [](const Arg& a, const Arg& b) { return a * b; });
}
void Access::operator/=(const Arg& value) && {
    store_changed(std::move(*this), Tensor::from_node(read_all()), value,
                  [](const Arg& a, const Arg& b) { return a / b; });
}
void Access::operator%=(const Arg& value) && {
    store_changed(std::move(*this), Tensor::from_node(read_all()), value,
                  [](const Arg& a, const Arg& b) { return a % b; });
}
void Access::operator&=(const Arg& value) && {
    store_changed(std::move(*this), Tensor::from_node(read_all()), value,
                  [](const Arg& a, const Arg& b) { return a & b; });
}
void Access::operator|=(const Arg& value) && {
    store_changed(std::move(*this), Tensor::from_node(read_all()), value,
                  [](const Arg& a, const Arg& b) { return a | b; });
}
void Access::operator^=(const Arg& value) && {
    store_changed(std::move(*this), Tensor::from_node(read_all()), value,
                  [](const Arg& a, const Arg& b) { return a ^ b; });
}
void Access::operator<<=(const Arg& value) && {
    store_changed(std::move(*this), Tensor::from_node(read_all()), value,
                  [](const Arg& a, const Arg& b) { return a << b; });
}
void Access::operator>>=(const Arg& value) && {
    store_changed(std::move(*this), Tensor::from_node(read_all()), value,
                  [](const Arg& a, const Arg& b) { return a >> b; });
}

// --- reading with a bounds mode ------------------------------------------------------------------

Tensor Reader::operator()(const Index& i, const Index& j, const Index& k, const Index& l,
                          const Index& m, const Index& n, const Index& o, const Index& p) const {
    SourceLine line;
    std::vector<Index> indices = given({&i, &j, &k, &l, &m, &n, &o, &p}, line);
    for (size_t k = 0; k < first_.size(); ++k)
        indices.emplace(indices.begin() + static_cast<long>(k), Arg(first_[k]));
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
Reader reflect(const Operand& x) { return Reader(x, Bounds::Reflect, scalar_int(0)); }
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

}  // namespace firn
