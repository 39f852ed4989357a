// Checks computed results, and traces nan to its origin; internal.
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
/// Returns a copy of a call for the check, before it is made; nothing if the check is off.
std::optional<Call> kept_for_nan(SessionState& session, const Call& call);
/// Throws UserError that names the result and the origin of the nan if one of the results holds
/// nan. `what` names the owner of the results. `results` are buffers; `call` has run on the
/// arguments that it still holds.
void refuse_nan(SessionState& session, const Graph& graph, const Call& call,
                const std::vector<Ref>& results, const std::string& what, SourceLine line);

}  // namespace firn
