// What is computed is looked at, and what is not a number is traced to where it comes from;
// internal.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/program/executor.h"

namespace firn {

struct SessionState;

/// Session::find_nan, else FIRN_FIND_NAN.
bool finds_nan(SessionState& session);
/// What the check needs of a call, before it is made; nothing where nobody asks for it.
std::optional<Call> kept_for_nan(SessionState& session, const Call& call);
/// UserError where one of the results holds what is not a number: which, and where it comes from.
/// `what`: whose results they are. `results` are buffers; `call` has run on the arguments that it
/// still holds.
void refuse_nan(SessionState& session, const Graph& graph, const Call& call,
                const std::vector<Ref>& results, const std::string& what, SourceLine line);

}  // namespace firn
