// Graphs and sparse matrices: all shortest paths, ranks of pages, and a product by irregular rows.
#include <firn/firn.h>

#include <cmath>

#include "tests/bench/strangers/strangers.h"

namespace firn::bench {
namespace {

constexpr int kNodes = 256;
constexpr int64_t kPairs = int64_t(kNodes) * kNodes;

Tensor shortest_paths(Tensor away) {
    auto [i, j] = indices<2>(away.shape());
    for (Tensor k : loop(away.size(0))) away = min(away, away(i, k) + away(k, j));
    return away;
}

// The number of the turn goes to and fro between two buffers.
constexpr const char* kStart = R"(
void main() {
    uint k = gl_GlobalInvocationID.x;
    y[k] = x_at(int(k));
    if (k == 0u) turn[0] = 0;
}
)";
constexpr const char* kTurn = R"(
void main() {
    int i = int(gl_GlobalInvocationID.y), j = int(gl_GlobalInvocationID.x), k = turn_at(0);
    y[i * 256 + j] = min(y[i * 256 + j], y[i * 256 + k] + y[k * 256 + j]);
    if (i == 0 && j == 0) next[0] = k + 1;
}
)";
// A vec4 of four rows: neither the row nor the column of the turn changes in it.
constexpr const char* kBestTurn = R"(
void main() {
    int i = 4 * int(gl_GlobalInvocationID.y), j = int(gl_GlobalInvocationID.x), k = turn_at(0);
    vec4 row = old4_at(k * 64 + j);
    [[unroll]] for (int r = i; r < i + 4; ++r)
        y[r * 64 + j] = min(old4_at(r * 64 + j), old_at(r * 256 + k) + row);
    if (i == 0 && j == 0) next[0] = k + 1;
}
)";

HandProgram paths_by_hand(bool best) {
    constexpr int kIn = 0, kOut = 1, kTurns = 2;
    HandProgram program;
    program.temporaries = {1, 1};
    program.kernels.push_back(
        {"floyd_warshall_start",
         kStart,
         {256, 1, 1},
         {int(kPairs / 256), 1, 1},
         {{"x", As::Floats, kIn}, {"y", As::Floats, kOut, true}, {"turn", As::Ints, kTurns, true}},
         {}});
    std::vector<HandBinding> bindings{{"turn", As::Ints, kTurns},
                                      {"next", As::Ints, kTurns + 1, true},
                                      {"y", best ? As::Vec4s : As::Floats, kOut, true}};
    if (best) {
        bindings.push_back({"old4", As::Texels4, kOut});
        bindings.push_back({"old", As::Texels, kOut});
    }
    HandKernel turn{"floyd_warshall_turn", kTurn, {64, 4, 1}, {4, 64, 1}, bindings, {}};
    if (best) turn.body = kBestTurn, turn.groups = {1, 16, 1};
    program.kernels.push_back(turn);
    program.steps.push_back({0, {}});
    for (int k = 0; k < kNodes; ++k) {
        std::vector<int> buffers{kTurns + k % 2, kTurns + (k + 1) % 2, kOut};
        if (best) buffers.insert(buffers.end(), {kOut, kOut});
        program.steps.push_back({1, buffers});
    }
    return program;
}

Contest floyd_warshall() {
    auto f = compile(shortest_paths, {f32("n", "n")});
    std::vector<float> away = numbers(kPairs, 0, 60);
    for (size_t k = 0; k < away.size(); ++k)
        away[k] = k % (kNodes + 1) == 0 ? 0 : away[k] > 10 ? 1e6f : away[k] + 1;
    // A sum and a minimum of every pair in every turn; the matrix stays in caches.
    return {.least = {4.0 * kPairs, 4.0 * kPairs, 2.0 * kPairs * kNodes},
            .arguments = {away},
            .results = {kPairs},
            .firn = [f, x = tensor(away, {kNodes, kNodes})] { return std::vector<Tensor>{f(x)}; },
            .best = paths_by_hand(true),
            .plain = paths_by_hand(false)};
}

constexpr int kPages = 1 << 16, kLinks = 1 << 19, kTurns = 20;

/// S. Brin and L. Page, "The Anatomy of a Large-Scale Hypertextual Web Search Engine", 1998; pages
/// without links share their rank among all.
Tensor ranks_of(Tensor from, Tensor to, Tensor degree) {
    Tensor n = cast<float>(Tensor(degree.size(0)));
    Tensor rank = full(degree.shape(), 1.0f) / n;
    for (Tensor turn : loop(kTurns)) {
        Tensor share = rank / max(degree, 1), next = zeros(degree.shape());
        scatter_add(next(to), share(from));
        Tensor lost = sum(select(degree == 0, rank, 0.0f));
        rank = 0.15f / n + 0.85f * (next + lost / n);
    }
    return rank;
}

