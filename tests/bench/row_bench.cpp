// Rows of a 4096 x 4096 matrix: sums, softmax and layer norm; and the sums of its columns.
#include <firn/firn.h>

#include "tests/bench/bench.h"

namespace firn::bench {
namespace {

constexpr int kRows = 4096, kColumns = 4096;
constexpr int64_t kRowElements = int64_t(kRows) * kColumns;

// A row per subgroup of eight: a row stays in the first cache for all passes over it.
// `EACH(STATEMENT)` goes over its 1024 vec4, sixteen loads unrolled.
constexpr const char* kRowHead = R"(
int base;
vec4 at(int turn, int k) { return x_at(base + 8 * (16 * turn + k)); }
float across(vec4 v) { return (v.x + v.y) + (v.z + v.w); }
#define EACH(STATEMENT) for (int turn = 0; turn < 8; ++turn) { \
    vec4 part = vec4(0.0); [[unroll]] for (int k = 0; k < 16; ++k) { STATEMENT; } total += part; }
void main() {
    base = int(gl_WorkGroupID.x) * 1024 + int(gl_LocalInvocationID.x);
    vec4 total = vec4(0.0);
)";

constexpr const char* kRowSums = R"(
    EACH(part += at(turn, k))
    float sum = eight_sum(across(total));
    if (gl_LocalInvocationID.x == 0) y[gl_WorkGroupID.x] = sum;
}
)";

constexpr const char* kSoftmax = R"(
    vec4 most = at(0, 0);
    for (int turn = 0; turn < 8; ++turn) [[unroll]] for (int k = 0; k < 16; ++k) most = max(most, at(turn, k));
    float top = eight_max(max(max(most.x, most.y), max(most.z, most.w)));
    EACH(part += exp(at(turn, k) - top))
    float scale = 1.0 / eight_sum(across(total));
    for (int k = 0; k < 128; k += 4) [[unroll]] for (int l = 0; l < 4; ++l)
        y[base + 8 * (k + l)] = exp(x_at(base + 8 * (k + l)) - top) * scale;
}
)";

constexpr const char* kLayerNorm = R"(
    EACH(part += at(turn, k))
    float mean = eight_sum(across(total)) / 4096.0;
    total = vec4(0.0);
    EACH(vec4 d = at(turn, k) - mean; part += d * d)
    float scale = inversesqrt(eight_sum(across(total)) / 4096.0 + 1e-5);
    int lane = int(gl_LocalInvocationID.x);
    for (int k = 0; k < 128; k += 4) [[unroll]] for (int l = 0; l < 4; ++l) {
        int at = lane + 8 * (k + l);
        y[base + 8 * (k + l)] = (x_at(base + 8 * (k + l)) - mean) * scale * gain_at(at) + bias_at(at);
    }
}
)";

constexpr const char* kPlainHead = R"(
void main() {
    uint row = gl_GlobalInvocationID.x, base = row * 4096u;
)";
constexpr const char* kPlainRowSums = R"(
    float sum = 0.0;
    for (uint k = 0u; k < 4096u; ++k) sum += x[base + k];
    y[row] = sum;
}
)";
constexpr const char* kPlainSoftmax = R"(
    float top = x[base];
    for (uint k = 1u; k < 4096u; ++k) top = max(top, x[base + k]);
    float sum = 0.0;
    for (uint k = 0u; k < 4096u; ++k) sum += exp(x[base + k] - top);
    for (uint k = 0u; k < 4096u; ++k) y[base + k] = exp(x[base + k] - top) / sum;
}
)";
constexpr const char* kPlainLayerNorm = R"(
    float sum = 0.0, squares = 0.0;
    for (uint k = 0u; k < 4096u; ++k) sum += x[base + k];
    float mean = sum / 4096.0;
    for (uint k = 0u; k < 4096u; ++k) squares += (x[base + k] - mean) * (x[base + k] - mean);
    float scale = inversesqrt(squares / 4096.0 + 1e-5);
    for (uint k = 0u; k < 4096u; ++k) y[base + k] = (x[base + k] - mean) * scale * gain[k] + bias[k];
}
)";

/// A contest over the rows of one matrix; `whole` where its result is a matrix too. Arguments after
/// the matrix are of a row's length.
Contest rows(const std::string& name, const char* best, const char* plain, bool whole,
             const std::vector<std::string>& others, double operations) {
    Contest contest;
    contest.arguments.push_back(numbers(kRowElements, -1.0f, 3.0f));
    contest.results = {whole ? kRowElements : kRows};
    std::vector<HandBinding> best_bindings{{"x", As::Texels4, 0}},
        plain_bindings{{"x", As::Floats, 0}};
    for (const std::string& other : others) {
        const int index = static_cast<int>(contest.arguments.size());
        contest.arguments.push_back(numbers(kColumns, 0.5f, 1.5f, uint32_t(index) + 1));
        best_bindings.push_back({other, As::Texels4, index});
        plain_bindings.push_back({other, As::Floats, index});
    }
    const int result = static_cast<int>(contest.arguments.size());
    best_bindings.push_back({"y", whole ? As::Vec4s : As::Floats, result, true});
    plain_bindings.push_back({"y", As::Floats, result, true});
    contest.least = {4.0 * kRowElements, 4.0 * double(contest.results[0]),
                     operations * kRowElements};
    contest.best.kernels = {
        {name, std::string(kRowHead) + best, {8, 1, 1}, {kRows, 1, 1}, best_bindings, {}}};
    contest.plain.kernels = {{"plain_" + name,
                              std::string(kPlainHead) + plain,
                              {64, 1, 1},
                              {kRows / 64, 1, 1},
                              plain_bindings,
                              {}}};
    contest.tolerance = 1e-4;
    return contest;
}

