// Points as a mixture of Gaussians, fitted by expectation and maximisation.
#include <firn/firn.h>

#include <array>
#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kMixturePoints = 1 << 16, kMixtureParts = 8, kMixtureAxes = 4, kMixtureTurns = 5;

/// The parameters of the components: [k], [k, d] and [k, d]; covariances are diagonal.
struct MixtureState {
    Tensor weights, means, variances;
};

/// A. Dempster, N. Laird and D. Rubin, "Maximum Likelihood from Incomplete Data via the EM
/// Algorithm", 1977.
MixtureState fitted_mixture(Tensor x, MixtureState m) {
    Size n = x.size(0);
    for (Tensor turn : loop(kMixtureTurns)) {
        Tensor apart = unsqueeze(x, 1) - m.means;
        Tensor score = log(m.weights) -
                       0.5f * sum(square(apart) / m.variances + log(6.2831853f * m.variances), {2});
        Tensor share = exp(score - max(score, {.axis = 1, .keep_dims = true}));
        share /= sum(share, {.axis = 1, .keep_dims = true});
        Tensor count = sum(share, {0});
        m.weights = count / n;
        m.means = matmul(share.T(), x) / unsqueeze(count, 1);
        Tensor squares = unsqueeze(share, 2) * square(unsqueeze(x, 1) - m.means);
        m.variances = sum(squares, {0}) / unsqueeze(count, 1) + 1e-6f;
    }
    return m;
}

/// The parameters of a component on the host.
struct MixturePart {
    double weight = 0;
    std::array<double, kMixtureAxes> mean{}, variance{};
};

std::vector<std::vector<float>> host_mixture(const std::vector<float>& points,
                                             const std::vector<float>& weights,
                                             const std::vector<float>& means,
                                             const std::vector<float>& variances) {
    constexpr size_t kParts = kMixtureParts, kAxes = kMixtureAxes;
    std::array<MixturePart, kParts> parts;
    for (size_t k = 0; k < kParts; ++k) {
        parts[k].weight = double(weights[k]);
        for (size_t d = 0; d < kAxes; ++d)
            parts[k].mean[d] = double(means[k * kAxes + d]),
            parts[k].variance[d] = double(variances[k * kAxes + d]);
    }
    std::vector<std::array<double, kParts>> shares(kMixturePoints);
    for (int turn = 0; turn < kMixtureTurns; ++turn) {
        for (size_t p = 0; p < shares.size(); ++p) {
            double total = 0;
            for (size_t k = 0; k < kParts; ++k) {
                double score = std::log(parts[k].weight);
                for (size_t d = 0; d < kAxes; ++d) {
                    const double apart = double(points[p * kAxes + d]) - parts[k].mean[d],
                                 variance = parts[k].variance[d];
                    score -= 0.5 * (apart * apart / variance + std::log(6.283185307 * variance));
                }
                shares[p][k] = std::exp(score);
                total += shares[p][k];
            }
            for (double& share : shares[p]) share /= total;
        }
        for (size_t k = 0; k < kParts; ++k) {
            MixturePart next;
            double count = 0;
            for (size_t p = 0; p < shares.size(); ++p) {
                count += shares[p][k];
                for (size_t d = 0; d < kAxes; ++d)
                    next.mean[d] += shares[p][k] * double(points[p * kAxes + d]);
            }
            for (double& mean : next.mean) mean /= count;
            for (size_t p = 0; p < shares.size(); ++p)
                for (size_t d = 0; d < kAxes; ++d) {
                    const double apart = double(points[p * kAxes + d]) - next.mean[d];
                    next.variance[d] += shares[p][k] * apart * apart;
                }
            for (double& variance : next.variance) variance = variance / count + 1e-6;
            next.weight = count / kMixturePoints;
            parts[k] = next;
        }
    }
    std::vector<std::vector<float>> out(3);
    for (const MixturePart& part : parts) {
        out[0].push_back(float(part.weight));
        for (double mean : part.mean) out[1].push_back(float(mean));
        for (double variance : part.variance) out[2].push_back(float(variance));
    }
    return out;
}

