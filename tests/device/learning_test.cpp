// Training on the device: every layer in one step against the oracle, and a run that goes on.
#include "engine/firn/learning.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "engine/firn/firn.h"

namespace firn {
namespace {

using Floats = std::vector<float>;

Tensor some(const Shape& shape, float low = -1, float high = 1) {
    Floats out;
    for (int64_t k = 0; k < element_count(shape).constant(); ++k)
        out.push_back(low + (high - low) * float((k * 37 + 11) % 101) / 101.0f);
    return tensor(out, shape);
}

/// Pictures, through convolutions, and words, through attention and a GRU, to three classes.
struct Everything : Module {
    Conv2d conv = add("conv", Conv2d(2, 4, 3, {.padding = 1}));
    BatchNorm norm = add("norm", BatchNorm(4));
    ConvTranspose2d up = add("up", ConvTranspose2d(4, 2, 2, {.stride = 2}));
    Embedding words = add("words", Embedding(7, 8, {.check_indices = false}));
    MultiHeadAttention attention = add("attention", MultiHeadAttention(8, 2));
    LayerNorm layer = add("layer", LayerNorm(Shape{8}));
    Dropout drop = add("drop", Dropout(0.3f));
    GRU gru = add("gru", GRU(8, 6));
    LSTM lstm = add("lstm", LSTM(6, 5));
    Linear out = add("out", Linear(5 + 8, 3));

    Tensor operator()(const Tensor& picture, const Tensor& sentence) const {
        Tensor seen = gelu(up(max_pool2d(relu(norm(conv(picture))), 2)));
        seen = reshape(avg_pool2d(seen, 3), {picture.size(0), 8});
        Tensor heard = words(sentence);
        heard = layer(heard + drop(attention(heard, {.causal = true})));
        heard = lstm(gru(heard).output).output;
        return out(concat({mean(heard, {1}), seen}, {.axis = 1}));
    }
};

struct Training {
    Everything net;
    AdamW optimizer{net.parameters(), {.lr = 0.01f}};
    Training() {
        net.reset(2);
        optimizer.clip_norm(1.0f);
    }
    Floats losses(int steps) const {
        const auto step = compile({net, optimizer},
                                  [&](Tensor picture, Tensor sentence, Tensor label) {
                                      return optimizer.step(cross_entropy(
                                          net(picture, sentence), label, {.check_labels = false}));
                                  },
                                  {f32(3, 2, 6, 6), i32(3, 4), i32(3)});
        Floats out;
        const Tensor sentence = tensor({0, 3, 6, 3, 2, 2, 1, 5, 4, 0, 6, 1}, {3, 4});
        for (int k = 0; k < steps; ++k)
            out.push_back(step(some({3, 2, 6, 6}), sentence, tensor({2, 0, 1})).item<float>());
        return out;
    }
    Floats values() const {
        Floats out;
        for (const NamedVariable& each : net.variables())
            for (float value : each.variable.value().to_vector<float>()) out.push_back(value);
        return out;
    }
};

TEST(LearningOnDevice, TakesTheStepsOfTheOracle) {
    Floats expected, expected_values;
    {
        SessionScope scope(Session::oracle());
        const Training run;
        expected = run.losses(3);
        expected_values = run.values();
    }
    SessionScope scope(device_session());
    const Training run;
    const Floats got = run.losses(3), values = run.values();
    for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], expected[k], 1e-4) << k;
    EXPECT_LT(got[2], got[0]);
    // Adam's first steps have the rate's length for every gradient: where one is nearly 0, rounding
    // decides on the way.
    int far = 0;
    for (size_t k = 0; k < values.size(); ++k)
        far += std::abs(values[k] - expected_values[k]) >
               2e-3 * std::max(1.0f, std::abs(expected_values[k]));
    EXPECT_LE(far, int(values.size() / 50));
}

TEST(LearningOnDevice, GoesOnWithTheSameBits) {
    SessionScope scope(device_session());
    const std::string path = testing::TempDir() + "/learning_on_device.safetensors";
    const Training run;
    run.losses(2);
    save_state(path, {run.net, run.optimizer});
    const Floats expected = run.losses(3);
    const Training other;
    load_state(path, {other.net, other.optimizer});
    EXPECT_EQ(other.losses(3), expected);
    EXPECT_EQ(other.values(), run.values());
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace firn
