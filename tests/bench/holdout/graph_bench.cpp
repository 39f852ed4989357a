// Graphs and sparse matrices: all shortest paths, ranks of pages, and a product by irregular rows.
#include <firn/firn.h>

#include <bit>
#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

std::vector<float> graph_bits(const std::vector<int>& values) {
    std::vector<float> out;
    for (int value : values) out.push_back(std::bit_cast<float>(value));
    return out;
}

constexpr int kNodes = 256;
constexpr int64_t kPairs = int64_t(kNodes) * kNodes;

Tensor shortest_paths(Tensor away) {
    auto [i, j] = indices<2>(away.shape());
    for (Tensor k : loop(away.size(0))) away = min(away, away(i, k) + away(k, j));
    return away;
}

// The iteration's number alternates between two buffers.
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
// A vec4 of four rows: neither the row nor the column of the iteration changes in it.
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
    constexpr int kIn = 0, kOut = 1, kGraphTurns = 2;
    HandProgram program;
    program.temporaries = {1, 1};
    program.kernels.push_back({"floyd_warshall_start",
                               kStart,
                               {256, 1, 1},
                               {int(kPairs / 256), 1, 1},
                               {{"x", As::Floats, kIn},
                                {"y", As::Floats, kOut, true},
                                {"turn", As::Ints, kGraphTurns, true}},
                               {}});
    std::vector<HandBinding> bindings{{"turn", As::Ints, kGraphTurns},
                                      {"next", As::Ints, kGraphTurns + 1, true},
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
        std::vector<int> buffers{kGraphTurns + k % 2, kGraphTurns + (k + 1) % 2, kOut};
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
    // Operations: a sum and a minimum for every pair in every iteration; the matrix stays in
    // caches.
    return {.least = {4.0 * kPairs, 4.0 * kPairs, 2.0 * kPairs * kNodes},
            .arguments = {away},
            .results = {kPairs},
            .firn = [f, x = tensor(away, {kNodes, kNodes})] { return std::vector<Tensor>{f(x)}; },
            .best = paths_by_hand(true),
            .plain = paths_by_hand(false)};
}

constexpr int kPages = 1 << 16, kLinks = 1 << 19, kGraphTurns = 20;

/// S. Brin and L. Page, "The Anatomy of a Large-Scale Hypertextual Web Search Engine", 1998; pages
/// without links share their rank among all.
Tensor ranks_of(Tensor from, Tensor to, Tensor degree) {
    Tensor n = cast<float>(Tensor(degree.size(0)));
    Tensor rank = full(degree.shape(), 1.0f) / n;
    for (Tensor turn : loop(kGraphTurns)) {
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
    for (int turn = 0; turn < kGraphTurns; ++turn) {
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

constexpr const char* kFirstRanks = R"(
void main() {
    int page = int(gl_GlobalInvocationID.x);
    rank[page] = 1.0 / float(PAGES);
    if (page == 0) lost[0] = 0.0;
}
)";
constexpr const char* kShareRanks = R"(
void main() {
    int page = int(gl_GlobalInvocationID.x), links = degree_at(page);
    share[page] = rank_at(page) / float(max(links, 1));
    next[page] = 0.0;
    if (links == 0) atomicAdd(lost[0], rank_at(page));
}
)";
constexpr const char* kFollowLinks = R"(
void main() {
    int link = int(gl_GlobalInvocationID.x);
    atomicAdd(next[to_at(link)], share_at(from_at(link)));
}
)";
constexpr const char* kNextRanks = R"(
void main() {
    int page = int(gl_GlobalInvocationID.x);
    rank[page] = (0.15 + 0.85 * lost_at(0)) / float(PAGES) + 0.85 * next_at(page);
    if (page == 0) next_lost[0] = 0.0;
}
)";

