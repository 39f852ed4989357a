// The operations of gradients beside those of their functions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <string>
#include <unordered_map>

#include "compiler/base/error.h"
#include "compiler/ir/pattern.h"
#include "compiler/kernel/count.h"
#include "compiler/language.h"
#include "compiler/program/step_counts.h"
#include "tests/autodiff/random_function.h"
#include "tests/ir/random_check.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

/// Returns the operations of all dispatches of a program without symbols, each at its cost.
double simple_operations(const Program& program) {
    double total = 0;
    count_steps(program, {}, [&](const FlatStep& step, int64_t times) {
        if (step.copy) return;
        const DispatchStep& dispatch = *step.dispatch;
        const KernelCode& code = dispatch.lowered
                                     ? *dispatch.lowered
                                     : *program.kernels[static_cast<size_t>(dispatch.kernel)].code;
        total += static_cast<double>(times * largest(simple_operations(code)).evaluate(step.env));
    });
    return total;
}

bool depends(const Node& node, const Ref& arg) {
    return node.free_args && std::binary_search(node.free_args->begin(), node.free_args->end(),
                                                arg->as<RegionArgAttr>().id);
}

/// Returns whether the iterations of a loop store, or read at indices that they choose: in the
/// gradient another kernel than that of the carried values stores what they read.
bool chooses_elements(const Region& body) {
    for (const Ref& node : topological(body.results)) {
        if (node->op != Op::Scatter && node->op != Op::Gather) continue;
        for (const Ref& arg : body.args) {
            if (!depends(*node, arg)) continue;
            if (node->op == Op::Scatter) return true;
            for (size_t k = 1; k < node->inputs.size(); ++k)
                if (depends(*node->inputs[k], arg)) return true;
        }
    }
    return false;
}

/// Returns how many more evaluations than one loops and checkpoints make a gradient take of what
/// stands in them. A loop inside a loop is run again with its states kept, since only the outer
/// loop's states are kept from before; so is the part between two checkpoints, and a loop whose
/// iterations choose elements.
int64_t more_evaluations(const std::vector<Ref>& results) {
    std::unordered_map<const Node*, int64_t> levels;
    int64_t most = 1;
    for (const Ref& node : topological(results)) {
        if (node->op != Op::Loop) continue;
        const LoopAttr& loop = node->as<LoopAttr>();
        int64_t inside = 0;
        for (const Ref& other : topological(loop.body->results)) {
            const auto found = levels.find(other.get());
            if (found == levels.end() || !other->free_args) continue;
            for (const Ref& arg : loop.body->args)
                if (depends(*other, arg)) inside = std::max(inside, found->second);
        }
        const int64_t own = !loop.by_hand() + (loop.checkpoint > 1) +
                            (!loop.by_hand() && chooses_elements(*loop.body));
        most = std::max(most, levels[node.get()] = inside + own);
    }
    return most - 1;
}

/// Counts the operations on floats of a recorded graph, each at its cost, as if nothing simplified
/// it: each node that depends on what an iteration changes runs in each iteration. Loops whose trip
/// counts are not constants count as one iteration, as in simple_operations(). A store of the
/// smallest or largest value counts as a division, since its gradient divides among equal values.
class RecordedOperations {
  public:
    explicit RecordedOperations(const std::vector<Ref>& results) {
        std::vector<Ref> nodes = topological(results);  // those of regions too
        std::reverse(nodes.begin(), nodes.end());       // loops before those inside them
        for (const Ref& node : nodes) {
            if (node->op != Op::Loop) continue;
            for (const Ref& arg : node->as<LoopAttr>().body->args)
                times_[arg->as<RegionArgAttr>().id] = times(*node) * trips(*node);
        }
        for (const Ref& node : nodes) total_ += times(*node) * cost(*node);
    }
    double total() const { return total_; }

  private:
    static double elements(const Node& node) {
        return static_cast<double>(largest(element_count(node.shape)).constant());
    }

