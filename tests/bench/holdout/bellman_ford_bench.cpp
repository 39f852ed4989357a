// Cheapest routes from one node to all others over a list of roads.
#include <firn/firn.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

// The most roads of a route.
constexpr int kBellmanRounds = 20;
constexpr int kBellmanNodes = 1 << 14, kBellmanDegree = 8;
constexpr int kBellmanEdges = kBellmanNodes * kBellmanDegree;

/// The cost of the cheapest route to each node, the node before it (-1: none), and whether longer
/// routes are no cheaper.
struct BellmanRoutes {
    Tensor cost, parent, settled;
};

/// R. Bellman, "On a Routing Problem", 1958: every round goes on by one road. `cost` is 0 where
/// routes begin, and infinite elsewhere; lengths are positive.
BellmanRoutes bellman_ford_rounds(Tensor cost, Tensor from, Tensor to, Tensor length) {
    Tensor changed = true;
    while_([&] { return changed; },
           [&] {
               Tensor before = cost;
               scatter_min(cost(to), cost(from) + length);
               changed = any(cost < before);
           },
           {.max_steps = kBellmanRounds});
    Tensor through = cost(from) + length;
    Tensor tight = (through == cost(to)) & is_finite(through);
    Tensor parent = full(cost.shape(), -1);
    if_(tight, [&] { scatter_max(parent(to), from); });
    return {cost, parent.as(f32), (!any(through < cost(to))).as(f32)};
}
BellmanRoutes bellman_ford_rounds_kernel(Tensor cost, Tensor from, Tensor to, Tensor length) {
    Size edges = from.size(0);
    Tensor changed = full({1}, 1);
    while_([&] { return changed(0) != 0; },
           [&] {
               Tensor next = cost, found = zeros({1}, i32);
               kernel({edges}, [&](Tensor e) {
                   Tensor through = cost(from(e)) + length(e);
                   if_(through < cost(to(e)), [&] {
                       atomic_min(next(to(e)), through);
                       found(0) = 1;
                   });
               });
               cost = next;
               changed = found;
           },
           {.max_steps = kBellmanRounds});
    Tensor parent = full(cost.shape(), -1), settled = full({1}, 1);
    kernel({edges}, [&](Tensor e) {
        Tensor through = cost(from(e)) + length(e), there = cost(to(e));
        if_((through == there) & is_finite(through), [&] { atomic_max(parent(to(e)), from(e)); });
        if_(through < there, [&] { settled(0) = 0; });
    });
    return {cost, parent.as(f32), settled.as(f32)};
}

struct BellmanRoads {
    std::vector<int> from, to;
    std::vector<float> length;
};

/// One road leads from every node to the next, and others lead anywhere.
BellmanRoads bellman_roads() {
    BellmanRoads roads;
    for (int e = 0; e < kBellmanEdges; ++e) {
        const int node = e / kBellmanDegree;
        roads.from.push_back(node);
        const uint32_t anywhere = host_pcg(uint32_t(e)) % uint32_t(kBellmanNodes);
        roads.to.push_back(e % kBellmanDegree == 0 ? (node + 1) % kBellmanNodes : int(anywhere));
    }
    roads.length = numbers(kBellmanEdges, 1, 10);
    return roads;
}
std::vector<float> bellman_bits(const std::vector<int>& values) {
    std::vector<float> out;
    for (int value : values) out.push_back(std::bit_cast<float>(value));
    return out;
}

std::vector<std::vector<float>> host_bellman_ford(std::vector<float> cost,
                                                  const BellmanRoads& roads) {
    const auto through = [&](const std::vector<float>& costs, size_t e) {
        return costs[size_t(roads.from[e])] + roads.length[e];
    };
    for (int round = 0; round < kBellmanRounds; ++round) {
        const std::vector<float> before = cost;
        for (size_t e = 0; e < kBellmanEdges; ++e) {
            float& there = cost[size_t(roads.to[e])];
            there = std::min(there, through(before, e));
        }
    }
    std::vector<float> parent(kBellmanNodes, -1), settled{1};
    for (size_t e = 0; e < kBellmanEdges; ++e) {
        const size_t to = size_t(roads.to[e]);
        const float by = through(cost, e);
        if (by == cost[to] && std::isfinite(by))
            parent[to] = std::max(parent[to], float(roads.from[e]));
        if (by < cost[to]) settled[0] = 0;
    }
    return {cost, parent, settled};
}

// Costs and nodes are at least 0, so that they are in the order of their bits; -1 comes before.
constexpr const char* kPlainBellmanCopy = R"(
void main() {
    uint v = gl_GlobalInvocationID.x;
    next[v] = cost[v];
}
)";
constexpr const char* kPlainBellmanRelax = R"(
void main() {
    uint e = gl_GlobalInvocationID.x;
    atomicMin(next[to[e]], floatBitsToInt(intBitsToFloat(cost[from[e]]) + road[e]));
}
)";
constexpr const char* kPlainBellmanStart = R"(
void main() {
    uint v = gl_GlobalInvocationID.x;
    parent[v] = floatBitsToInt(-1.0);
    if (v == 0u) settled[0] = 1.0;
}
)";
constexpr const char* kPlainBellmanParents = R"(
void main() {
    uint e = gl_GlobalInvocationID.x;
    float through = intBitsToFloat(cost[from[e]]) + road[e], there = intBitsToFloat(cost[to[e]]);
    if (through == there && !isinf(through))
        atomicMax(parent[to[e]], floatBitsToInt(float(from[e])));
    if (through < there) settled[0] = 0.0;
}
)";

