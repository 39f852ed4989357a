// Points in the plane: Voronoi's cells by jump flooding, and Poisson-disc samples.
#include <firn/firn.h>

#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kPointSide = 1024, kSeeds = 2000, kPasses = 10;
constexpr int64_t kPointPixels = int64_t(kPointSide) * kPointSide;

/// The nearest seed that has reached every pixel. G. Rong and T. Tan, "Jump Flooding in GPU with
/// Applications to Voronoi Diagram and Distance Transform", 2006.
Tensor flood(Tensor seeds) {
    Tensor owner = full({kPointSide, kPointSide}, -1);
    auto [i, j] = indices<2>(owner.shape());
    owner(seeds(arange(seeds.size(0)), 0), seeds(arange(seeds.size(0)), 1)) = arange(seeds.size(0));
    for (Tensor pass : loop(kPasses)) {
        Tensor step = (kPointSide / 2) >> pass, best = owner,
               nearest = full({kPointSide, kPointSide}, 1e9f);
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
                Tensor other = fill(owner, -1)(i + dy * step, j + dx * step);
                Tensor y = cast<float>(seeds(other, 0) - i), x = cast<float>(seeds(other, 1) - j);
                Tensor away = select(other < 0, 1e9f, y * y + x * x);
                best = select(away < nearest, other, best);
                nearest = min(away, nearest);
            }
        owner = best;
    }
    return owner;
}

constexpr const char* kClear = "void main() { y[gl_GlobalInvocationID.x] = -1.0; }\n";
constexpr const char* kPlant = R"(
void main() {
    int k = int(gl_GlobalInvocationID.x);
    if (k < SEEDS) y[seeds_at(2 * k) * 1024 + seeds_at(2 * k + 1)] = float(k);
}
)";
constexpr const char* kFlood = R"(
void main() {
    ivec2 own = ivec2(gl_GlobalInvocationID.xy);
    float best = x_at(own.y * 1024 + own.x), nearest = 1e9;
    UNROLLED for (int k = 0; k < 9; ++k) {
        ivec2 at = own + STEP * ivec2(k % 3 - 1, k / 3 - 1);
        bool inside = all(greaterThanEqual(at, ivec2(0))) && all(lessThan(at, ivec2(1024)));
        int other = inside ? int(x_at(at.y * 1024 + at.x)) : -1;
        vec2 way = vec2(seeds_at(2 * max(other, 0) + 1) - own.x, seeds_at(2 * max(other, 0)) - own.y);
        float away = other < 0 ? 1e9 : dot(way, way);
        best = away < nearest ? float(other) : best;
        nearest = min(away, nearest);
    }
    y[own.y * 1024 + own.x] = best;
}
)";

HandProgram flood_by_hand(const std::string& unrolled) {
    HandProgram program;
    program.temporaries = {kPointPixels, kPointPixels};
    constexpr int kSeedsOf = 0, kResult = 1, kFirst = 2, kSecond = 3;
    program.kernels.push_back({"jump_flooding_clear",
                               kClear,
                               {256, 1, 1},
                               {int(kPointPixels / 256), 1, 1},
                               {{"y", As::Floats, kFirst, true}},
                               {}});
    program.kernels.push_back({"jump_flooding_plant",
                               kPlant,
                               {64, 1, 1},
                               {(kSeeds + 63) / 64, 1, 1},
                               {{"seeds", As::Ints, kSeedsOf}, {"y", As::Floats, kFirst, true}},
                               {{"SEEDS", kSeeds}}});
    for (int pass = 0; pass < kPasses; ++pass) {
        const int from = pass % 2 == 0 ? kFirst : kSecond, to = from == kFirst ? kSecond : kFirst;
        program.kernels.push_back({"jump_flooding",
                                   "#define UNROLLED " + unrolled + kFlood,
                                   {64, 4, 1},
                                   {kPointSide / 64, kPointSide / 4, 1},
                                   {{"seeds", As::Ints, kSeedsOf},
                                    {"x", As::Floats, from},
                                    {"y", As::Floats, pass + 1 == kPasses ? kResult : to, true}},
                                   {{"STEP", (kPointSide / 2) >> pass}}});
    }
    return program;
}

