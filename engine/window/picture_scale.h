// Pictures at other sizes, on the host.
#pragma once
#include "engine/window/picture.h"

namespace firn {

/// The picture scaled so that it covers a size, every pixel the mean of what it covers, and cut
/// around its middle. UserError: a size that is not positive.
Picture covering(const Picture& picture, int width, int height);

}  // namespace firn
