// Learning: Lloyd's k-means, and the forward pass of an LSTM.
#include <firn/firn.h>

#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kPoints = 1 << 16, kCentres = 16, kAxes = 4, kLearningTurns = 8;

/// The centres, and the one that each point was nearest to in the last iteration.
std::pair<Tensor, Tensor> means_of(Tensor points, Tensor centres) {
    Tensor nearest = zeros({points.size(0)}, i32);
    for (Tensor turn : loop(kLearningTurns)) {
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
    for (int turn = 0; turn < kLearningTurns; ++turn) {
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

// A group adds up its points in memory of its own first: 64 coordinates, then 16 counts.
constexpr const char* kMeansStart = R"(
void main() {
    int k = int(gl_LocalInvocationID.x);
    if (k < 64) centre[k] = first_at(k);
    total[k] = 0.0;
}
)";
constexpr const char* kMeansNearest = R"(
shared float part[80];
void main() {
    int id = int(gl_GlobalInvocationID.x), local = int(gl_LocalInvocationID.x);
    if (local < 80) part[local] = 0.0;
    barrier();
    vec4 point = points_at(id);
    float least = 1e30;
    int best = 0;
    for (int c = 0; c < 16; ++c) {
        vec4 way = point - centre_at(c);
        float away = dot(way, way);
        if (away < least) least = away, best = c;
    }
    nearest[id] = float(best);
    for (int a = 0; a < 4; ++a) atomicAdd(part[best * 4 + a], point[a]);
    atomicAdd(part[64 + best], 1.0);
    barrier();
    if (local < 80) atomicAdd(total[local], part[local]);
}
)";
constexpr const char* kMeansCentres = R"(
void main() {
    int k = int(gl_LocalInvocationID.x);
    if (k < 64) centre[k] = total[k] / max(total[64 + k / 4], 1.0);
    barrier();
    total[k] = 0.0;
}
)";

// The sums of every centre are private to an invocation, without atomics: a group adds those of its
// lanes, and the next iteration those of all groups. Number 8 v + lane of them belongs to the
// centre 8 (v % 2) + lane and the axis v / 2, where axis 4 counts.
constexpr const char* kMeansHead = R"(
int lane = int(gl_LocalInvocationID.x), group = int(gl_WorkGroupID.x);
float mean[8];
void find_means() {
    if (FIRST != 0) {
        [[unroll]] for (int v = 0; v < 8; ++v) mean[v] = first_at((8 * (v & 1) + lane) * 4 + v / 2);
        return;
    }
    float all[10];
    [[unroll]] for (int v = 0; v < 10; ++v) all[v] = 0.0;
    for (int g = 0; g < GROUPS; ++g)
        [[unroll]] for (int v = 0; v < 10; ++v) all[v] += old_at((g * 10 + v) * 8 + lane);
    [[unroll]] for (int v = 0; v < 8; ++v) mean[v] = all[v] / max(all[8 + (v & 1)], 1.0);
}
)";
// The nearest centre c has the largest p c - c c / 2.
constexpr const char* kMeansTurn = R"(
void main() {
    find_means();
    vec4 centre[16];
    float less[16], total[80];
    [[unroll]] for (int c = 0; c < 16; ++c) {
        [[unroll]] for (int a = 0; a < 4; ++a) centre[c][a] = eight_shuffle(mean[2 * a + c / 8], c & 7);
        less[c] = 0.5 * dot(centre[c], centre[c]);
    }
    [[unroll]] for (int k = 0; k < 80; ++k) total[k] = 0.0;
    for (int turn = 0; turn < TURNS; ++turn) {
        int at = ((group * TURNS + turn) * 8 + lane) * BLOCK;
        vec4 point[BLOCK];
        int best[BLOCK];
        [[unroll]] for (int b = 0; b < BLOCK; ++b) {
            point[b] = points_at(at + b);
            best[b] = 0;
            float most = dot(point[b], centre[0]) - less[0];
            [[unroll]] for (int c = 1; c < 16; ++c) {
                float score = dot(point[b], centre[c]) - less[c];
                bool more = score > most;
                best[b] = more ? c : best[b];
                most = more ? score : most;
            }
        }
        if (LAST != 0) [[unroll]] for (int b = 0; b < BLOCK; b += 4)
            nearest[(at + b) / 4] = vec4(best[b], best[b + 1], best[b + 2], best[b + 3]);
        [[unroll]] for (int c = 0; c < 16; ++c) [[unroll]] for (int b = 0; b < BLOCK; ++b) {
            [[unroll]] for (int a = 0; a < 4; ++a)
                total[a * 16 + c] += best[b] == c ? point[b][a] : 0.0;
            total[64 + c] += best[b] == c ? 1.0 : 0.0;
        }
    }
    [[unroll]] for (int v = 0; v < 10; ++v) {
        float mine = 0.0;
        [[unroll]] for (int k = 0; k < 8; ++k) {
            float all = eight_sum(total[8 * v + k]);
            mine = lane == k ? all : mine;
        }
        sums[(group * 10 + v) * 8 + lane] = mine;
    }
}
)";
constexpr const char* kMeansEnd = R"(
void main() {
    find_means();
    [[unroll]] for (int v = 0; v < 8; ++v) y[(8 * (v & 1) + lane) * 4 + v / 2] = mean[v];
}
)";