    static double cost(const Node& node) {
        const auto is_float = [](const Node& of) { return of.dtype.is_float(); };
        const bool counts =
            is_float(node) || std::any_of(node.inputs.begin(), node.inputs.end(),
                                          [&](const Ref& input) { return is_float(*input); });
        if (!counts) return 0;
        if (is_elementwise(node.op)) return operation_cost(node.op) * elements(node);
        if (node.op == Op::Reduce) return elements(*node.inputs[0]);
        if (node.op != Op::Scatter) return 0;
        const ScatterOp combine = node.as<ScatterAttr>().op;
        const bool is_extreme = combine == ScatterOp::Min || combine == ScatterOp::Max;
        return elements(*node.inputs[1]) * (is_extreme ? operation_cost(Op::Div) : 1);
    }

    static double trips(const Node& loop) {
        const auto begin = constant_value(*loop.inputs[0]), end = constant_value(*loop.inputs[1]),
                   step = constant_value(*loop.inputs[2]);
        if (!begin || !end || !step || step->i == 0) return 1;
        return std::max(
            0.0, std::ceil(static_cast<double>(end->i - begin->i) / static_cast<double>(step->i)));
    }

    /// Returns how often a node runs: as often as the innermost loop that changes it.
    double times(const Node& node) const {
        double out = 1;
        bool is_inside = false;
        if (!node.free_args) return out;
        for (const uint64_t id : *node.free_args)
            if (const auto found = times_.find(id); found != times_.end())
                out = is_inside ? std::max(out, found->second) : found->second, is_inside = true;
        return out;
    }

    std::unordered_map<uint64_t, double> times_;  // by arguments of regions
    double total_ = 0;
};

/// The operations of the gradient of a value by all arguments, over the value's.
struct GradientCost {
    double ratio = 0;    // over those of the program that computes the value
    double of_most = 0;  // over these, or over those that were recorded if they are more
    int64_t more_evaluations = 0;
};

GradientCost gradient_cost(const std::function<Tensor(const Tensors&)>& value,
                           const std::vector<ArgSpec>& arguments) {
    const auto program_of = [&](bool gradient) {
        return compile(
            [&](const Tensors& xs) {
                const Tensor y = value(xs);
                return gradient ? grad(y, xs, {.allow_unused = true}) : Tensors{y};
            },
            arguments);
    };
    const Function f = program_of(false);
    const double gradient = simple_operations(*program_of(true).program());
    const double compiled = simple_operations(*f.program()),
                 recorded = RecordedOperations(f.graph().results).total();
    return {gradient / compiled, gradient / std::max(compiled, recorded),
            more_evaluations(f.graph().results)};
}

/// A gradient takes at most five times the operations of its value as it is recorded, and those of
/// the value once more for each further evaluation that loops and checkpoints take.
constexpr double kMostOfGradient = 5;

double bound_of(const GradientCost& cost) {
    return kMostOfGradient + static_cast<double>(cost.more_evaluations);
}

/// Checks the bound for a value that nothing simplifies, and returns the ratio.
double expect_bounded(const std::function<Tensor(const Tensors&)>& value,
                      const std::vector<ArgSpec>& arguments) {
    const GradientCost cost = gradient_cost(value, arguments);
    EXPECT_LE(cost.ratio, bound_of(cost));
    return cost.ratio;
}

/// Returns the profile with launches that cost nothing, so that no operation is done twice to save
/// one.
DeviceProfile with_free_launches() {
    DeviceProfile profile = cpu_profile();
    profile.seconds_per_launch = 1e-9;
    return profile;
}

class GradientWork : public testing::Test {
    SessionScope scope_{Session::interpreter(with_free_launches())};
};

