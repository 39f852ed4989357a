// The step of training through all steps of the cells.
#include "apps/neural_ca/training.h"

#include <algorithm>
#include <cmath>

namespace firn::neural_ca {
namespace {

constexpr int kMostSteps = 128, kFirstSteps = 24;

/// Streams of random numbers: those of a step of training, and of what is watched.
constexpr int kOfTraining = 1000, kOfWatching = 1 << 30;

Tensor run(const Rule& rule, Tensor cells, const Tensor& steps, const Tensor& seed,
           const Tensor& stream) {
    const Shape each{cells.size(0), cells.size(1), cells.size(2), 1};
    for (Tensor k : loop(min(steps, kMostSteps))) {
        // Weights that belong to the iteration: of what the loop only reads, products with all
        // cells would be summed up over the iterations one by one, and over the cells at the end.
        std::vector<Tensor> weights;
        for (const NamedVariable& each : rule.parameters())
            weights.push_back(select(k < 0, 0.0f, each.variable.value()));
        const Binding bound(rule.parameters(), weights);
        cells = rule(cells, rand(each, {.seed = seed, .stream = stream + k}));
    }
    return cells;
}

/// Distances of patterns to the target, [batch].
Tensor distances(const Tensor& cells, const Tensor& target) {
    const Tensor colours = slice(cells, {.axis = 3, .begin = 0, .end = 4});
    return mean(square(colours - target), {1, 2, 3});
}

/// Prepares patterns before they grow: the worst becomes a seed, and the best are wounded.
Tensor prepared(const Tensor& cells, const Tensor& target, const Tensor& wounds, const Tensor& seed,
                const Tensor& stream) {
    const Size batch = cells.size(0), n = cells.size(1), m = cells.size(2);
    const Tensor distance = distances(cells, target);
    // The number of worse losses: 0 is the worst; of equal ones the first counts as worse.
    auto [a, b] = indices<2>({batch, batch});
    const Tensor worse = (distance(b) > distance(a)) | ((distance(b) == distance(a)) & (b < a));
    const Tensor rank = sum(worse.as(i32), {1});
    auto [k, i, j, c] = indices<4>({batch, 1, 1, 1});
    const Tensor random = rand({batch, 3}, {.seed = seed, .stream = stream});
    const Tensor side = Tensor(n).as(f32);
    // A pattern that is no picture yet, such as a seed, would not survive.
    const Tensor hurts =
        (rank(k) >= Tensor(batch) - wounds) & (distance(k) < 0.3f * mean(square(target)));
    const Tensor hurt = wounded(cells, side * (0.2f + 0.6f * random(k, 0)),
                                Tensor(m).as(f32) * (0.2f + 0.6f * random(k, 1)),
                                select(hurts, side * (0.1f + 0.15f * random(k, 2)), 0.0f));
    return select(rank(k) == 0, seed_cells(batch, n, m), hurt);
}

StateFunction compile_step(const Rule& rule, const Adam& adam, const Pool& pool,
                           const Tensor& target) {
    return compile(
        {rule, adam, pool},
        [&](Tensor target, Tensor chosen, Tensor steps, Tensor wounds, Tensor seed, Tensor stream) {
            Tensor all = pool.cells.value();
            const Tensor before =
                prepared(take(all, chosen, {.axis = 0}), target, wounds, seed, stream);
            const Tensor after = run(rule, before, steps, seed, stream + 1);
            const Tensor loss = mean(distances(after, target));
            // Gradients of length 1, each by itself: they grow with the steps that they go through.
            std::vector<Tensor> parameters;
            for (const NamedVariable& each : adam.parameters())
                parameters.push_back(each.variable.value());
            std::vector<Tensor> gradients = grad(loss, parameters);
            for (Tensor& each : gradients) each = each / (sqrt(sum(square(each))) + 1e-8f);
            adam.step(gradients);
            auto [k, i, j, c] = indices<4>(after.shape());
            all(chosen(k), i, j, c) = stop_gradient(after);
            pool.cells.set(all);
            return loss;
        },
        {ArgSpec{f32, target.shape()}, i32("batch"), i32(), i32(), u32(), i32()});
}

StateFunction compile_grow(const Rule& rule, const Tensor& target) {
    const int64_t n = target.size(0).constant(), m = target.size(1).constant();
    return compile({rule},
                   [&](Tensor cells, Tensor steps, Tensor seed, Tensor draw) {
                       const Tensor after = run(rule, unsqueeze(cells, 0), steps, seed,
                                                kOfWatching + draw * kMostSteps);
                       return reshape(after, {n, m, kChannels});
                   },
                   {f32(n, m, kChannels), i32(), u32(), i32()});
}

}  // namespace

Pool::Pool(int count, const Size& n, const Size& m)
    : cells(add_buffer("cells", {count, n, m, kChannels},
                       [](const Shape& shape, const RandomOptions&) {
                           return seed_cells(shape[0], shape[1], shape[2]);
                       })) {}

Training make_training(const Tensor& target, const ProblemOptions& options, uint32_t seed) {
    const Rule rule(options.hidden);
    const Adam adam(rule.parameters());
    const Pool pool(options.pool, target.size(0), target.size(1));
    Training out{target,
                 options,
                 rule,
                 adam,
                 pool,
                 compile_step(rule, adam, pool, target),
                 compile_grow(rule, target),
                 Batches(options.pool, options.batch, {.seed = seed})};
    restart(out, seed);
    return out;
}

void restart(Training& training, uint32_t seed) {
    training.rule.reset(seed);
    training.adam.reset();
    training.pool.reset(seed);
    training.batches = Batches(training.options.pool, training.options.batch, {.seed = seed});
    training.seed = seed;
    training.steps = 0;
}

Tensor advance(Training& training, const Settings& settings) {
    training.adam["lr"] = settings.lr * std::exp2(-float(training.steps) / float(settings.halving));
    const int range = std::max(1, settings.most - settings.least + 1);
    // A hash of the step, the same in every run. At first fewer: their gradients are short and
    // sure.
    const int chosen =
                  settings.least + int(uint32_t(training.steps) * 2654435761u % uint32_t(range)),
              steps = int(std::min<int64_t>(chosen, kFirstSteps + training.steps / 12));
    return training.step.call({training.target, training.batches.next(), steps, settings.wounded,
                               training.seed, int(training.steps++) * kOfTraining})[0];
}

Tensor grown(const Training& training, const Tensor& cells, int steps, int draw) {
    return training.grow.call({cells, steps, training.seed, draw})[0];
}

}  // namespace firn::neural_ca