Tensor matrix(const Contest& contest) { return tensor(contest.arguments[0], {kRows, kColumns}); }

Contest row_sums() {
    Contest contest = rows("rowsum", kRowSums, kPlainRowSums, false, {}, 1);
    auto f = compile([](Tensor x) { return sum(x, {.axis = 1}); }, {f32("n", "m")});
    contest.firn = [f, x = matrix(contest)] { return std::vector<Tensor>{f(x)}; };
    contest.processor = row_sums_by_hand(kRows, kColumns);
    return contest;
}

Contest softmax() {
    Contest contest = rows("softmax", kSoftmax, kPlainSoftmax, true, {}, 5);
    auto f = compile(
        [](Tensor x) {
            Tensor e = exp(x - max(x, {.axis = 1, .keep_dims = true}));
            return e / sum(e, {.axis = 1, .keep_dims = true});
        },
        {f32("n", "m")});
    contest.firn = [f, x = matrix(contest)] { return std::vector<Tensor>{f(x)}; };
    contest.processor = softmax_by_hand(kRows, kColumns);
    return contest;
}

Contest layer_norm() {
    Contest contest = rows("layernorm", kLayerNorm, kPlainLayerNorm, true, {"gain", "bias"}, 8);
    auto f = compile(
        [](Tensor x, Tensor gain, Tensor bias) {
            Tensor away = x - mean(x, {.axis = 1, .keep_dims = true});
            Tensor variance = mean(away * away, {.axis = 1, .keep_dims = true});
            return away / sqrt(variance + 1e-5f) * gain + bias;
        },
        {f32("n", "m"), f32("m"), f32("m")});
    contest.firn = [f, x = matrix(contest), gain = tensor(contest.arguments[1]),
                    bias = tensor(contest.arguments[2])] {
        return std::vector<Tensor>{f(x, gain, bias)};
    };
    contest.processor = layer_norm_by_hand(kRows, kColumns);
    return contest;
}

// Chunks of 32 rows, 2 KiB of each row at a time, so that memory is read in order; then the chunks'
// sums.
constexpr int kChunk = 32;
HandKernel column_kernel(const std::string& name, int rows, int from, int to) {
    return {name,
            R"(
void main() {
    int column = int(gl_WorkGroupID.x) * 128 + int(gl_LocalInvocationID.x), first = int(gl_WorkGroupID.y) * ROWS;
    vec4 total[16];
    [[unroll]] for (int k = 0; k < 16; ++k) total[k] = vec4(0.0);
    for (int row = 0; row < ROWS; ++row)
        [[unroll]] for (int k = 0; k < 16; ++k) total[k] += x_at((first + row) * 1024 + column + 8 * k);
    [[unroll]] for (int k = 0; k < 16; ++k) y[int(gl_WorkGroupID.y) * 1024 + column + 8 * k] = total[k];
}
)",
            {8, 1, 1},
            {kColumns / 4 / 128, from == 0 ? kRows / rows : 1, 1},
            {{"x", As::Texels4, from}, {"y", As::Vec4s, to, true}},
            {{"ROWS", rows}}};
}

Contest column_sums() {
    std::vector<float> values = numbers(kRowElements, -1.0f, 3.0f);
    auto f = compile([](Tensor x) { return sum(x, {.axis = 0}); }, {f32("n", "m")});
    HandKernel plain{"plain_colsum",
                     R"(
void main() {
    uint column = gl_GlobalInvocationID.x;
    float sum = 0.0;
    for (uint k = 0u; k < 4096u; ++k) sum += x[k * 4096u + column];
    y[column] = sum;
}
)",
                     {64, 1, 1},
                     {kColumns / 64, 1, 1},
                     {{"x", As::Floats, 0}, {"y", As::Floats, 1, true}},
                     {}};
    return {
        .least = {4.0 * kRowElements, 4.0 * kColumns, kRowElements},
        .arguments = {values},
        .results = {kColumns},
        .firn = [f, x = tensor(values, {kRows, kColumns})] { return std::vector<Tensor>{f(x)}; },
        .best = {{column_kernel("colsum", kChunk, 0, 2),
                  column_kernel("colsum_chunks", kRows / kChunk, 2, 1)},
                 {int64_t(kRows / kChunk) * kColumns},
                 {}},
        .plain = {{plain}, {}, {}},
        .processor = column_sums_by_hand(kRows, kColumns),
        .tolerance = 1e-4};
}

}  // namespace

void add_reductions(std::vector<Case>& cases) {
    cases.push_back({"rowsum", row_sums});
    cases.push_back({"colsum", column_sums});
    cases.push_back({"softmax", softmax});
    cases.push_back({"layernorm", layer_norm});
}

}  // namespace firn::bench
