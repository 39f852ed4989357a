// Checked construction of Graph nodes: types and shapes are inferred, mistakes are UserErrors with
// the line.
#pragma once
#include <initializer_list>
#include <memory>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/monoid.h"

namespace firn {

/// The table in which nodes are made, the user's line that they carry, and the list for guards of
/// sizes that are not proved equal (null: such sizes are a UserError).
struct Builder {
    NodeTable& table;
    SourceLine line = {};
    std::vector<Guard>* guards = nullptr;
};

Ref constant(Builder b, Scalar value);
Ref parameter(Builder b, Scalar value,
              uint64_t id);  // a Constant that plans take as an argument, see ConstantAttr
Ref constant_float(Builder b, double value, DType dtype = f32);
Ref constant_int(Builder b, int64_t value, DType dtype = i32);
Ref size_value(Builder b, const Size& size);  // a Constant where the size is one
Ref input(Builder b, int index, DType dtype, Shape shape, bool scalar);
Ref region_arg(Builder b, DType dtype, Shape shape);
Ref index(Builder b, Shape shape, int axis);
/// A value that is not read before it is stored to.
Ref empty(Builder b, DType dtype, Shape shape);

/// Returns the common dtype of two tensors: float beats int beats bool, then the wider; i32 with
/// u32 is i32 (the bits of the u32 are kept); f16 with bf16 is f32; two integers of 8 and 16 bits
/// are the wider one if it holds both, otherwise i32. In arithmetic those and bools are i32.
DType join(DType a, DType b);
/// numpy's rule, right-aligned: equal, or one is 1. Symbols never broadcast as 1: two different
/// ones add a guard. `what` names the operation in messages.
Shape broadcast_shapes(Builder b, const Shape& x, const Shape& y, const std::string& what);

/// Any elementwise operation but Cast and Bitcast: promotes, broadcasts, checks.
/// `weak[k]`: input k came from a C++ scalar and takes the others' dtype (a float with an int
/// tensor makes both f32).
Ref elementwise(Builder b, Op op, std::vector<Ref> inputs, std::vector<bool> weak = {});
Ref cast(Builder b, const Ref& x, DType dtype);     // x itself when it already is
Ref bitcast(Builder b, const Ref& x, DType dtype);  // widths must be equal

Ref reshape(Builder b, const Ref& x, Shape shape);  // at most one -1 (Size(-1)) is inferred
Ref permute(Builder b, const Ref& x, std::vector<int> axes);
Ref expand(Builder b, const Ref& x, const Shape& shape);
Ref slice(Builder b, const Ref& x, std::vector<Size> begin, std::vector<Size> extent,
          std::vector<int64_t> step);
Ref pad(Builder b, const Ref& x, std::vector<Size> before, std::vector<Size> after, Scalar value);
/// indices: one per axis of x (fewer read whole trailing rows); they broadcast together and are
/// cast to i32; a float index is an error. `own`: see GatherAttr.
Ref gather(Builder b, const Ref& x, std::vector<Ref> indices, std::vector<Bounds> modes,
           Scalar fill, bool own = false);
/// The Gather `node` of `inputs`, evaluated also where the promise of its unchecked axes was not
/// made: they clamp. Reads along whole axes (the index is an Index) are inside anyhow.
Ref checked_read(Builder b, const Node& node, const std::vector<Ref>& inputs);
/// values broadcast to the indices' shape and are cast to x's dtype. Combining stores into integers
/// of 8 and 16 bits, and numbers into bools, are made in i32 and cast back: sums and products wrap.
Ref scatter(Builder b, const Ref& x, const Ref& values, std::vector<Ref> indices, ScatterAttr attr);
/// What the host makes of x. Throws what HostOperation::output_shape does.
Ref host_call(Builder b, std::shared_ptr<const HostOperation> operation, const Ref& x);
/// The value, with a reverse rule of its own that gives cotangents for `inputs`, and a forward one
/// where there is one.
Ref ruled(Builder b, const Ref& value, std::vector<Ref> inputs, ReverseRule rule,
          ForwardRule forward = nullptr);
/// axes may be negative; empty means all. Sum and Prod of bool and integers of 8 and 16 bits are
/// i32, Any and All are bool; the sum of an empty range is 0, the product 1, the minimum and
/// maximum are an error when the size is known to be 0 (and the identity of the type otherwise).
Ref reduce(Builder b, ReduceOp op, const Ref& x, std::vector<int> axes, bool keep_dims);
/// inits.size() == body.args.size() - 1 == body.results.size(); dtypes and shapes must agree.
/// Gives the Loop node; take values with result().
/// `must_end`, `sizes`, `checkpoint`: see LoopAttr.
Ref loop(Builder b, const Ref& begin, const Ref& end, const Ref& step, std::vector<Ref> inits,
         Region body, int active, MustEnd must_end = MustEnd::No, std::vector<Size> sizes = {},
         int64_t checkpoint = 0);
/// Returns the message for a `must_end` loop that did not end, with its line.
std::string never_ended(SourceLine line);
std::string never_ended(const Node& loop);
/// A kernel by hand: body.args[0] is its iteration, then one argument per tensor that it stores to.
Ref kernel_by_hand(Builder b, std::vector<Ref> inits, Region body, Shape grid,
                   std::vector<uint32_t> group, bool rounded);
/// Returns the group of a kernel without one of its user's: the last axes take all invocations.
std::vector<uint32_t> usual_group(size_t rank);
/// The own index of each invocation of a kernel by hand along an axis of its grid.
Ref invocation(Builder b, const Ref& iteration, const Shape& grid, int axis);
/// Returns the values in memory before each position's own part of `scatter` (a Scatter of a kernel
/// by hand).
Ref fetched(Builder b, const Ref& scatter);
Ref branch(Builder b, const Ref& condition, Region then_body, Region else_body);
Ref result(Builder b, const Ref& region_node, int index);

/// Makes a node again with other inputs (and the attribute given), inferring its dtype and shape,
/// as `rewrite` does if its visitor returns null.
Ref remake(Builder b, const Node& node, std::vector<Ref> inputs, Attr attr);

}  // namespace firn