TEST_F(GradientWork, OfMatrixProductsThatAreLoops) {
    const int n = 128;
    const auto layer = [&](const Tensor& w, const Tensor& x) {
        Tensor s = zeros({n});
        for (Tensor i : loop(n)) s += w(all, i) * x(i);
        return tanh(s);
    };
    const auto three = [&](const Tensors& xs) {
        return sum(layer(xs[3], layer(xs[2], layer(xs[1], xs[0]))));
    };
    expect_bounded(three, {f32(n), f32(n, n), f32(n, n), f32(n, n)});
}

TEST_F(GradientWork, OfANetworkThatIsNestedLoops) {
    const int n = 64;
    const auto layer = [](const Tensor& w, const Tensor& x) {
        Tensor out = zeros({w.size(0)});
        for (Tensor i : loop(w.size(0))) {
            Tensor s = 0.0f;
            for (Tensor k : loop(w.size(1))) s += w(i, k) * x(k);
            store(out(i), tanh(s));
        }
        return out;
    };
    const auto network = [&](const Tensors& xs) {
        return sum(layer(xs[3], layer(xs[2], layer(xs[1], xs[0]))));
    };
    expect_bounded(network, {f32(2), f32(n, 2), f32(n, n), f32(3, n)});
}

TEST_F(GradientWork, OfARecurrentNetwork) {
    const auto last_state = [](const Tensors& xs) {
        Tensor state = zeros({32});
        for (Tensor iteration : loop(100)) state = tanh(matmul(xs[1], state) + xs[0](iteration));
        return sum(state);
    };
    expect_bounded(last_state, {f32(100, 32), f32(32, 32)});
}

/// The bound is that of the recorded operations, since a value may become simpler than its gradient
/// can: the value of seed 901372 keeps the minimum of the same number in each of 4,096 iterations,
/// and computes that number once.
TEST_F(GradientWork, OfRandomFunctions) {
    const RandomSeeds seeds = random_seeds(900'000, 15);
    std::vector<double> ratios, of_most;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        const ArgSpec x = seed % 2 ? f32(192, 256) : f32(4096);
        const std::string name = "FIRN_RANDOM_SEED=" + std::to_string(seed);
        try {
            const GradientCost cost = gradient_cost(RandomFunction(seed), {x, x, f32()});
            EXPECT_LE(cost.of_most, bound_of(cost)) << name << ", compiled " << cost.ratio;
            ratios.push_back(cost.ratio), of_most.push_back(cost.of_most);
        } catch (const UserError&) {
            continue;  // only a call knows its trip counts
        }
    }
    if (seeds.count < 10) return;
    ASSERT_GE(ratios.size() * 10, seeds.count * 9);
    std::sort(ratios.begin(), ratios.end());
    std::sort(of_most.begin(), of_most.end());
    std::cout << "  counted at most " << ratios.back() << ", half at most "
              << ratios[ratios.size() / 2]
              << " times the operations of the value's program; at most " << of_most.back()
              << ", half at most " << of_most[of_most.size() / 2] << " times the recorded ones\n";
    EXPECT_LE(ratios[ratios.size() / 2], 4);
}