Contest jump_flooding() {
    auto f = compile(flood, {i32("n", 2)});
    std::vector<int> seeds;
    std::vector<float> bits;
    std::vector<bool> taken(kPointPixels);
    for (uint32_t k = 0; seeds.size() < 2 * kSeeds; ++k) {
        const uint32_t place = host_pcg(k) % uint32_t(kPointPixels);
        if (!taken[place])
            seeds.insert(seeds.end(), {int(place / kPointSide), int(place % kPointSide)});
        taken[place] = true;
    }
    for (int value : seeds) bits.push_back(std::bit_cast<float>(value));
    // Operations for each of nine candidates in every pass: the way 2, its square 3, and 2 to
    // compare; its place is read by its number, at best as one.
    constexpr double kCandidates = 9.0 * kPasses * kPointPixels;
    return {.least = {8.0 * kSeeds, 4.0 * kPointPixels, 7 * kCandidates, kCandidates},
            .arguments = {bits},
            .results = {kPointPixels},
            .firn = [f, s = tensor(seeds, {kSeeds, 2})] { return std::vector<Tensor>{f(s)}; },
            .best = through_texels(flood_by_hand("[[unroll]]")),
            .plain = flood_by_hand(""),
            .tolerance = 0};
}

constexpr int kPointGrid = 256, kRounds = 24;
constexpr int64_t kPlaces = int64_t(kPointGrid) * kPointGrid;

/// Points no nearer to one another than the square root of 2, at most one in a square of a grid. In
/// every round a free square throws a dart, which stays if no point is too near, and no other dart
/// of a smaller rank. L. Wei, "Parallel Poisson Disk Sampling", 2008, in spirit.
std::tuple<Tensor, Tensor, Tensor> throw_darts(Tensor seed) {
    auto [i, j] = indices<2>({kPointGrid, kPointGrid});
    Tensor taken = zeros({kPointGrid, kPointGrid}, boolean), y = zeros({kPointGrid, kPointGrid}),
           x = y;
    for (Tensor round : loop(kRounds)) {
        Tensor key = pcg(cast<uint32_t>(i * kPointGrid + j) + pcg(round + seed));
        Tensor dart_y = i + pcgf(key), dart_x = j + pcgf(key + 1u), rank = pcg(key + 2u);
        Tensor stays = !taken;
        for (int dy = -2; dy <= 2; ++dy)
            for (int dx = -2; dx <= 2; ++dx) {
                if (dy == 0 && dx == 0) continue;
                Tensor row = i + dy, column = j + dx;
                Tensor inside =
                    (row >= 0) & (row < kPointGrid) & (column >= 0) & (column < kPointGrid);
                Tensor full = taken(row, column);
                Tensor near_point =
                    square(y(row, column) - dart_y) + square(x(row, column) - dart_x) < 2.0f;
                Tensor near_dart =
                    square(dart_y(row, column) - dart_y) + square(dart_x(row, column) - dart_x) <
                    2.0f;
                Tensor before = rank(row, column) < rank;
                stays = stays & !(inside & ((full & near_point) | (before & near_dart & !full)));
            }
        y = select(stays, dart_y, y);
        x = select(stays, dart_x, x);
        taken = taken | stays;
    }
    return {taken, y, x};
}

struct HostSamples {
    std::vector<std::vector<float>> results;
    double distances = 0;  // asked for, where the first conflict ends a dart
};

HostSamples host_samples(uint32_t seed) {
    HostSamples out;
    Plane taken(kPointGrid, kPointGrid), y = taken, x = taken, dart_y = taken, dart_x = taken;
    std::vector<uint32_t> rank(kPlaces);
    for (uint32_t round = 0; round < kRounds; ++round) {
        for (size_t k = 0; k < rank.size(); ++k) {
            const uint32_t key = host_pcg(uint32_t(k) + host_pcg(round + seed));
            dart_y.values[k] = float(k / kPointGrid) + host_pcgf(key);
            dart_x.values[k] = float(k % kPointGrid) + host_pcgf(key + 1);
            rank[k] = host_pcg(key + 2);
        }
        auto stays = [&](int i, int j) {
            for (int row = i - 2; row <= i + 2; ++row)
                for (int column = j - 2; column <= j + 2; ++column) {
                    if (!taken.has(row, column) || (row == i && column == j)) continue;
                    const bool full = taken(row, column) > 0;
                    if (!full && rank[taken.place(row, column)] >= rank[taken.place(i, j)])
                        continue;
                    const float v = (full ? y : dart_y)(row, column) - dart_y(i, j),
                                u = (full ? x : dart_x)(row, column) - dart_x(i, j);
                    ++out.distances;
                    if (v * v + u * u < 2) return false;
                }
            return true;
        };
        Plane next = taken;
        for (int i = 0; i < kPointGrid; ++i)
            for (int j = 0; j < kPointGrid; ++j)
                if (taken(i, j) == 0 && stays(i, j)) next(i, j) = 1;
        for (size_t k = 0; k < rank.size(); ++k)
            if (next.values[k] != taken.values[k])
                y.values[k] = dart_y.values[k], x.values[k] = dart_x.values[k];
        taken = next;
    }
    out.results = {taken.values, y.values, x.values};
    return out;
}

