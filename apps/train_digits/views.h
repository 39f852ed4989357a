// Shows a network that learns digits, put together as one picture.
#pragma once
#include "apps/common/canvas.h"
#include "apps/train_digits/training.h"

namespace firn::train_digits {

/// The canvas, and on it the pad that one draws on; the panel covers its left side.
constexpr int kHeight = 640, kWidth = 1200;
constexpr Spot kPad{24, 330, 12};

/// A pad of 28 x 28 pixels with a stroke of ink from one point to another, in its own coordinates.
Tensor with_stroke(const Tensor& pad, float from_i, float from_j, float to_i, float to_j);

/// The newest of everything: see picture().
struct Views {
    Tensor plain = plain_digits();
    Tensor pad;      // f32 [28, 28]
    Reading read;    // of the pad
    Judgement test;  // of the test pictures
};
/// The pad and what it is taken for, the confusion matrix, the filters of the first layer and what
/// they find on the pad, and the test pictures that were read worst: what they are, green, and what
/// they were taken for, red. On [kHeight, kWidth].
Drawing picture(const Training& training, const Views& views);

}  // namespace firn::train_digits