// Each invocation computes one point.
constexpr const char* kMixtureShares = R"(
void main() {
    int p = int(gl_GlobalInvocationID.x);
    float score[8], top = -1e30, total = 0.0;
    for (int k = 0; k < 8; ++k) {
        vec4 apart = x_at(p) - means_at(k), v = variances_at(k);
        vec4 term = apart * apart / v + log(6.2831853 * v);
        score[k] = log(weights_at(k)) - 0.5 * (term.x + term.y + term.z + term.w);
        top = max(top, score[k]);
    }
    for (int k = 0; k < 8; ++k) {
        score[k] = exp(score[k] - top);
        total += score[k];
    }
    for (int k = 0; k < 8; ++k) shares[p * 8 + k] = score[k] / total;
}
)";
// An invocation computes a component's sums over 1024 points, in two passes; another kernel has one
// for each component, which joins them.
constexpr const char* kMixtureSums = R"(
void main() {
    int own = int(gl_GlobalInvocationID.x), k = own & 7, part = own >> 3;
    float count = 0.0;
    vec4 sum = vec4(0);
    for (int p = part * 1024; p < part * 1024 + 1024; ++p) {
        float share = shares_at(p * 8 + k);
        count += share;
        sum += share * x_at(p);
    }
    counts[own] = count;
    sums[own] = sum;
}
)";
constexpr const char* kMixtureMeans = R"(
void main() {
    int k = int(gl_GlobalInvocationID.x);
    float count = 0.0;
    vec4 sum = vec4(0);
    for (int part = 0; part < 64; ++part) {
        count += counts_at(part * 8 + k);
        sum += sums_at(part * 8 + k);
    }
    weights[k] = count / 65536.0;
    means[k] = sum / count;
}
)";
constexpr const char* kMixtureSquares = R"(
void main() {
    int own = int(gl_GlobalInvocationID.x), k = own & 7, part = own >> 3;
    vec4 mean = means_at(k), sum = vec4(0);
    for (int p = part * 1024; p < part * 1024 + 1024; ++p) {
        vec4 apart = x_at(p) - mean;
        sum += shares_at(p * 8 + k) * apart * apart;
    }
    sums[own] = sum;
}
)";
constexpr const char* kMixtureVariances = R"(
void main() {
    int k = int(gl_GlobalInvocationID.x);
    vec4 sum = vec4(0);
    for (int part = 0; part < 64; ++part) sum += sums_at(part * 8 + k);
    variances[k] = sum / (weights_at(k) * 65536.0) + 1e-6;
}
)";

HandProgram plain_mixture() {
    constexpr int kPoints = 0, kWeights = 4, kMeans = 5, kVariances = 6;  // of the results
    constexpr int kShares = 7, kCounts = 8, kSums = 9, kRuns = kMixturePoints / 1024;
    HandProgram out;
    out.kernels = {{"mixture_shares",
                    kMixtureShares,
                    {64, 1, 1},
                    {kMixturePoints / 64, 1, 1},
                    {{"x", As::Vec4s, kPoints},
                     {"weights", As::Floats, 1},
                     {"means", As::Vec4s, 2},
                     {"variances", As::Vec4s, 3},
                     {"shares", As::Floats, kShares, true}},
                    {}},
                   {"mixture_sums",
                    kMixtureSums,
                    {64, 1, 1},
                    {kRuns * kMixtureParts / 64, 1, 1},
                    {{"x", As::Vec4s, kPoints},
                     {"shares", As::Floats, kShares},
                     {"counts", As::Floats, kCounts, true},
                     {"sums", As::Vec4s, kSums, true}},
                    {}},
                   {"mixture_means",
                    kMixtureMeans,
                    {8, 1, 1},
                    {1, 1, 1},
                    {{"counts", As::Floats, kCounts},
                     {"sums", As::Vec4s, kSums},
                     {"weights", As::Floats, kWeights, true},
                     {"means", As::Vec4s, kMeans, true}},
                    {}},
                   {"mixture_squares",
                    kMixtureSquares,
                    {64, 1, 1},
                    {kRuns * kMixtureParts / 64, 1, 1},
                    {{"x", As::Vec4s, kPoints},
                     {"shares", As::Floats, kShares},
                     {"means", As::Vec4s, kMeans},
                     {"sums", As::Vec4s, kSums, true}},
                    {}},
                   {"mixture_variances",
                    kMixtureVariances,
                    {8, 1, 1},
                    {1, 1, 1},
                    {{"sums", As::Vec4s, kSums},
                     {"weights", As::Floats, kWeights},
                     {"variances", As::Vec4s, kVariances, true}},
                    {}}};
    out.temporaries = {int64_t(kMixturePoints) * kMixtureParts, kRuns * kMixtureParts,
                       kRuns * kMixtureParts * kMixtureAxes};
    for (int turn = 0; turn < kMixtureTurns; ++turn) {
        out.steps.push_back({0, {}});
        if (turn > 0) out.steps.back().buffers = {kPoints, kWeights, kMeans, kVariances, kShares};
        for (int kernel = 1; kernel < 5; ++kernel) out.steps.push_back({kernel, {}});
    }
    return out;
}

