// Rows: the elements that one invocation computes side by side, and those that one workgroup holds.
#pragma once
#include <cstdint>

#include "compiler/program/device_profile.h"
#include "compiler/program/size_env.h"

namespace firn {

/// Returns whether the inner dimensions hold so few elements that an invocation computes them side
/// by side: shared values are computed once, in the iterations of loops too.
bool is_short_row(const Shape& shape, int inner);

/// Neighbours along a row of `extent` elements for one invocation of a group that holds the row: a
/// power of two that divides it, at most `most` where a group can hold it so, less where most lanes
/// would stand behind its end; 0 where no group can hold it.
int64_t row_tile(const Size& extent, int64_t most, const DeviceProfile& profile,
                 const SymbolFacts& facts);

/// A group of so many invocations holds a row of `extent` elements, `tile` neighbours each.
bool group_holds(const Size& extent, int64_t tile, int64_t members, const SymbolFacts& facts);

/// Lanes of whole subgroups for a row of so many elements.
int64_t lanes_for_row(int64_t row, int64_t tile, const DeviceProfile& profile);

}  // namespace firn
