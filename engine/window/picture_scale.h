// Pictures at other sizes, on the host.
#pragma once
#include "engine/window/picture.h"

namespace firn {

/// Returns the picture scaled so that it covers a size and cut around its middle; every pixel is
/// the mean of what it covers. Throws UserError if a size is not positive.
Picture covering(const Picture& picture, int width, int height);

}  // namespace firn
