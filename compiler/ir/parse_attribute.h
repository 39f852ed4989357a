// Parses the attributes of a node in the text of a Graph.
#pragma once
#include "compiler/ir/parse_words.h"

namespace firn {

Attr parse_attribute(GraphParseRun& run, Op op, const ParsedType& t);

}  // namespace firn