constexpr int kPointsOf = 0, kFirstOf = 1, kCentresOf = 2, kNearestOf = 3, kSumsOf = 4;

HandProgram best_means() {
    constexpr int kGroups = 16, kBlockOf = 8;
    HandProgram program;
    program.temporaries = {kGroups * 80, kGroups * 80};
    const std::string head = kMeansHead;
    for (int turn = 0; turn <= kLearningTurns; ++turn) {
        const bool end = turn == kLearningTurns;
        const int from = kSumsOf + turn % 2, to = kSumsOf + (turn + 1) % 2;
        std::vector<HandBinding> bindings{{"first", As::Texels, kFirstOf},
                                          {"old", As::Texels, from}};
        if (end)
            bindings.push_back({"y", As::Floats, kCentresOf, true});
        else
            bindings.insert(bindings.end(), {{"points", As::Texels4, kPointsOf},
                                             {"nearest", As::Vec4s, kNearestOf, true},
                                             {"sums", As::Floats, to, true}});
        HandKernel kernel{"k_means",
                          head + (end ? kMeansEnd : kMeansTurn),
                          {8, 1, 1},
                          {end ? 1 : kGroups, 1, 1},
                          bindings,
                          {{"FIRST", turn == 0},
                           {"LAST", turn + 1 == kLearningTurns},
                           {"GROUPS", kGroups},
                           {"BLOCK", kBlockOf},
                           {"TURNS", kPoints / kGroups / 8 / kBlockOf}}};
        if (turn <= 1 || turn + 1 >= kLearningTurns) program.kernels.push_back(kernel);
        HandStep step{int(program.kernels.size()) - 1, {}};
        for (const HandBinding& binding : bindings) step.buffers.push_back(binding.buffer);
        program.steps.push_back(step);
    }
    return program;
}

HandProgram plain_means() {
    const HandBinding total{"total", As::Floats, kSumsOf, true},
        centre{"centre", As::Floats, kCentresOf, true};
    HandProgram program;
    program.temporaries = {80};
    program.kernels = {
        {"k_means_start",
         kMeansStart,
         {80, 1, 1},
         {1, 1, 1},
         {{"first", As::Floats, kFirstOf}, centre, total},
         {}},
        {"k_means_nearest",
         kMeansNearest,
         {256, 1, 1},
         {kPoints / 256, 1, 1},
         {{"points", As::Vec4s, kPointsOf},
          {"centre", As::Vec4s, kCentresOf},
          {"nearest", As::Floats, kNearestOf, true},
          total},
         {}},
        {"k_means_centres", kMeansCentres, {80, 1, 1}, {1, 1, 1}, {centre, total}, {}}};
    program.steps.push_back({0, {}});
    for (int turn = 0; turn < kLearningTurns; ++turn)
        program.steps.insert(program.steps.end(), {{1, {}}, {2, {}}});
    return program;
}

Contest k_means() {
    auto f = compile(means_of, {f32("n", "d"), f32("k", "d")});
    std::vector<float> points = numbers(kPoints * kAxes, -1, 1);
    for (size_t k = 0; k < points.size(); ++k)  // in clusters
        points[k] = 0.6f * points[k] + 3 * host_pcgf(uint32_t(k / kAxes % 20 * kAxes + k % kAxes));
    const std::vector<float> centres(points.begin(), points.begin() + kCentres * kAxes);
    // Operations per iteration: for a point and a centre 3 for an axis and a comparison; for a
    // point its sums.
    const double turn = kPoints * (kCentres * (3.0 * kAxes + 1) + kAxes + 1);
    return {.least = {4.0 * kPoints * kAxes, 4.0 * kPoints, kLearningTurns * turn},
            .arguments = {points, centres},
            .results = {kCentres * kAxes, kPoints},
            .firn =
                [f, p = tensor(points, {kPoints, kAxes}), c = tensor(centres, {kCentres, kAxes})] {
                    auto [means, nearest] = f(p, c);
                    return std::vector<Tensor>{means, nearest};
                },
            .best = best_means(),
            .plain = plain_means(),
            .tolerance = 1e-3,
            .difference = share_that_differs,
            .expected = [=] { return host_means(points, centres); }};
}