// The number of the round goes to and fro between two buffers.
constexpr const char* kPoissonHash = R"(
uint pcg(uint x) {
    uint state = x * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28) + 4u)) ^ state) * 277803737u;
    return (word >> 22) ^ word;
}
float pcgf(uint x) { return float(pcg(x) >> 8) / 16777216.0; }
uint turn_key() { return pcg(uint(turn_at(0) + seed_at(0))); }
uint key_of(uint turn, int i, int j) { return pcg(uint(i * 256 + j) + turn); }
vec2 dart_of(uint key, int i, int j) { return vec2(i, j) + vec2(pcgf(key), pcgf(key + 1u)); }
)";
constexpr const char* kPoissonStart = R"(
void main() {
    uint k = gl_GlobalInvocationID.x;
    taken[k] = y[k] = x[k] = 0.0;
    if (k == 0u) turn[0] = 0;
}
)";
constexpr const char* kPoissonDarts = R"(
void main() {
    int k = int(gl_GlobalInvocationID.x);
    uint key = key_of(turn_key(), k / 256, k % 256);
    vec2 dart = dart_of(key, k / 256, k % 256);
    dart_y[k] = dart.x, dart_x[k] = dart.y, rank[k] = int(pcg(key + 2u));
}
)";
constexpr const char* kPoissonStay = R"(
void main() {
    int i = int(gl_GlobalInvocationID.y), j = int(gl_GlobalInvocationID.x), k = i * 256 + j;
    if (k == 0) next[0] = turn[0] + 1;
    vec2 dart = vec2(dart_y[k], dart_x[k]);
    bool stays = taken[k] == 0.0;
    for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -2; dx <= 2; ++dx) {
            int row = clamp(i + dy, 0, 255), column = clamp(j + dx, 0, 255);
            int other = row * 256 + column;
            bool inside = row == i + dy && column == j + dx && other != k;
            bool full = taken[other] > 0.0, before = uint(rank[other]) < uint(rank[k]);
            vec2 at = full ? vec2(y[other], x[other]) : vec2(dart_y[other], dart_x[other]);
            bool near = dot(at - dart, at - dart) < 2.0;
            stays = stays && !(inside && near && (full || before));
        }
    new_taken[k] = stays ? 1.0 : taken[k];
    if (stays) y[k] = dart.x, x[k] = dart.y;
}
)";

constexpr int kPoissonSeed = 0, kPoissonTaken = 1, kPoissonY = 2, kPoissonX = 3, kPoissonTurns = 4,
              kPoissonOwn = 6;

HandKernel poisson_kernel(const std::string& name, const std::string& body,
                          const std::vector<HandBinding>& bindings) {
    return {"poisson_disc_" + name, body, {256, 1, 1}, {kPlaces / 256, 1, 1}, bindings, {}};
}

