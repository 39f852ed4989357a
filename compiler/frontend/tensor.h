// Tensor: a value with numpy's and a shader's notation; using it records a graph.
#pragma once
#include <array>
#include <concepts>
#include <iosfwd>
#include <optional>
#include <type_traits>
#include <vector>

#include "compiler/frontend/dimension.h"
#include "compiler/frontend/numbers.h"
#include "compiler/frontend/range.h"
#include "compiler/frontend/tensor_operators.h"
#include "compiler/program/dtype.h"

namespace firn {

struct Node;
struct ReduceOptions;
struct ScatterAttr;
struct Slot;
class Operand;
class Session;
struct CountedTensor;
enum class Bounds : uint8_t;
enum class VecKind : uint8_t;
template <size_t N, VecKind K>
struct Vec;

/// A tensor as a value: `Tensor old = x; x += 1.0f;` leaves `old` as it was. Its value is computed
/// when its data is read, or at once if it is the result of a compiled function.
///
/// Inside `loop`, `if_` and `compile`, assigning to a tensor that was made outside is recorded: it
/// becomes a value that the loop carries, or that the branches merge.
///
/// A tensor belongs to a session. Where another one is current it can be copied, assigned to
/// another handle and moved by `to`; an operation on it is a UserError.
///
/// Example: after `Tensor x = tensor({1, 2}); Tensor old = x; x += 1;` `x` is `{2, 3}` and `old` is
/// `{1, 2}`.
class Tensor : public TensorOperators {
  public:
    /// A tensor without a value; it must be assigned before it is read.
    Tensor();
    /// A rank-0 tensor: f32 from floating point (0.1 too), i32 from integers (u32 or i64 where they
    /// do not fit), bool.
    ///
    /// Examples: `Tensor(0.1).dtype().name()` is `"f32"`, `Tensor(3'000'000'000).dtype().name()` is
    /// `"u32"`.
    template <Arithmetic T>
    Tensor(T value, SourceLine line = here()) : Tensor(literal(value), line) {}
    /// The number that a parameter has.
    template <StandsForNumber T>
    Tensor(const T& value, SourceLine line = here()) : Tensor(value.number(), line) {}
    /// The size as a rank-0 i32; it may be symbolic.
    ///
    /// Example: `Tensor(zeros({5}).size(0)) * 0.5f` is `2.5`.
    Tensor(const Size& size, SourceLine line = here());
    // clang-format off
    template <size_t N, VecKind K> Tensor(const Vec<N, K>& v) = delete;  // a vector is N tensors: stack(v) makes one of them, with the components along its last axis
    // clang-format on
    /// A copy of the other tensor's value. A later store or assignment to one of them does not
    /// change the other.
    /// @{
    Tensor(const Tensor& other);
    Tensor(Tensor&& other) : Tensor(static_cast<const Tensor&>(other)) {}
    /// @}

    /// Assigns another value, of any type and shape. In a `loop` or under `if_` a tensor that was
    /// made outside keeps its type, and gets the value at the positions whose condition holds.
    ///
    /// Example: after `Tensor x = tensor({1, 5}); if_(x > 3, [&] { x = 3; });` `x` is `{1, 3}`.
    /// @{
    Tensor& operator=(const Tensor& other) &;
    Tensor& operator=(Tensor&& other) & { return *this = static_cast<const Tensor&>(other); }
    /// @}
    ~Tensor();

    /// `x += v` is `x = x + v`, and so are the others: x has the type and the shape of that.
    ///
    /// Example: after `Tensor x = tensor({1, 2}); x += 0.5f;` `x` is `{1.5, 2.5}`.
    /// @{
    Tensor& operator+=(const Arg& value) &;
    Tensor& operator-=(const Arg& value) &;
    Tensor& operator*=(const Arg& value) &;
    Tensor& operator/=(const Arg& value) &;
    Tensor& operator%=(const Arg& value) &;
    Tensor& operator&=(const Arg& value) &;
    Tensor& operator|=(const Arg& value) &;
    Tensor& operator^=(const Arg& value) &;
    Tensor& operator<<=(const Arg& value) &;
    Tensor& operator>>=(const Arg& value) &;
    /// @}

