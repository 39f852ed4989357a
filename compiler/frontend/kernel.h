// Kernels by hand: one dispatch, with the hardware's own words.
#pragma once
#include <concepts>
#include <vector>

#include "compiler/frontend/tensor.h"

namespace firn {

struct SessionState;

struct KernelOptions {
    /// Invocations of one group, by axis; their product is at most what the device allows (1024 on
    /// most). Where it is given, whole groups run: the shape is rounded up to them, invocations
    /// outside are known by their index, read at the edge, and what they store outside is dropped.
    /// Where it is not, exactly the shape runs, and there is no shared memory.
    std::vector<int> group = {};
};

/// While a kernel's body is recorded; `kernel` makes it.
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
/// Everything that a body may say elsewhere may be said here, for one element: reads of any tensor,
/// arithmetic, `loop`, `if_`, random numbers. A tensor from outside is written by index alone,
/// `c(i, j) = v` or an atomic; c has its new version when the kernel ends. Inside, reading it gives
/// what was there at entry, or, at the same index, what the invocation itself stored. Where two
/// invocations store at one place, the device decides who wins.
///
/// UserError: another number of arguments than axes; an assignment to a whole tensor from outside;
/// an element read that another invocation may have stored; a kernel inside a kernel, or one that
/// stores nothing; more shared memory or invocations in a group than the device has.
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

/// Memory of a kernel: read and stored to by index. It starts as zeros. Reading outside clamps to
/// the edge, a store outside is dropped.
class KernelArray {
  public:
    KernelArray(const KernelArray&) = delete;
    KernelArray& operator=(const KernelArray&) = delete;

    using Index = Tensor::Index;
    Access operator()(const Index& i, const Index& j = {}, const Index& k = {});
    /// See own of a tensor.
    friend Reader own(const KernelArray& array, SourceLine line);

  protected:
    KernelArray(DType dtype, const std::vector<int>& shape, bool shared, SourceLine line);

  private:
    Tensor memory_;
    std::vector<Tensor> prefix_;
    size_t rank_;
};

Reader own(const KernelArray& array, SourceLine line = here());

/// Memory that the invocations of a group share. What others stored is read after a `barrier()`;
/// without one an invocation reads what nobody else has stored to: where that can be seen from the
/// indices (such as 2 * i and 2 * i + 1), or by promise, as `own(tile)(partner)`.
class Shared : public KernelArray {
  public:
    Shared(DType dtype, const std::vector<int>& shape, SourceLine line)
        : KernelArray(dtype, shape, true, line) {}
};
/// Memory of each invocation alone.
class Local : public KernelArray {
  public:
    Local(DType dtype, const std::vector<int>& shape, SourceLine line)
        : KernelArray(dtype, shape, false, line) {}
};

/// An array of a kernel's group; stands at the top of the kernel's body, whose group is given.
inline Shared shared(DType dtype, const std::vector<int>& shape, SourceLine line = here()) {
    return {dtype, shape, line};
}
inline Shared shared(DType dtype, int size, SourceLine line = here()) {
    return {dtype, {size}, line};
}
/// An array of each invocation.
inline Local local(DType dtype, const std::vector<int>& shape, SourceLine line = here()) {
    return {dtype, shape, line};
}
inline Local local(DType dtype, int size, SourceLine line = here()) {
    return {dtype, {size}, line};
}

/// Every invocation of the group has come here, and all that was stored to shared arrays can be
/// read. UserError where some invocations of a group may not come by: under an `if_`, or in a loop
/// left by `break_`, whose condition differs among them.
void barrier(SourceLine line = here());

/// The invocation's place in its group, along an axis; i32.
Tensor local_index(int axis, SourceLine line = here());
/// The group's place among groups, along an axis; i32.
Tensor group_index(int axis, SourceLine line = here());
/// `shape` rounded up to whole groups of `width`.
inline Size round_up(const Size& n, int width) {
    return floor_div(n + Size(width - 1), Size(width)) * Size(width);
}

/// Atomics give what was there before, and 0 where the index is outside. i32, u32, bool (and, or,
/// xor), and f32. Integers wrap.
Tensor atomic_add(const Access& place, const Arg& value);
Tensor atomic_min(const Access& place, const Arg& value);
Tensor atomic_max(const Access& place, const Arg& value);
Tensor atomic_and(const Access& place, const Arg& value);
Tensor atomic_or(const Access& place, const Arg& value);
Tensor atomic_xor(const Access& place, const Arg& value);
Tensor atomic_exchange(const Access& place, const Arg& value);

/// Lanes of a subgroup: invocations that are neighbours in the row-major order of their group,
/// whose size is a multiple of this (8 on lavapipe, 32 or 64 on GPUs).
int subgroup_size(SourceLine line = here());
/// The invocation's place in its subgroup; i32.
Tensor subgroup_lane(SourceLine line = here());
/// Of all lanes of the subgroup; each has the result. Like a barrier, all invocations come by.
Tensor subgroup_add(const Operand& x);
Tensor subgroup_mul(const Operand& x);
Tensor subgroup_min(const Operand& x);
Tensor subgroup_max(const Operand& x);
Tensor subgroup_any(const Operand& x);
Tensor subgroup_all(const Operand& x);
/// The sum of the lanes up to the own one.
Tensor subgroup_inclusive_add(const Operand& x);
/// The value of another lane, whose number counts modulo the subgroup's size.
Tensor subgroup_shuffle(const Operand& x, const Arg& lane);
inline Tensor subgroup_broadcast(const Operand& x, int lane) { return subgroup_shuffle(x, lane); }

}  // namespace firn
