// Products of square matrices, plain and between an activation and a bias; and others, without
// hand-written kernels: of other sizes, of transposed matrices, and of many small ones.
#include <firn/firn.h>

#include <algorithm>
#include <utility>

#include "tests/bench/bench.h"

namespace firn::bench {
namespace {

// b in tiles of 64 columns, so that a tile is read in order.
constexpr const char* kPack = R"(
void main() {
    int tile = int(gl_WorkGroupID.y), at = int(gl_GlobalInvocationID.x);
    packed[tile * N * 16 + at] = b_at((at >> 4) * (N / 4) + tile * 16 + (at & 15));
}
)";

// A tile of 8 rows and 64 columns per eight lanes, which hand the rows' elements round; barriers
// keep the rows of a group near the same part of b.
constexpr const char* kProduct = R"(
void main() {
    int lane = int(gl_LocalInvocationID.x) & 7, tile = int(gl_WorkGroupID.x);
    int row = int(gl_WorkGroupID.y) * 64 + (int(gl_LocalInvocationID.x) & ~7);
    float total[64];
    [[unroll]] for (int k = 0; k < 64; ++k) total[k] = 0.0;
    int from_a = row * N + lane, from_b = tile * N * 64 + lane;
    for (int k = 0; k < N; k += 8) {
        float mine[8];
        [[unroll]] for (int r = 0; r < 8; ++r) mine[r] = a_at(from_a + r * N + k);
        [[unroll]] for (int step = 0; step < 8; ++step) {
            float along[8];
            [[unroll]] for (int c = 0; c < 8; ++c) along[c] = packed_at(from_b + (k + step) * 64 + 8 * c);
            [[unroll]] for (int r = 0; r < 8; ++r) {
                float factor = eight_shuffle(mine[r], step);
                [[unroll]] for (int c = 0; c < 8; ++c) total[r * 8 + c] += factor * along[c];
            }
        }
        if ((k & 255) == 248) barrier();
    }
    [[unroll]] for (int r = 0; r < 8; ++r) [[unroll]] for (int c = 0; c < 8; ++c) {
        int column = tile * 64 + 8 * c + lane;
        y[(row + r) * N + column] = FINISH(total[r * 8 + c], column);
    }
}
)";

constexpr const char* kPlainProduct = R"(
void main() {
    int row = int(gl_GlobalInvocationID.y), column = int(gl_GlobalInvocationID.x);
    float total = 0.0;
    for (int k = 0; k < N; ++k) total += a[row * N + k] * b[k * N + column];
    y[row * N + column] = FINISH(total, column);
}
)";

constexpr const char* kGelu = R"(
void main() {
    int i = int(gl_GlobalInvocationID.x);
    ACTIVE[i] = a_at(i) - a_at(i) / (1.0 + exp(a_at(i) * (1.5957691 + 0.071354816 * a_at(i) * a_at(i))));
}
)";

// The product with a prologue and an epilogue: relu(gelu(a) b + bias).
constexpr const char* kFinishFused =
    "#define FINISH(value, column) max(value + bias_at(column), 0.0)\n";
constexpr const char* kFinishPlain = "#define FINISH(value, column) value\n";

HandProgram product(int n, bool fused, bool best) {
    const As floats = best ? As::Texels : As::Floats, vectors = best ? As::Texels4 : As::Floats;
    const int result = fused ? 3 : 2, active = result + 1, packed = active + (fused ? 1 : 0);
    const std::vector<std::pair<std::string, int>> size{{"N", n}};
    const std::string name =
        std::string(best ? "" : "plain_") + (fused ? "fused_matmul" : "matmul");
    HandProgram program;
    if (fused) {
        const int per = best ? 4 : 1;
        program.kernels.push_back(
            {name + "_gelu",
             std::string("#define ACTIVE active_\n") + kGelu,
             {256, 1, 1},
             {n * n / 256 / per, 1, 1},
             {{"a", vectors, 0}, {"active_", best ? As::Vec4s : As::Floats, active, true}},
             {}});
        program.temporaries.push_back(int64_t(n) * n);
    }
    std::vector<HandBinding> bindings{{"a", floats, fused ? active : 0},
                                      {best ? "packed" : "b", floats, best ? packed : 1},
                                      {"y", As::Floats, result, true}};
    if (fused) bindings.push_back({"bias", floats, 2});
    const std::string finish = fused ? kFinishFused : kFinishPlain;
    if (!best) {
        program.kernels.push_back(
            {name, finish + kPlainProduct, {16, 16, 1}, {n / 16, n / 16, 1}, bindings, size});
        return program;
    }
    program.temporaries.push_back(int64_t(n) * n);
    program.kernels.push_back({name + "_pack",
                               kPack,
                               {256, 1, 1},
                               {n * 16 / 256, n / 64, 1},
                               {{"b", As::Texels4, 1}, {"packed", As::Vec4s, packed, true}},
                               size});
    program.kernels.push_back(
        {name, finish + kProduct, {64, 1, 1}, {n / 64, n / 64, 1}, bindings, size});
    return program;
}