    /// `++x` is `x += 1` and `--x` is `x -= 1`; `x++` and `x--` return the old value of x.
    ///
    /// Example: after `Tensor i = 0; while_([&] { return i < 3; }, [&] { i++; });` `i` is `3`.
    /// @{
    friend Tensor& operator++(const CountedTensor& x);
    friend Tensor& operator--(const CountedTensor& x);
    friend Tensor operator++(const CountedTensor& x, int);
    friend Tensor operator--(const CountedTensor& x, int);
    /// @}

    // Decisions of C++ itself cannot be recorded, and an assignment to a result is lost. Compilers
    // show these lines:
    // clang-format off
    explicit operator bool() const = delete;  // if: if_(c, [&] {..}); ?: select(c, a, b); for: loop(n); && || !: & | ~
    Tensor& operator=(const Tensor& value) && = delete;  // a result, or part of a const tensor: x(range(2, 5)) = v stores to x
    Tensor& operator+=(const Arg& value) && = delete;  // a result, or part of a const tensor: x(range(2, 5)) += v stores to x
    Tensor& operator-=(const Arg& value) && = delete;  // a result, or part of a const tensor: x(range(2, 5)) -= v stores to x
    Tensor& operator*=(const Arg& value) && = delete;  // a result, or part of a const tensor: x(range(2, 5)) *= v stores to x
    Tensor& operator/=(const Arg& value) && = delete;  // a result, or part of a const tensor: x(range(2, 5)) /= v stores to x
    template <class I> Tensor operator[](const I& index) const = delete;  // x(i, j): brackets take one index in C++20
    // clang-format on

    class Index;
    /// The elements at indices, one per axis (fewer: whole trailing rows). Elements of a tensor
    /// that is not const can be stored to: `x(i, j) = v` makes a new version of x.
    ///
    /// - A number removes its axis. A tensor of integers replaces its axis by its own axes. Reading
    /// outside clamps to the edge: x(-1) is x(0), where numpy counts from the end. A store outside
    /// is dropped; where indices collide the last in row-major order wins.
    /// - `range(begin, end, step)` keeps its axis, as numpy's begin:end:step, negative numbers too:
    /// they count from the end here. `all` is the whole axis, `newaxis` adds one of size 1,
    /// `ellipsis` stands for the remaining axes.
    /// - A mask, a tensor of bools, stands for the axes whose shape it has, and is only stored to:
    /// `x(x < 0.0f) = v` where v is a number or broadcasts to x, and `x(m) = y(m)`. It cannot be
    /// read otherwise: `compact(x, mask)` returns the chosen elements.
    ///
    /// The axes of several tensors of indices come first if a range stands between them, as in
    /// numpy.
    ///
    /// Examples: after `Tensor x = reshape(arange(6), {2, 3});` `x(1, 2)` is `5`, `x(1)` is
    /// `{3, 4, 5}`, `x(-1, 0)` is `0`, `x(range(-1, none), 0)` is `{3}`, `x(all, tensor({2, 0}))`
    /// is `{{2, 0}, {5, 3}}`; then after `x(0, range(2)) = 7; x(x == 4) = -1;` `x` is
    /// `{{7, 7, 2}, {3, -1, 5}}`.
    Access operator()(const Index& i, const Index& j = absent(), const Index& k = absent(),
                      const Index& l = absent(), const Index& m = absent(),
                      const Index& n = absent(), const Index& o = absent(),
                      const Index& p = absent()) &;
    /// The same of a tensor that is const, or that is a result: to be read, not stored to.
    Tensor operator()(const Index& i, const Index& j = absent(), const Index& k = absent(),
                      const Index& l = absent(), const Index& m = absent(),
                      const Index& n = absent(), const Index& o = absent(),
                      const Index& p = absent()) const&;
    /// Axes in reverse order.
    ///
    /// Example: `reshape(arange(6), {2, 3}).T()` is `{{0, 3}, {1, 4}, {2, 5}}`.
    Tensor T(SourceLine line = here()) const;

