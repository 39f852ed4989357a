// Prints and throws the results of effects; internal.
#pragma once
#include <span>

#include "compiler/frontend/record.h"

namespace firn {

/// Records that `condition` must hold, at the builder's line; `text` begins the error message.
void record_check(SessionState& session, const Builder& b, const std::string& text,
                  const Ref& condition);
/// The same with a fixed message: the error is `text` with its line, for any elements that fail.
/// The condition must not have a size that belongs to an iteration.
void record_failure(SessionState& session, const Builder& b, const std::string& text,
                    const Ref& condition);

/// Makes the nodes of the effects of the innermost scope (a function that ends, or the root). The
/// effects keep only the data for reports.
EffectNodes finish_effects(SessionState& session, std::vector<Effect>& effects);

/// Repeats the effects of a function in the current recording; `sources` are its
/// EffectNodes::sources in place.
void repeat_effects(SessionState& session, const std::vector<Effect>& effects,
                    const std::vector<Ref>& sources);

/// Prints, and throws the first assertion that failed. `results` are Buffers, one per
/// EffectNodes::results.
void report_effects(SessionState& session, const std::vector<Effect>& effects,
                    std::span<const Ref> results, const SizeEnv& symbols);

/// Computes and reports the effects of lazy code, at the end of its outermost loop or branch.
void perform_effects(SessionState& session);
/// Drops these effects, after an exception has left that loop or branch.
void discard_effects(SessionState& session);

}  // namespace firn
