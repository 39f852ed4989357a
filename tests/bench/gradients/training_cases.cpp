// Training steps: gradients of small networks, and the weights a step further.
#include <firn/learning.h>

#include <cmath>

#include "tests/bench/bench.h"
#include "tests/bench/gradients/gradients.h"

namespace firn::bench {
namespace {

constexpr float kRate = 0.1f;

/// The loss, and the first `by` arguments after a step of gradient descent.
GradientContest step_contest(const Objective& loss, const std::vector<Tensor>& args, size_t by,
                             const LeastWork& least) {
    const std::vector<ArgSpec> specs = specs_of(std::vector<Arg>(args.begin(), args.end()));
    const auto value = compile([&](const std::vector<Tensor>& x) { return loss(x); }, specs);
    const auto step = compile(
        [&](const std::vector<Tensor>& x) {
            const std::vector<Tensor> weights(x.begin(), x.begin() + static_cast<long>(by));
            std::vector<Tensor> out;
            for (const Tensor& each : grad(loss(x), weights))
                out.push_back(weights[out.size()] - kRate * each);
            return out;
        },
        specs);
    return {{value, args}, {step, args}, 0, 1, least};
}

Tensor weight(const Shape& shape, int64_t from, uint32_t seed) {
    const float most = 1 / std::sqrt(static_cast<float>(from));
    return tensor(numbers(element_count(shape).constant(), -most, most, seed), shape);
}

Tensor labels(int64_t count, int64_t classes) {
    std::vector<int> out;
    for (int64_t k = 0; k < count; ++k) out.push_back(static_cast<int>(k * 7 % classes));
    return tensor(out);
}

constexpr int64_t kBatch = 128;

/// 784-256-128-10.
Tensor mlp(const std::vector<Tensor>& x) {
    Tensor h = relu(matmul(x[6], x[0]) + x[1]);
    h = relu(matmul(h, x[2]) + x[3]);
    return cross_entropy(matmul(h, x[4]) + x[5], x[7], {.check_labels = false});
}

GradientContest mlp_step() {
    const double products = 784 * 256 + 256 * 128 + 128 * 10, inner = 256 * 128 + 128 * 10;
    return step_contest(
        mlp,
        {weight({784, 256}, 784, 1), weight({256}, 784, 2), weight({256, 128}, 256, 3),
         weight({128}, 256, 4), weight({128, 10}, 128, 5), weight({10}, 128, 6),
         tensor(numbers(kBatch * 784, 0, 1, 7), {kBatch, 784}), labels(kBatch, 10)},
        6, {4 * (products + kBatch * 784), 4 * products, 2 * kBatch * (2 * products + inner)});
}

/// Two layers of convolutions, each with a ReLU and pooled, and a linear one.
Tensor conv_net(const std::vector<Tensor>& x) {
    const auto layer = [](const Tensor& from, const Tensor& kernel, const Tensor& bias) {
        const Tensor y = conv2d(from, kernel, {.padding = 1}) + reshape(bias, {bias.size(0), 1, 1});
        return max_pool2d(relu(y), 2);
    };
    const Tensor h = layer(layer(x[6], x[0], x[1]), x[2], x[3]);
    const Tensor flat = reshape(h, {h.size(0), h.size(1) * h.size(2) * h.size(3)});
    return cross_entropy(matmul(flat, x[4]) + x[5], x[7], {.check_labels = false});
}

GradientContest conv_net_step() {
    const int64_t batch = 64;
    const double first = 784.0 * 16 * 9, second = 196.0 * 32 * 16 * 9, last = 1568 * 10;
    return step_contest(
        conv_net,
        {weight({16, 1, 3, 3}, 9, 1), weight({16}, 9, 2), weight({32, 16, 3, 3}, 144, 3),
         weight({32}, 144, 4), weight({1568, 10}, 1568, 5), weight({10}, 1568, 6),
         tensor(numbers(batch * 784, 0, 1, 7), {batch, 1, 28, 28}), labels(batch, 10)},
        6,
        {4.0 * (batch * 784 + 1568 * 10), 4.0 * 1568 * 10,
         2.0 * batch * (2 * first + 3 * second + 3 * last)});
}

/// A block of attention of 4 heads: x[0] projects to queries, keys and values, x[1] projects the
/// heads' outputs.
Tensor attention(const std::vector<Tensor>& x) {
    const Size tokens = x[2].size(0), width = x[2].size(1), heads = 4;
    const Tensor all = matmul(x[2], x[0]);
    const auto part = [&](int k) {
        const Tensor own = slice(all, {.axis = 1, .begin = k * width, .end = (k + 1) * width});
        return transpose(reshape(own, {tokens, heads, floor_div(width, heads)}), 0, 1);
    };
    const Tensor weighed = scaled_dot_product_attention(part(0), part(1), part(2));
    const Tensor joined = reshape(transpose(weighed, 0, 1), {tokens, width});
    return mse_loss(x[2] + matmul(joined, x[1]), x[3]);
}

GradientContest attention_step() {
    const int64_t tokens = 128, width = 128;
    const double project = 3.0 * tokens * width * width, out = 1.0 * tokens * width * width,
                 scores = 1.0 * tokens * tokens * width;
    return step_contest(attention,
                        {weight({width, 3 * width}, width, 1), weight({width, width}, width, 2),
                         tensor(numbers(tokens * width, -1, 1, 3), {tokens, width}),
                         tensor(numbers(tokens * width, -1, 1, 4), {tokens, width})},
                        2,
                        {4.0 * (4 * width * width + 2 * tokens * width), 4.0 * 4 * width * width,
                         2 * (2 * project + 3 * out + 6 * scores)});
}

}  // namespace

void add_training(std::vector<GradientCase>& cases) {
    cases.push_back({"mlp_step", mlp_step});
    cases.push_back({"conv_net_step", conv_net_step});
    cases.push_back({"attention_step", attention_step});
}

}  // namespace firn::bench