HandProgram poisson_plain() {
    constexpr int kDarts = kPoissonOwn, kOther = kPoissonOwn + 3;
    const std::vector<HandBinding> key{{"seed", As::Ints, kPoissonSeed},
                                       {"turn", As::Ints, kPoissonTurns}};
    const std::string hash = kPoissonHash;
    HandKernel darts = poisson_kernel("darts", hash + kPoissonDarts,
                                      {{"seed", As::Ints, kPoissonSeed},
                                       {"turn", As::Ints, kPoissonTurns},
                                       {"dart_y", As::Floats, kDarts, true},
                                       {"dart_x", As::Floats, kDarts + 1, true},
                                       {"rank", As::Ints, kDarts + 2, true}});
    HandKernel stay = poisson_kernel("stay", kPoissonStay,
                                     {{"turn", As::Ints, kPoissonTurns},
                                      {"next", As::Ints, kPoissonTurns + 1, true},
                                      {"taken", As::Floats, kPoissonTaken},
                                      {"new_taken", As::Floats, kOther, true},
                                      {"dart_y", As::Floats, kDarts},
                                      {"dart_x", As::Floats, kDarts + 1},
                                      {"rank", As::Ints, kDarts + 2},
                                      {"y", As::Floats, kPoissonY, true},
                                      {"x", As::Floats, kPoissonX, true}});
    stay.group_size = {64, 4, 1}, stay.groups = {kPointGrid / 64, kPointGrid / 4, 1};
    HandProgram program{{poisson_kernel("start", kPoissonStart,
                                        {{"turn", As::Ints, kPoissonTurns, true},
                                         {"taken", As::Floats, kPoissonTaken, true},
                                         {"y", As::Floats, kPoissonY, true},
                                         {"x", As::Floats, kPoissonX, true}}),
                         darts, stay},
                        {1, 1, kPlaces, kPlaces, kPlaces, kPlaces},
                        {{0, {}}}};
    static_assert(kRounds % 2 == 0);
    for (int round = 0; round < kRounds; ++round) {
        const bool even = round % 2 == 0;
        const int turn = kPoissonTurns + (even ? 0 : 1), next = kPoissonTurns + (even ? 1 : 0),
                  from = even ? kPoissonTaken : kOther, to = even ? kOther : kPoissonTaken;
        program.steps.push_back({1, {kPoissonSeed, turn, kDarts, kDarts + 1, kDarts + 2}});
        program.steps.push_back(
            {2, {turn, next, from, to, kDarts, kDarts + 1, kDarts + 2, kPoissonY, kPoissonX}});
    }
    return program;
}

// Only points, far away if there are none, with an edge around, and the rounds that they belong to.
// A point of this round may already be seen: its dart rejects the same darts.
constexpr const char* kPoissonFree = R"(
void main() {
    uint k = gl_GlobalInvocationID.x;
    bool edge = k % 66u == 0u || k % 66u == 65u || k < 132u || k >= 17028u;
    if (k < 17160u) at_y[k] = at_x[k] = vec4(1e9), round_of[k] = vec4(edge ? -1.0 : 1e9);
    if (k < 16384u) taken[k] = y[k] = x[k] = vec4(0);
    if (k == 0u) turn[0] = 0;
}
)";
// Four squares of a row in an invocation. Corners, two squares away in both directions, are always
// far enough. Most darts fall by the points; a group's others are gathered before they are compared
// with other darts.
constexpr const char* kPoissonThrow = R"(
const int rows[5] = int[](0, -1, 1, -2, 2);
shared int left, squares[256];
bool alone(uint salt, int i, int j, vec2 dart, uint rank) {
    bool stays = true;
    for (int dy = -2; dy <= 2; ++dy)
        [[unroll]] for (int dx = -2; dx <= 2; ++dx) {
            if (abs(dy) + abs(dx) == 4 || (dy == 0 && dx == 0)) continue;
            uint key = key_of(salt, i + dy, j + dx);
            vec2 way = dart_of(key, i + dy, j + dx) - dart;
            bool rival = old_round_at((i + 2 + dy) * 264 + j + 4 + dx) >= float(turn_at(0));
            stays = stays && !(rival && pcg(key + 2u) < rank && dot(way, way) < 2.0);
        }
    return stays;
}
void main() {
    int i = int(gl_GlobalInvocationID.y), j = 4 * int(gl_GlobalInvocationID.x);
    if (i == 0 && j == 0) next[0] = turn_at(0) + 1;
    uint salt = turn_key();
    int lane = int(gl_LocalInvocationIndex);
    if (lane == 0) left = 0;
    barrier();
    vec4 y, x;
    [[unroll]] for (int c = 0; c < 4; ++c) {
        vec2 dart = dart_of(key_of(salt, i, j + c), i, j + c);
        y[c] = dart.x, x[c] = dart.y;
    }
    int at = (i + 2) * 66 + j / 4 + 1;
    bvec4 stays = equal(old_y_at(at), vec4(1e9));
    [[unroll]] for (int k = 0; k < 5; ++k) {
        if (!any(stays)) break;
        vec4 row_y[3], row_x[3];
        [[unroll]] for (int m = 0; m < 3; ++m) {
            row_y[m] = old_y_at(at + rows[k] * 66 + m - 1);
            row_x[m] = old_x_at(at + rows[k] * 66 + m - 1);
        }
        [[unroll]] for (int dx = -2; dx <= 2; ++dx) {
            if (abs(rows[k]) + abs(dx) == 4 || (k == 0 && dx == 0)) continue;
            [[unroll]] for (int c = 0; c < 4; ++c) {
                int m = 4 + c + dx;
                vec2 way = vec2(row_y[m / 4][m % 4] - y[c], row_x[m / 4][m % 4] - x[c]);
                stays[c] = stays[c] && dot(way, way) >= 2.0;
            }
        }
    }
    [[unroll]] for (int c = 0; c < 4; ++c)
        if (stays[c]) squares[atomicAdd(left, 1)] = i * 256 + j + c;
    barrier();
    for (int k = lane; k < left; k += 64) {
        int place = squares[k], i = place / 256, j = place % 256, edged = (i + 2) * 264 + j + 4;
        uint key = key_of(salt, i, j);
        vec2 dart = dart_of(key, i, j);
        if (!alone(salt, i, j, dart, pcg(key + 2u))) continue;
        at_y[edged] = out_y[place] = dart.x;
        at_x[edged] = out_x[place] = dart.y;
        round_of[edged] = float(turn_at(0));
        taken[place] = 1.0;
    }
}
)";