Contest matmul_contest(int n, bool fused) {
    const int64_t elements = int64_t(n) * n;
    std::vector<float> a = numbers(elements, -1.0f, 1.0f, 1), b = numbers(elements, -1.0f, 1.0f, 2),
                       bias = numbers(n, -1.0f, 1.0f, 3);
    Contest contest{
        .least = {8.0 * double(elements), 4.0 * double(elements), 2.0 * n * double(elements)},
        .arguments = {a, b},
        .results = {elements},
        .firn = {},
        .best = product(n, fused, true),
        .plain = product(n, fused, false),
        .libraries =
            [=] {
                return product_libraries({.rows = n, .columns = n, .depth = n, .fused = fused});
            },
        .tolerance = 1e-4};
    Tensor x = tensor(a, {n, n}), w = tensor(b, {n, n});
    if (!fused) {
        auto f = compile([](Tensor x, Tensor w) { return matmul(x, w); },
                         {f32("n", "k"), f32("k", "m")});
        contest.firn = [=] { return std::vector<Tensor>{f(x, w)}; };
        return contest;
    }
    contest.arguments.push_back(bias);
    auto f = compile(
        [](Tensor x, Tensor w, Tensor bias) {
            Tensor active = 0.5f * x * (1.0f + tanh(0.79788456f * (x + 0.044715f * x * x * x)));
            return max(matmul(active, w) + bias, 0.0f);
        },
        {f32("n", "k"), f32("k", "m"), f32("m")});
    contest.firn = [=, shift = tensor(bias)] { return std::vector<Tensor>{f(x, w, shift)}; };
    return contest;
}

/// The product by the host, with sums in f64.
std::vector<float> expected_product(const ProductTask& task, const std::vector<float>& a,
                                    const std::vector<float>& b) {
    const auto rows = size_t(task.rows), columns = size_t(task.columns), depth = size_t(task.depth);
    std::vector<float> out;
    std::vector<double> sums(columns);
    std::vector<float> across(depth * columns);  // b, not transposed
    for (size_t batch = 0; batch < size_t(task.batch); ++batch) {
        const float *own_a = &a[batch * rows * depth], *own_b = &b[batch * depth * columns];
        for (size_t k = 0; k < depth; ++k)
            for (size_t j = 0; j < columns; ++j)
                across[k * columns + j] =
                    own_b[task.b_transposed ? j * depth + k : k * columns + j];
        for (size_t i = 0; i < rows; ++i) {
            std::fill(sums.begin(), sums.end(), 0.0);
            for (size_t k = 0; k < depth; ++k) {
                const double factor = own_a[task.a_transposed ? k * rows + i : i * depth + k];
                for (size_t j = 0; j < columns; ++j)
                    sums[j] += factor * double(across[k * columns + j]);
            }
            for (double sum : sums) out.push_back(float(sum));
        }
    }
    return out;
}

Contest other_contest(const ProductTask& task) {
    const int64_t of_a = task.batch * task.rows * task.depth,
                  of_b = task.batch * task.depth * task.columns,
                  of_y = task.batch * task.rows * task.columns;
    const std::vector<float> a = numbers(of_a, -1.0f, 1.0f, 1), b = numbers(of_b, -1.0f, 1.0f, 2);
    // Sizes in memory, where a transposed matrix has them in the other order.
    const auto shape = [&](int64_t rows, int64_t columns, bool transposed) {
        Shape out;
        if (task.batch > 1) out.push_back(task.batch);
        out.push_back(transposed ? columns : rows);
        out.push_back(transposed ? rows : columns);
        return out;
    };
    const auto spec = [&](const char* rows, const char* columns, bool transposed) {
        if (transposed) std::swap(rows, columns);
        return task.batch > 1 ? f32("batch", rows, columns) : f32(rows, columns);
    };
    auto f = compile(
        [task](Tensor x, Tensor w) {
            return matmul(task.a_transposed ? transpose(x, -1, -2) : x,
                          task.b_transposed ? transpose(w, -1, -2) : w);
        },
        {spec("n", "k", task.a_transposed), spec("k", "m", task.b_transposed)});
    const Tensor x = tensor(a, shape(task.rows, task.depth, task.a_transposed)),
                 w = tensor(b, shape(task.depth, task.columns, task.b_transposed));
    return {
        .least = {4.0 * double(of_a + of_b), 4.0 * double(of_y),
                  2.0 * double(of_y) * double(task.depth)},
        .arguments = {a, b},
        .results = {of_y},
        .firn = [=] { return std::vector<Tensor>{f(x, w)}; },
        .best = {},
        .plain = {},
        .libraries = [=] { return product_libraries(task); },
        .tolerance = 1e-4,
        .expected = [=] { return std::vector<std::vector<float>>{expected_product(task, a, b)}; }};
}

}  // namespace

void add_matmuls(std::vector<Case>& cases) {
    constexpr const char* kFar =
        "an operand is loaded for every few products, which the peak has in registers";
    for (int n : {512, 1024, 2048})
        for (bool fused : {false, true})
            cases.push_back({"matmul_" + std::to_string(n) + (fused ? "_fused" : ""),
                             [=] { return matmul_contest(n, fused); }, Section::Own, kFar});
    const std::pair<const char*, ProductTask> others[] = {
        {"matmul_a_transposed",
         {.rows = 1024, .columns = 1024, .depth = 1024, .a_transposed = true}},
        {"matmul_b_transposed",
         {.rows = 1024, .columns = 1024, .depth = 1024, .b_transposed = true}},
        {"matmul_odd", {.rows = 1000, .columns = 333, .depth = 777}},
        {"matmul_batch", {.rows = 128, .columns = 128, .depth = 128, .batch = 64}}};
    for (const auto& [name, task] : others)
        cases.push_back({name, [task = task] { return other_contest(task); }, Section::Own, kFar});
}

}  // namespace firn::bench
