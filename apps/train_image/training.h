// A run that teaches a network one picture.
#pragma once
#include <cstdint>

#include "apps/train_image/network.h"

namespace firn::train_image {

struct Settings {
    float lr = 1e-2f;
    int batch = 2048;        // pixels a step
    float averaged = 0.99f;  // how much of the mean of the weights stays from step to step
};

/// The picture, the network, and what is compiled for both. Copies share the network.
struct Training {
    Tensor target;  // f32 [h, w, 3] in [0, 1]
    Network network;
    Adam adam;
    AveragedWeights mean;
    StateFunction step, draw;
    uint32_t seed = 1;
    int steps = 0;
};

/// A training of a network whose first values are those of the seed.
Training make_training(const Tensor& target, const NetworkOptions& options, uint32_t seed);
/// Begins again, with the values of this seed: compiles nothing.
void restart(Training& training, uint32_t seed);
/// Makes a step over random pixels, and returns the loss, rank 0, on the device.
Tensor advance(Training& training, const Settings& settings);

/// Returns the picture that the network has learned, [h, w, 3], with the mean of the weights of the
/// last steps.
Tensor learned_picture(const Training& training);
/// Peak signal to noise ratio of two pictures with values in [0, 1], in decibels.
float decibels(const Tensor& picture, const Tensor& target);

}  // namespace firn::train_image
