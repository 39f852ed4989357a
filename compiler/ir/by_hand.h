// The contents of a kernel by hand: versions of arrays, and which elements invocations may read.
#pragma once
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/regions.h"

namespace firn {

/// The arrays of a kernel by hand (`kernel`, a Loop), and the tensors that it stores to.
struct HandArrays {
    /// `apart`: arguments of the kernel whose versions at entry lie in other buffers; reading them
    /// is no step.
    HandArrays(const Node& kernel, const Placement& placement,
               const std::unordered_set<const Node*>& apart = {});

    /// The Array of every version, or the kernel's argument.
    std::unordered_map<const Node*, const Node*> root;
    /// The index of the carried tensor, for the kernel's arguments.
    std::unordered_map<const Node*, int> carried;
    /// Arrays of which elements are combined or exchanged; true where by more than adding.
    std::unordered_map<const Node*, bool> exchanged;
    bool uses_subgroups = false;
    /// Returns whether the node has its place in the order: it, or a node inside it, reads or
    /// writes memory.
    bool is_step(const Node& node) const { return steps.contains(&node); }
    std::unordered_set<const Node*> steps;
};

/// The first index of a store without the condition that stands in it.
const Node& unmasked(const Node& index);

/// The uses of a tensor that a kernel by hand stores to.
struct TargetUse {
    bool covered = false;     // every element is stored, and none is read: old values do not matter
    bool read_apart = false;  // invocations read elements at entry that others store to: that
                              // version must be kept apart
};
/// Returns the uses by the kernel's carried values; `results` are the results that are read.
std::vector<TargetUse> target_uses(const Node& kernel, const std::vector<Ref>& results);

/// Throws UserError if an invocation reads an element that another may have stored: of a tensor, or
/// of a shared array without a barrier between.
void check_reads(const Node& kernel);

/// Returns a store of a kernel to a place to which another invocation may store another value, so
/// that the device decides which one stays: a store that is not proved apart from all stores of
/// other invocations to the same tensor or array, and does not combine with it in any order. Null:
/// none.
const Node* colliding_store(const Node& kernel);

/// A UserError that begins with "inside a kernel, " and ends with the node's line.
[[noreturn]] void refuse_by_hand(const Node& node, const std::string& message);

}  // namespace firn
