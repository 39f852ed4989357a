// The state of one run of batched(), and the rules that work over it.
#pragma once
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/builder.h"
#include "compiler/ir/graph.h"

namespace firn {

struct BatchRun {
    Builder b;
    Size count;
    /// Values that depend on samples, with the leading axis.
    std::unordered_map<const Node*, Ref> values;
    /// The same for results of loops and branches that depend on samples somewhere.
    std::unordered_map<const Node*, std::vector<Ref>> results;
    /// Nodes that are computed for all samples although some samples take another path.
    std::unordered_set<const Node*> lockstep;
    std::vector<Ref> kept;  // copies of bodies that the maps know: no other node takes their place

    bool depends(const Ref& value) const { return values.contains(value.get()); }
    Shape with_samples(Shape shape) const;
    void note_lockstep(const std::vector<Ref>& results);
    /// The value with the leading axis, repeated along it where it is the same for all samples.
    Ref all(const Ref& value) const;
    /// A value of one number per sample, or of a shape to which `shape` is repeated, as [count,
    /// shape].
    Ref fitted(const Ref& value, const Shape& shape) const;
};

/// The values of all that `results` need, but for what is computed inside of loops.
void batch_sweep(BatchRun& run, const std::vector<Ref>& results);
[[noreturn]] void refuse_batch(const Node& node, const std::string& why);

Ref batch_movement(BatchRun& run, const Ref& self);
Ref batch_access(BatchRun& run, const Ref& self);
Ref batch_ruled(BatchRun& run, const Ref& self);
std::vector<Ref> batch_loop(BatchRun& run, const Ref& self);
std::vector<Ref> batch_branch(BatchRun& run, const Ref& self);

}  // namespace firn
