// A run that teaches a model a text, and samples of what it writes.
#pragma once
#include "apps/char_model/model.h"
#include "apps/char_model/text.h"

namespace firn::char_model {

struct Settings {
    float lr = 3e-3f, decay = 0.05f;
    int batch = 16;  // pieces of text a step
};

/// Copies share the model.
struct Training {
    Text text;
    ModelOptions options;
    Model model;
    AdamW adam;
    StateFunction step, judge, write;
    uint32_t seed = 1;
    int64_t steps = 0;
};

Training make_training(const Text& text, const ModelOptions& options, uint32_t seed);
/// Begins again: compiles nothing.
void restart(Training& training, uint32_t seed);
/// Makes a step over random pieces of the text, and returns the loss, nats a character, rank 0.
Tensor advance(Training& training, const Settings& settings);
/// The loss over pieces of the test.
float test_loss(const Training& training);

/// A text that the model wrote, with its beginning, which was given.
struct Sample {
    std::string text;                // the first characters were given
    std::vector<float> probability;  // of each character where it was written; 1 of what was given
    int given = 0;
};
/// Draws `count` characters that continue a piece of the test which ends with `prompt` (without
/// characters that the text lacks), by the model's probabilities to the power 1 / temperature: at
/// 0.01 nearly always the likeliest character. `draw` numbers the calls, which draw different
/// random numbers.
Sample written(const Training& training, const std::string& prompt, int count, float temperature,
               int draw);

}  // namespace firn::char_model
