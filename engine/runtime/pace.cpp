// Sizes submissions.
#include "engine/runtime/pace.h"

#include <algorithm>

namespace firn {

void Pace::measured(double predicted, double seconds) {
    if (predicted <= 0) return;
    // The growth is bounded: the next iterations may be more expensive than the last.
    slower_ = std::clamp(seconds / predicted, slower_ / 2, 1e6);
    slower_ = std::max(slower_, 1e-3);
}

}  // namespace firn