    /// Returns the sizes of all axes. In a function that is recorded they may be symbolic;
    /// elsewhere a size that only the device knows is read back, which waits.
    ///
    /// Example: `zeros({2, 3}).shape()` is `[2, 3]`.
    TensorShape shape(SourceLine line = here()) const;
    /// Size of one axis; a negative axis counts from the end. UserError where there is none.
    ///
    /// Example: `zeros({2, 3}).size(-1)` is `3`.
    Dimension size(int axis, SourceLine line = here()) const;
    /// Returns the number of axes; 0 for a single number.
    ///
    /// Examples: `zeros({2, 3}).rank()` is `2`, `sum(zeros({2, 3})).rank()` is `0`.
    int rank(SourceLine line = here()) const;
    /// The type of its elements.
    ///
    /// Example: `(arange(3) < 2).dtype().name()` is `"bool"`.
    DType dtype(SourceLine line = here()) const;
    /// Converted to another type: floats to integers truncate and saturate, and nan becomes 0;
    /// integers wrap; to bool it is != 0.
    ///
    /// Examples: `tensor({2.7f, -2.7f, 1e20f, NAN}).as(i32)` is `{2, -2, 2147483647, 0}`,
    /// `tensor({300, -1}).as(u8)` is `{44, 255}`.
    Tensor as(DType dtype, SourceLine line = here()) const;

    /// Returns the elements in row-major order, converted to T as `as` converts; computes and
    /// waits. UserError inside a recorded function, where there are none yet.
    ///
    /// Example: `tensor({1, 2, 3, 4}, {2, 2}).to_vector<float>()` is `{1, 2, 3, 4}`.
    template <Arithmetic T>
    std::vector<T> to_vector(SourceLine line = here()) const;
    /// The only element of a tensor that has one, converted to T; computes and waits. UserError
    /// where it has none or several.
    ///
    /// Example: `sum(tensor({1, 2})).item<int>()` is `3`.
    template <Arithmetic T>
    T item(SourceLine line = here()) const;

    /// The same value in another session, on its device: computes it, waits for it alone, and
    /// returns once the other device can use it. What runs later in `session` sees it, and what ran
    /// before there goes on meanwhile. Where the host sees the memory of one of the two devices, as
    /// it does of the processor, of CPU drivers and of integrated GPUs, the bytes are copied once;
    /// else in pieces of 16 MiB through the host. In its own session it is the same value.
    ///
    /// The copy is a value of its own for gradients: those by it are right, and one that would have
    /// to go through another session and back is a UserError. So is a copy while one of the two
    /// sessions records. DeviceError, with the names of both devices, if there is no memory for it.
    ///
    /// Example: after `Tensor x = tensor({1, 2}), y = x.to(Session::oracle());`
    /// `y.to(current_session()) * 2` is `{2, 4}`.
    Tensor to(const Session& session, SourceLine line = here()) const;
    /// Adds a tensor of any session, of the same type and shape: `x += y.to(session of x)`,
    /// whichever session is current. UserError where type or shape differ.
    ///
    /// Example: after `Tensor x = ones({2}), y = x.to(Session::oracle()); x.add_from(y);` `x` is
    /// `{2, 2}`.
    Tensor& add_from(const Tensor& y, SourceLine line = here()) &;
    /// The session that it belongs to.
    ///
    /// Example: `tensor({1, 2}).to(Session::oracle()).session().compiles()` is `false`.
    Session session() const;

    FIRN_BESIDE_STD(Tensor)

    /// Returns the node of the current value; for code that works on graphs.
    SharedPtr<const Node> node(SourceLine line = here()) const;
    /// A new tensor in the current scope.
    static Tensor from_node(SharedPtr<const Node> node);
    /// Returns the slot that holds its value from version to version; for code that works on
    /// graphs.
    const SharedPtr<Slot>& slot() const { return slot_; }

