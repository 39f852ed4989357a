// The step, and a model that writes: one loop on the device.
#include "apps/char_model/training.h"

#include <algorithm>

namespace firn::char_model {
namespace {

constexpr int kTestPieces = 32;
/// Streams of random numbers beyond those of steps.
constexpr int kOfWriting = 1 << 30;

/// The loss over pieces of `text` that begin at `starts`.
Tensor loss_at(const Model& model, const Tensor& text, const Tensor& starts, int context) {
    auto [piece, k] = indices<2>({starts.size(0), context});
    const Tensor at = starts(piece) + k;
    const Tensor logits = model(text(at));
    const Size count = logits.size(2), all = starts.size(0) * context;
    return cross_entropy(reshape(logits, {all, count}), reshape(text(at + 1), {all}),
                         {.check_labels = false});
}

StateFunction compile_step(const Model& model, const AdamW& adam, int context) {
    return compile({model, adam},
                   [&](Tensor text, Tensor lanes, Tensor seed, Tensor step) {
                       const Tensor starts = randint(0, Tensor(text.size(0)) - context,
                                                     lanes.shape(), {.seed = seed, .stream = step});
                       return adam.step(loss_at(model, text, starts, context));
                   },
                   {i32("n"), i32("batch"), u32(), i32()});
}

StateFunction compile_judge(const Model& model, int context) {
    return compile({model},
                   [&](Tensor text) {
                       const Tensor starts = arange(kTestPieces) *
                                             ((Tensor(text.size(0)) - context - 1) / kTestPieces);
                       return loss_at(model, text, starts, context);
                   },
                   {i32("n")});
}

StateFunction compile_write(const Model& model, int context) {
    return compile({model},
                   [&](Tensor piece, Tensor room, Tensor temperature, Tensor seed, Tensor draw) {
                       const Size count = room.size(0);
                       Tensor window = piece, letters = room, probability = zeros({count});
                       for (Tensor k : loop(count)) {
                           const Tensor logits = model(unsqueeze(window, 0))(0, context - 1);
                           // The largest after noise of E. Gumbel is as likely as softmax says.
                           const Tensor chance =
                               rand(logits.shape(), {.seed = seed, .stream = draw + k});
                           const Tensor noise = -log(-log(clamp(chance, 1e-7f, 1.0f - 1e-7f)));
                           const Tensor letter = argmax(logits / temperature + noise);
                           letters(k) = letter;
                           probability(k) = softmax(logits, {.axis = 0})(letter);
                           auto [i] = indices<1>({context});
                           window = select(i == context - 1, letter, window(i + 1));
                       }
                       return std::tuple{letters, probability};
                   },
                   {i32(context), i32("count"), f32(), u32(), i32()});
}

}  // namespace

Training make_training(const Text& text, const ModelOptions& options, uint32_t seed) {
    const Model model(int64_t(text.codes.size()), options);
    AdamW adam(model.parameters());
    adam.clip_norm(1.0f);
    Training out{text,
                 options,
                 model,
                 adam,
                 compile_step(model, adam, options.context),
                 compile_judge(model, options.context),
                 compile_write(model, options.context)};
    restart(out, seed);
    return out;
}

void restart(Training& training, uint32_t seed) {
    training.model.reset(seed);
    training.adam.reset();
    training.seed = seed;
    training.steps = 0;
}

Tensor advance(Training& training, const Settings& settings) {
    training.adam["lr"] = settings.lr;
    training.adam["weight_decay"] = settings.decay;
    return training.step.call(
        {training.text.train, arange(settings.batch), training.seed, int(training.steps++)})[0];
}

float test_loss(const Training& training) {
    return training.judge.call({training.text.test})[0].item<float>();
}

Sample written(const Training& training, const std::string& prompt, int count, float temperature,
               int draw) {
    const size_t context = size_t(training.options.context);
    const std::vector<int>& codes = training.text.codes;
    std::vector<int> piece = training.text.beginning;
    for (unsigned char c : prompt) {
        const auto found = std::find(codes.begin(), codes.end(), int(c));
        if (found != codes.end()) piece.push_back(int(found - codes.begin()));
    }
    piece.erase(piece.begin(), piece.end() - long(context));
    const std::vector<Tensor> all =
        training.write.call({tensor(piece), zeros({count}, i32), std::max(temperature, 1e-2f),
                             training.seed, kOfWriting + draw * count});
    Sample out{"", std::vector<float>(context, 1.0f), int(context)};
    for (int letter : piece) out.text += char(codes[size_t(letter)]);
    for (int letter : all[0].to_vector<int>()) out.text += char(codes[size_t(letter)]);
    for (float each : all[1].to_vector<float>()) out.probability.push_back(each);
    return out;
}

}  // namespace firn::char_model
