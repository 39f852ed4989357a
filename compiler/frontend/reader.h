// Reads with a bounds mode: around the edge, mirrored, reflected, filled, unchecked.
#pragma once
#include <vector>

#include "compiler/frontend/tensor.h"

namespace firn {

/// Reads a tensor with a bounds mode: `wrap(u)(i - 1, j)`. Ranges and marks stand among the indices
/// as in an access; the mode is that of numbers and tensors of integers.
class Reader {
  public:
    /// Reads by a mode; Constant reads `fill` outside. `wrap` and the others below are made of it.
    Reader(const Operand& source, Bounds mode, Scalar fill)
        : source_(source), mode_(mode), fill_(fill) {}
    /// See `own`; `first` come before the indices that are given.
    Reader(const Operand& source, std::vector<Arg> first);
    using Index = Tensor::Index;
    /// The elements at indices, as Tensor's.
    Tensor operator()(const Index& i, const Index& j = {}, const Index& k = {}, const Index& l = {},
                      const Index& m = {}, const Index& n = {}, const Index& o = {},
                      const Index& p = {}) const;

  private:
    Operand source_;
    Bounds mode_;
    Scalar fill_;
    bool own_ = false;
    std::vector<Arg> first_ = {};
};
/// Outside the tensor, reads go around the edge.
///
/// Example: `wrap(tensor({1, 2, 3}))(tensor({-1, 3, 7}))` is `{3, 1, 2}`.
Reader wrap(const Operand& x);
/// Mirrors reads outside at the edge; the element at the edge is read twice, as by numpy's
/// "symmetric": -1 reads 0.
///
/// Example: `mirror(tensor({1, 2, 3}))(tensor({-1, -2, 4}))` is `{1, 2, 2}`.
Reader mirror(const Operand& x);
/// Mirrors reads outside at the element at the edge, which is read once, as by numpy's "reflect":
/// -1 reads 1. In a tensor of one element every index reads that. (`reflect(v, normal)` of vectors
/// is GLSL's.)
///
/// Example: `reflect(tensor({1, 2, 3}))(tensor({-1, -2, 4}))` is `{2, 3, 1}`.
Reader reflect(const Operand& x);
/// Reads give 0 outside.
///
/// Example: `zero(tensor({1, 2, 3}))(tensor({-1, 1, 3}))` is `{0, 2, 0}`.
Reader zero(const Operand& x);
/// Reads give `value` outside, a number that is known while recording.
///
/// Example: `fill(tensor({1, 2, 3}), 9)(tensor({-1, 1, 3}))` is `{9, 2, 9}`.
Reader fill(const Operand& x, const Arg& value);
/// The caller promises that every index is inside: no check is made. FIRN_CHECK=1 and
/// Session::check_promises verify it, inside kernels by hand where they run as native code, and
/// the oracle always does.
///
/// Example: `unchecked(tensor({1, 2, 3}))(tensor({2, 0}))` is `{3, 1}`.
Reader unchecked(const Operand& x);
/// Inside a kernel by hand: the caller promises that no other invocation has stored to the elements
/// that are read (since the last barrier, if it is a shared array), where the compiler cannot see
/// that. The kernel interpreter (FIRN_EXECUTOR=interpret) verifies it of shared arrays. Reads as
/// `x(i)` does. Outside of kernels it is a UserError.
///
/// Example: after `Tensor to = tensor({2, 0, 1}), x = zeros({3}, i32);`
/// `kernel({3}, [&](Tensor i) { x(to(i)) = i; x(to(i)) = own(x)(to(i)) + 10; });` `x` is
/// `{11, 12, 10}`.
Reader own(const Operand& x);

}  // namespace firn