    /// A C++ scalar with its own type kept: f64 for floating point, else an integer of its width,
    /// or bool.
    template <Arithmetic T>
    static Scalar literal(T value) {
        if constexpr (std::is_same_v<T, bool>)
            return scalar_bool(value);
        else if constexpr (std::is_floating_point_v<T>)
            return scalar_float(static_cast<double>(value), f64);
        else if constexpr (sizeof(T) == 8)
            return scalar_int(static_cast<int64_t>(value), std::is_signed_v<T> ? i64 : u64);
        else if constexpr (sizeof(T) == 4 && std::is_unsigned_v<T>)
            return scalar_int(value, u32);
        else
            return scalar_int(value, i32);
    }

  private:
    friend class Access;
    static const Index& absent();
    /// The version that stores made of the tensor.
    void take_version(SharedPtr<const Node> node, SourceLine line);
    Tensor(const Scalar& value, SourceLine line);
    void own(SharedPtr<Slot> slot);
    std::vector<std::byte> read(SourceLine line) const;
    static void copy_bytes(const std::vector<std::byte>& from, void* to);
    void require_single(SourceLine line) const;

    SharedPtr<Slot> slot_;
};

/// An operand: made implicitly from a Tensor, an element access, a C++ scalar or a Size, at the
/// caller's line. A scalar is weak: it takes the type of the tensors it meets.
class Arg : public TensorOperators {
  public:
    /// The value that the tensor has now.
    Arg(const Tensor& x, SourceLine line = here());
    /// A tensor that is donated: a compiled function that takes it may write over its memory.
    Arg(Tensor&& x, SourceLine line = here());
    /// The elements that are read, the size as an i32, or a scalar.
    /// @{
    Arg(const Access& x, SourceLine line = here());
    Arg(const Size& size, SourceLine line = here());
    template <Arithmetic T>
    Arg(T value, SourceLine line = here()) : Arg(Tensor::literal(value), line) {}
    template <StandsForNumber T>
    Arg(const T& value, SourceLine line = here()) : Arg(value.number(), line) {}
    /// @}

    /// @cond

    // Defined in the .cpp file, here and below: every operator makes and destroys operands, and
    // inline definitions would dominate the compile time of a recorded expression.
    Arg(const Arg& other);
    Arg(Arg&& other);
    Arg& operator=(const Arg& other);
    Arg& operator=(Arg&& other);
    ~Arg();

    /// @endcond

    /// The node; a scalar becomes a constant of `dtype`, or of its own type where none is given.
    SharedPtr<const Node> node(std::optional<DType> dtype = std::nullopt) const;
    /// The operand as a tensor of its own.
    Tensor tensor() const { return Tensor::from_node(node()); }
    /// Returns whether it was made from a C++ scalar.
    bool is_scalar() const { return scalar_.has_value(); }
    /// Returns that scalar; only if is_scalar().
    const Scalar& scalar() const { return *scalar_; }
    /// The caller's line.
    SourceLine line() const { return line_; }
    /// The slot of the tensor that it was made from; null for other operands.
    const SharedPtr<Slot>& slot() const { return slot_; }
    /// Returns whether it was made from a tensor that is donated.
    bool is_donated() const { return donated_; }

  private:
    Arg(const Scalar& scalar, SourceLine line);

    SharedPtr<const Node> node_;  // null where the slot alone holds it: `donated_`
    SharedPtr<Slot> slot_;
    std::optional<Scalar> scalar_;
    SourceLine line_;
    bool donated_ = false;
};

/// An operand that must be a tensor: the first argument of functions, so that `sqrt(2.0f)` of host
/// numbers stays on the host.
class Operand : public Arg {
  public:
    /// The tensor, or the elements that are read.
    /// @{
    Operand(const Tensor& x, SourceLine line = here()) : Arg(x, line) {}
    Operand(const Access& x, SourceLine line = here()) : Arg(x, line) {}
    /// @}
};

/// @cond

/// A tensor that is counted up or down, and where.
struct CountedTensor {
    CountedTensor(Tensor& x, SourceLine line = here()) : tensor(x), line(line) {}
    Tensor& tensor;
    SourceLine line;
};

/// @endcond

/// True when one of the types is a tensor or an access, and all can be operands.
template <class... T>
concept SomeTensor = ((std::same_as<std::remove_cvref_t<T>, Tensor> ||
                       std::same_as<std::remove_cvref_t<T>, Access>) ||
                      ...) &&
                     (std::constructible_from<Arg, const T&> && ...);

/// An index of an access.
class Tensor::Index {
  public:
    /// The kind of an index: nothing, a number, tensor or mask, a range, or a mark.
    enum class Is : uint8_t { Absent, Value, Range, NewAxis, Ellipsis };

