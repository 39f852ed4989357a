// Kernels by hand as what they are for derivatives: operations on whole tensors.
#pragma once
#include <string>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/graph.h"

namespace firn {

/// Called where there is no such form; throws.
using RefuseKernel = void (*)(const Node& node, const std::string& why);

/// What a kernel by hand (`kernel`, a Loop) leaves in each tensor that it stores to, computed by
/// operations on tensors of its grid's shape: an array is a tensor of all invocations' or groups',
/// a barrier is nothing, because every operation is one on all. Refused where the value of an
/// atomic's place before is used and where lanes exchange values; with `ordered`, too, where
/// invocations may store at one place, so that the device decides what stays.
std::vector<Ref> whole_kernel(const Builder& b, const Node& kernel, bool ordered,
                              RefuseKernel refuse);

}  // namespace firn
