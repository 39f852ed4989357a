// The state of one run of reverse_gradients(), and the rules that work over it.
#pragma once
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/graph.h"

namespace firn {

/// The cotangent of a value: the derivative of the seeded results by it.
struct Cotangent {
    Ref value;
    /// All of it came through choices that may have left the value out: where it is 0, the value
    /// may be anything.
    bool chosen = false;
    /// The sum in f32 that `value` rounds, for 16-bit floats, from the second part on. A sum that
    /// is rounded at each part stops growing when there are many.
    Ref wide = nullptr;
};

struct ReverseRun {
    Builder b;
    int64_t most_tape_bytes = 0;             // see ReverseOptions
    std::vector<Ref> roots;                  // the results, and the targets
    std::unordered_set<const Node*> active;  // depend on a target
    std::unordered_map<const Node*, Cotangent> cotangents;
    std::unordered_map<const Node*, std::vector<Cotangent>> results;  // of loops and branches
    std::unordered_set<const Node*> sums;  // targets whose cotangents began as sums
};

/// Adds `part`, of the value's shape and dtype, to the cotangent of `value` if that depends on a
/// target.
void contribute(ReverseRun& run, const Ref& value, Ref part, bool chosen);
/// The sum with which the cotangent of `value` began, with everything that was added to it; null:
/// there is none. A rule may replace it by its own result.
Ref* sum_of(ReverseRun& run, const Node& value);
/// cotangent * factor; exactly 0 where the cotangent is, if it is of a choice.
Ref scaled(ReverseRun& run, const Cotangent& cotangent, const Ref& factor);
Ref zeros_like(ReverseRun& run, const Node& node);
/// Applies the user's rule of a Ruled node to the cotangent g. Returns a cotangent for each input
/// behind the value, null if it is 0.
std::vector<Ref> cotangents_by_rule(const Builder& b, const Ref& self, const Ref& g);
[[noreturn]] void refuse_gradient(const Node& node, const std::string& why);

// Each rule adds the parts of the cotangent `g` of the node `self` to the cotangents of its inputs.
void reverse_elementwise(ReverseRun& run, const Ref& self, const Cotangent& g);
void reverse_movement(ReverseRun& run, const Ref& self, const Cotangent& g);
void reverse_gather(ReverseRun& run, const Ref& self, const Cotangent& g);
void reverse_scatter(ReverseRun& run, const Ref& self, const Cotangent& g);
void reverse_reduce(ReverseRun& run, const Ref& self, const Cotangent& g);
/// The same for the results of a loop or a branch; cotangents without a value are 0.
void reverse_loop(ReverseRun& run, const Ref& self, const std::vector<Cotangent>& results);
void reverse_branch(ReverseRun& run, const Ref& self, const std::vector<Cotangent>& results);

}  // namespace firn
