// Work of the host as a value: a C++ object that takes the bytes of one tensor and gives those of
// another.
#pragma once
#include "compiler/base/shared_ptr.h"
#include "compiler/frontend/tensor.h"

namespace firn {

class HostOperation;  // compiler/program/host_operation.h, which a program with its own includes

/// What the host makes of x by `operation`: a tensor of x's type and of shape
/// operation->output_shape(x's shape). Messages between processes and copies to other devices are
/// such operations; a program may have its own.
///
/// In a compiled function the call is a step of the program: it begins as soon as x is there, other
/// kernels run while it is under way, and the first that needs its output waits for it. Programs
/// begin their calls in one order, that of the graph, wherever they run. In loops it is called once
/// an iteration (those become loops of kernels), under `if_` always, because both sides of a branch
/// are values.
///
/// A call is a value like any other: equal calls of one value are made once, and a call that
/// nothing needs is not made. Gradients go through operations that have an adjoint, vmap through
/// those that take batches; else they are a UserError with the line. Not in kernels by hand, in
/// saved programs, or for sizes that only the device knows: UserError.
///
/// Example: after `bool refused = false; try { host_call(nullptr, ones({2})); } catch (const
/// UserError&) { refused = true; }` `refused` is `true`.
Tensor host_call(SharedPtr<const HostOperation> operation, const Operand& x);

}  // namespace firn