HandProgram plain_ranks() {
    constexpr int kFrom = 0, kTo = 1, kDegree = 2, kRank = 3, kShare = 4, kNext = 5, kLost = 6;
    HandProgram out;
    out.temporaries = {kPages, kPages, 1, 1};
    auto add = [&](const char* body, int count, const std::vector<HandBinding>& bindings) {
        out.kernels.push_back(
            {"pagerank", body, {256, 1, 1}, {count / 256, 1, 1}, bindings, {{"PAGES", kPages}}});
    };
    add(kFirstRanks, kPages,
        {{"rank", As::Floats, kRank, true}, {"lost", As::Floats, kLost, true}});
    add(kShareRanks, kPages,
        {{"degree", As::Ints, kDegree},
         {"rank", As::Floats, kRank},
         {"share", As::Floats, kShare, true},
         {"next", As::Floats, kNext, true},
         {"lost", As::Floats, kLost, true}});
    add(kFollowLinks, kLinks,
        {{"from", As::Ints, kFrom},
         {"to", As::Ints, kTo},
         {"share", As::Floats, kShare},
         {"next", As::Floats, kNext, true}});
    add(kNextRanks, kPages,
        {{"next", As::Floats, kNext},
         {"lost", As::Floats, kLost},
         {"next_lost", As::Floats, kLost + 1, true},
         {"rank", As::Floats, kRank, true}});
    out.steps.push_back({0, {}});
    for (int turn = 0; turn < kGraphTurns; ++turn) {
        const int lost = kLost + turn % 2, next_lost = kLost + (turn + 1) % 2;
        out.steps.push_back({1, {kDegree, kRank, kShare, kNext, lost}});
        out.steps.push_back({2, {}});
        out.steps.push_back({3, {kNext, lost, next_lost, kRank}});
    }
    return out;
}

