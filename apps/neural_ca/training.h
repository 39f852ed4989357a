// A run that teaches a cellular automaton to grow a picture, and to heal.
#pragma once
#include "apps/neural_ca/automaton.h"

namespace firn::neural_ca {

/// Options a change of which makes another run.
struct ProblemOptions {
    int hidden = 48;  // units of the rule
    int batch = 4;    // patterns a step
    int pool = 256;   // patterns that training goes on from
    bool operator==(const ProblemOptions&) const = default;
};

struct Settings {
    float lr = 6e-3f;
    int halving = 800;          // steps in which the learning rate halves
    int least = 64, most = 96;  // steps that patterns grow before they are judged; at first fewer
    int wounded = 1;            // of a batch
};

/// Patterns that were grown before: training goes on from them, so that they stay what they are.
struct Pool : Module {
    Pool(int count, const Size& n, const Size& m);
    Variable cells;  // [count, n, m, kChannels]
};

/// Copies share the rule and the pool.
struct Training {
    Tensor target;  // f32 [n, m, 4]
    ProblemOptions options;
    Rule rule;
    Adam adam;
    Pool pool;
    StateFunction step, grow;
    Batches batches;
    uint32_t seed = 1;
    int64_t steps = 0;
};

/// `target` f32 [n, m, 4]: red, green and blue, premultiplied by opacity, and opacity. UserError: a
/// batch larger than the pool.
Training make_training(const Tensor& target, const ProblemOptions& options, uint32_t seed);
/// Begins again: compiles nothing.
void restart(Training& training, uint32_t seed);
/// Makes a step: the worst of some patterns of the pool becomes a seed, and the best are wounded if
/// they look like something; all grow, and are judged by the mean square of their distance to the
/// target. Returns that, rank 0.
Tensor advance(Training& training, const Settings& settings);
/// `steps` steps of cells [n, m, kChannels]; `draw` numbers the calls, each of which draws other
/// random numbers.
Tensor grown(const Training& training, const Tensor& cells, int steps, int draw);

}  // namespace firn::neural_ca
