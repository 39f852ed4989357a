// Stage 4: one demand walk per kernel turns Graph values into Kernel code: it evaluates the outputs
// at the grid's indices and recurses into their inputs.
#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// The facts that a kernel needs about the rest of the program.
struct LowerContext {
    /// Values that live in memory: Program buffer of each (inputs, carried values of host loops,
    /// materialised values). A kernel's own outputs are found here too.
    std::unordered_map<const Node*, int> buffers;
    /// Values that the host knows: inductions of host loops.
    std::unordered_map<const Node*, Size> host_values;
    /// Numbers that the host computes once per call: their places as scalar arguments.
    std::unordered_map<const Node*, int> host_numbers;
    SymbolFacts facts;
    bool float_atomic_add = false;  // the device adds to an f32 in memory
    bool wide_atomics = false;      // it combines 64-bit integers there
    bool has_i64 = true;
};

/// A kernel to be made: `outputs` share the grid `shape`; output k goes to Program buffer
/// targets[k].
struct KernelRequest {
    std::string name;
    Shape shape;
    int inner = 0;  // trailing dimensions of `shape` that each invocation walks in loops
    std::vector<Ref> outputs;
    std::vector<int> targets;
    /// Reductions over the last dimension of values of `shape`, evaluated at the row of the own
    /// index: the invocations of a group combine their partial results.
    std::unordered_set<const Node*> row_reductions;
    /// Outputs that are computed again if they are evaluated at another index than their own.
    std::unordered_set<const Node*> again;
    /// Or a kernel by hand (a Loop): targets[k] is the buffer of the tensor that it carries as k,
    /// after the kernel. If the versions at entry lie in other buffers, LowerContext::buffers has
    /// the Loop's arguments.
    const Node* by_hand = nullptr;
    /// Arrays of its invocations that lie in memory take the buffers from this one on. If it runs
    /// in slices, this symbol counts them.
    int next_buffer = -1;
    std::string slice;
};

/// Post-condition: Grid ranges (at most three, x last), Storage bindings of width 1, one store per
/// output, every index inside its buffer. It is not placed. Movement has become index arithmetic.
KernelCode lower_kernel(const KernelRequest& request, const LowerContext& context);

struct LoweredByHand {
    KernelCode code;
    Size slices{1};                         // how often it runs; see OwnArrays
    std::vector<KernelBuffer> own_buffers;  // of arrays that lie in memory
};
/// A kernel by hand: Group and Invocation ranges (Subgroup ones where it uses them), groups and
/// group_size set, in_order. It is not placed; its user has mapped its ranges.
LoweredByHand lower_by_hand(const KernelRequest& request, const LowerContext& context,
                            const DeviceProfile& profile);

}  // namespace firn
