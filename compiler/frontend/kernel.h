// Kernels by hand: one dispatch with explicit groups, shared memory and barriers.
#pragma once
#include <concepts>
#include <vector>

#include "compiler/frontend/reader.h"
#include "compiler/frontend/tensor.h"

namespace firn {

struct SessionState;

/// The groups of a kernel by hand.
struct KernelOptions {
    /// Invocations of one group, by axis; their product is at most what the device allows (1024 on
    /// most). If it is given, whole groups run: the shape is rounded up to them; invocations
    /// outside are known by their index, their reads are clamped to the edge, and their stores are
    /// dropped. If not, exactly the shape runs, and there is no shared memory; the compiler chooses
    /// groups and the work of each invocation, as for values.
    std::vector<int> group = {};
};

/// @cond

/// Records a kernel's body; `kernel` makes one.
class KernelRecorder {
  public:
    KernelRecorder(const Shape& shape, const KernelOptions& options, SourceLine line);
    ~KernelRecorder();
    KernelRecorder(const KernelRecorder&) = delete;
    KernelRecorder& operator=(const KernelRecorder&) = delete;

    Tensor index(int axis) const;
    void close();

  private:
    SharedPtr<SessionState> session_;
    SourceLine line_;
    uint64_t scope_ = 0;
    bool closed_ = false;
    int exceptions_ = 0;
};

/// @endcond

/// Runs `body` once for each index of a shape of one to three axes, as one dispatch:
///
///     kernel({n, k}, {.group = {16, 16}}, [&](Tensor i, Tensor j) {
///         Shared tile = shared(f32, {16, 16});
///         tile(local_index(0), local_index(1)) = a(i, j);
///         barrier();
///         ...
///         c(i, j) = sum;
///     });
///
/// The body may use everything that is allowed elsewhere, for one element: reads of any tensor,
/// arithmetic, `loop`, `if_`, random numbers. A tensor from outside is only written by index,
/// `c(i, j) = v` or an atomic; c has its new version when the kernel ends. Inside, a read gives the
/// value at entry or, at the same index, the value that the invocation itself stored. If two
/// invocations store at one place, the device decides which one wins.
///
/// UserError: another number of arguments than axes; an assignment to a whole tensor from outside;
/// an element read that another invocation may have stored; a kernel inside a kernel, or one that
/// stores nothing; more shared memory or invocations in a group than the device has.
///
/// Without options there are no groups: `kernel({n}, [&](Tensor i) { c(i) = a(n - 1 - i); });`.
///
/// Example: after `Tensor x = tensor({1, 2, 3}), c = zeros({3}, i32);`
/// `kernel({3}, [&](Tensor i) { c(i) = 10 * x(2 - i); });` `c` is `{30, 20, 10}`.
/// @{
template <class Body>
void kernel(const Shape& shape, const KernelOptions& options, Body&& body,
            SourceLine line = here()) {
    KernelRecorder recorder(shape, options, line);
    if constexpr (std::invocable<Body&, Tensor, Tensor, Tensor>)
        body(recorder.index(0), recorder.index(1), recorder.index(2));
    else if constexpr (std::invocable<Body&, Tensor, Tensor>)
        body(recorder.index(0), recorder.index(1));
    else
        body(recorder.index(0));
    recorder.close();
}
template <class Body>
void kernel(const Shape& shape, Body&& body, SourceLine line = here()) {
    kernel(shape, KernelOptions{}, std::forward<Body>(body), line);
}
/// @}

/// Memory of a kernel: read and stored to by index. It starts as zeros. Reading outside clamps to
/// the edge, a store outside is dropped.
class KernelArray {
  public:
    KernelArray(const KernelArray&) = delete;
    KernelArray& operator=(const KernelArray&) = delete;

    using Index = Tensor::Index;
    /// The element at these indices, as many as the array has dimensions: read, or stored to.
    Access operator()(const Index& i, const Index& j = {}, const Index& k = {});
    /// See own of a tensor.
    friend Reader own(const KernelArray& array, SourceLine line);

  protected:
    /// @cond

    KernelArray(DType dtype, const std::vector<int>& shape, bool shared, SourceLine line);

    /// @endcond

