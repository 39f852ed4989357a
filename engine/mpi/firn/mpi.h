// Programs on several processes, by MPI: target firn::mpi; not part of firn/firn.h.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/frontend/function.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/tensor.h"

namespace firn {

struct MpiGroup;  // engine/mpi/group.h

/// The processes that work together, each with a rank from 0 to size() - 1. Copies name the same
/// processes. A wait for the others that takes longer than FIRN_MPI_SECONDS (300) ends all
/// processes with a message that names rank, host, operation and line; so do an exception that
/// nothing catches, and the end of a process in the middle of the others' work.
class Communicator {
  public:
    /// All processes that `mpirun` has started; one where it has not. `argc` and `argv` are those
    /// of main. UserError where MPI cannot be used by one thread after another. The first one to be
    /// made begins MPI, and the last copy of it to go ends it.
    ///
    ///     int main(int argc, char** argv) {
    ///         Communicator world(argc, argv);
    ///         Tensor total = all_reduce(ones({3}) * world.rank(), world);
    ///     }
    Communicator(int& argc, char**& argv);

    /// Returns the number of this process.
    int rank() const;
    /// Returns the number of processes.
    int size() const;
    /// Returns the name of this process's machine.
    std::string host() const;
    /// The processes that give the same colour, in the order of `key` and then of their ranks. All
    /// processes must call it.
    Communicator split(int colour, int key = 0) const;
    /// Waits until all processes have called it.
    void barrier() const;

    /// @cond
    explicit Communicator(std::shared_ptr<MpiGroup> group) : group_(std::move(group)) {}
    const std::shared_ptr<MpiGroup>& group() const { return group_; }
    /// @endcond

  private:
    std::shared_ptr<MpiGroup> group_;
};

/// How values of several processes become one.
enum class Combine : uint8_t { Sum, Prod, Min, Max, Any, All };

/// How all_reduce combines.
struct AllReduceOptions {
    [[no_unique_address]] ByName by_name = {};
    Combine op = Combine::Sum;
    /// The sum of ranks 0 and 1, of 2 and 3, and so on, then of those: the same bits in every run,
    /// for any MPI and network; takes size() times the memory and messages.
    bool in_order = false;
};
/// Combines the tensors of all processes, of equal types and shapes: every process gets the result.
/// f16 and bf16 are combined in f32. The gradient of a sum is the sum of the gradients; others have
/// none. In a compiled function it is a step that goes on while other kernels run.
///
/// The functions below must be called by all processes in one order, as they are by a program that
/// all run. UserError that names the ranks and what each calls where they do not fit together.
Tensor all_reduce(const Operand& x, const Communicator& all, const AllReduceOptions& options = {});
/// The tensor of process `root`, in all processes; theirs have its type and shape. Its gradient is
/// the sum of those of all, at root, and 0 elsewhere.
Tensor broadcast(const Operand& x, const Communicator& all, int root = 0);
/// The tensors of all processes, of equal types and shapes, joined along the first axis by rank:
/// [n, ...] becomes [size * n, ...]. Its gradient is a reduce_scatter.
Tensor all_gather(const Operand& x, const Communicator& all);
/// The sum over all processes, of which each gets its part of the first axis: [size * n, ...]
/// becomes [n, ...]. Its gradient is an all_gather. UserError where the axis cannot be divided.
Tensor reduce_scatter(const Operand& x, const Communicator& all);
/// The options of shift.
struct ShiftOptions {
    [[no_unique_address]] ByName by_name = {};
    int by = 1;          ///< how many ranks up; negative: down
    bool around = true;  ///< the last process sends to the first; else that one gets zeros
};
/// Sends x to the process `by` ranks up, and gives what the one as far down has sent. Its gradient
/// goes back.
Tensor shift(const Operand& x, const Communicator& all, const ShiftOptions& options = {});

}  // namespace firn
