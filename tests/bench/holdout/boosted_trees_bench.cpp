// Predictions of an ensemble of boosted regression trees for the rows of a table.
#include <firn/firn.h>

#include <bit>
#include <tuple>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kBoostedRows = 8192, kBoostedColumns = 24, kBoostedTrees = 50;
// Trees as LightGBM grows them by default, with 31 leaves; no leaf is deeper.
constexpr int kBoostedLeaves = 31, kBoostedNodes = 2 * kBoostedLeaves - 1, kBoostedDepth = 8;

/// The nodes of all trees, [trees, nodes]: the column that is tested, its threshold, the next
/// nodes, and the value that is added. Node 0 is the root. A leaf leads to itself.
struct BoostedForest {
    Tensor column, threshold, left, right, value;
};

/// J. Friedman, "Greedy Function Approximation: A Gradient Boosting Machine", 2001; all rows go
/// down all trees at once, as in S. Nakandala et al., "A Tensor Compiler for Unified Machine
/// Learning Prediction Serving", 2020 (there TreeTraversal).
Tensor boosted_trees_predict(Tensor x, BoostedForest forest) {
    auto [column, threshold, left, right, value] = forest;
    Tensor row = arange(x.size(0))(all, newaxis), tree = arange(column.size(0))(newaxis, all);
    Tensor node = zeros({x.size(0), column.size(0)}, i32);
    for (Tensor level : loop(kBoostedDepth)) {
        Tensor asked = x(row, column(tree, node));
        node = where(asked <= threshold(tree, node), left(tree, node), right(tree, node));
    }
    return sum(value(tree, node), {.axis = 1});
}
Tensor boosted_trees_predict_kernel(Tensor x, BoostedForest forest) {
    auto [column, threshold, left, right, value] = forest;
    Tensor out = zeros({x.size(0)});
    kernel({x.size(0)}, [&](Tensor i) {
        Tensor total = 0.0f;
        for (Tensor tree : loop(column.size(0))) {
            Tensor node = 0;
            while_([&] { return left(tree, node) != node; },
                   [&] {
                       Tensor low = x(i, column(tree, node)) <= threshold(tree, node);
                       node = select(low, left(tree, node), right(tree, node));
                   });
            total += value(tree, node);
        }
        out(i) = total;
    });
    return out;
}

/// The same on the host.
struct HostBoostedForest {
    std::vector<int> column, left, right;
    std::vector<float> threshold, value;
};

/// Every tree begins as a leaf, and divides one of its leaves as often as it may.
HostBoostedForest boosted_forest() {
    constexpr size_t kAll = size_t(kBoostedTrees) * size_t(kBoostedNodes);
    HostBoostedForest out{std::vector<int>(kAll), std::vector<int>(kAll), std::vector<int>(kAll),
                          std::vector<float>(kAll, 1e30f), std::vector<float>(kAll)};
    uint32_t seed = 1;
    const auto below = [&](int n) { return int(host_pcg(seed++) % uint32_t(n)); };
    for (size_t first = 0; first < kAll; first += size_t(kBoostedNodes)) {
        std::vector<int> depth(size_t(kBoostedNodes), 0);
        for (int node = 0; node < kBoostedNodes; ++node)
            out.left[first + size_t(node)] = out.right[first + size_t(node)] = node;
        for (int nodes = 1; nodes < kBoostedNodes;) {
            const size_t chosen = size_t(below(nodes)), at = first + chosen;
            if (out.left[at] != int(chosen) || depth[chosen] == kBoostedDepth) continue;
            out.left[at] = nodes, out.right[at] = nodes + 1;
            out.column[at] = below(kBoostedColumns);
            out.threshold[at] = 0.1f + 0.8f * host_pcgf(seed++);
            depth[size_t(nodes)] = depth[size_t(nodes) + 1] = depth[chosen] + 1;
            nodes += 2;
        }
        for (int node = 0; node < kBoostedNodes; ++node)
            out.value[first + size_t(node)] = 0.1f * (host_pcgf(seed++) - 0.3f);
    }
    return out;
}

