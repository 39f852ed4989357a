// The likeliest states behind many sequences of symbols.
#include <firn/firn.h>

#include <bit>
#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kViterbiBatch = 64, kViterbiTime = 128, kViterbiStates = 32, kViterbiSymbols = 16;

/// Logarithms of a hidden Markov model's probabilities: of the first state [states], from state to
/// state [states, states], and of each symbol in a state [states, symbols].
struct ViterbiModel {
    Tensor start, transition, emission;
};
/// The states [batch, time], and the logarithm of how likely they are [batch].
struct ViterbiPath {
    Tensor states, score;
};

/// A. Viterbi, "Error Bounds for Convolutional Codes and an Asymptotically Optimum Decoding
/// Algorithm", 1967.
ViterbiPath viterbi_decode(ViterbiModel model, Tensor seen) {
    auto [start, transition, emission] = model;
    Size batch = seen.size(0), time = seen.size(1), states = start.size(0);
    Tensor score = start + emission(all, seen(all, 0)).T();  // [batch, states]
    Tensor back = zeros({time, batch, states}, i32);
    for (Tensor t : loop(1, time)) {
        Tensor through = unsqueeze(score, 2) + transition;  // [batch, from, to]
        back(t) = argmax(through, {.axis = 1});
        score = max(through, {1}) + emission(all, seen(all, t)).T();
    }
    Tensor state = argmax(score, {.axis = 1}), path = zeros({batch, time}, i32);
    path(all, time - 1) = state;
    for (Tensor t : loop(time - 1, 0, -1)) {
        state = back(t, index(state, 0), state);
        path(all, t - 1) = state;
    }
    return {path.as(f32), max(score, {1})};
}
/// A group for each sequence, an invocation for each state.
ViterbiPath viterbi_decode_kernel(ViterbiModel model, Tensor seen) {
    auto [start, transition, emission] = model;
    Size batch = seen.size(0), time = seen.size(1), states = start.size(0);
    Tensor back = zeros({time, batch, states}, i32), last = zeros({batch, states});
    kernel({batch, states}, {.group = {1, kViterbiStates}}, [&](Tensor b, Tensor to) {
        Shared score = shared(f32, kViterbiStates);
        score(to) = start(to) + emission(to, seen(b, 0));
        barrier();
        for (Tensor t : loop(1, time)) {
            Tensor best = score(0) + transition(0, to), from = 0;
            for (Tensor k : loop(1, states)) {
                Tensor through = score(k) + transition(k, to);
                if_(through > best, [&] {
                    best = through;
                    from = k;
                });
            }
            barrier();
            score(to) = best + emission(to, seen(b, t));
            back(t, b, to) = from;
            barrier();
        }
        last(b, to) = score(to);
    });
    Tensor path = zeros({batch, time}), score = zeros({batch});
    kernel({batch}, [&](Tensor b) {
        Tensor best = last(b, 0), state = 0;
        for (Tensor k : loop(1, states)) {
            if_(last(b, k) > best, [&] {
                best = last(b, k);
                state = k;
            });
        }
        score(b) = best;
        path(b, time - 1) = state.as(f32);
        for (Tensor t : loop(time - 1, 0, -1)) {
            state = back(t, b, state);
            path(b, t - 1) = state.as(f32);
        }
    });
    return {path, score};
}

/// Rows of probabilities, as logarithms.
std::vector<float> viterbi_rows(int rows, int columns, uint32_t seed) {
    std::vector<float> out = numbers(int64_t(rows) * columns, 0.01f, 1, seed);
    for (size_t row = 0; row < out.size(); row += size_t(columns)) {
        double total = 0;
        for (size_t k = row; k < row + size_t(columns); ++k) total += double(out[k]);
        for (size_t k = row; k < row + size_t(columns); ++k)
            out[k] = float(std::log(double(out[k]) / total));
    }
    return out;
}

struct ViterbiOnHost {
    std::vector<float> start, transition, emission;
    std::vector<int> seen;
};

std::vector<std::vector<float>> host_viterbi(const ViterbiOnHost& model) {
    constexpr size_t kTime = kViterbiTime, kStates = kViterbiStates, kSymbols = kViterbiSymbols;
    std::vector<float> path(kViterbiBatch * kTime), scores(kViterbiBatch);
    for (size_t b = 0; b < kViterbiBatch; ++b) {
        const int* seen = model.seen.data() + b * kTime;
        const auto emission = [&](size_t state, size_t t) {
            return model.emission[state * kSymbols + size_t(seen[t])];
        };
        std::vector<float> score(kStates);
        std::vector<size_t> back(kTime * kStates);
        for (size_t to = 0; to < kStates; ++to) score[to] = model.start[to] + emission(to, 0);
        for (size_t t = 1; t < kTime; ++t) {
            const std::vector<float> before = score;
            for (size_t to = 0; to < kStates; ++to) {
                float best = before[0] + model.transition[to];
                for (size_t from = 1; from < kStates; ++from) {
                    const float through = before[from] + model.transition[from * kStates + to];
                    if (through > best) best = through, back[t * kStates + to] = from;
                }
                score[to] = best + emission(to, t);
            }
        }
        size_t state = size_t(std::max_element(score.begin(), score.end()) - score.begin());
        scores[b] = score[state];
        for (size_t t = kTime; t-- > 0;) {
            path[b * kTime + t] = float(state);
            state = back[t * kStates + state];
        }
    }
    return {path, scores};
}

