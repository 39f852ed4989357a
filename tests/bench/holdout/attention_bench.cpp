// Scaled dot-product attention.
#include <firn/firn.h>

#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kAttentionHeads = 8, kAttentionPlaces = 256, kAttentionFeatures = 64;
constexpr int64_t kAttentionElements =
    int64_t(kAttentionHeads) * kAttentionPlaces * kAttentionFeatures;
constexpr int64_t kAttentionScores = int64_t(kAttentionHeads) * kAttentionPlaces * kAttentionPlaces;

/// A. Vaswani et al., "Attention Is All You Need", 2017.
Tensor attention_of(Tensor q, Tensor k, Tensor v) {
    Tensor scores = matmul(q, transpose(k, -1, -2)) / sqrt(Tensor(q.size(-1)).as(f32));
    return matmul(softmax(scores), v);
}

std::vector<std::vector<float>> host_attention(const std::vector<float>& q,
                                               const std::vector<float>& k,
                                               const std::vector<float>& v) {
    constexpr size_t kPlaces = kAttentionPlaces, kFeatures = kAttentionFeatures;
    std::vector<float> out;
    for (size_t head = 0; head < kAttentionHeads; ++head)
        for (size_t i = 0; i < kPlaces; ++i) {
            std::vector<double> weights(kPlaces), sum(kFeatures);
            double high = -1e30, total = 0;
            for (size_t j = 0; j < kPlaces; ++j) {
                for (size_t f = 0; f < kFeatures; ++f)
                    weights[j] += double(q[(head * kPlaces + i) * kFeatures + f]) *
                                  double(k[(head * kPlaces + j) * kFeatures + f]) / 8;
                high = std::max(high, weights[j]);
            }
            for (double& weight : weights) total += weight = std::exp(weight - high);
            for (size_t j = 0; j < kPlaces; ++j)
                for (size_t f = 0; f < kFeatures; ++f)
                    sum[f] += weights[j] * double(v[(head * kPlaces + j) * kFeatures + f]);
            for (double x : sum) out.push_back(float(x / total));
        }
    return {out};
}

constexpr const char* kAttentionScoresOf = R"(
void main() {
    int key = int(gl_GlobalInvocationID.x), query = int(gl_GlobalInvocationID.y);
    int head = int(gl_GlobalInvocationID.z);
    float sum = 0.0;
    for (int f = 0; f < 64; ++f)
        sum += q_at((head * 256 + query) * 64 + f) * keys_at((head * 256 + key) * 64 + f);
    score[(head * 256 + query) * 256 + key] = sum / sqrt(64.0);
}
)";
constexpr const char* kAttentionSoftmax = R"(
void main() {
    int row = int(gl_GlobalInvocationID.x) * 256;
    float high = score_at(row), sum = 0.0;
    for (int key = 1; key < 256; ++key) high = max(high, score_at(row + key));
    for (int key = 0; key < 256; ++key) sum += exp(score_at(row + key) - high);
    for (int key = 0; key < 256; ++key) weight[row + key] = exp(score_at(row + key) - high) / sum;
}
)";
constexpr const char* kAttentionSums = R"(
void main() {
    int f = int(gl_GlobalInvocationID.x), query = int(gl_GlobalInvocationID.y);
    int head = int(gl_GlobalInvocationID.z);
    float sum = 0.0;
    for (int key = 0; key < 256; ++key)
        sum += weight_at((head * 256 + query) * 256 + key) * v_at((head * 256 + key) * 64 + f);
    y[(head * 256 + query) * 64 + f] = sum;
}
)";

HandProgram plain_attention() {
    constexpr int kResult = 3, kScore = 4, kWeight = 5;
    return {
        {{"attention_scores",
          kAttentionScoresOf,
          {16, 16, 1},
          {kAttentionPlaces / 16, kAttentionPlaces / 16, kAttentionHeads},
          {{"q", As::Floats, 0}, {"keys", As::Floats, 1}, {"score", As::Floats, kScore, true}},
          {}},
         {"attention_softmax",
          kAttentionSoftmax,
          {64, 1, 1},
          {kAttentionHeads * kAttentionPlaces / 64, 1, 1},
          {{"score", As::Floats, kScore}, {"weight", As::Floats, kWeight, true}},
          {}},
         {"attention_sums",
          kAttentionSums,
          {16, 16, 1},
          {kAttentionFeatures / 16, kAttentionPlaces / 16, kAttentionHeads},
          {{"weight", As::Floats, kWeight}, {"v", As::Floats, 2}, {"y", As::Floats, kResult, true}},
          {}}},
        {kAttentionScores, kAttentionScores},
        {}};
}