/// Calls `visit(row, node)` for the leaf of each row in each tree; how many nodes are passed.
template <class Visit>
double walk_boosted(const HostBoostedForest& forest, const std::vector<float>& x,
                    const Visit& visit) {
    double passed = 0;
    for (int row = 0; row < kBoostedRows; ++row)
        for (int tree = 0; tree < kBoostedTrees; ++tree) {
            const auto at = [&](int node) { return size_t(tree * kBoostedNodes + node); };
            int node = 0;
            for (; forest.left[at(node)] != node; ++passed) {
                const int asked = row * kBoostedColumns + forest.column[at(node)];
                node = x[size_t(asked)] <= forest.threshold[at(node)] ? forest.left[at(node)]
                                                                      : forest.right[at(node)];
            }
            visit(size_t(row), at(node));
        }
    return passed;
}

std::vector<std::vector<float>> host_boosted_trees(const HostBoostedForest& forest,
                                                   const std::vector<float>& x) {
    std::vector<double> totals(size_t(kBoostedRows), 0.0);
    walk_boosted(forest, x,
                 [&](size_t row, size_t at) { totals[row] += double(forest.value[at]); });
    return {std::vector<float>(totals.begin(), totals.end())};
}

constexpr const char* kPlainBoostedTrees = R"(
void main() {
    int row = int(gl_GlobalInvocationID.x);
    float total = 0.0;
    for (int tree = 0; tree < TREES; ++tree) {
        int first = tree * NODES, node = 0;
        while (left_at(first + node) != node) {
            float asked = x_at(row * COLUMNS + column_at(first + node));
            node = asked <= threshold_at(first + node) ? left_at(first + node)
                                                       : right_at(first + node);
        }
        total += value_at(first + node);
    }
    total_of[row] = total;
}
)";

const std::vector<std::pair<std::string, int>> kBoostedConstants = {
    {"TREES", kBoostedTrees}, {"NODES", kBoostedNodes}, {"COLUMNS", kBoostedColumns}};

HandProgram plain_boosted_trees() {
    HandProgram out;
    out.kernels = {{"boosted_trees",
                    kPlainBoostedTrees,
                    {64, 1, 1},
                    {kBoostedRows / 64, 1, 1},
                    {{"x", As::Floats, 0},
                     {"column", As::Ints, 1},
                     {"threshold", As::Floats, 2},
                     {"left", As::Ints, 3},
                     {"right", As::Ints, 4},
                     {"value", As::Floats, 5},
                     {"total_of", As::Floats, 6, true}},
                    kBoostedConstants}};
    return out;
}

// Column and children of a node in one word; the children by where they are among all nodes.
constexpr const char* kBestBoostedPack = R"(
void main() {
    int at = int(gl_GlobalInvocationID.x), first = at / NODES * NODES;
    if (at < TREES * NODES)
        word_of[at] = column_at(at) | (left_at(at) << 8) | (right_at(at) << 16);
}
)";

// An invocation has ROWS rows in a tree at once, so that their gathers do not wait for one another.
// A leaf leads to itself, and all levels are gone through. The root and its children are
// looked up once for all rows.
constexpr const char* kBestBoostedTrees = R"(
void main() {
    int row = int(gl_GlobalInvocationID.x);
    int begin[ROWS];
    float total[ROWS];
    [[unroll]] for (int r = 0; r < ROWS; ++r)
        begin[r] = (row + r * (COUNT / ROWS)) * COLUMNS, total[r] = 0.0;
    for (int tree = 0; tree < TREES; ++tree) {
        int first = tree * NODES, node[ROWS];
        int root = word_at(first), root_low = (root >> 8) & 255, root_high = root >> 16;
        int low_word = word_at(first + root_low), high_word = word_at(first + root_high);
        float root_threshold = threshold_at(first), low_threshold = threshold_at(first + root_low),
              high_threshold = threshold_at(first + root_high);
        [[unroll]] for (int r = 0; r < ROWS; ++r) {
            bool low = x_at(begin[r] + (root & 255)) <= root_threshold;
            int word = low ? low_word : high_word;
            low = x_at(begin[r] + (word & 255)) <= (low ? low_threshold : high_threshold);
            node[r] = low ? (word >> 8) & 255 : word >> 16;
        }
        [[unroll]] for (int level = 2; level < DEPTH; ++level)
            [[unroll]] for (int r = 0; r < ROWS; ++r) {
                int word = word_at(first + node[r]);
                bool low = x_at(begin[r] + (word & 255)) <= threshold_at(first + node[r]);
                node[r] = low ? (word >> 8) & 255 : word >> 16;
            }
        [[unroll]] for (int r = 0; r < ROWS; ++r) total[r] += value_at(first + node[r]);
    }
    [[unroll]] for (int r = 0; r < ROWS; ++r) total_of[row + r * (COUNT / ROWS)] = total[r];
}
)";