// An iteration is one dispatch and a small one. Lanes go through points, POINTS at once, with all
// sums in registers. The sums are of a point's distance d to the means before, so that no variance
// is a difference of large numbers; they cost no more than sums of coordinates and their squares.
// Scores are logarithms to base 2. Two points at once take 1.14 times as long, one 1.34 times; a
// hand-written polynomial instead of exp2 takes 1.16 times, 64 groups 1.05 times.
constexpr const char* kBestMixture = R"(
void main() {
    int lane = int(gl_LocalInvocationID.x), group = int(gl_WorkGroupID.x);
    float rest[8], count[8];
    vec4 mean[8], scale[8], sum[8], squares[8];
    [[unroll]] for (int k = 0; k < 8; ++k) {
        vec4 v = variances_at(k);
        mean[k] = means_at(k);
        scale[k] = -0.72134752 / v;
        rest[k] = log2(weights_at(k)) - 0.5 * log2(v.x * v.y) - 0.5 * log2(v.z * v.w);
        count[k] = 0.0;
        sum[k] = squares[k] = vec4(0);
    }
    for (int turn = 0; turn < TURNS; turn += POINTS) {
        vec4 point[POINTS];
        float share[POINTS * 8], top[POINTS], part[POINTS];
        [[unroll]] for (int p = 0; p < POINTS; ++p) {
            point[p] = x_at((group * TURNS + turn + p) * 8 + lane);
            top[p] = -1e30, part[p] = 0.0;
        }
        [[unroll]] for (int k = 0; k < 8; ++k) [[unroll]] for (int p = 0; p < POINTS; ++p) {
            vec4 d = point[p] - mean[k], w = d * d * scale[k];
            share[p * 8 + k] = rest[k] + ((w.x + w.y) + (w.z + w.w));
            top[p] = max(top[p], share[p * 8 + k]);
        }
        [[unroll]] for (int k = 0; k < 8; ++k) [[unroll]] for (int p = 0; p < POINTS; ++p) {
            share[p * 8 + k] = exp2(share[p * 8 + k] - top[p]);
            part[p] += share[p * 8 + k];
        }
        [[unroll]] for (int p = 0; p < POINTS; ++p) part[p] = 1.0 / part[p];
        [[unroll]] for (int k = 0; k < 8; ++k) [[unroll]] for (int p = 0; p < POINTS; ++p) {
            float own = part[p] * share[p * 8 + k];
            vec4 d = point[p] - mean[k], s = own * d;
            count[k] += own;
            sum[k] += s;
            squares[k] += s * d;
        }
    }
    [[unroll]] for (int k = 0; k < 8; ++k) {
        float all = eight_sum(count[k]);
        vec4 s, q;
        [[unroll]] for (int d = 0; d < 4; ++d) s[d] = eight_sum(sum[k][d]);
        [[unroll]] for (int d = 0; d < 4; ++d) q[d] = eight_sum(squares[k][d]);
        if (lane == 0) {
            sums[(group * 3 + 0) * 8 + k] = vec4(all);
            sums[(group * 3 + 1) * 8 + k] = s;
            sums[(group * 3 + 2) * 8 + k] = q;
        }
    }
}
)";
// A lane for each component.
constexpr const char* kBestMixtureParts = R"(
void main() {
    int k = int(gl_LocalInvocationID.x);
    vec4 count = vec4(0), sum = vec4(0), squares = vec4(0);
    for (int group = 0; group < GROUPS; ++group) {
        count += sums_at(group * 24 + k);
        sum += sums_at(group * 24 + 8 + k);
        squares += sums_at(group * 24 + 16 + k);
    }
    vec4 further = sum / count;
    weights[k] = count.x / 65536.0;
    means[k] = old_means_at(k) + further;
    variances[k] = squares / count - further * further + 1e-6;
}
)";

