// Sizes at which launches do not dominate on a GPU: firn_bench --section large. Results that are
// too large to be read whole are checked at samples, by sums, or by properties that must hold.
#include <firn/firn.h>
#include <firn/learning.h>

#include <cmath>
#include <memory>

#include "tests/bench/bench.h"

namespace firn::bench {
namespace {

void expect_close(double got, double expected, double tolerance, const std::string& what) {
    if (!(std::abs(got - expected) <= tolerance))
        throw InternalError(what + " is " + std::to_string(got) + " instead of " +
                            std::to_string(expected));
}

// ---- streams --------------------------------------------------------------------------------

// Numbers that the host and the device compute alike, bit by bit: from 0.5 to 1.5, and 0.5 to 1.
constexpr int kPrime = 65521, kOtherPrime = 32749;
double stream_at(int64_t i) { return double(i % kPrime) / 65536 + 0.5; }
double other_at(int64_t i) { return double(i % kOtherPrime) / 65536 + 0.5; }
Tensor stream(const Size& count, int prime) {
    const auto make = compile(
        [=] {
            Tensor i = arange(count);
            return (i % prime).as(f32) * (1.0f / 65536) + 0.5f;
        },
        {});
    return make();
}

constexpr int64_t kSamples = 4096;
/// `kSamples` places of so many, the last one among them.
int64_t sample(int64_t k, int64_t count) { return count - 1 - k * (count / kSamples); }

/// Throws where the first result is not `expected` at the samples.
std::function<void(const std::vector<Tensor>&)> at_samples(
    const std::string& name, int64_t count, std::function<double(int64_t)> expected) {
    return [=](const std::vector<Tensor>& results) {
        std::vector<int> places;
        for (int64_t k = 0; k < kSamples; ++k) places.push_back(static_cast<int>(sample(k, count)));
        const std::vector<float> got = results[0](tensor(places)).to_vector<float>();
        for (int64_t k = 0; k < kSamples; ++k) {
            const int64_t at = sample(k, count);
            expect_close(double(got[static_cast<size_t>(k)]), expected(at), 1e-5,
                         name + ": element " + std::to_string(at));
        }
    };
}

Contest large_axpy(int64_t count) {
    const double n = double(count);
    const auto f = compile([](Tensor x, Tensor y) { return 1.5f * x + y; }, {f32("n"), f32("n")});
    return {.least = {8 * n, 4 * n, 2 * n},
            .results = {count},
            .firn = [f, x = stream(count, kPrime),
                     y = stream(count, kOtherPrime)] { return std::vector<Tensor>{f(x, y)}; },
            .check = at_samples("axpy", count,
                                [](int64_t i) { return 1.5 * stream_at(i) + other_at(i); })};
}

Contest large_chain(int64_t count) {
    const double n = double(count);
    const auto f =
        compile([](Tensor x) { return min(max(abs(x * 1.5f + 0.25f) - x * x, -1.0f) * x, 2.0f); },
                {f32("n")});
    return {.least = {4 * n, 4 * n, 8 * n},
            .results = {count},
            .firn = [f, x = stream(count, kPrime)] { return std::vector<Tensor>{f(x)}; },
            .check = at_samples("chain", count, [](int64_t i) {
                const double x = stream_at(i);
                return std::min(std::max(std::abs(x * 1.5 + 0.25) - x * x, -1.0) * x, 2.0);
            })};
}

Contest large_sum(int64_t count) {
    const double n = double(count);
    const auto f = compile([](Tensor x) { return sum(x); }, {f32("n")});
    return {.least = {4 * n, 4, n},
            .results = {1},
            .firn = [f, x = stream(count, kPrime)] { return std::vector<Tensor>{f(x)}; },
            .check =
                [count](const std::vector<Tensor>& results) {
                    double expected = 0;
                    for (int64_t i = 0; i < count; ++i) expected += stream_at(i);
                    expect_close(double(results[0].item<float>()), expected, 1e-4 * expected,
                                 "sum");
                }};
}

// ---- products -------------------------------------------------------------------------------

// Eighths from -1 to 1: f16 holds them, and f32 their products and sums, so that every order of
// additions gives the same.
double left_at(int64_t i, int64_t k) { return double((i * 7 + k * 13) % 17 - 8) / 8; }
double right_at(int64_t k, int64_t j) { return double((k * 5 + j * 11) % 17 - 8) / 8; }
Tensor eighths(int n, int by_row, int by_column) {
    const auto make = compile(
        [=] {
            auto [i, j] = indices<2>(Shape{n, n});
            return ((i * by_row + j * by_column) % 17 - 8).as(f32) * 0.125f;
        },
        {});
    return make();
}

/// f32, or f16 with sums in f32: those go through the matrix unit where there is one.
Contest large_product(int n, bool halves) {
    const double elements = double(n) * n, products = 2 * elements * n;
    Tensor a = eighths(n, 7, 13), b = eighths(n, 5, 11);
    Contest contest{.results = {int64_t{n} * n}};
    if (halves) {
        contest.least = {4 * elements, 4 * elements, 0, 0, products};
        const auto f = compile([](Tensor x, Tensor w) { return matmul(x.as(f32), w.as(f32)); },
                               {f16("n", "k"), f16("k", "m")});
        a = a.as(f16), b = b.as(f16);
        realize(a, b);
        contest.firn = [=] { return std::vector<Tensor>{f(a, b)}; };
    } else {
        contest.least = {8 * elements, 4 * elements, products};
        const auto f = compile([](Tensor x, Tensor w) { return matmul(x, w); },
                               {f32("n", "k"), f32("k", "m")});
        contest.firn = [=] { return std::vector<Tensor>{f(a, b)}; };
    }
    contest.check = [n](const std::vector<Tensor>& results) {
        constexpr int kSide = 16;
        std::vector<int> places;
        for (int k = 0; k < kSide; ++k) places.push_back(n - 1 - k * (n / kSide));
        const Tensor place = tensor(places), rows = unsqueeze(place, 1),
                     columns = unsqueeze(place, 0);
        const std::vector<float> got = results[0](rows, columns).to_vector<float>();
        for (int r = 0; r < kSide; ++r)
            for (int c = 0; c < kSide; ++c) {
                const int i = places[static_cast<size_t>(r)], j = places[static_cast<size_t>(c)];
                double expected = 0;
                for (int k = 0; k < n; ++k) expected += left_at(i, k) * right_at(k, j);
                expect_close(
                    double(got[static_cast<size_t>(r * kSide + c)]), expected, 0,
                    "matmul: element [" + std::to_string(i) + ", " + std::to_string(j) + "]");
            }
    };
    return contest;
}

// ---- simulations ----------------------------------------------------------------------------

// tests/apps checks the step itself; here the flow must move and stay within its bounds.
Contest checked_fluid(int side) {
    Contest contest = fluid_contest(side);
    contest.check = [side](const std::vector<Tensor>& results) {
        const double fastest =
            double(max(max(abs(results[0])), max(abs(results[1]))).item<float>());
        if (!(fastest > 0 && fastest < 100.0 * side))
            throw InternalError("fluid: the fastest cell has " + std::to_string(fastest) +
                                " cells in a second");
    };
    return contest;
}

// ---- training -------------------------------------------------------------------------------

/// Returns the decrease of the loss on a part of the way from `args` to `next`, divided by the
/// decrease that the gradient predicts: 1 if the gradient is right, and the part so short that the
/// loss is straight along it.
double gain_over_promise(const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& run,
                         const std::vector<Tensor>& args, const std::vector<Tensor>& next,
                         float rate) {
    constexpr double kLess = 0.002;  // of the loss: far more than its rounding
    Tensor squared = 0.0f;
    for (size_t k = 0; k < next.size(); ++k) squared += sum(square(next[k] - args[k]));
    const double before = double(run(args)[0].item<float>()),
                 promised = double(squared.item<float>()) / double(rate),
                 part = kLess * before / promised;
    std::vector<Tensor> there = args;
    for (size_t k = 0; k < next.size(); ++k)
        there[k] = args[k] + static_cast<float>(part) * (next[k] - args[k]);
    return (before - double(run(there)[0].item<float>())) / (part * promised);
}

/// The loss, and the first `by` arguments after a step of gradient descent.
Contest training(const std::string& name,
                 const std::function<Tensor(const std::vector<Tensor>&)>& loss,
                 const std::vector<Tensor>& args, size_t by, const LeastWork& least) {
    constexpr float kRate = 0.5f;
    const std::vector<ArgSpec> specs = specs_of(std::vector<Arg>(args.begin(), args.end()));
    const auto step = compile(
        [=](const std::vector<Tensor>& x) {
            const std::vector<Tensor> weights(x.begin(), x.begin() + static_cast<long>(by));
            const Tensor value = loss(x);
            std::vector<Tensor> out{value};
            for (const Tensor& each : grad(value, weights))
                out.push_back(weights[out.size() - 1] - kRate * each);
            return out;
        },
        specs);
    const auto run = [=](const std::vector<Tensor>& x) { return step(x); };
    std::vector<int64_t> sizes{1};
    for (size_t k = 0; k < by; ++k) sizes.push_back(element_count(args[k].shape()).constant());
    return {.least = least,
            .results = sizes,
            .firn = [=] { return run(args); },
            .check =
                [=](const std::vector<Tensor>& results) {
                    const std::vector<Tensor> next(results.begin() + 1, results.end());
                    expect_close(gain_over_promise(run, args, next, kRate), 1, 0.05,
                                 name + ": what a step gains, over what its gradient promises,");
                }};
}

Tensor uniform(const std::vector<int64_t>& sizes, double most, uint64_t seed) {
    Tensor x = (rand(Shape(sizes.begin(), sizes.end()), {.seed = seed}) * 2.0f - 1.0f) *
               static_cast<float>(most);
    realize(x);
    return x;
}

/// Three layers, as wide as their inputs.
Contest perceptron(int64_t batch, int64_t width) {
    const double weights = 3.0 * double(width * width), rows = double(batch * width);
    std::vector<Tensor> args;
    for (uint64_t k = 0; k < 3; ++k)
        args.push_back(uniform({width, width}, std::sqrt(6.0 / double(width)), k + 1));
    args.push_back(uniform({batch, width}, 1, 4));
    args.push_back(uniform({batch, width}, 1, 5));
    const auto loss = [](const std::vector<Tensor>& x) {
        const Tensor h = relu(matmul(relu(matmul(x[3], x[0])), x[1]));
        return mse_loss(matmul(h, x[2]), x[4]);
    };
    // Forwards once; backwards by the weights, and by the inputs of all layers but the first.
    return training("perceptron_step", loss, args, 3,
                    {4 * (weights + 2 * rows), 4 * weights,
                     2 * double(batch) * (weights + weights + weights * 2 / 3)});
}

/// A block of attention, as that of gradients/training_cases.cpp.
Contest attention(int64_t tokens, int64_t width, int64_t heads) {
    const double t = double(tokens), w = double(width);
    const std::vector<Tensor> args{uniform({width, 3 * width}, std::sqrt(3 / w), 1),
                                   uniform({width, width}, std::sqrt(3 / w), 2),
                                   uniform({tokens, width}, 1, 3), uniform({tokens, width}, 1, 4)};
    const auto loss = [=](const std::vector<Tensor>& x) {
        const Tensor all = matmul(x[2], x[0]);
        const auto part = [&](int64_t k) {
            const Tensor own = slice(all, {.axis = 1, .begin = k * width, .end = (k + 1) * width});
            return transpose(reshape(own, {tokens, heads, width / heads}), 0, 1);
        };
        const Tensor weighed = scaled_dot_product_attention(part(0), part(1), part(2));
        const Tensor joined = reshape(transpose(weighed, 0, 1), {tokens, width});
        return mse_loss(x[2] + matmul(joined, x[1]), x[3]);
    };
    return training("attention_step", loss, args, 2,
                    {4 * (4 * w * w + 2 * t * w), 16 * w * w,
                     2 * (2 * 3 * t * w * w + 3 * t * w * w + 6 * t * t * w)});
}

}  // namespace

std::vector<Case> large_cases(int smaller) {
    const auto side = [=](int full) { return full >> smaller; };
    std::vector<Case> cases;
    const auto add = [&](const std::string& name, std::function<Contest()> make,
                         const std::string& far = "") {
        cases.push_back({name, std::move(make), Section::Large, far});
    };
    const int64_t count = int64_t{256} << 20 >> 2 * smaller;
    const std::string bytes = count >= 256 << 10 ? std::to_string(count >> 18) + "_mib"
                                                 : std::to_string(count >> 8) + "_kib";
    add("axpy_" + bytes, [=] { return large_axpy(count); });
    add("chain_" + bytes, [=] { return large_chain(count); });
    add("sum_" + bytes, [=] { return large_sum(count); });
    for (int full : {4096, 8192}) {
        const int n = side(full);
        add(
            "matmul_" + std::to_string(n), [=] { return large_product(n, false); },
            "an operand is loaded for every few products, which the peak has in registers");
        add(
            "matmul_" + std::to_string(n) + "_f16", [=] { return large_product(n, true); },
            "operands come from memory, which the peak of the matrix unit has in registers");
    }
    const int cells = side(4096), bodies = side(262144), height = side(2160), width = side(3840);
    add("fluid_" + std::to_string(cells), [=] { return checked_fluid(cells); });
    add("n_body_" + std::to_string(bodies), [=] { return n_body_contest(bodies); });
    add(
        "path_" + std::to_string(width) + "x" + std::to_string(height),
        [=] { return path_contest(height, width); },
        "lanes take every branch that one of them takes, and go on until the last has arrived");
    const int batch = side(8192), layer = side(4096), tokens = side(4096), wide = side(1024);
    add("perceptron_step_" + std::to_string(layer), [=] { return perceptron(batch, layer); });
    add("attention_step_" + std::to_string(tokens),
        [=] { return attention(tokens, wide, std::min(16, wide / 4)); });
    return cases;
}

}  // namespace firn::bench