    /// An absent index; those behind it are absent too.
    Index();
    /// A number, a tensor of integers or a mask.
    /// @{
    template <class T>
    requires std::constructible_from<Arg, const T&> Index(const T& index, SourceLine line = here())
        : Index(Arg(index, line)) {}
    explicit Index(Arg&& arg);
    /// @}

    /// A range, or a mark.
    /// @{
    Index(const IndexRange& range, SourceLine line = here());
    Index(NewAxis, SourceLine line = here());
    Index(Ellipsis, SourceLine line = here());
    /// @}

    /// `all`, the name of a reduction, is the whole axis.
    Index(Tensor (*all)(const Operand&, const ReduceOptions&), SourceLine line = here());
    ~Index();

    /// Returns its kind.
    Is is() const { return is_; }
    /// The operand of a Value.
    const std::optional<Arg>& arg() const { return arg_; }
    /// The range of a Range.
    const IndexRange& range() const { return *range_; }
    /// The caller's line.
    SourceLine line() const { return line_; }

  private:
    Is is_ = Is::Absent;
    std::optional<Arg> arg_;             // of a Value
    SharedPtr<const IndexRange> range_;  // of a Range
    SourceLine line_;
};

// clang-format off
template <class A, class B>
requires SomeTensor<A, B> IndexRange range(const A& begin, const B& end, int64_t step = 1) = delete;  // its size is fixed while recording: x(i + arange(3)) begins at a tensor
// clang-format on

/// An element (or a tensor of elements) of a tensor, as `u(i, j)` gives it: read where a value is
/// wanted, stored to by assignment. It reads the version of the tensor at its creation.
///
/// Example: after `Tensor x = tensor({1, 2}); Tensor first = x(0); x(0) = 9; x(1) += first;` `x` is
/// `{9, 3}`.
class Access : public TensorOperators {
  public:
    /// @cond

    Access(Tensor& target, std::vector<Tensor::Index> indices, SourceLine line);
    Access(const Access& other);
    ~Access();

    /// @endcond

    /// Reads the elements.
    operator Tensor() const;

    /// Stores or combines (scatter_add and the others are made of it). A store under `if_` or after
    /// `break_` takes effect at the positions whose condition holds. Returns the new version.
    SharedPtr<const Node> store(const Arg& value, const ScatterAttr& how) &&;
    /// Stores the value, converted to the tensor's type and broadcast to the indices; an index
    /// outside is dropped, and where indices collide the last in row-major order wins.
    ///
    /// Example: after `Tensor x = zeros({3}, i32); x(tensor({0, 0, 5})) = tensor({1, 2, 3});` `x`
    /// is `{2, 0, 0}`.
    /// @{
    void operator=(const Arg& value) &&;
    void operator=(const Access& value) &&;
    /// @}
    // clang-format off
    template <size_t N, VecKind K> void operator=(const Vec<N, K>& v) && = delete;  // a vector is N tensors: stack(v) makes one of them, with the components along its last axis
    // clang-format on

    /// `x(i) += v` is `x(i) = x(i) + v`: where indices collide the last wins, as in numpy, and the
    /// values do not add up, as they do by scatter_add.
    ///
    /// Example: after `Tensor x = zeros({2}); x(tensor({0, 0})) += 1;` `x` is `{1, 0}`.
    /// @{
    void operator+=(const Arg& value) &&;
    void operator-=(const Arg& value) &&;
    void operator*=(const Arg& value) &&;
    void operator/=(const Arg& value) &&;
    void operator%=(const Arg& value) &&;
    void operator&=(const Arg& value) &&;
    void operator|=(const Arg& value) &&;
    void operator^=(const Arg& value) &&;
    void operator<<=(const Arg& value) &&;
    void operator>>=(const Arg& value) &&;
    void operator++() && { std::move(*this) += Arg(1, line_); }
    void operator--() && { std::move(*this) -= Arg(1, line_); }
    void operator++(int) && { std::move(*this) += Arg(1, line_); }
    void operator--(int) && { std::move(*this) -= Arg(1, line_); }
    /// @}