// Makes, once, a list of the links by the pages that they lead to, so that an iteration reads
// instead of adding with atomics: for every page whole vec4s, padded with a page without a share.
// An iteration adds up each vec4, then those of a page.
constexpr const char* kClearLinks = R"(
void main() { count[gl_GlobalInvocationID.x] = 0; }
)";
constexpr const char* kCountLinks = R"(
void main() {
    int link = int(gl_GlobalInvocationID.x);
    ivec4 page = floatBitsToInt(to_at(link)), before;
    [[unroll]] for (int k = 0; k < 4; ++k) before[k] = atomicAdd(count[page[k]], 1);
    place[link] = intBitsToFloat(before);
}
)";
// Each lane adds up a part, then goes through it again from where it begins.
constexpr const char* kPlaceLinks = R"(
ivec4 lengths(int k) { return (floatBitsToInt(count_at(k)) + 3) >> 2; }
void main() {
    int lane = int(gl_LocalInvocationID.x), part = PAGES / 32, total = 0, next = 0;
    for (int k = lane * part; k < (lane + 1) * part; ++k) {
        ivec4 length = lengths(k);
        total += length.x + length.y + length.z + length.w;
    }
    for (int k = 0; k < 8; ++k) {
        int other = eight_shuffle(total, k);
        next += k < lane ? other : 0;
    }
    for (int k = lane * part; k < (lane + 1) * part; ++k) {
        ivec4 length = lengths(k), begin;
        begin.x = next, begin.y = begin.x + length.x, begin.z = begin.y + length.y;
        begin.w = begin.z + length.z, next = begin.w + length.w;
        begins[k] = intBitsToFloat(begin);
    }
    if (lane == 7) begins[PAGES / 4] = intBitsToFloat(ivec4(next));
}
)";
constexpr const char* kListLinks = R"(
void main() {
    int link = int(gl_GlobalInvocationID.x);
    ivec4 page = floatBitsToInt(to_at(link)), origin = floatBitsToInt(from_at(link));
    ivec4 before = floatBitsToInt(place_at(link));
    [[unroll]] for (int k = 0; k < 4; ++k)
        list[4 * begins_at(page[k]) + before[k]] = origin[k];
    if (link < PAGES) {
        int end = 4 * begins_at(link + 1);
        if (link == PAGES - 1) end = (end + 15) & ~15;
        for (int k = 4 * begins_at(link) + count_at(link); k < end; ++k) list[k] = PAGES;
    }
}
)";
constexpr const char* kAddShares = R"(
void main() {
    int count = (begins_at(PAGES) + 3) >> 2;
    for (int k = int(gl_GlobalInvocationID.x); k < count; k += LANES) {
        vec4 sum;
        [[unroll]] for (int l = 0; l < 4; ++l) {
            ivec4 from = floatBitsToInt(list_at(4 * k + l));
            sum[l] = (share_at(from.x) + share_at(from.y)) + (share_at(from.z) + share_at(from.w));
        }
        sums[k] = sum;
    }
}
)";
constexpr const char* kBestNextRanks = R"(
void main() {
    int lane = int(gl_LocalInvocationID.x);
    vec4 parts = vec4(0.0), idle = vec4(0.0);
    if (FIRST == 0)
        [[unroll]] for (int k = 0; k < GROUPS / 4; ++k) parts += lost_at(k);
    float least = (0.15 + 0.85 * (parts.x + parts.y + parts.z + parts.w)) / float(PAGES);
    for (int k = int(gl_GlobalInvocationID.x); k < PAGES / 4; k += 8 * GROUPS) {
        vec4 now = vec4(1.0 / float(PAGES));
        if (FIRST == 0) {
            ivec4 begin = floatBitsToInt(begins_at(k));
            int ends[4] = int[](begin.y, begin.z, begin.w, floatBitsToInt(begins_at(k + 1).x));
            [[unroll]] for (int l = 0; l < 4; ++l) {
                float next = 0.0;
                for (int place = begin[l]; place < ends[l]; ++place) next += sums_at(place);
                now[l] = least + 0.85 * next;
            }
        }
        ivec4 links = floatBitsToInt(degree_at(k));
        if (LAST != 0) rank[k] = now;
        else share[k] = now / vec4(max(links, ivec4(1)));
        idle += mix(vec4(0.0), now, equal(links, ivec4(0)));
    }
    float sum = eight_sum(idle.x + idle.y + idle.z + idle.w);
    if (lane == 0) next_lost[gl_WorkGroupID.x] = sum;
    if (FIRST != 0) share[PAGES / 4] = vec4(0.0);
}
)";

