// The network, and what is compiled to train and to judge it.
#include "apps/train_digits/training.h"

namespace firn::train_digits {
namespace {

Tensor grey(const Tensor& images) { return images.as(f32) / 255.0f; }

StateFunction compile_step(const Network& network, const AdamW& adam, const AveragedWeights& mean) {
    return compile(
        {network, adam, mean},
        [&](Tensor images, Tensor labels, Tensor chosen, Tensor turn, Tensor shift, Tensor seed,
            Tensor step) {
            const Tensor batch =
                random_move(grey(take(images, chosen, {.axis = 0})),
                            {.turn = turn, .shift = shift, .seed = seed, .stream = step});
            // Labels were checked when they were read.
            Tensor loss = adam.step(cross_entropy(network(batch), take(labels, chosen, {.axis = 0}),
                                                  {.check_labels = false}));
            mean.update();
            return loss;
        },
        {u8("n", kSide, kSide), i32("n"), i32("batch"), f32(), f32(), u32(), i32()});
}

StateFunction compile_judge(const Network& network, const AveragedWeights& mean) {
    return compile({network, mean},
                   [&](Tensor images, Tensor labels) {
                       mean.exchange();
                       const Tensor logits = network(grey(images));
                       mean.exchange();
                       const Tensor read = argmax(logits, {.axis = 1});
                       Tensor confusion = zeros({kClasses, kClasses});
                       scatter_add(confusion(labels, read), 1.0f);
                       return std::tuple{
                           confusion, read,
                           cross_entropy(logits, labels,
                                         {.reduction = Reduction::None, .check_labels = false})};
                   },
                   {u8("n", kSide, kSide), i32("n")});
}

StateFunction compile_read(const Network& network, const AveragedWeights& mean) {
    return compile({network, mean},
                   [&](Tensor image) {
                       mean.exchange();
                       const Tensor images = reshape(image, {1, kSide, kSide});
                       const Tensor logits = network(images), found = network.features(images);
                       mean.exchange();
                       return std::tuple{reshape(softmax(logits, {.axis = 1}), {kClasses}),
                                         reshape(found, {12, 14, 14})};
                   },
                   {f32(kSide, kSide)});
}

}  // namespace

Tensor Network::operator()(const Tensor& images) const {
    const Tensor x = max_pool2d(relu(second(features(images))), 2);
    return answer(relu(hidden(reshape(x, {x.size(0), 24 * 7 * 7}))));
}

Tensor Network::features(const Tensor& images) const { return relu(first(unsqueeze(images, 1))); }

Training make_training(const DigitData& data, const Settings& settings, uint32_t seed) {
    const Network network;
    const AdamW adam(network.parameters());
    const AveragedWeights mean(network.parameters());
    Training out{data,
                 network,
                 adam,
                 mean,
                 compile_step(network, adam, mean),
                 compile_judge(network, mean),
                 compile_read(network, mean),
                 Batches(data.train.images.size(0).constant(), settings.batch, {.seed = seed}),
                 settings.batch};
    restart(out, settings, seed);
    return out;
}

void restart(Training& training, const Settings& settings, uint32_t seed) {
    training.network.reset(seed);
    training.adam.reset();
    training.mean.reset();
    training.batches =
        Batches(training.data.train.images.size(0).constant(), settings.batch, {.seed = seed});
    training.batch = settings.batch;
    training.seed = seed;
    training.steps = 0;
}

Tensor advance(Training& training, const Settings& settings) {
    training.adam["lr"] = settings.lr;
    training.adam["weight_decay"] = settings.decay;
    training.mean.decay() = settings.averaged;
    if (training.batch != settings.batch) {
        const Samples& train = training.data.train;
        training.batches =
            Batches(train.images.size(0).constant(), settings.batch, {.seed = training.seed});
        training.batches.seek(training.steps);
        training.batch = settings.batch;
    }
    const Samples& train = training.data.train;
    return training.step.call({train.images, train.labels, training.batches.next(), settings.turn,
                               settings.shift, training.seed, int(training.steps++)})[0];
}

Judgement judged(const Training& training) {
    const Samples& test = training.data.test;
    const std::vector<Tensor> all = training.judge.call({test.images, test.labels});
    return {100.0f * (trace(all[0]) / sum(all[0])).item<float>(), all[0], all[2], all[1]};
}

Reading read_digit(const Training& training, const Tensor& image) {
    const std::vector<Tensor> all = training.read.call({image});
    return {all[0], all[1]};
}

}  // namespace firn::train_digits