    // clang-format off
    explicit operator bool() const = delete;  // if: if_(c, [&] {..}); ?: select(c, a, b); for: loop(n); && || !: & | ~
    template <class... I> Tensor operator()(const I&...) const = delete;  // x(i)(j): x(i, j) reads and stores; Tensor row = x(i) is a value of its own
    // clang-format on

    /// Properties of the elements that are read; see Tensor.
    /// @{
    DType dtype() const { return Tensor(*this).dtype(line_); }
    Tensor as(DType dtype) const { return Tensor(*this).as(dtype, line_); }
    TensorShape shape() const { return Tensor(*this).shape(line_); }
    Tensor T() const { return Tensor(*this).T(line_); }
    template <Arithmetic T>
    std::vector<T> to_vector(SourceLine line = here()) const {
        return Tensor(*this).to_vector<T>(line);
    }
    template <Arithmetic T>
    T item(SourceLine line = here()) const {
        return Tensor(*this).item<T>(line);
    }
    /// @}

    FIRN_BESIDE_STD(Access)

    /// Returns the node of the read elements; this and the following are for code that works on
    /// graphs.
    SharedPtr<const Node> read() const;
    /// The place to be read or stored to: the version of the tensor, and the indices of the
    /// elements along its first axes (elements that a mask leaves out are outside). `leave` makes
    /// another version, which differs only by stores at positions whose conditions hold.
    /// @{
    const SharedPtr<const Node>& version() const { return version_; }
    std::vector<SharedPtr<const Node>> places() const;
    const SharedPtr<Slot>& slot() const { return slot_; }
    SourceLine line() const { return line_; }
    void leave(SharedPtr<const Node> version, SourceLine line) const;
    /// @}

  private:
    SharedPtr<const Node> read_all() const;
    bool store_by_mask(const Arg& value);

    SharedPtr<Slot> slot_;  // of the tensor, which may be gone
    SharedPtr<const Node> version_;
    std::vector<Tensor::Index> indices_;
    SourceLine line_;
};

#undef FIRN_BESIDE_STD
#undef FIRN_BESIDE_STD_

/// Type, shape and elements as numpy shows them, of more than 64 those at the ends of long axes:
/// computes and waits. While something is recorded, type and shape. `tensor({1, 2})` is shown as
/// `i32[2] = [1 2]`.
std::ostream& operator<<(std::ostream& out, const Tensor& x);
/// The name of the type.
std::ostream& operator<<(std::ostream& out, DType dtype);
/// @cond

/// `name(x, y)` of components: numbers, or tensors as they are shown.
std::ostream& stream_components(std::ostream& out, const std::string& name,
                                const std::vector<Tensor>& parts);

/// @endcond

template <Arithmetic T>
std::vector<T> Tensor::to_vector(SourceLine line) const {
    DType type = dtype(line);
    std::vector<std::byte> bytes = read(line);
    size_t count = bytes.size() / static_cast<size_t>(type.bytes());
    std::vector<T> out(count);
    if constexpr (stored_as<T>().has_value())
        if (type == *stored_as<T>()) {
            copy_bytes(bytes, out.data());
            return out;
        }
    const DType to = stored_as<T>().value_or(std::is_floating_point_v<T> ? f64 : boolean);
    for (size_t k = 0; k < count; ++k) {
        Scalar value = load_scalar(type, bytes.data() + k * static_cast<size_t>(type.bytes()));
        if constexpr (std::is_floating_point_v<T>)
            out[k] = static_cast<T>(value.to(to).f);
        else
            out[k] = static_cast<T>(value.to(to).i);
    }
    return out;
}

template <Arithmetic T>
T Tensor::item(SourceLine line) const {
    require_single(line);
    return to_vector<T>(line)[0];
}

}  // namespace firn