constexpr int kLearningSteps = 64, kBatch = 32, kHidden = 128, kGates = 4 * kHidden;

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
    for (size_t step = 0; step < kLearningSteps; ++step) {
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

// The number of the step alternates between two buffers, and so does the hidden state.
constexpr const char* kCellsStart = R"(
void main() {
    int k = int(gl_GlobalInvocationID.x);
    hidden[k] = 0.0;
    cell[k] = 0.0;
    if (k == 0) step[0] = 0;
}
)";
constexpr const char* kCellsStep = R"(
float bent(float x) { return 1.0 / (1.0 + exp(-x)); }
void main() {
    int unit = int(gl_GlobalInvocationID.x), row = int(gl_GlobalInvocationID.y), own = row * 128 + unit;
    int from = step[0] * 4096 + row * 128;
    float gate[4];
    for (int g = 0; g < 4; ++g) gate[g] = bias_at(g * 128 + unit);
    for (int k = 0; k < 128; ++k) {
        float x = x_at(from + k), h = hidden_at(row * 128 + k);
        for (int g = 0; g < 4; ++g) {
            int at = k * 512 + g * 128 + unit;
            gate[g] += x * from_input_at(at) + h * from_hidden_at(at);
        }
    }
    cell[own] = bent(gate[1]) * cell[own] + bent(gate[0]) * tanh(gate[2]);
    float now = bent(gate[3]) * tanh(cell[own]);
    next_hidden[own] = now;
    y[from + unit] = now;
    if (own == 0) next_step[0] = step[0] + 1;
}
)";

// A vec4 of a unit's four gates; eight units of all k in order.
constexpr const char* kCellsPack = R"(
void main() {
    int id = int(gl_GlobalInvocationID.x), unit = id >> 10 << 3 | id & 7;
    vec4 ahead, back;
    [[unroll]] for (int g = 0; g < 4; ++g) {
        int at = (id >> 3 & 127) * 512 + g * 128 + unit;
        ahead[g] = from_input_at(at);
        back[g] = from_hidden_at(at);
    }
    input4[id] = ahead;
    hidden4[id] = back;
}
)";
// Rows depend on none but themselves: a group takes 16 of them through all steps, eight lanes eight
// units, whose cells stay with them. Lane k reads the rows k and k + 8 and shuffles them to the
// others.
constexpr const char* kCellsBest = R"(
float bent(float x) { return 1.0 / (1.0 + exp(-x)); }
#define ADD_PRODUCT(ROWS, ROW, WEIGHTS) \
    for (int k = 0; k < 32; k += 2) { \
        vec4 low[2], high[2], weight[8]; \
        [[unroll]] for (int q = 0; q < 2; ++q) { \
            low[q] = ROWS((ROW) + k + q); \
            high[q] = ROWS((ROW) + 256 + k + q); \
        } \
        [[unroll]] for (int l = 0; l < 8; ++l) weight[l] = WEIGHTS(from + (4 * k + l) * 8); \
        [[unroll]] for (int r = 0; r < 8; ++r) { \
            [[unroll]] for (int l = 0; l < 8; ++l) \
                gate[r] += eight_shuffle(low[l / 4][l & 3], r) * weight[l]; \
            [[unroll]] for (int l = 0; l < 8; ++l) \
                gate[r + 8] += eight_shuffle(high[l / 4][l & 3], r) * weight[l]; \
        } \
    }
void main() {
    int unit = int(gl_LocalInvocationID.x), lane = unit & 7, from = (unit >> 3) * 1024 + lane;
    int first = int(gl_WorkGroupID.x) * 16;
    vec4 bias = vec4(bias_at(unit), bias_at(unit + 128), bias_at(unit + 256), bias_at(unit + 384));
    float cell[16];
    [[unroll]] for (int r = 0; r < 16; ++r) cell[r] = 0.0;
    for (int step = 0; step < 64; ++step) {
        int row = step * 32 + first;
        vec4 gate[16];
        [[unroll]] for (int r = 0; r < 16; ++r) gate[r] = bias;
        ADD_PRODUCT(x_at, (row + lane) * 32, input4_at)
        if (step > 0) ADD_PRODUCT(hidden_at, (row - 32 + lane) * 32, hidden4_at)
        [[unroll]] for (int r = 0; r < 16; ++r) {
            cell[r] = bent(gate[r].y) * cell[r] + bent(gate[r].x) * (2.0 * bent(2.0 * gate[r].z) - 1.0);
            y[(row + r) * 128 + unit] = bent(gate[r].w) * (2.0 * bent(2.0 * cell[r]) - 1.0);
        }
        memoryBarrierBuffer();
        barrier();
    }
}
)";