HandProgram best_ranks() {
    constexpr int kFrom = 0, kTo = 1, kDegree = 2, kRank = 3, kShare = 4, kSums = 5, kLost = 6,
                  kCount = 8, kBegins = 9, kPlace = 10, kList = 11;
    constexpr int kLanes = 2048, kGroups = 32, kMostFours = kPages + kLinks / 4 + 4;
    HandProgram out;
    out.temporaries = {kPages + 4, kMostFours, kGroups, kGroups,
                       kPages,     kPages + 4, kLinks,  4 * kMostFours};
    auto add = [&](const char* body, uint32_t size, int groups,
                   const std::vector<HandBinding>& bindings, int turn = 0) {
        out.kernels.push_back({"pagerank",
                               body,
                               {size, 1, 1},
                               {groups, 1, 1},
                               bindings,
                               {{"PAGES", kPages},
                                {"LANES", kLanes},
                                {"GROUPS", kGroups},
                                {"FIRST", turn == 0},
                                {"LAST", turn == kGraphTurns}}});
    };
    add(kClearLinks, 256, kPages / 256, {{"count", As::Ints, kCount, true}});
    add(kCountLinks, 256, kLinks / 1024,
        {{"to", As::Texels4, kTo},
         {"count", As::Ints, kCount, true},
         {"place", As::Vec4s, kPlace, true}});
    add(kPlaceLinks, 8, 1, {{"count", As::Texels4, kCount}, {"begins", As::Vec4s, kBegins, true}});
    add(kListLinks, 256, kLinks / 1024,
        {{"to", As::Texels4, kTo},
         {"from", As::Texels4, kFrom},
         {"place", As::Texels4, kPlace},
         {"begins", As::IntTexels, kBegins},
         {"count", As::IntTexels, kCount},
         {"list", As::Ints, kList, true}});
    add(kAddShares, 64, kLanes / 64,
        {{"begins", As::IntTexels, kBegins},
         {"list", As::Texels4, kList},
         {"share", As::Texels, kShare},
         {"sums", As::Vec4s, kSums, true}});
    for (int turn : {0, 1, kGraphTurns})
        add(kBestNextRanks, 8, kGroups,
            {{"degree", As::Texels4, kDegree},
             {"begins", As::Texels4, kBegins},
             {"sums", As::Texels, kSums},
             {"lost", As::Texels4, kLost},
             {"rank", As::Vec4s, kRank, true},
             {"share", As::Vec4s, kShare, true},
             {"next_lost", As::Floats, kLost + 1, true}},
            turn);
    for (int kernel = 0; kernel < 4; ++kernel) out.steps.push_back({kernel, {}});
    for (int turn = 0; turn <= kGraphTurns; ++turn) {
        if (turn > 0) out.steps.push_back({4, {}});
        out.steps.push_back(
            {turn == 0            ? 5
             : turn < kGraphTurns ? 6
                                  : 7,
             {kDegree, kBegins, kSums, kLost + turn % 2, kRank, kShare, kLost + (turn + 1) % 2}});
    }
    return out;
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
    // Operations per iteration: a read and a sum for every link, 5 for every page.
    return {.least = {8.0 * kLinks + 4.0 * kPages, 4.0 * kPages,
                      kGraphTurns * (1.0 * kLinks + 5.0 * kPages), 1.0 * kGraphTurns * kLinks},
            .arguments = {graph_bits(from), graph_bits(to), graph_bits(degree)},
            .results = {kPages},
            .firn = [f, a = tensor(from), b = tensor(to),
                     d = tensor(degree)] { return std::vector<Tensor>{f(a, b, d)}; },
            .best = best_ranks(),
            .plain = plain_ranks(),
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
Tensor sparse_product_kernel(Tensor start, Tensor columns, Tensor values, Tensor x) {
    Tensor y = zeros({start.size(0) - 1});
    kernel(y.shape(), [&](Tensor i) {
        Tensor sum = 0.0f, k = start(i), end = start(i + 1);
        while_([&] { return k < end; },
               [&] {
                   sum += values(k) * x(columns(k));
                   k += 1;
               });
        y(i) = sum;
    });
    return y;
}

constexpr const char* kRowProduct = R"(
void main() {
    int row = int(gl_GlobalInvocationID.x), end = start_at(row + 1);
    float sum = 0.0;
    for (int k = start_at(row); k < end; ++k) sum += values_at(k) * x_at(columns_at(k));
    y[row] = sum;
}
)";
// Each lane has rows with about as many elements in all, and goes through them without waiting for
// other lanes between rows: in every iteration up to four aligned elements of one row.
constexpr const char* kBestRowProduct = R"(
int first_row(int lane) {
    int row = 0, least = lane * SHARE;
    for (int step = ROWS; step > 0; step >>= 1) {
        int before = row + step - 1;
        if (before < ROWS && start_at(before) + 3 * before < least) row += step;
    }
    return row;
}
void main() {
    int lane = int(gl_GlobalInvocationID.x), row = first_row(lane), last = first_row(lane + 1);
    int begin = start_at(row), k = begin & ~3, end = start_at(min(row + 1, ROWS));
    float sum = 0.0;
    while (row < last) {
        vec4 value = values_at(k >> 2);
        ivec4 column = floatBitsToInt(columns_at(k >> 2));
        [[unroll]] for (int l = 0; l < 4; ++l) {
            float part = value[l] * x_at(column[l]);
            sum += k + l >= begin && k + l < end ? part : 0.0;
        }
        k += 4;
        if (k >= end) {
            y[row++] = sum;
            begin = end, k = begin & ~3, end = start_at(min(row + 1, ROWS));
            sum = 0.0;
        }
    }
}
)";