std::vector<std::vector<float>> host_ranks(const std::vector<int>& from, const std::vector<int>& to,
                                           const std::vector<int>& degree) {
    std::vector<double> rank(kPages, 1.0 / kPages);
    for (int turn = 0; turn < kTurns; ++turn) {
        std::vector<double> next(kPages);
        double lost = 0;
        for (size_t k = 0; k < from.size(); ++k) {
            const size_t page = static_cast<size_t>(from[k]);
            next[static_cast<size_t>(to[k])] += rank[page] / degree[page];
        }
        for (size_t k = 0; k < kPages; ++k) lost += degree[k] == 0 ? rank[k] : 0;
        for (size_t k = 0; k < kPages; ++k)
            rank[k] = 0.15 / kPages + 0.85 * (next[k] + lost / kPages);
    }
    return {std::vector<float>(rank.begin(), rank.end())};
}

Contest pagerank() {
    auto f = compile(ranks_of, {i32("links"), i32("links"), i32("pages")});
    std::vector<int> from, to, degree(kPages);
    for (uint32_t k = 0; k < kLinks; ++k) {
        // Few pages have most of the links to them.
        const float u = host_pcgf(2 * k + 1);
        from.push_back(int(host_pcg(2 * k) % (kPages - kPages / 8)));
        to.push_back(std::min(int(u * u * u * kPages), kPages - 1));
        ++degree[static_cast<size_t>(from.back())];
    }
    // A sum of every link in every turn, 5 of every page.
    return {.least = {8.0 * kLinks + 4.0 * kPages, 4.0 * kPages,
                      kTurns * (1.0 * kLinks + 5.0 * kPages)},
            .arguments = {},
            .results = {kPages},
            .firn = [f, a = tensor(from), b = tensor(to),
                     d = tensor(degree)] { return std::vector<Tensor>{f(a, b, d)}; },
            .best = {},
            .plain = {},
            .tolerance = 1e-4,
            .expected = [=] { return host_ranks(from, to, degree); }};
}

constexpr int kRows = 1 << 16;

/// y = A x; row i has the elements start[i] to start[i + 1].
Tensor sparse_product(Tensor start, Tensor columns, Tensor values, Tensor x) {
    Tensor i = arange(start.size(0) - 1);
    Tensor y = zeros({start.size(0) - 1}), k = start(i), end = start(i + 1);
    while_([&] { return k < end; },
           [&] {
               y += values(k) * x(columns(k));
               k += 1;
           });
    return y;
}

Contest sparse_rows() {
    auto f = compile(sparse_product, {i32("bounds"), i32("elements"), f32("elements"), f32("n")});
    std::vector<int> start{0}, columns;
    for (uint32_t i = 0; i < kRows; ++i) {
        // Most rows are short, a few have some hundred elements.
        const int length = int(4 / (host_pcgf(i) + 0.01f));
        start.push_back(start.back() + length);
        for (int k = 0; k < length; ++k)
            columns.push_back(int(host_pcg(uint32_t(columns.size()) + 99) % kRows));
    }
    const double elements = double(columns.size());
    const std::vector<float> values = numbers(int64_t(columns.size()), -1, 1),
                             x = numbers(kRows, -1, 1, 2);
    auto expected = [=] {
        std::vector<float> y(kRows);
        for (size_t i = 0; i < kRows; ++i)
            for (int k = start[i]; k < start[i + 1]; ++k)
                y[i] += values[size_t(k)] * x[static_cast<size_t>(columns[size_t(k)])];
        return std::vector<std::vector<float>>{y};
    };
    // A product and a sum of every element.
    return {.least = {8 * elements + 8.0 * kRows, 4.0 * kRows, 2 * elements},
            .arguments = {},
            .results = {kRows},
            .firn = [f, s = tensor(start), c = tensor(columns), v = tensor(values),
                     x0 = tensor(x)] { return std::vector<Tensor>{f(s, c, v, x0)}; },
            .best = {},
            .plain = {},
            .expected = expected};
}

}  // namespace

void add_graphs(std::vector<Case>& cases) {
    cases.push_back({"floyd_warshall", floyd_warshall, Section::Strangers});
    cases.push_back({"sparse_rows", sparse_rows, Section::Strangers});
    cases.push_back({"pagerank", pagerank, Section::HeldOut});
}

}  // namespace firn::bench
