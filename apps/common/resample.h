// Pictures at other sizes.
#pragma once
#include <firn/firn.h>

namespace firn {

/// The picture [h, w, 3] at another size: every pixel is the mean of what it covers.
Tensor resampled(const Tensor& picture, int height, int width);

}  // namespace firn
