// What the text of a Graph says of a node besides its operation and inputs.
#pragma once
#include "compiler/ir/parse_words.h"

namespace firn {

Attr parse_attribute(GraphParseRun& run, Op op, const ParsedType& t);

}  // namespace firn
