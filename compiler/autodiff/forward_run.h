// The state of one run of forward_tangents(), and the rules that work over it.
#pragma once
#include <unordered_map>

#include "compiler/ir/builder.h"
#include "compiler/ir/graph.h"

namespace firn {

struct ForwardRun {
    Builder b;
    /// Tangents by value; a value without an entry has tangent 0.
    std::unordered_map<const Node*, Ref> tangents;
    /// Tangents of loops and branches, by result; null: 0.
    std::unordered_map<const Node*, std::vector<Ref>> results;
    std::vector<Ref> kept;  // copies of bodies that the maps know: no other node takes their place

    Ref tangent(const Ref& value) const {
        const auto found = tangents.find(value.get());
        return found == tangents.end() ? nullptr : found->second;
    }
    /// Zeros where there is none.
    Ref tangent_or_zeros(const Ref& value) const;
};

/// The tangents of all that `results` need, but for what is computed inside of loops.
void forward_sweep(ForwardRun& run, const std::vector<Ref>& results);

// The tangent of one node from those of its inputs; null: none.
Ref forward_elementwise(ForwardRun& run, const Ref& self);
Ref forward_access(ForwardRun& run, const Ref& self);
Ref forward_reduce(ForwardRun& run, const Ref& self);
/// The transpose of the transpose: the result of the user's reverse rule is linear in the
/// cotangent, and its derivative by the cotangent is the forward rule.
Ref forward_by_rule(ForwardRun& run, const Ref& self);
/// The same for the results of a loop or a branch, of which those inside have none yet.
std::vector<Ref> forward_loop(ForwardRun& run, const Ref& self);
std::vector<Ref> forward_branch(ForwardRun& run, const Ref& self);

}  // namespace firn
