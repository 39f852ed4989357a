// Work that the host does between the kernels of a program, such as a message to another process.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/program/dtype.h"
#include "compiler/program/size.h"

namespace firn {

/// One call of a HostOperation, with the sizes of this run. The bytes are those of the elements,
/// row-major. Of a value without elements the spans are empty; the call takes place all the same.
struct HostCall {
    DType dtype = f32;  // of input and output
    std::vector<int64_t> input_shape, output_shape;
    std::span<const std::byte> input;
    std::span<std::byte> output;
    std::string line;  // the user's, `wave.cpp:31`; empty where there is none
};

/// A call under way. The memory of the call stays where it is until finish() has returned, or the
/// work is destroyed.
class HostWork {
  public:
    /// Waits for nothing: what was not finished is cancelled.
    virtual ~HostWork() = default;
    /// Does what can be done without waiting, and returns whether the output is there. An executor
    /// asks it between steps, so that a message goes on while kernels run.
    virtual bool proceeds() { return false; }
    /// Waits until the output is there. Called once.
    virtual void finish() = 0;
};

/// What the host does with one tensor to make another one of its type, see host_call()
/// (frontend/host_call.h). Immutable; may be called from several threads.
class HostOperation {
  public:
    virtual ~HostOperation() = default;
    /// Its name with all that makes it what it is, for texts: `all_reduce(sum)`. Two operations of
    /// one C++ type with equal names do the same.
    virtual std::string name() const = 0;
    /// The shape of the output for that of the input, which may have symbols. Throws UserError
    /// where it takes no such input.
    virtual Shape output_shape(const Shape& input) const { return input; }
    /// Starts the call, and returns at once where it can.
    virtual std::unique_ptr<HostWork> begin(const HostCall& call) const = 0;
    /// For a linear operation: the one that makes a cotangent of the input from a cotangent of the
    /// output. Null: it has no gradient.
    virtual std::shared_ptr<const HostOperation> adjoint() const { return nullptr; }
    /// Returns whether it does the same with a batch of inputs along a new first axis, elements
    /// apart.
    virtual bool takes_batches() const { return false; }
};

}  // namespace firn