constexpr const char* kPlainViterbiForward = R"(
shared float score[STATES];
void main() {
    int to = int(gl_LocalInvocationID.x), b = int(gl_WorkGroupID.x);
    score[to] = start[to] + emission[to * SYMBOLS + seen[b * TIME]];
    barrier();
    for (int t = 1; t < TIME; ++t) {
        float best = score[0] + transition[to];
        int from = 0;
        for (int k = 1; k < STATES; ++k) {
            float through = score[k] + transition[k * STATES + to];
            if (through > best) {
                best = through;
                from = k;
            }
        }
        barrier();
        score[to] = best + emission[to * SYMBOLS + seen[b * TIME + t]];
        back[(t * BATCH + b) * STATES + to] = from;
        barrier();
    }
    last[b * STATES + to] = score[to];
}
)";
constexpr const char* kPlainViterbiBack = R"(
void main() {
    int b = int(gl_GlobalInvocationID.x), state = 0;
    float best = last[b * STATES];
    for (int k = 1; k < STATES; ++k)
        if (last[b * STATES + k] > best) {
            best = last[b * STATES + k];
            state = k;
        }
    score[b] = best;
    path[b * TIME + TIME - 1] = float(state);
    for (int t = TIME - 1; t > 0; --t) {
        state = back[(t * BATCH + b) * STATES + state];
        path[b * TIME + t - 1] = float(state);
    }
}
)";

const std::vector<std::pair<std::string, int>> kViterbiSizes{{"BATCH", kViterbiBatch},
                                                             {"TIME", kViterbiTime},
                                                             {"STATES", kViterbiStates},
                                                             {"SYMBOLS", kViterbiSymbols}};

// Buffers: 0 to 3 are arguments (start, transition, emission, observations), 4 and 5 results (path,
// score), 6 and 7 hold each state's predecessor and the last scores.
HandProgram plain_viterbi() {
    HandProgram out;
    out.kernels = {{"forward",
                    kPlainViterbiForward,
                    {kViterbiStates, 1, 1},
                    {kViterbiBatch, 1, 1},
                    {{"start", As::Floats, 0},
                     {"transition", As::Floats, 1},
                     {"emission", As::Floats, 2},
                     {"seen", As::Ints, 3},
                     {"back", As::Ints, 6, true},
                     {"last", As::Floats, 7, true}},
                    kViterbiSizes},
                   {"back",
                    kPlainViterbiBack,
                    {64, 1, 1},
                    {kViterbiBatch / 64, 1, 1},
                    {{"path", As::Floats, 4, true},
                     {"score", As::Floats, 5, true},
                     {"back", As::Ints, 6},
                     {"last", As::Floats, 7}},
                    kViterbiSizes}};
    out.temporaries = {int64_t(kViterbiTime) * kViterbiBatch * kViterbiStates,
                       kViterbiBatch * kViterbiStates};
    return out;
}

// Forward only the scores are found, by sums and maxima; from where a state comes is asked on the
// way back, of one state of 32. Eight lanes have four neighbouring states each of MANY sequences,
// for which a row of transitions is read once.
constexpr const char* kBestViterbiForward = R"(
void main() {
    int lane = int(gl_LocalInvocationID.x), first = int(gl_WorkGroupID.x) * MANY;
    vec4 score[MANY];
    [[unroll]] for (int q = 0; q < MANY; ++q) {
        int symbol = seen_at((first + q) * TIME);
        [[unroll]] for (int c = 0; c < 4; ++c)
            score[q][c] = start_at(lane * 4 + c) + emission_at((lane * 4 + c) * SYMBOLS + symbol);
        scores[(first + q) * 8 + lane] = score[q];
    }
    for (int t = 1; t < TIME; ++t) {
        vec4 best[MANY];
        [[unroll]] for (int k = 0; k < STATES; ++k) {
            vec4 row = transition_at(k * 8 + lane);
            [[unroll]] for (int q = 0; q < MANY; ++q) {
                vec4 through = eight_shuffle(score[q][k & 3], k >> 2) + row;
                best[q] = k == 0 ? through : max(best[q], through);
            }
        }
        [[unroll]] for (int q = 0; q < MANY; ++q) {
            int symbol = seen_at((first + q) * TIME + t);
            [[unroll]] for (int c = 0; c < 4; ++c)
                score[q][c] = best[q][c] + emission_at((lane * 4 + c) * SYMBOLS + symbol);
            scores[(t * BATCH + first + q) * 8 + lane] = score[q];
        }
    }
}
)";
// A lane for each sequence.
constexpr const char* kBestViterbiBack = R"(
void main() {
    int b = int(gl_GlobalInvocationID.x), state = 0;
    float best = scores_at((TIME - 1) * BATCH * 8 + b * 8).x;
    [[unroll]] for (int k = 0; k < 8; ++k) {
        vec4 four = scores_at(((TIME - 1) * BATCH + b) * 8 + k);
        [[unroll]] for (int c = 0; c < 4; ++c) {
            state = four[c] > best ? k * 4 + c : state;
            best = max(best, four[c]);
        }
    }
    score[b] = best;
    path[b * TIME + TIME - 1] = float(state);
    for (int t = TIME - 2; t >= 0; --t) {
        int from = 0;
        float highest = uintBitsToFloat(0xff800000u);
        [[unroll]] for (int k = 0; k < 8; ++k) {
            vec4 four = scores_at((t * BATCH + b) * 8 + k);
            [[unroll]] for (int c = 0; c < 4; ++c) {
                float through = four[c] + transition_at((k * 4 + c) * STATES + state);
                from = through > highest ? k * 4 + c : from;
                highest = max(highest, through);
            }
        }
        state = from;
        path[b * TIME + t] = float(state);
    }
}
)";

