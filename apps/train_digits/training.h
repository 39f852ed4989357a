// A network that reads digits, and a run that trains it.
#pragma once
#include <firn/learning.h>

#include "apps/train_digits/digits.h"

namespace firn::train_digits {

/// Two convolutions, after each of which the picture is half as large, and two layers behind them.
struct Network : Module {
    Conv2d first = add("first", Conv2d(1, 12, 5, {.stride = 2, .padding = 2, .init = he_normal()}));
    Conv2d second = add("second", Conv2d(12, 24, 3, {.padding = 1, .init = he_normal()}));
    Linear hidden = add("hidden", Linear(24 * 7 * 7, 64, {.init = he_normal()}));
    Linear answer = add("answer", Linear(64, kClasses));
    /// Logits [n, 10] of pictures f32 [n, 28, 28] from 0 to 1.
    Tensor operator()(const Tensor& images) const;
    /// Returns the features of the first layer, [n, 12, 14, 14].
    Tensor features(const Tensor& images) const;
};

/// The settings that a person may change.
struct Settings {
    float lr = 2e-3f, decay = 0.01f;
    float averaged = 0.99f;  // how much of the mean of the weights stays from step to step
    float turn = 0.1f;       // the most that pictures are turned by, radians
    float shift = 1.5f;      // and shifted, pixels
    int batch = 128;
};

/// Copies share the network.
struct Training {
    DigitData data;
    Network network;
    AdamW adam;
    AveragedWeights mean;
    StateFunction step, judge, read;
    Batches batches;
    int batch;
    uint32_t seed = 1;
    int64_t steps = 0;
};

/// UserError: a batch larger than the data.
Training make_training(const DigitData& data, const Settings& settings, uint32_t seed);
/// Begins again with the values of this seed: compiles nothing.
void restart(Training& training, const Settings& settings, uint32_t seed);
/// Makes a step over a batch of turned and shifted pictures, and returns the loss, rank 0, on the
/// device.
Tensor advance(Training& training, const Settings& settings);

/// The network's answers for the test pictures, with the mean of the weights of the last steps.
struct Judgement {
    float accuracy = 0;  // percent
    Tensor confusion;    // f32 [10, 10]: pictures of digit (row) that are read as (column)
    Tensor loss;         // f32 [n], and what was read, i32 [n]
    Tensor read;
};
Judgement judged(const Training& training);
/// The network's answer for one picture f32 [28, 28].
struct Reading {
    Tensor probability;  // f32 [10]
    Tensor features;     // f32 [12, 14, 14]: what the first layer finds
};
Reading read_digit(const Training& training, const Tensor& image);

}  // namespace firn::train_digits
