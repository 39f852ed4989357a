// Simulations on a grid, and their gradients by their initial values and by their parameters.
#include "tests/bench/bench.h"
#include "tests/bench/gradients/gradients.h"

namespace firn::bench {
namespace {

constexpr int kSide = 128, kTurns = 1000;

Tensor around(Tensor u) {
    auto [i, j] = indices<2>(u.shape());
    Reader at = wrap(u);
    return at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1) - 4.0f * u;
}

/// J. E. Pearson, "Complex Patterns in a Simple System", 1993.
Tensor gray_scott(const std::vector<Tensor>& x, const LoopOptions& options) {
    Tensor u = x[0], v = x[1];
    for (Tensor turn : loop(kTurns, options)) {
        Tensor meets = u * v * v;
        Tensor more = u + 0.16f * around(u) - meets + x[2] * (1.0f - u);
        v += 0.08f * around(v) + meets - (x[2] + x[3]) * v;
        u = more;
    }
    return sum(square(u) + v);
}

/// Waves through a field of speeds.
Tensor wave(const std::vector<Tensor>& x, const LoopOptions& options) {
    Tensor u = x[0], rate = x[1];
    for (Tensor turn : loop(kTurns, options)) {
        rate += 0.1f * x[2] * around(u);
        u += rate;
    }
    return sum(square(u));
}

/// Heat with a conductivity that grows with it, from a source.
Tensor heat(const std::vector<Tensor>& x, const LoopOptions& options) {
    Tensor u = x[0];
    for (Tensor turn : loop(kTurns, options)) u += 0.1f * around(u * u) + x[1];
    return sum(square(u));
}

using Simulation = Tensor (*)(const std::vector<Tensor>& x, const LoopOptions& options);

Tensor field(float low, float high, uint32_t seed) {
    return tensor(numbers(kSide * kSide, low, high, seed), {kSide, kSide});
}

}  // namespace

void add_simulations(std::vector<GradientCase>& cases) {
    const auto add = [&](const std::string& name, Simulation f, std::vector<Tensor> (*args)(),
                         size_t by) {
        const auto one = [=](int64_t checkpoint, double most) {
            GradientContest out = by_first(
                [=](const std::vector<Tensor>& x) { return f(x, {.checkpoint = checkpoint}); },
                args(), by, most);
            out.iterations = kTurns;
            return out;
        };
        cases.push_back({name, [=] { return one(0, 2.5); }});
        cases.push_back({name + "_checkpoints", [=] { return one(32, 4); }});
    };
    add(
        "gray_scott", gray_scott,
        [] {
            return std::vector<Tensor>{field(0.4f, 1, 1), field(0, 0.3f, 2), tensor({0.03f}, {}),
                                       tensor({0.06f}, {})};
        },
        4);
    add(
        "wave", wave,
        [] {
            return std::vector<Tensor>{field(-1, 1, 1), zeros({kSide, kSide}), field(0.5f, 1, 2)};
        },
        3);
    add(
        "heat", heat,
        [] {
            return std::vector<Tensor>{field(0, 0.5f, 1), field(0, 1e-4f, 2)};
        },
        2);
}

}  // namespace firn::bench