// Buffers as above, but 6 holds all scores.
HandProgram best_viterbi() {
    constexpr int kMany = 4;
    auto sizes = kViterbiSizes;
    sizes.emplace_back("MANY", kMany);
    HandProgram out;
    out.kernels = {{"forward",
                    kBestViterbiForward,
                    {8, 1, 1},
                    {kViterbiBatch / kMany, 1, 1},
                    {{"start", As::Texels, 0},
                     {"transition", As::Texels4, 1},
                     {"emission", As::Texels, 2},
                     {"seen", As::IntTexels, 3},
                     {"scores", As::Vec4s, 6, true}},
                    sizes},
                   {"back",
                    kBestViterbiBack,
                    {8, 1, 1},
                    {kViterbiBatch / 8, 1, 1},
                    {{"transition", As::Texels, 1},
                     {"path", As::Floats, 4, true},
                     {"score", As::Floats, 5, true},
                     {"scores", As::Texels4, 6}},
                    sizes}};
    out.temporaries = {int64_t(kViterbiTime) * kViterbiBatch * kViterbiStates};
    return out;
}

Contest viterbi(ViterbiPath (*program)(ViterbiModel, Tensor)) {
    auto f = compile(program, {f32("states"), f32("states", "states"), f32("states", "symbols"),
                               i32("batch", "time")});
    ViterbiOnHost model{viterbi_rows(1, kViterbiStates, 1),
                        viterbi_rows(kViterbiStates, kViterbiStates, 2),
                        viterbi_rows(kViterbiStates, kViterbiSymbols, 3),
                        {}};
    std::vector<float> seen;
    for (int k = 0; k < kViterbiBatch * kViterbiTime; ++k) {
        model.seen.push_back(int(host_pcg(uint32_t(k)) % uint32_t(kViterbiSymbols)));
        seen.push_back(std::bit_cast<float>(model.seen.back()));
    }
    // Operations: every state of a step reads all states of the step before, with a sum and a
    // maximum, and adds the symbol's score; on the way back a step reads one of them. The model
    // stays in caches, and so may the data read on the way back.
    const double steps = double(kViterbiBatch) * kViterbiTime;
    return {.least = {4.0 * (steps + kViterbiStates * (1 + kViterbiStates + kViterbiSymbols)),
                      4.0 * (steps + kViterbiBatch),
                      steps * kViterbiStates * (2.0 * kViterbiStates + 1),
                      steps * (kViterbiStates + 1)},
            .arguments = {model.start, model.transition, model.emission, seen},
            .results = {kViterbiBatch * kViterbiTime, kViterbiBatch},
            .firn =
                [f, start = tensor(model.start),
                 transition = tensor(model.transition, {kViterbiStates, kViterbiStates}),
                 emission = tensor(model.emission, {kViterbiStates, kViterbiSymbols}),
                 symbols = tensor(model.seen, {kViterbiBatch, kViterbiTime})] {
                    auto [states, score] = f(ViterbiModel{start, transition, emission}, symbols);
                    return std::vector<Tensor>{states, score};
                },
            .best = best_viterbi(),
            .plain = plain_viterbi(),
            .expected = [=] { return host_viterbi(model); }};
}

constexpr const char* kViterbiFar =
    "a step waits for the one before, and each of its scores goes to all states of the next";

}  // namespace

void add_viterbi(std::vector<Case>& cases) {
    cases.push_back(
        {"viterbi", [] { return viterbi(viterbi_decode); }, Section::Holdout, kViterbiFar});
    cases.push_back({"viterbi_kernel", [] { return viterbi(viterbi_decode_kernel); },
                     Section::Holdout, kViterbiFar});
}

}  // namespace firn::bench
