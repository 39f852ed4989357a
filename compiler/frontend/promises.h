// Promises of stores and of unchecked reads, verified while the program runs; internal.
#pragma once
#include "compiler/frontend/record.h"

namespace firn {

/// Session::check_promises, else FIRN_CHECK.
bool wants_checks(SessionState& session);
/// The same where promises can be checked as they are recorded.
bool checks_promises(SessionState& session);

/// Records assertions that a store to a tensor of shape `target` keeps the promises of `how`.
/// `indices` are those of masked_indices (outside where nothing is stored), `mask` that of
/// store_mask.
void check_store(SessionState& session, const Builder& b, const Shape& target,
                 std::vector<Ref> indices, const Ref& mask, const ScatterAttr& how);

/// Records an assertion that every index lies inside.
void check_read(SessionState& session, const Builder& b, const Shape& source,
                const std::vector<Ref>& indices);

}  // namespace firn
