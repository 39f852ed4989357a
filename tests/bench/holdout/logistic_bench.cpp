// Learning by gradient descent on all samples at once: softmax regression.
#include <firn/firn.h>

#include <bit>
#include <cmath>
#include <utility>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kLogisticSamples = 1 << 14, kLogisticFeatures = 32, kLogisticClasses = 10,
              kLogisticSteps = 10;
constexpr int kLogisticWeights = kLogisticFeatures * kLogisticClasses;
constexpr float kLogisticRate = 0.5f;

/// Weights and biases after some steps down the gradient of the mean cross entropy: D. Boehning,
/// "Multinomial Logistic Regression Algorithm", 1992, has the model and its gradient.
std::pair<Tensor, Tensor> logistic_of(Tensor x, Tensor labels, Tensor w, Tensor b, Tensor rate) {
    Tensor target = one_hot(labels, w.size(1));
    Tensor n = Tensor(x.size(0)).as(f32);
    for (Tensor step : loop(kLogisticSteps)) {
        Tensor error = (softmax(matmul(x, w) + b) - target) / n;
        w -= rate * matmul(x.T(), error);
        b -= rate * sum(error, {.axis = 0});
    }
    return {w, b};
}

std::vector<std::vector<float>> host_logistic(const std::vector<float>& x,
                                              const std::vector<int>& labels,
                                              const std::vector<float>& first_w,
                                              const std::vector<float>& first_b) {
    constexpr size_t kFeatures = kLogisticFeatures, kClasses = kLogisticClasses;
    std::vector<double> w(first_w.begin(), first_w.end()), b(first_b.begin(), first_b.end());
    for (int step = 0; step < kLogisticSteps; ++step) {
        std::vector<double> down_w(w.size()), down_b(b.size());
        for (size_t s = 0; s < kLogisticSamples; ++s) {
            const float* own = &x[s * kFeatures];
            std::vector<double> p = b;
            for (size_t f = 0; f < kFeatures; ++f)
                for (size_t c = 0; c < kClasses; ++c) p[c] += double(own[f]) * w[f * kClasses + c];
            const double high = *std::max_element(p.begin(), p.end());
            double total = 0;
            for (double& value : p) total += value = std::exp(value - high);
            for (double& value : p) value /= total;
            p[static_cast<size_t>(labels[s])] -= 1;
            for (size_t f = 0; f < kFeatures; ++f)
                for (size_t c = 0; c < kClasses; ++c)
                    down_w[f * kClasses + c] += double(own[f]) * p[c];
            for (size_t c = 0; c < kClasses; ++c) down_b[c] += p[c];
        }
        constexpr double kScale = double(kLogisticRate) / kLogisticSamples;
        for (size_t k = 0; k < w.size(); ++k) w[k] -= kScale * down_w[k];
        for (size_t k = 0; k < b.size(); ++k) b[k] -= kScale * down_b[k];
    }
    return {std::vector<float>(w.begin(), w.end()), std::vector<float>(b.begin(), b.end())};
}

constexpr const char* kLogisticErrors = R"(
void main() {
    int sample_ = int(gl_GlobalInvocationID.x);
    float p[10], high = -1e30, total = 0.0;
    for (int c = 0; c < 10; ++c) {
        float sum = b_at(c);
        for (int f = 0; f < 32; ++f) sum += x_at(sample_ * 32 + f) * w_at(f * 10 + c);
        p[c] = sum;
        high = max(high, sum);
    }
    for (int c = 0; c < 10; ++c) {
        p[c] = exp(p[c] - high);
        total += p[c];
    }
    for (int c = 0; c < 10; ++c)
        error[sample_ * 10 + c] = p[c] / total - (labels_at(sample_) == c ? 1.0 : 0.0);
}
)";
constexpr const char* kLogisticDown = R"(
void main() {
    int k = int(gl_GlobalInvocationID.x), f = k / 10, c = k % 10;
    float sum = 0.0;
    for (int s = 0; s < SAMPLES; ++s)
        sum += (f < 32 ? x_at(s * 32 + f) : 1.0) * error_at(s * 10 + c);
    if (f < 32) new_w[k] = w_at(k) - 0.5 / float(SAMPLES) * sum;
    if (f == 32) new_b[c] = b_at(c) - 0.5 / float(SAMPLES) * sum;
}
)";

constexpr int kLogisticX = 0, kLogisticLabels = 1, kLogisticFirstW = 2, kLogisticFirstB = 3,
              kLogisticW = 4, kLogisticB = 5, kLogisticOther = 6;  // buffers