// Buffers: 0 to 3 are arguments (costs, from, to, lengths), 4 to 6 results (costs, parents,
// settled), 7 holds the costs of every other round.
HandProgram plain_bellman_ford() {
    HandProgram out;
    const std::array<uint32_t, 3> group{256, 1, 1};
    const std::array<int, 3> nodes{kBellmanNodes / 256, 1, 1}, edges{kBellmanEdges / 256, 1, 1};
    const HandBinding from{"from", As::Ints, 1}, to{"to", As::Ints, 2}, road{"road", As::Floats, 3};
    out.kernels = {{"copy",
                    kPlainBellmanCopy,
                    group,
                    nodes,
                    {{"cost", As::Ints, 0}, {"next", As::Ints, 4, true}},
                    {}},
                   {"relax",
                    kPlainBellmanRelax,
                    group,
                    edges,
                    {{"cost", As::Ints, 0}, from, to, road, {"next", As::Ints, 4, true}},
                    {}},
                   {"start",
                    kPlainBellmanStart,
                    group,
                    nodes,
                    {{"parent", As::Ints, 5, true}, {"settled", As::Floats, 6, true}},
                    {}},
                   {"parents",
                    kPlainBellmanParents,
                    group,
                    edges,
                    {{"cost", As::Ints, 4},
                     from,
                     to,
                     road,
                     {"parent", As::Ints, 5, true},
                     {"settled", As::Floats, 6, true}},
                    {}}};
    out.temporaries = {kBellmanNodes};
    for (int round = 0; round < kBellmanRounds; ++round) {
        const int before = round == 0 ? 0 : round % 2 == 0 ? 4 : 7, next = round % 2 == 0 ? 7 : 4;
        out.steps.push_back({0, {before, next}});
        out.steps.push_back({1, {before, 1, 2, 3, next}});
    }
    out.steps.push_back({2, {}});
    out.steps.push_back({3, {}});
    return out;
}

// A round may start from the costs of the round before the last instead of the last: a road from a
// node whose cost has not fallen since was taken then, and gives the same again. So nothing is
// copied. Few roads are cheaper; an atomic under a branch takes its time though no lane goes there,
// so an invocation first notes which of its 32 roads are, and then goes through these. `go` says
// whether the last round found something, `found` whether this one does; `later` is made ready for
// the next.
constexpr const char* kBestBellmanRelax = R"(
void main() {
    if (gl_GlobalInvocationID.x == 0u) later[0] = 0;
    int first = int(gl_WorkGroupID.x) * (LANES * 8) + int(gl_LocalInvocationID.x);
    int many = go_at(0) == 0 ? 0 : 8;
    uint cheaper = 0u;
    for (int k = 0; k < many; ++k) {
        int e = first + k * LANES;
        ivec4 a = floatBitsToInt(from_at(e)), b = floatBitsToInt(to_at(e));
        vec4 by = road_at(e);
        [[unroll]] for (int q = 0; q < 4; ++q)
            cheaper |= cost_at(a[q]) + by[q] < there_at(b[q]) ? 1u << uint(k * 4 + q) : 0u;
    }
    if (cheaper != 0u) found[0] = 1;
    while (cheaper != 0u) {
        int bit = findLSB(cheaper), e = (first + (bit >> 2) * LANES) * 4 + (bit & 3);
        int a = floatBitsToInt(one_from_at(e)), b = floatBitsToInt(one_to_at(e));
        atomicMin(next[b], floatBitsToInt(cost_at(a) + one_road_at(e)));
        cheaper &= cheaper - 1u;
    }
}
)";
constexpr const char* kBestBellmanStart = R"(
void main() {
    int at = int(gl_GlobalInvocationID.x);
    vec4 own = begin_at(at);
    cost[at] = own;
    next[at] = own;
    parent[at] = vec4(-1.0);
    if (at == 0) {
        settled[0] = 1.0;
        go[0] = 1;
        found[0] = 0;
    }
}
)";
constexpr const char* kBestBellmanParents = R"(
void main() {
    int first = int(gl_WorkGroupID.x) * (LANES * 8) + int(gl_LocalInvocationID.x);
    uint tight = 0u;
    bool open = false;
    [[unroll]] for (int k = 0; k < 8; ++k) {
        int e = first + k * LANES;
        ivec4 a = floatBitsToInt(from_at(e)), b = floatBitsToInt(to_at(e));
        vec4 by = road_at(e);
        [[unroll]] for (int q = 0; q < 4; ++q) {
            float through = cost_at(a[q]) + by[q], there = cost_at(b[q]);
            open = open || through < there;
            tight |= through == there && !isinf(through) ? 1u << uint(k * 4 + q) : 0u;
        }
    }
    if (open) settled[0] = 0.0;
    while (tight != 0u) {
        int bit = findLSB(tight), e = (first + (bit >> 2) * LANES) * 4 + (bit & 3);
        float a = float(floatBitsToInt(one_from_at(e)));
        atomicMax(parent[floatBitsToInt(one_to_at(e))], floatBitsToInt(a));
        tight &= tight - 1u;
    }
}
)";

