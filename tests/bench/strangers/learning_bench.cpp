// Learning: Lloyd's k-means, and the forward pass of an LSTM.
#include <firn/firn.h>

#include <cmath>

#include "tests/bench/strangers/strangers.h"

namespace firn::bench {
namespace {

constexpr int kPoints = 1 << 16, kCentres = 16, kAxes = 4, kTurns = 8;

/// The centres, and the one that each point was nearest to in the last turn.
std::pair<Tensor, Tensor> means_of(Tensor points, Tensor centres) {
    Tensor nearest = zeros({points.size(0)}, i32);
    for (Tensor turn : loop(kTurns)) {
        Tensor way = unsqueeze(points, 1) - unsqueeze(centres, 0);
        nearest = argmin(sum(way * way, {.axis = 2}), {.axis = 1});
        Tensor total = zeros(centres.shape()), count = zeros({centres.size(0)});
        scatter_add(total(nearest), points);
        scatter_add(count(nearest), 1.0f);
        centres = total / max(unsqueeze(count, 1), 1.0f);
    }
    return {centres, nearest};
}

std::vector<std::vector<float>> host_means(const std::vector<float>& points,
                                           std::vector<float> centres) {
    std::vector<float> nearest(kPoints);
    for (int turn = 0; turn < kTurns; ++turn) {
        std::vector<double> total(kCentres * kAxes), count(kCentres);
        for (size_t k = 0; k < kPoints; ++k) {
            size_t best = 0;
            float least = 1e30f;
            for (size_t c = 0; c < kCentres; ++c) {
                float away = 0;
                for (size_t a = 0; a < kAxes; ++a) {
                    const float way = points[k * kAxes + a] - centres[c * kAxes + a];
                    away += way * way;
                }
                if (away < least) least = away, best = c;
            }
            nearest[k] = float(best);
            ++count[best];
            for (size_t a = 0; a < kAxes; ++a) total[best * kAxes + a] += points[k * kAxes + a];
        }
        for (size_t k = 0; k < total.size(); ++k)
            centres[k] = float(total[k] / std::max(count[k / kAxes], 1.0));
    }
    return {centres, nearest};
}

Contest k_means() {
    auto f = compile(means_of, {f32("n", "d"), f32("k", "d")});
    std::vector<float> points = numbers(kPoints * kAxes, -1, 1);
    for (size_t k = 0; k < points.size(); ++k)  // in clusters
        points[k] = 0.6f * points[k] + 3 * host_pcgf(uint32_t(k / kAxes % 20 * kAxes + k % kAxes));
    const std::vector<float> centres(points.begin(), points.begin() + kCentres * kAxes);
    // In every turn, of a point and a centre 3 of an axis and a comparison; of a point its sums.
    const double turn = kPoints * (kCentres * (3.0 * kAxes + 1) + kAxes + 1);
    return {.least = {4.0 * kPoints * kAxes, 4.0 * kPoints, kTurns * turn},
            .arguments = {},
            .results = {kCentres * kAxes, kPoints},
            .firn =
                [f, p = tensor(points, {kPoints, kAxes}), c = tensor(centres, {kCentres, kAxes})] {
                    auto [means, nearest] = f(p, c);
                    return std::vector<Tensor>{means, nearest};
                },
            .best = {},
            .plain = {},
            .tolerance = 1e-3,
            .difference = share_that_differs,
            .expected = [=] { return host_means(points, centres); }};
}

constexpr int kSteps = 64, kBatch = 32, kHidden = 128, kGates = 4 * kHidden;

/// The outputs of all steps. S. Hochreiter and J. Schmidhuber, "Long Short-Term Memory", 1997.
Tensor lstm_of(Tensor inputs, Tensor from_input, Tensor from_hidden, Tensor bias) {
    auto steps = inputs.size(0), batch = inputs.size(1), width = from_hidden.size(0);
    Tensor hidden = zeros({batch, width}), cell = hidden, outputs = zeros({steps, batch, width});
    for (Tensor step : loop(steps)) {
        Tensor gates = matmul(inputs(step), from_input) + matmul(hidden, from_hidden) + bias;
        auto gate = [&](int k) {
            return slice(gates, {.axis = 1, .begin = k * width, .end = (k + 1) * width});
        };
        cell = sigmoid(gate(1)) * cell + sigmoid(gate(0)) * tanh(gate(2));
        hidden = sigmoid(gate(3)) * tanh(cell);
        outputs(step) = hidden;
    }
    return outputs;
}

std::vector<std::vector<float>> host_lstm(const std::vector<float>& inputs,
                                          const std::vector<float>& from_input,
                                          const std::vector<float>& from_hidden,
                                          const std::vector<float>& bias) {
    std::vector<float> hidden(kBatch * kHidden), cell = hidden, outputs;
    auto bent = [](float x) { return 1 / (1 + std::exp(-x)); };
    for (size_t step = 0; step < kSteps; ++step) {
        for (size_t b = 0; b < kBatch; ++b) {
            std::vector<float> gates = bias;
            float* own = &hidden[b * kHidden];
            for (size_t k = 0; k < kHidden; ++k) {
                const float x = inputs[(step * kBatch + b) * kHidden + k], h = own[k];
                for (size_t g = 0; g < kGates; ++g)
                    gates[g] += x * from_input[k * kGates + g] + h * from_hidden[k * kGates + g];
            }
            for (size_t k = 0; k < kHidden; ++k) {
                float& c = cell[b * kHidden + k];
                c = bent(gates[kHidden + k]) * c +
                    bent(gates[k]) * std::tanh(gates[2 * kHidden + k]);
                own[k] = bent(gates[3 * kHidden + k]) * std::tanh(c);
            }
        }
        outputs.insert(outputs.end(), hidden.begin(), hidden.end());
    }
    return {outputs};
}

Contest lstm() {
    auto f =
        compile(lstm_of, {f32("t", "b", "n"), f32("n", "gates"), f32("m", "gates"), f32("gates")});
    constexpr int64_t kOut = int64_t(kSteps) * kBatch * kHidden, kWeights = kHidden * kGates;
    const std::vector<float> x = numbers(kOut, -1, 1), w = numbers(kWeights, -0.1f, 0.1f, 2),
                             h = numbers(kWeights, -0.1f, 0.1f, 3),
                             b = numbers(kGates, -0.1f, 0.1f, 4);
    Tensor x0 = tensor(x, {kSteps, kBatch, kHidden}), w0 = tensor(w, {kHidden, kGates}),
           h0 = tensor(h, {kHidden, kGates}), b0 = tensor(b);
    // Two products of matrices in every step, and beside them 30 of an element.
    const double step = 2.0 * 2 * kBatch * kWeights + 30.0 * kBatch * kHidden;
    return {.least = {4.0 * kOut + 8.0 * kWeights, 4.0 * kOut, kSteps * step},
            .arguments = {},
            .results = {kOut},
            .firn = [=] { return std::vector<Tensor>{f(x0, w0, h0, b0)}; },
            .best = {},
            .plain = {},
            .tolerance = 1e-4,
            .expected = [=] { return host_lstm(x, w, h, b); }};
}

}  // namespace

void add_learning(std::vector<Case>& cases) {
    cases.push_back({"k_means", k_means, Section::Strangers});
    cases.push_back({"lstm", lstm, Section::Strangers});
}

}  // namespace firn::bench