HandProgram poisson_best() {
    constexpr int kAt = kPoissonOwn;
    constexpr int64_t kEdged = 260 * 264;
    HandProgram program{{poisson_kernel("free", kPoissonFree,
                                        {{"turn", As::Ints, kPoissonTurns, true},
                                         {"taken", As::Vec4s, kPoissonTaken, true},
                                         {"y", As::Vec4s, kPoissonY, true},
                                         {"x", As::Vec4s, kPoissonX, true},
                                         {"at_y", As::Vec4s, kAt, true},
                                         {"at_x", As::Vec4s, kAt + 1, true},
                                         {"round_of", As::Vec4s, kAt + 2, true}}),
                         poisson_kernel("throw", std::string(kPoissonHash) + kPoissonThrow,
                                        {{"seed", As::IntTexels, kPoissonSeed},
                                         {"turn", As::IntTexels, kPoissonTurns},
                                         {"next", As::Ints, kPoissonTurns + 1, true},
                                         {"old_y", As::Texels4, kAt},
                                         {"old_x", As::Texels4, kAt + 1},
                                         {"old_round", As::Texels, kAt + 2},
                                         {"at_y", As::Floats, kAt, true},
                                         {"at_x", As::Floats, kAt + 1, true},
                                         {"round_of", As::Floats, kAt + 2, true},
                                         {"taken", As::Floats, kPoissonTaken, true},
                                         {"out_y", As::Floats, kPoissonY, true},
                                         {"out_x", As::Floats, kPoissonX, true}})},
                        {1, 1, kEdged, kEdged, kEdged},
                        {{0, {}}}};
    program.kernels[0].groups[0] = int(kEdged / 4 + 255) / 256;
    program.kernels[1].group_size = {8, 8, 1};
    program.kernels[1].groups = {kPointGrid / 32, kPointGrid / 8, 1};
    for (int round = 0; round < kRounds; ++round)
        program.steps.push_back(
            {1,
             {kPoissonSeed, kPoissonTurns + round % 2, kPoissonTurns + 1 - round % 2, kAt, kAt + 1,
              kAt + 2, kAt, kAt + 1, kAt + 2, kPoissonTaken, kPoissonY, kPoissonX}});
    return program;
}

Contest poisson_disc() {
    constexpr uint32_t kSeed = 7;
    auto f = compile(throw_darts, {u32()});
    // A distance is 6 with its comparison.
    return {.least = {0, 12.0 * kPlaces, 6 * host_samples(kSeed).distances},
            .arguments = {{std::bit_cast<float>(kSeed)}},
            .results = {kPlaces, kPlaces, kPlaces},
            .firn =
                [=] {
                    auto [taken, y, x] = f(kSeed);
                    return std::vector<Tensor>{taken, y, x};
                },
            .best = poisson_best(),
            .plain = poisson_plain(),
            .tolerance = 2e-3,
            .difference = share_that_differs,
            .expected = [=] { return host_samples(kSeed).results; }};
}

}  // namespace

void add_points(std::vector<Case>& cases) {
    cases.push_back({"jump_flooding", jump_flooding, Section::Training,
                     "beside the seed its number is read, at the place of a neighbour far away"});
    cases.push_back(
        {"poisson_disc", poisson_disc, Section::Training,
         "rounds of darts wait for one another, and its random numbers are not counted"});
}

}  // namespace firn::bench
