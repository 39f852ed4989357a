// Rewrites kernels by hand as operations on whole tensors, for derivatives.
#pragma once
#include <string>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/graph.h"

namespace firn {

/// Called where there is no such form; throws.
using RefuseKernel = void (*)(const Node& node, const std::string& why);

/// Computes each tensor that a kernel by hand (`kernel`, a Loop) stores to, by operations on
/// tensors of its grid's shape: an array becomes a tensor over all invocations or groups, a barrier
/// becomes nothing, because every operation runs on all of them. Refused where the value of an
/// atomic's place before is used and where lanes exchange values; with `ordered`, too, where
/// invocations may store at one place, so that the device decides what stays.
std::vector<Ref> whole_kernel(const Builder& b, const Node& kernel, bool ordered,
                              RefuseKernel refuse);

}  // namespace firn
