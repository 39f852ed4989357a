// The compiled step and picture of a training.
#include "apps/train_image/training.h"

#include <cmath>

namespace firn::train_image {
namespace {

/// Places in [0, 1] of the middles of pixels, given by their numbers in row-major order.
Tensor places_of(const Tensor& pixels, const Size& height, const Size& width) {
    const Tensor i = (pixels / width).as(f32) + 0.5f, j = (pixels % width).as(f32) + 0.5f;
    return stack({i / Tensor(height).as(f32), j / Tensor(width).as(f32)}, {.axis = 1});
}

StateFunction compile_step(const Network& network, const Adam& adam, const AveragedWeights& mean) {
    return compile(
        {network, adam, mean},
        [&](Tensor target, Tensor lanes, Tensor seed, Tensor step) {
            const Size height = target.size(0), width = target.size(1);
            Tensor pixels =
                randint(0, Tensor(height * width), lanes.shape(), {.seed = seed, .stream = step});
            Tensor expected = take(reshape(target, {height * width, 3}), pixels, {.axis = 0});
            Tensor loss = adam.step(mse_loss(network(places_of(pixels, height, width)), expected));
            mean.update();
            return loss;
        },
        {f32("h", "w", 3), i32("n"), u32(), i32()});
}

StateFunction compile_draw(const Network& network, const AveragedWeights& mean) {
    return compile({network, mean},
                   [&](Tensor target) {
                       const Size height = target.size(0), width = target.size(1);
                       mean.exchange();
                       Tensor colours = network(places_of(arange(height * width), height, width));
                       mean.exchange();
                       return reshape(colours, {height, width, 3});
                   },
                   {f32("h", "w", 3)});
}

}  // namespace

Training make_training(const Tensor& target, const NetworkOptions& options, uint32_t seed) {
    const Network network(options);
    const Adam adam(network.parameters());
    const AveragedWeights mean(network.parameters());
    Training out{target,
                 network,
                 adam,
                 mean,
                 compile_step(network, adam, mean),
                 compile_draw(network, mean)};
    restart(out, seed);
    return out;
}

void restart(Training& training, uint32_t seed) {
    training.network.reset(seed);
    training.adam.reset();
    training.mean.reset();
    training.seed = seed;
    training.steps = 0;
}

Tensor advance(Training& training, const Settings& settings) {
    training.adam["lr"] = settings.lr;
    training.mean.decay() = settings.averaged;
    return training.step.call(
        {training.target, arange(settings.batch), training.seed, training.steps++})[0];
}

Tensor learned_picture(const Training& training) {
    return training.draw.call({training.target})[0];
}

float decibels(const Tensor& picture, const Tensor& target) {
    return -10.0f * std::log10(mean(square(picture - target)).item<float>());
}

}  // namespace firn::train_image
