// ADBench's objectives: F. Srajer, Z. Kukelova and A. Fitzgibbon, "A Benchmark of Selected
// Algorithmic Differentiation Tools", 2018; data of the same distributions.
#include <cmath>
#include <numbers>

#include "tests/bench/bench.h"
#include "tests/bench/gradients/gradients.h"

namespace firn::bench {
namespace {

constexpr float kWishartGamma = 1, kWishartM = 0;

/// Normal numbers, by G. Box and M. Muller.
std::vector<float> normal(int64_t count, uint32_t seed) {
    const std::vector<float> u = numbers(count, 1e-6f, 1, seed), v = numbers(count, 0, 1, seed + 1);
    std::vector<float> out;
    for (size_t k = 0; k < u.size(); ++k)
        out.push_back(std::sqrt(-2 * std::log(u[k])) *
                      std::cos(2 * std::numbers::pi_v<float> * v[k]));
    return out;
}

struct Mixture {
    int64_t points, axes, centres;
};

double log_gamma_distribution(double a, double p) {
    double out = 0.25 * p * (p - 1) * std::log(std::numbers::pi);
    for (int j = 1; j <= p; ++j) out += std::lgamma(a + 0.5 * (1 - j));
    return out;
}

/// The logarithm of the likelihood of points x[3] under a mixture of Gaussians, and of Wishart's
/// prior. x[0]: weights [centres], x[1]: means [centres, axes], x[2]: inverse covariances' roots
/// [centres, axes (axes + 1) / 2], of which the first `axes` are logarithms of the diagonal.
Tensor gaussian_mixture(const std::vector<Tensor>& x, const Mixture& of) {
    const Tensor &weights = x[0], &means = x[1], &roots = x[2], &points = x[3];
    const int d = static_cast<int>(of.axes);
    const Tensor logs = slice(roots, {.axis = 1, .end = d}), sums = sum(logs, {.axis = 1});
    auto [k, i, j] = indices<3>({of.centres, of.axes, of.axes});
    // Below the diagonal stand columns, one after the other.
    const Tensor place = d + d * j - j * (j + 1) / 2 + i - j - 1;
    const Tensor below = roots(k, select(i > j, place, 0));
    const Tensor q = select(i > j, below, select(i == j, exp(logs(k, i)), 0.0f));
    // q (x - mean) of all centres as one product of matrices.
    const Tensor all = matmul(points, transpose(reshape(q, {of.centres * of.axes, of.axes})));
    const Tensor of_means = sum(q * unsqueeze(means, 1), {.axis = 2});
    const Tensor turned = reshape(all, {of.points, of.centres, of.axes}) - of_means;
    const Tensor inner = weights + sums - 0.5f * sum(turned * turned, {.axis = 2});
    const double n = double(of.points), dim = double(of.axes);
    const double from = dim + kWishartM + 1;
    const double prior = from * dim * (std::log(kWishartGamma) - 0.5 * std::log(2.0)) -
                         log_gamma_distribution(0.5 * from, dim);
    const Tensor wishart =
        0.5f * kWishartGamma * kWishartGamma *
            (sum(square(exp(logs))) + sum(square(slice(roots, {.axis = 1, .begin = d})))) -
        kWishartM * sum(sums);
    const double constant =
        -n * dim * 0.5 * std::log(2 * std::numbers::pi) - double(of.centres) * prior;
    return sum(logsumexp(inner, {.axis = 1})) - float(n) * logsumexp(weights) + wishart +
           float(constant);
}

GradientContest mixture_contest(const Mixture& of) {
    const int64_t root = of.axes * (of.axes + 1) / 2;
    const std::vector<Tensor> args{
        tensor(normal(of.centres, 1), {of.centres}),
        tensor(numbers(of.centres * of.axes, 0, 1, 3), {of.centres, of.axes}),
        tensor(normal(of.centres * root, 5), {of.centres, root}),
        tensor(normal(of.points * of.axes, 7), {of.points, of.axes})};
    return by_first([of](const std::vector<Tensor>& x) { return gaussian_mixture(x, of); }, args, 3,
                    3);
}

constexpr int64_t kBits = 14;

/// A layer's step; elementwise, as ADBench has it.
void lstm_step(const Tensor& weights, const Tensor& bias, Tensor& hidden, Tensor& cell,
               const Tensor& input) {
    const auto gate = [&](int k, const Tensor& x) { return x * weights(k) + bias(k); };
    const Tensor forget = sigmoid(gate(0, input)), in = sigmoid(gate(1, hidden)),
                 out = sigmoid(gate(2, input)), change = tanh(gate(3, hidden));
    cell = cell * forget + in * change;
    hidden = out * tanh(cell);
}

/// The loss of predictions of each character [count, bits], x[3], from those before. x[0]: weights
/// and biases by layer [2 layers, 4, bits], x[1]: of the input and the prediction [3, bits]; x[2]:
/// hidden values and cells before the first character [2 layers, bits].
Tensor lstm(const std::vector<Tensor>& x) {
    const Tensor &weights = x[0], &ends = x[1], &text = x[3];
    const auto layers = static_cast<size_t>(Size(x[2].size(0)).constant() / 2);
    std::vector<Tensor> hidden, cells;
    for (int layer = 0; layer < static_cast<int>(layers); ++layer) {
        hidden.push_back(x[2](2 * layer));
        cells.push_back(x[2](2 * layer + 1));
    }
    Tensor total = 0.0f;
    for (Tensor t : loop(text.size(0) - 1)) {
        Tensor input = text(t) * ends(0);
        for (size_t layer = 0; layer < layers; ++layer) {
            const int at = 2 * static_cast<int>(layer);
            lstm_step(weights(at), weights(at + 1), hidden[layer], cells[layer], input);
            input = hidden[layer];
        }
        const Tensor predicted = input * ends(1) + ends(2);
        const Tensor likely = predicted - log(sum(exp(predicted)) + 2.0f);
        total += sum(text(t + 1) * likely);
    }
    return -total / cast<float>(Tensor((text.size(0) - 1) * text.size(1)));
}

GradientContest lstm_contest(int64_t layers, int64_t characters) {
    std::vector<float> bits = numbers(characters * kBits, 0, 1, 9);
    for (float& bit : bits) bit = bit < 0.5f ? 0 : 1;
    const std::vector<Tensor> args{
        tensor(numbers(2 * layers * 4 * kBits, -1, 1, 1), {2 * layers, 4, kBits}),
        tensor(numbers(3 * kBits, -1, 1, 2), {3, kBits}),
        tensor(numbers(2 * layers * kBits, -1, 1, 3), {2 * layers, kBits}),
        tensor(bits, {characters, kBits})};
    return by_first(lstm, args, 2, 3);
}

}  // namespace

void add_adbench(std::vector<GradientCase>& cases) {
    const auto add = [&](const std::string& name, const Mixture& of) {
        cases.push_back({name, [of] { return mixture_contest(of); }});
    };
    add("gmm_1k_d10_K25", {1000, 10, 25});
    add("gmm_1k_d32_K50", {1000, 32, 50});
    add("gmm_1k_d64_K25", {1000, 64, 25});
    add("gmm_1k_d64_K200", {1000, 64, 200});
    add("gmm_10k_d10_K200", {10000, 10, 200});
    add("gmm_10k_d32_K25", {10000, 32, 25});
    cases.push_back({"lstm_l2_c1024", [] { return lstm_contest(2, 1024); }});
    cases.push_back({"lstm_l4_c1024", [] { return lstm_contest(4, 1024); }});
}

}  // namespace firn::bench
