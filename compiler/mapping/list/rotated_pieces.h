// Writes out iterations of loops whose buffers rotate, until the buffers have their names again.
#pragma once
#include <cstdint>

#include "compiler/mapping/list/sequence_pieces.h"

namespace firn {

/// The iterations after which the buffers of every loop that is written out have their names again.
inline constexpr int64_t kCommonPeriod = 6;
/// Returns whether writing iterations out costs less than copying `elements` of each buffer that is
/// moved. `loop` is the piece of `listed`.
bool is_worth_writing_out(const ListedLoop& listed, const SequencePiece& loop, int64_t elements);
/// Writes out as many iterations as it takes until all buffers have their names again, each with
/// the buffers' names at that iteration; the remaining iterations copy. `first`: the number of the
/// loop's first iteration.
SequencePiece written_out(const RepeatStep& repeat, const SequencePiece& loop,
                          const std::vector<SequencePiece>& copies, const Size& first);

}  // namespace firn
