// The nodes and bodies of a Graph's text.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "compiler/ir/parse_run.h"

namespace firn {

/// The number of a node that is being declared; numbers count up from 0.
void declare_number(GraphParseRun& run);
/// Parses nodes up to `end`, and the text after it.
std::vector<Ref> parse_nodes(GraphParseRun& run, std::string_view end);
/// Parses nodes in braces, and their results.
std::shared_ptr<const Region> parse_body(GraphParseRun& run);

}  // namespace firn