HandProgram plain_logistic() {
    const std::vector<std::pair<std::string, int>> constants{{"SAMPLES", kLogisticSamples}};
    const HandBinding x{"x", As::Floats, kLogisticX};
    const HandBinding w{"w", As::Floats, kLogisticFirstW}, b{"b", As::Floats, kLogisticFirstB};
    HandProgram out;
    out.temporaries = {int64_t(kLogisticSamples) * kLogisticClasses};
    out.kernels = {{"logistic_errors",
                    kLogisticErrors,
                    {64, 1, 1},
                    {kLogisticSamples / 64, 1, 1},
                    {x,
                     {"labels", As::Ints, kLogisticLabels},
                     w,
                     b,
                     {"error", As::Floats, kLogisticOther, true}},
                    constants},
                   {"logistic_down",
                    kLogisticDown,
                    {64, 1, 1},
                    {6, 1, 1},
                    {x,
                     {"error", As::Floats, kLogisticOther},
                     w,
                     b,
                     {"new_w", As::Floats, kLogisticW, true},
                     {"new_b", As::Floats, kLogisticB, true}},
                    constants}};
    for (int step = 0; step < kLogisticSteps; ++step) {
        const int old_w = step == 0 ? kLogisticFirstW : kLogisticW,
                  old_b = step == 0 ? kLogisticFirstB : kLogisticB;
        out.steps.push_back({0, {kLogisticX, kLogisticLabels, old_w, old_b, kLogisticOther}});
        out.steps.push_back(
            {1, {kLogisticX, kLogisticOther, old_w, old_b, kLogisticW, kLogisticB}});
    }
    return out;
}

// Number 10 f + c belongs to feature f and class c, 320 + c to the bias; a lane has every eighth of
// the weights. All groups add up what all of them found in the last step.
constexpr const char* kBestLogisticHead = R"(
int lane = int(gl_LocalInvocationID.x), group = int(gl_WorkGroupID.x);
float held[42];
void find_weights() {
    [[unroll]] for (int v = 0; v < 42; ++v) {
        int k = 8 * v + lane;
        held[v] = FIRST == 0 ? old_at(k) : v < 40 ? w_at(k) : b_at(min(k - 320, 9));
    }
    if (FIRST != 0) return;
    float all[42];
    [[unroll]] for (int v = 0; v < 42; ++v) all[v] = 0.0;
    for (int g = 0; g < GROUPS; ++g)
        [[unroll]] for (int v = 0; v < 42; ++v) all[v] += last_at((g * 42 + v) * 8 + lane);
    [[unroll]] for (int v = 0; v < 42; ++v) held[v] -= 0.5 / float(SAMPLES) * all[v];
}
)";
// A lane has a sample at a time. All weights and all sums are variables of the loop, which the
// compiler keeps in memory near the core. Classes by halves, so that the factors shared by products
// of neighbours are in registers. All ten at once take 1.1 to 1.2 times as long, and with 2 or 4
// samples at a time 1.2 to 1.4 times.
constexpr const char* kBestLogisticStep = R"(
#define CLASS [[unroll]] for (int c = 0; c < 10; ++c)
#define HALVES [[unroll]] for (int half_ = 0; half_ < 2; ++half_)
#define FIVE [[unroll]] for (int k = 0; k < 5; ++k)
void main() {
    find_weights();
    if (group == 0) [[unroll]] for (int v = 0; v < 42; ++v) weights[8 * v + lane] = held[v];
    float weight[330], sum[336];
    [[unroll]] for (int k = 0; k < 330; ++k)
        weight[k] = 1.442695 * eight_shuffle(held[k / 8], k % 8);
    [[unroll]] for (int k = 0; k < 336; ++k) sum[k] = 0.0;
    for (int turn = 0; turn < TURNS; ++turn) {
        int place = (group * TURNS + turn) * 8 + lane, label = labels_at(place);
        vec4 own[8];
        float p[10];
        CLASS p[c] = weight[320 + c];
        [[unroll]] for (int q = 0; q < 8; ++q) own[q] = x_at(place * 8 + q);
        HALVES [[unroll]] for (int f = 0; f < 32; ++f) FIVE {
            int c = half_ * 5 + k;
            p[c] += own[f / 4][f % 4] * weight[f * 10 + c];
        }
        float high = p[0], total = 0.0;
        CLASS high = max(high, p[c]);
        CLASS {
            p[c] = exp2(p[c] - high);
            total += p[c];
        }
        float scale = 1.0 / total;
        CLASS p[c] = p[c] * scale - (label == c ? 1.0 : 0.0);
        [[unroll]] for (int pair = 0; pair < 16; ++pair) HALVES
            [[unroll]] for (int l = 0; l < 2; ++l) FIVE {
                int f = 2 * pair + l, c = half_ * 5 + k;
                sum[f * 10 + c] += own[f / 4][f % 4] * p[c];
            }
        CLASS sum[320 + c] += p[c];
    }
    [[unroll]] for (int v = 0; v < 42; ++v) {
        float mine = 0.0;
        [[unroll]] for (int k = 0; k < 8; ++k) {
            float all = eight_sum(sum[8 * v + k]);
            mine = lane == k ? all : mine;
        }
        parts[(group * 42 + v) * 8 + lane] = mine;
    }
}
)";
constexpr const char* kBestLogisticEnd = R"(
void main() {
    find_weights();
    [[unroll]] for (int v = 0; v < 40; ++v) new_w[8 * v + lane] = held[v];
    new_b[lane] = held[40];
    if (lane < 2) new_b[8 + lane] = held[41];
}
)";