Contest sparse_rows(Tensor (*program)(Tensor, Tensor, Tensor, Tensor)) {
    auto f = compile(program, {i32("bounds"), i32("elements"), f32("elements"), f32("n")});
    std::vector<int> start{0}, columns;
    for (uint32_t i = 0; i < kRows; ++i) {
        // Most rows are short, a few have some hundred elements.
        const int length = int(4 / (host_pcgf(i) + 0.01f));
        start.push_back(start.back() + length);
        for (int k = 0; k < length; ++k)
            columns.push_back(int(host_pcg(uint32_t(columns.size()) + 99) % kRows));
    }
    const double elements = double(columns.size());
    HandProgram plain{{{"sparse_rows",
                        kRowProduct,
                        {64, 1, 1},
                        {kRows / 64, 1, 1},
                        {{"start", As::Ints, 0},
                         {"columns", As::Ints, 1},
                         {"values", As::Floats, 2},
                         {"x", As::Floats, 3},
                         {"y", As::Floats, 4, true}},
                        {}}},
                      {},
                      {}};
    HandProgram best = through_texels(plain);
    constexpr int kLanes = 512;
    best.kernels[0].body = kBestRowProduct;
    best.kernels[0].group_size = {8, 1, 1};
    best.kernels[0].groups = {kLanes / 8, 1, 1};
    best.kernels[0].constants = {{"ROWS", kRows},
                                 {"SHARE", (int(columns.size()) + 3 * kRows) / kLanes + 1}};
    best.kernels[0].bindings[1].as = best.kernels[0].bindings[2].as = As::Texels4;
    const std::vector<float> values = numbers(int64_t(columns.size()), -1, 1),
                             x = numbers(kRows, -1, 1, 2);
    // Whole vec4s for the texels.
    std::vector<float> column_bits = graph_bits(columns), padded = values;
    for (std::vector<float>* all : {&column_bits, &padded}) all->resize((all->size() + 3) / 4 * 4);
    auto expected = [=] {
        std::vector<float> y(kRows);
        for (size_t i = 0; i < kRows; ++i)
            for (int k = start[i]; k < start[i + 1]; ++k)
                y[i] += values[size_t(k)] * x[static_cast<size_t>(columns[size_t(k)])];
        return std::vector<std::vector<float>>{y};
    };
    // A read, a product and a sum of every element.
    return {.least = {8 * elements + 8.0 * kRows, 4.0 * kRows, 2 * elements, elements},
            .arguments = {graph_bits(start), column_bits, padded, x},
            .results = {kRows},
            .firn = [f, s = tensor(start), c = tensor(columns), v = tensor(values),
                     x0 = tensor(x)] { return std::vector<Tensor>{f(s, c, v, x0)}; },
            .best = best,
            .plain = plain,
            .expected = expected};
}

}  // namespace

void add_graphs(std::vector<Case>& cases) {
    cases.push_back({"floyd_warshall", floyd_warshall, Section::Training,
                     "its turns wait for one another, each of them short"});
    cases.push_back({"sparse_rows", [] { return sparse_rows(sparse_product); }, Section::Training,
                     "rows have different lengths, and lanes wait for the longest"});
    cases.push_back({"sparse_rows_kernel", [] { return sparse_rows(sparse_product_kernel); },
                     Section::Training,
                     "rows have different lengths, and lanes wait for the longest"});
    cases.push_back({"pagerank", pagerank, Section::Training,
                     "sums at places that others share, turn after turn"});
}

}  // namespace firn::bench