  private:
    Tensor memory_;
    std::vector<Tensor> prefix_;
    size_t rank_;
};

/// The array, read by promise: no other invocation stores to the elements that are read, until the
/// next barrier. The kernel interpreter finds a broken promise where it runs.
///
/// Example: each invocation has the elements i and i ^ 2, after
/// `Tensor x = tensor({5, 7, 2, 1}), c = zeros({2}, i32);`
/// `kernel({2}, {.group = {2}}, [&](Tensor i) {`
/// `Shared s = shared(i32, 4); Tensor partner = i ^ 2;` `s(i) = x(i); s(partner) = x(partner);`
/// `c(i) = own(s)(i) - own(s)(partner); });` `c` is `{3, 6}`.
Reader own(const KernelArray& array, SourceLine line = here());

/// Memory that the invocations of a group share. Elements that others stored are read after a
/// `barrier()`; without one an invocation may only read elements that no other has stored to: if
/// the indices prove it (such as 2 * i and 2 * i + 1), or by promise, as `own(tile)(partner)`.
class Shared : public KernelArray {
  public:
    /// See shared().
    Shared(DType dtype, const std::vector<int>& shape, SourceLine line)
        : KernelArray(dtype, shape, true, line) {}
};
/// Memory of each invocation alone.
class Local : public KernelArray {
  public:
    /// See local().
    Local(DType dtype, const std::vector<int>& shape, SourceLine line)
        : KernelArray(dtype, shape, false, line) {}
};

/// An array of a kernel's group, of one to three dimensions, or of so many elements; it is made at
/// the top of the body of a kernel with a given group.
///
/// Example: the other end of a group of four, after `Tensor c = zeros({4}, i32);`
/// `kernel({4}, {.group = {4}}, [&](Tensor i) {`
/// `Shared tile = shared(i32, 4); tile(local_index(0)) = 10 * i; barrier();`
/// `c(i) = tile(3 - local_index(0)); });` `c` is `{30, 20, 10, 0}`.
/// @{
inline Shared shared(DType dtype, const std::vector<int>& shape, SourceLine line = here()) {
    return {dtype, shape, line};
}
inline Shared shared(DType dtype, int size, SourceLine line = here()) {
    return {dtype, {size}, line};
}
/// @}

/// An array of each invocation, of one to three dimensions, or of so many elements.
///
/// Example: after `Tensor c = zeros({3}, i32);` `kernel({3}, [&](Tensor i) {`
/// `Local powers = local(i32, 4); powers(0) = 1;`
/// `for (Tensor k : loop(1, 4)) powers(k) = powers(k - 1) * i;` `c(i) = powers(3); });` `c` is
/// `{0, 1, 8}`.
/// @{
inline Local local(DType dtype, const std::vector<int>& shape, SourceLine line = here()) {
    return {dtype, shape, line};
}
inline Local local(DType dtype, int size, SourceLine line = here()) {
    return {dtype, {size}, line};
}
/// @}

/// Waits until every invocation of the group has come here; then all stores to shared arrays can be
/// read. UserError if some invocations of a group may not reach it (under an `if_`, or in a loop
/// left by `break_`, whose condition differs among them), and if the kernel has no group.
///
/// Example: the sum of each group as a tree, after `Tensor x = arange(8), sums = zeros({2}, i32);`
/// `kernel({8}, {.group = {4}}, [&](Tensor i) {`
/// `Shared part = shared(i32, 4); Tensor at = local_index(0);` `part(at) = x(i); barrier();`
/// `for (int half = 2; half > 0; half /= 2) {`
/// `if_(at < half, [&] { part(at) = part(at) + part(at + half); });` `barrier(); }`
/// `if_(at == 0, [&] { sums(group_index(0)) = part(0); }); });` `sums` is `{6, 22}`.
void barrier(SourceLine line = here());

/// The invocation's place in its group, and the group's place among groups, along an axis; i32.
///
/// Example: after `Tensor c = zeros({6}, i32);` `kernel({6}, {.group = {4}}, [&](Tensor i) {`
/// `c(i) = 10 * group_index(0) + local_index(0); });` `c` is `{0, 1, 2, 3, 10, 11}`.
/// @{
Tensor local_index(int axis, SourceLine line = here());
Tensor group_index(int axis, SourceLine line = here());
/// @}

/// Returns n rounded up to whole groups of `width`.
///
/// Examples: `round_up(10, 4)` is `12`, `round_up(12, 4)` is `12`.
inline Size round_up(const Size& n, int width) {
    return floor_div(n + Size(width - 1), Size(width)) * Size(width);
}

/// Atomically combines the element at a place with a value; only inside a kernel. Returns the old
/// value, and 0 if the index is outside. Types: i32, u32, bool (and, or, xor), and f32. Integers
/// wrap. The order of float additions is not defined.
///
/// Examples: a histogram, after `Tensor x = tensor({1, 2, 2}), bins = zeros({4}, i32);`
/// `kernel({3}, [&](Tensor i) { atomic_add(bins(x(i)), 1); });` `bins` is `{0, 1, 2, 0}`; the
/// others, after `Tensor low = full({1}, 5), high = low, all = low, any = low, odd = low;`
/// `Tensor old = full({2}, 5);` `kernel({1}, [&](Tensor) {`
/// `atomic_min(low(0), 3); atomic_max(high(0), 3);`
/// `atomic_and(all(0), 3); atomic_or(any(0), 3); atomic_xor(odd(0), 3);`
/// `old(1) = atomic_exchange(old(0), 3); });` `low` is `{3}`, `high` is `{5}`, `all` is `{1}`,
/// `any` is `{7}`, `odd` is `{6}`, `old` is `{3, 5}`.
/// @{
Tensor atomic_add(const Access& place, const Arg& value);
Tensor atomic_min(const Access& place, const Arg& value);
Tensor atomic_max(const Access& place, const Arg& value);
Tensor atomic_and(const Access& place, const Arg& value);
Tensor atomic_or(const Access& place, const Arg& value);
Tensor atomic_xor(const Access& place, const Arg& value);
Tensor atomic_exchange(const Access& place, const Arg& value);
/// @}

/// Lanes of a subgroup: invocations that are neighbours in the row-major order of their group,
/// whose size is a multiple of this (8 on lavapipe, 32 or 64 on GPUs). UserError if the device
/// cannot exchange values between lanes.
///
/// Example: `64 % subgroup_size()` is `0`.
int subgroup_size(SourceLine line = here());
/// The invocation's place in its subgroup; i32.
///
/// Example: after `Tensor c = zeros({64}, i32);` `kernel({64}, {.group = {64}}, [&](Tensor i) {`
/// `c(i) = subgroup_lane() - i % subgroup_size(); });` `sum(c)` is `0`.
Tensor subgroup_lane(SourceLine line = here());
/// Combines the values of all lanes of the subgroup; each lane gets the result. Types: f32, i32,
/// u32 and bool: `any` and `all` take x != 0, the others count bools as i32. Only in kernels whose
/// groups are a multiple of subgroup_size(); as for a barrier, all invocations must reach it.
///
/// Examples: after `Tensor c = zeros({64}, i32);` `kernel({64}, {.group = {64}}, [&](Tensor i) {`
/// `Tensor one = i * 0 + 1, all = subgroup_add(one) / subgroup_size();`
/// `c(i) = all + subgroup_mul(one) + subgroup_max(one) - subgroup_min(one); });` `c(5)` is `2`;
/// after `Tensor b = zeros({64}, boolean);` `kernel({64}, {.group = {64}}, [&](Tensor i) {`
/// `b(i) = subgroup_any(i == 3) & !subgroup_all(i == 3); });` `b(0)` is `true`, `b(63)` is `false`.
/// @{
Tensor subgroup_add(const Operand& x);
Tensor subgroup_mul(const Operand& x);
Tensor subgroup_min(const Operand& x);
Tensor subgroup_max(const Operand& x);
Tensor subgroup_any(const Operand& x);
Tensor subgroup_all(const Operand& x);
/// @}

/// The sum of the lanes up to the own one.
///
/// Example: after `Tensor c = zeros({64}, i32);` `kernel({64}, {.group = {64}}, [&](Tensor i) {`
/// `c(i) = subgroup_inclusive_add(i * 0 + 2); });` `c(range(3))` is `{2, 4, 6}`.
Tensor subgroup_inclusive_add(const Operand& x);
/// The value of another lane, whose number counts modulo the subgroup's size.
///
/// Example: after `Tensor c = zeros({64}, i32), first = c;`
/// `kernel({64}, {.group = {64}}, [&](Tensor i) {`
/// `c(i) = subgroup_shuffle(i, subgroup_lane() ^ 1); first(i) = subgroup_broadcast(i, 0); });`
/// `c(range(4))` is `{1, 0, 3, 2}`, `first(3)` is `0`.
/// @{
Tensor subgroup_shuffle(const Operand& x, const Arg& lane);
inline Tensor subgroup_broadcast(const Operand& x, int lane) { return subgroup_shuffle(x, lane); }
/// @}

}  // namespace firn