HandProgram best_boosted_trees() {
    constexpr int kTogether = 8, kAll = kBoostedTrees * kBoostedNodes;
    HandProgram out;
    auto constants = kBoostedConstants;
    constants.insert(constants.end(),
                     {{"ROWS", kTogether}, {"COUNT", kBoostedRows}, {"DEPTH", kBoostedDepth}});
    out.kernels = {{"boosted_pack",
                    kBestBoostedPack,
                    {64, 1, 1},
                    {(kAll + 63) / 64, 1, 1},
                    {{"column", As::IntTexels, 1},
                     {"left", As::IntTexels, 3},
                     {"right", As::IntTexels, 4},
                     {"word_of", As::Ints, 7, true}},
                    kBoostedConstants},
                   {"boosted_trees",
                    kBestBoostedTrees,
                    {64, 1, 1},
                    {kBoostedRows / 64 / kTogether, 1, 1},
                    {{"x", As::Texels, 0},
                     {"threshold", As::Texels, 2},
                     {"value", As::Texels, 5},
                     {"word", As::IntTexels, 7},
                     {"total_of", As::Floats, 6, true}},
                    constants}};
    out.temporaries = {kAll};
    return out;
}

Contest boosted_trees(Tensor (*program)(Tensor, BoostedForest)) {
    const auto reals = f32("trees", "nodes"), integers = i32("trees", "nodes");
    auto f = compile(program, {f32("rows", "columns"), integers, reals, integers, integers, reals});
    const std::vector<float> x = numbers(int64_t(kBoostedRows) * kBoostedColumns, 0, 1);
    const HostBoostedForest forest = boosted_forest();
    const auto on_device = [](const auto& v) { return tensor(v, {kBoostedTrees, kBoostedNodes}); };
    const auto bits = [](const std::vector<int>& v) {
        std::vector<float> out;
        for (int k : v) out.push_back(std::bit_cast<float>(k));
        return out;
    };
    // A row sums the values of all trees, and compares once at every node that it passes. Per node
    // it needs its own column, and of the leaf the value: look-ups of the node's own numbers are
    // not counted, as the trees could be gone through node by node instead.
    const double passed = walk_boosted(forest, x, [](size_t, size_t) {});
    const double leaves = double(kBoostedRows) * kBoostedTrees;
    return {.least = {4.0 * kBoostedRows * kBoostedColumns +
                          4.0 * 5 * double(kBoostedTrees * kBoostedNodes),
                      4.0 * kBoostedRows, passed + leaves, passed + leaves},
            .arguments = {x, bits(forest.column), forest.threshold, bits(forest.left),
                          bits(forest.right), forest.value},
            .results = {kBoostedRows},
            .firn =
                [f, x = tensor(x, {kBoostedRows, kBoostedColumns}),
                 forest = BoostedForest{on_device(forest.column), on_device(forest.threshold),
                                        on_device(forest.left), on_device(forest.right),
                                        on_device(forest.value)}] {
                    return std::vector<Tensor>{f(x, forest)};
                },
            .best = best_boosted_trees(),
            .plain = plain_boosted_trees(),
            .expected = [=] { return host_boosted_trees(forest, x); }};
}

constexpr const char* kBoostedTreesFar =
    "each node is known only when the one above has answered, and its own numbers are gathered too";

}  // namespace

void add_boosted_trees(std::vector<Case>& cases) {
    cases.push_back({"boosted_trees", [] { return boosted_trees(boosted_trees_predict); },
                     Section::Holdout, kBoostedTreesFar});
    cases.push_back({"boosted_trees_kernel",
                     [] { return boosted_trees(boosted_trees_predict_kernel); }, Section::Holdout,
                     kBoostedTreesFar});
}

}  // namespace firn::bench