/// Loops whose values differ from the gradient's only by what is kept of them; kernels written by
/// hand between them; both sides of choices; a loop that changes nothing; reads beyond edges.
TEST_F(GradientWork, OfFunctionsThatTookMore) {
    for (const uint64_t seed : {900'018, 900'025, 900'027, 900'172, 900'387, 900'426, 900'115}) {
        const ArgSpec x = seed % 2 ? f32(192, 256) : f32(4096);
        EXPECT_LE(expect_bounded(RandomFunction(seed), {x, x, f32()}), 4.2) << seed;
    }
}

/// Loops of the gradient inside one kernel, in which each element computed a sum over a whole
/// tensor again, in every iteration.
TEST_F(GradientWork, OfLoopsWhoseElementsNeedTheSameSums) {
    for (const uint64_t seed : {901'624, 901'799, 902'442}) {
        const ArgSpec x = seed % 2 ? f32(192, 256) : f32(4096);
        const GradientCost cost = gradient_cost(RandomFunction(seed), {x, x, f32()});
        EXPECT_LE(cost.of_most, bound_of(cost)) << seed;
    }
}

/// Each iteration stores one element: the gradient compared and copied all of them each time.
TEST_F(GradientWork, OfLoopsThatCombineIntoOneElementEach) {
    const int n = 512;
    const auto stored = [&](const auto& combine) {
        return [&, combine](const Tensors& xs) {
            Tensor state = xs[0];
            for (Tensor k : loop(n)) combine(state((k * 7 + 3) % n), sin(xs[1](k)));
            return sum(cos(state));
        };
    };
    const auto expect = [&](const auto& combine) {
        expect_bounded(stored(combine), {f32(n), f32(n)});
    };
    expect([](auto&& place, const Tensor& value) { scatter_min(place, value); });
    expect([](auto&& place, const Tensor& value) { scatter_max(place, value); });
    expect([](auto&& place, const Tensor& value) { scatter_mul(place, value); });
    expect([](auto&& place, const Tensor& value) { std::move(place) = value; });
}

/// Each iteration touches the same element, or the same row: the gradient kept and copied all.
TEST_F(GradientWork, OfLoopsThatTouchTheSameElements) {
    const auto one = [](const Tensors& xs) {
        Tensor state = xs[0];
        for (Tensor k : loop(512)) {
            scatter_min(state(3), sin(k * xs[1]));
            state(3) = state(3) * 0.9f;
        }
        return sum(cos(state));
    };
    expect_bounded(one, {f32(512), f32()});
    const auto row = [](const Tensors& xs) {
        Tensor state = xs[0];
        for (Tensor k : loop(64)) state(5, all) = sin(state(5, all) * xs[1] + k);
        return sum(cos(state));
    };
    expect_bounded(row, {f32(256, 32), f32()});
    const GradientCost cost = gradient_cost(RandomFunction(902'434), {f32(4096), f32(4096), f32()});
    EXPECT_LE(cost.of_most, bound_of(cost));
}

/// Loops with as many iterations as elements, in chunks that the driver allows.
TEST_F(GradientWork, OfLongLoops) {
    const ArgSpec x = f32(65536);
    for (const uint64_t seed : {900'078, 900'178})
        expect_bounded(RandomFunction(seed), {x, x, f32()});
}

/// A value stored by position was evaluated at an index of another rank.
TEST_F(GradientWork, OfALargeRandomFunction) {
    const ArgSpec x = f32(1024, 768);
    expect_bounded(RandomFunction(900'007), {x, x, f32()});
}

/// Returns the text of `explain` for the gradient of a cellular automaton whose rule is a network,
/// in a session of its own.
std::string explained_automaton() {
    SessionScope scope(Session::interpreter(cpu_profile()));
    const auto step = compile(
        [](const Tensors& xs) {
            const int channels = 8;
            Tensor state = xs[0];
            for (Tensor iteration : loop(5)) {
                auto [i, j, k] = indices<3>(state.shape());
                const Tensor right = wrap(state)(i, j + 1, k), below = wrap(state)(i + 1, j, k);
                const Tensor seen = reshape(
                    concat({state, right - state, below - state}, {.axis = 2}), {-1, 3 * channels});
                const Tensor change = matmul(tanh(matmul(seen, xs[1])), xs[2]);
                state = state + 0.1f * reshape(change, state.shape());
            }
            return grad(mean(square(state)), {xs[1], xs[2]});
        },
        std::vector<ArgSpec>{f32(32, 32, 8), f32(24, 32), f32(32, 8)});
    return step.explain();
}

TEST(GradientPrograms, OfTwoColdCompilesAreTheSame) {
    const std::string first = explained_automaton();
    const std::vector<std::string> elsewhere(1000, first);  // other addresses
    EXPECT_EQ(explained_automaton(), first);
}

}  // namespace
}  // namespace firn