HandProgram best_logistic() {
    constexpr int kGroups = 8;
    static_assert(kLogisticSamples % (8 * kGroups) == 0 && kLogisticWeights % 8 == 0);
    const int parts = kLogisticOther, weights = kLogisticOther + 2;  // two of each, alternately
    HandProgram out;
    out.temporaries = {kGroups * 336, kGroups * 336, 336, 336};
    for (int step = 0; step <= kLogisticSteps; ++step) {
        const bool end = step == kLogisticSteps;
        std::vector<HandBinding> bindings{{"w", As::Texels, kLogisticFirstW},
                                          {"b", As::Texels, kLogisticFirstB},
                                          {"old", As::Texels, weights + step % 2},
                                          {"last", As::Texels, parts + step % 2}};
        if (end)
            bindings.insert(bindings.end(), {{"new_w", As::Floats, kLogisticW, true},
                                             {"new_b", As::Floats, kLogisticB, true}});
        else
            bindings.insert(bindings.end(),
                            {{"x", As::Texels4, kLogisticX},
                             {"labels", As::IntTexels, kLogisticLabels},
                             {"weights", As::Floats, weights + (step + 1) % 2, true},
                             {"parts", As::Floats, parts + (step + 1) % 2, true}});
        HandKernel kernel{
            "logistic",
            std::string(kBestLogisticHead) + (end ? kBestLogisticEnd : kBestLogisticStep),
            {8, 1, 1},
            {end ? 1 : kGroups, 1, 1},
            bindings,
            {{"FIRST", step == 0},
             {"GROUPS", kGroups},
             {"SAMPLES", kLogisticSamples},
             {"TURNS", kLogisticSamples / kGroups / 8}}};
        if (step <= 1 || end) out.kernels.push_back(kernel);
        HandStep one{int(out.kernels.size()) - 1, {}};
        for (const HandBinding& binding : bindings) one.buffers.push_back(binding.buffer);
        out.steps.push_back(one);
    }
    return out;
}

Contest logistic() {
    auto f = compile(logistic_of, {f32("n", "features"), i32("n"), f32("features", "classes"),
                                   f32("classes"), f32()});
    const std::vector<float> x = numbers(int64_t(kLogisticSamples) * kLogisticFeatures, -1, 1, 1),
                             w = numbers(kLogisticWeights, -0.1f, 0.1f, 2),
                             b = numbers(kLogisticClasses, -0.1f, 0.1f, 3),
                             truth = numbers(kLogisticWeights, -1, 1, 4);
    std::vector<int> labels;
    std::vector<float> bits;
    for (size_t s = 0; s < kLogisticSamples; ++s) {
        std::vector<float> score(kLogisticClasses);
        for (size_t k = 0; k < kLogisticWeights; ++k)
            score[k % kLogisticClasses] +=
                truth[k] * x[s * kLogisticFeatures + k / kLogisticClasses];
        labels.push_back(
            static_cast<int>(std::max_element(score.begin(), score.end()) - score.begin()));
        bits.push_back(std::bit_cast<float>(labels.back()));
    }
    // Operations per sample and step: two products and sums for every weight and one sum for every
    // bias, forward and back 4 and 2; per class the largest, a difference, an exponential, a sum, a
    // product.
    constexpr double kOfAStep = 4.0 * kLogisticWeights + (2 + 5) * kLogisticClasses;
    return {.least = {4.0 * kLogisticSamples * (kLogisticFeatures + 1) +
                          4.0 * (kLogisticWeights + kLogisticClasses),
                      4.0 * (kLogisticWeights + kLogisticClasses),
                      kOfAStep * kLogisticSamples * kLogisticSteps},
            .arguments = {x, bits, w, b},
            .results = {kLogisticWeights, kLogisticClasses},
            .firn =
                [f, x0 = tensor(x, {kLogisticSamples, kLogisticFeatures}), labels0 = tensor(labels),
                 w0 = tensor(w, {kLogisticFeatures, kLogisticClasses}), b0 = tensor(b)] {
                    auto [w1, b1] = f(x0, labels0, w0, b0, kLogisticRate);
                    return std::vector<Tensor>{w1, b1};
                },
            .best = best_logistic(),
            .plain = plain_logistic(),
            .tolerance = 1e-4,
            .expected = [=] { return host_logistic(x, labels, w, b); }};
}

}  // namespace

void add_logistic(std::vector<Case>& cases) {
    cases.push_back({"logistic", logistic, Section::Training,
                     "a step waits for the one before, and every product loads an operand"});
}

}  // namespace firn::bench