// Each lane has QUERIES queries, whose sums of values stay with it. Of KEYS keys at a time a lane
// loads every eighth and shuffles it to the others; at a larger score the sums so far are scaled
// down: M. Milakov and N. Gimelshein, "Online Normalizer Calculation for Softmax", 2018. The
// queries are multiplied by log2(e) / 8.
constexpr const char* kAttentionBest = R"(
#define EACH [[unroll]] for (int r = 0; r < QUERIES; ++r)
#define FOUR [[unroll]] for (int c = 0; c < 4; ++c)
void main() {
    int lane = int(gl_LocalInvocationID.x) & 7, head = int(gl_WorkGroupID.y) * 256;
    int first = head + int(gl_GlobalInvocationID.x) * QUERIES;
    vec4 query[16 * QUERIES], sum[16 * QUERIES];
    float high[QUERIES], total[QUERIES];
    EACH [[unroll]] for (int f = 0; f < 16; ++f) {
        query[r * 16 + f] = q_at((first + r) * 16 + f) * 0.18033688;
        sum[r * 16 + f] = vec4(0.0);
    }
    EACH high[r] = -1e30, total[r] = 0.0;
    for (int from = head; from < head + 256; from += KEYS) {
        float score[QUERIES * KEYS];
        [[unroll]] for (int n = 0; n < QUERIES * KEYS; ++n) score[n] = 0.0;
        [[unroll]] for (int f = 0; f < 16; ++f) [[unroll]] for (int e = 0; e < KEYS; e += 8) {
            vec4 key = keys_at((from + e + lane) * 16 + f);
            [[unroll]] for (int n = 0; n < 8; ++n) FOUR {
                float x = eight_shuffle(key[c], n);
                EACH score[r * KEYS + e + n] += query[r * 16 + f][c] * x;
            }
        }
        float scale[QUERIES];
        EACH {
            float top = high[r], added = 0.0;
            [[unroll]] for (int n = 0; n < KEYS; ++n) top = max(top, score[r * KEYS + n]);
            scale[r] = exp2(high[r] - top);
            high[r] = top;
            [[unroll]] for (int n = 0; n < KEYS; ++n) {
                score[r * KEYS + n] = exp2(score[r * KEYS + n] - top);
                added += score[r * KEYS + n];
            }
            total[r] = total[r] * scale[r] + added;
        }
        [[unroll]] for (int f = 0; f < 16; ++f) {
            vec4 part[QUERIES];
            EACH part[r] = sum[r * 16 + f] * scale[r];
            [[unroll]] for (int e = 0; e < KEYS; e += 8) {
                vec4 value = v_at((from + e + lane) * 16 + f);
                [[unroll]] for (int n = 0; n < 8; ++n) FOUR {
                    float x = eight_shuffle(value[c], n);
                    EACH part[r][c] += score[r * KEYS + e + n] * x;
                }
            }
            EACH sum[r * 16 + f] = part[r];
        }
    }
    EACH [[unroll]] for (int f = 0; f < 16; ++f)
        y[(first + r) * 16 + f] = sum[r * 16 + f] / total[r];
}
)";

HandProgram best_attention() {
    constexpr int kGroup = 64, kQueries = 4, kKeys = 8;
    return {{{"attention",
              kAttentionBest,
              {kGroup, 1, 1},
              {kAttentionPlaces / kGroup / kQueries, kAttentionHeads, 1},
              {{"q", As::Texels4, 0},
               {"keys", As::Texels4, 1},
               {"v", As::Texels4, 2},
               {"y", As::Vec4s, 3, true}},
              {{"QUERIES", kQueries}, {"KEYS", kKeys}}}},
            {},
            {}};
}

Contest attention_contest() {
    auto f =
        compile(attention_of, {f32("heads", "queries", "features"),
                               f32("heads", "keys", "features"), f32("heads", "keys", "features")});
    const std::vector<float> q = numbers(kAttentionElements, -2, 2, 1),
                             k = numbers(kAttentionElements, -2, 2, 2),
                             v = numbers(kAttentionElements, -1, 1, 3);
    const auto of = [](const std::vector<float>& x) {
        return tensor(x, {kAttentionHeads, kAttentionPlaces, kAttentionFeatures});
    };
    // Operations per score: two products and sums for every feature, the largest, a difference, an
    // exponential and a sum; per element of the result: a quotient.
    return {.least = {12.0 * kAttentionElements, 4.0 * kAttentionElements,
                      (4.0 * kAttentionFeatures + 4) * kAttentionScores + kAttentionElements},
            .arguments = {q, k, v},
            .results = {kAttentionElements},
            .firn = [f, q0 = of(q), k0 = of(k),
                     v0 = of(v)] { return std::vector<Tensor>{f(q0, k0, v0)}; },
            .best = best_attention(),
            .plain = plain_attention(),
            .tolerance = 1e-4,
            .expected = [=] { return host_attention(q, k, v); }};
}

}  // namespace

void add_attention(std::vector<Case>& cases) {
    cases.push_back({"attention", attention_contest, Section::Training,
                     "an operand is loaded for every few products, and exponentials are dear"});
}

}  // namespace firn::bench
