// Shows the text that a model writes as a picture.
#pragma once
#include "apps/char_model/training.h"

namespace firn::char_model {

constexpr int kHeight = 640, kWidth = 1200;

/// A page with samples, the newest first: what was given is grey, what the model was sure of green,
/// what it was not red. f32 [kHeight, kWidth, 3].
Tensor page(const std::vector<Sample>& samples);

}  // namespace firn::char_model