// Buffers as above; 8, 9 and 10 say of three rounds whether they found something.
HandProgram best_bellman_ford() {
    constexpr int kLanes = 256;
    HandProgram out;
    const std::array<uint32_t, 3> group{kLanes, 1, 1};
    const std::array<int, 3> edges{kBellmanEdges / (32 * kLanes), 1, 1};
    const std::vector<std::pair<std::string, int>> constants{{"LANES", kLanes}};
    const auto with_edges = [](std::vector<HandBinding> bindings) {
        bindings.insert(bindings.end(), {{"from", As::Texels4, 1},
                                         {"to", As::Texels4, 2},
                                         {"road", As::Texels4, 3},
                                         {"one_from", As::Texels, 1},
                                         {"one_to", As::Texels, 2},
                                         {"one_road", As::Texels, 3}});
        return bindings;
    };
    out.kernels = {{"start",
                    kBestBellmanStart,
                    group,
                    {kBellmanNodes / 4 / kLanes, 1, 1},
                    {{"begin", As::Texels4, 0},
                     {"cost", As::Vec4s, 4, true},
                     {"next", As::Vec4s, 7, true},
                     {"parent", As::Vec4s, 5, true},
                     {"settled", As::Floats, 6, true},
                     {"go", As::Ints, 8, true},
                     {"found", As::Ints, 9, true}},
                    {}},
                   {"relax", kBestBellmanRelax, group, edges,
                    with_edges({{"cost", As::Texels, 4},
                                {"there", As::Texels, 7},
                                {"next", As::Ints, 7, true},
                                {"go", As::IntTexels, 8},
                                {"found", As::Ints, 9, true},
                                {"later", As::Ints, 10, true}}),
                    constants},
                   {"parents", kBestBellmanParents, group, edges,
                    with_edges({{"cost", As::Texels, 4},
                                {"parent", As::Ints, 5, true},
                                {"settled", As::Floats, 6, true}}),
                    constants}};
    out.temporaries = {kBellmanNodes, 1, 1, 1};
    out.steps = {{0, {}}};
    for (int round = 0; round < kBellmanRounds; ++round) {
        const int cost = round % 2 == 0 ? 4 : 7, next = round % 2 == 0 ? 7 : 4;
        out.steps.push_back({1,
                             {cost, next, next, 8 + round % 3, 8 + (round + 1) % 3,
                              8 + (round + 2) % 3, 1, 2, 3, 1, 2, 3}});
    }
    out.steps.push_back({2, {}});
    return out;
}

Contest bellman_ford(BellmanRoutes (*program)(Tensor, Tensor, Tensor, Tensor)) {
    auto f = compile(program, {f32("nodes"), i32("edges"), i32("edges"), f32("edges")});
    const BellmanRoads roads = bellman_roads();
    std::vector<float> begin(kBellmanNodes, std::numeric_limits<float>::infinity());
    begin[0] = 0;
    // Each road is looked at once, where nodes settle in a lucky order: the costs at both of its
    // ends, a sum and a comparison.
    return {.least = {4.0 * kBellmanNodes + 12.0 * kBellmanEdges, 8.0 * kBellmanNodes + 4,
                      2.0 * kBellmanEdges, 2.0 * kBellmanEdges},
            .arguments = {begin, bellman_bits(roads.from), bellman_bits(roads.to), roads.length},
            .results = {kBellmanNodes, kBellmanNodes, 1},
            .firn =
                [f, begin = tensor(begin), from = tensor(roads.from), to = tensor(roads.to),
                 length = tensor(roads.length)] {
                    auto [cost, parent, settled] = f(begin, from, to, length);
                    return std::vector<Tensor>{cost, parent, settled};
                },
            .best = best_bellman_ford(),
            .plain = plain_bellman_ford(),
            .tolerance = 0,
            .expected = [=] { return host_bellman_ford(begin, roads); }};
}

constexpr const char* kBellmanFar =
    "rounds wait for one another, and most roads give in all of them but one what is known";

}  // namespace

void add_bellman_ford(std::vector<Case>& cases) {
    cases.push_back({"bellman_ford", [] { return bellman_ford(bellman_ford_rounds); },
                     Section::Holdout, kBellmanFar});
    cases.push_back({"bellman_ford_kernel", [] { return bellman_ford(bellman_ford_rounds_kernel); },
                     Section::Holdout, kBellmanFar});
}

}  // namespace firn::bench
