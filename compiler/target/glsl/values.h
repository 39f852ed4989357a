// The values of a kernel's nodes as variables: their names and types.
#pragma once
#include <string>

#include "compiler/target/glsl/glsl_run.h"

namespace firn {

/// The variable that holds node `id`.
std::string value_name(NodeId id);
/// The variable that holds value `k` of branch `id`.
std::string branch_value(NodeId id, size_t k);
/// The type of a value that is no block of four.
std::string value_type(const KernelNode& n);

/// Makes node `id`, with the expression `value` as its value, a variable from here on.
void define_value(GlslRun& run, NodeId id, const std::string& value, int indent);

/// Returns the text of a Result: a carried value of its loop, or a result of its branch.
std::string result_text(const GlslRun& run, const KernelNode& n);

}  // namespace firn