HandProgram best_mixture() {
    constexpr int kGroups = 32, kAtOnce = 4;
    constexpr int kPoints = 0, kWeights = 4, kSums = 7;  // of the results; means are kWeights + 1
    HandProgram out;
    out.kernels = {{"mixture",
                    kBestMixture,
                    {8, 1, 1},
                    {kGroups, 1, 1},
                    {{"x", As::Texels4, kPoints},
                     {"weights", As::Texels, 1},
                     {"means", As::Texels4, 2},
                     {"variances", As::Texels4, 3},
                     {"sums", As::Vec4s, kSums, true}},
                    {{"TURNS", kMixturePoints / 8 / kGroups}, {"POINTS", kAtOnce}}},
                   {"mixture_parts",
                    kBestMixtureParts,
                    {8, 1, 1},
                    {1, 1, 1},
                    {{"sums", As::Texels4, kSums},
                     {"old_means", As::Vec4s, 2},
                     {"weights", As::Floats, kWeights, true},
                     {"means", As::Vec4s, kWeights + 1, true},
                     {"variances", As::Vec4s, kWeights + 2, true}},
                    {{"GROUPS", kGroups}}}};
    out.temporaries = {int64_t(kGroups) * 3 * kMixtureParts * kMixtureAxes};
    for (int turn = 0; turn < kMixtureTurns; ++turn) {
        const int from = turn == 0 ? 1 : kWeights;
        out.steps.push_back({0, {kPoints, from, from + 1, from + 2, kSums}});
        out.steps.push_back({1, {kSums, from + 1, kWeights, kWeights + 1, kWeights + 2}});
    }
    return out;
}

/// Clouds that overlap: a point's coordinates are sums of three numbers beside its cloud's centre.
std::vector<float> mixture_points() {
    constexpr size_t kAxes = kMixtureAxes, kParts = kMixtureParts;
    const std::vector<float> centres = numbers(kParts * kAxes, -3, 3, 11),
                             sizes = numbers(kParts * kAxes, 0.4f, 1.2f, 12),
                             noise = numbers(int64_t(kMixturePoints) * kMixtureAxes * 3, -1, 1, 13);
    std::vector<float> out;
    for (size_t p = 0; p < kMixturePoints; ++p)
        for (size_t d = 0; d < kAxes; ++d) {
            const size_t part = p % kParts * kAxes + d, at = (p * kAxes + d) * 3;
            out.push_back(centres[part] +
                          sizes[part] * (noise[at] + noise[at + 1] + noise[at + 2]));
        }
    return out;
}

Contest mixture_fit() {
    auto f = compile(fitted_mixture, {f32("n", "d"), f32("k"), f32("k", "d"), f32("k", "d")});
    constexpr int64_t kPlaces = kMixtureParts * kMixtureAxes;
    constexpr double kPairs = double(kMixturePoints) * kMixtureParts;
    const std::vector<float> points = mixture_points(),
                             weights(kMixtureParts, 1.0f / kMixtureParts),
                             means(points.begin(), points.begin() + kPlaces),
                             variances(kPlaces, 1.0f);
    // The fewest operations known. Per point a square for each axis, the largest score, a sum and a
    // reciprocal; per point and component, from these, 16 for the score, an exponential of a
    // difference, a product for the share, and 17 for the sums. Points may stay in caches between
    // the iterations.
    const double of_a_turn = kPairs * (16 + 2 + 1 + 17 + 2) + kMixturePoints * 5.0;
    return {.least = {4.0 * kMixtureAxes * kMixturePoints, 4.0 * (kMixtureParts + 2 * kPlaces),
                      kMixtureTurns * of_a_turn},
            .arguments = {points, weights, means, variances},
            .results = {kMixtureParts, kPlaces, kPlaces},
            .firn =
                [f, x = tensor(points, {kMixturePoints, kMixtureAxes}), w = tensor(weights),
                 m = tensor(means, {kMixtureParts, kMixtureAxes}),
                 v = tensor(variances, {kMixtureParts, kMixtureAxes})] {
                    auto [a, b, c] = f(x, MixtureState{w, m, v});
                    return std::vector<Tensor>{a, b, c};
                },
            .best = best_mixture(),
            .plain = plain_mixture(),
            .tolerance = 1e-3,
            .expected = [=] { return host_mixture(points, weights, means, variances); }};
}

constexpr const char* kMixtureFar =
    "an exponential and a logarithm are one operation of the bound, and sums wait for one another";

}  // namespace

void add_mixture(std::vector<Case>& cases) {
    cases.push_back({"mixture", mixture_fit, Section::Training, kMixtureFar});
}

}  // namespace firn::bench
