// Counts calls of operator new, to see that recording makes none.
#pragma once

namespace firn {

/// Calls by this thread so far.
int allocation_count();

}  // namespace firn