HandProgram cells_by_hand(bool best) {
    constexpr int kX = 0, kInput = 1, kRecurrent = 2, kBias = 3, kOutputs = 4, kOwn = 5;
    const HandBinding bias{"bias", best ? As::Texels : As::Floats, kBias},
        y{"y", As::Floats, kOutputs, true};
    HandProgram program;
    if (best) {
        program.temporaries = {kHidden * kGates, kHidden * kGates};
        program.kernels = {{"lstm_pack",
                            kCellsPack,
                            {64, 1, 1},
                            {kHidden * kHidden / 64, 1, 1},
                            {{"from_input", As::Texels, kInput},
                             {"from_hidden", As::Texels, kRecurrent},
                             {"input4", As::Vec4s, kOwn, true},
                             {"hidden4", As::Vec4s, kOwn + 1, true}},
                            {}},
                           {"lstm",
                            kCellsBest,
                            {kHidden, 1, 1},
                            {kBatch / 16, 1, 1},
                            {{"x", As::Texels4, kX},
                             {"hidden", As::Texels4, kOutputs, false, true},
                             {"input4", As::Texels4, kOwn},
                             {"hidden4", As::Texels4, kOwn + 1},
                             bias,
                             {"y", As::Floats, kOutputs, true, true}},
                            {}}};
        return program;
    }
    constexpr int kState = kBatch * kHidden, kHiddenOf = kOwn + 1, kStepOf = kOwn + 3;
    program.temporaries = {kState, kState, kState, 1, 1};
    program.kernels = {{"lstm_start",
                        kCellsStart,
                        {64, 1, 1},
                        {kState / 64, 1, 1},
                        {{"hidden", As::Floats, kHiddenOf, true},
                         {"cell", As::Floats, kOwn, true},
                         {"step", As::Ints, kStepOf, true}},
                        {}},
                       {"lstm_step",
                        kCellsStep,
                        {64, 1, 1},
                        {kHidden / 64, kBatch, 1},
                        {{"hidden", As::Floats, kHiddenOf},
                         {"next_hidden", As::Floats, kHiddenOf, true},
                         {"step", As::Ints, kStepOf},
                         {"next_step", As::Ints, kStepOf, true},
                         {"x", As::Floats, kX},
                         {"from_input", As::Floats, kInput},
                         {"from_hidden", As::Floats, kRecurrent},
                         bias,
                         {"cell", As::Floats, kOwn, true},
                         y},
                        {}}};
    program.steps.push_back({0, {}});
    for (int k = 0; k < kLearningSteps; ++k) {
        const int old = k % 2, now = 1 - old;
        program.steps.push_back({1,
                                 {kHiddenOf + old, kHiddenOf + now, kStepOf + old, kStepOf + now,
                                  kX, kInput, kRecurrent, kBias, kOwn, kOutputs}});
    }
    return program;
}

Contest lstm() {
    auto f =
        compile(lstm_of, {f32("t", "b", "n"), f32("n", "gates"), f32("m", "gates"), f32("gates")});
    constexpr int64_t kOut = int64_t(kLearningSteps) * kBatch * kHidden,
                      kWeights = kHidden * kGates;
    const std::vector<float> x = numbers(kOut, -1, 1), w = numbers(kWeights, -0.1f, 0.1f, 2),
                             h = numbers(kWeights, -0.1f, 0.1f, 3),
                             b = numbers(kGates, -0.1f, 0.1f, 4);
    Tensor x0 = tensor(x, {kLearningSteps, kBatch, kHidden}), w0 = tensor(w, {kHidden, kGates}),
           h0 = tensor(h, {kHidden, kGates}), b0 = tensor(b);
    // Two products of matrices in every step, and beside them 30 of an element.
    const double step = 2.0 * 2 * kBatch * kWeights + 30.0 * kBatch * kHidden;
    return {.least = {4.0 * kOut + 8.0 * kWeights, 4.0 * kOut, kLearningSteps * step},
            .arguments = {x, w, h, b},
            .results = {kOut},
            .firn = [=] { return std::vector<Tensor>{f(x0, w0, h0, b0)}; },
            .best = cells_by_hand(true),
            .plain = cells_by_hand(false),
            .tolerance = 1e-4,
            .expected = [=] { return host_lstm(x, w, h, b); }};
}

}  // namespace

void add_learning(std::vector<Case>& cases) {
    cases.push_back({"k_means", k_means, Section::Training,
                     "its turns wait for one another: distances, sums of clusters, centres"});
    cases.push_back({"lstm", lstm, Section::Training,
                     "its steps wait for one another, each two short products"});
}

}  // namespace firn::bench
