// Points in the plane: Voronoi's cells by jump flooding, and Poisson-disc samples.
#include <firn/firn.h>

#include <cmath>

#include "tests/bench/strangers/strangers.h"

namespace firn::bench {
namespace {

constexpr int kSide = 1024, kSeeds = 2000, kPasses = 10;
constexpr int64_t kPixels = int64_t(kSide) * kSide;

/// The seed nearest to every pixel, of those that have come by. G. Rong and T. Tan, "Jump Flooding
/// in GPU with Applications to Voronoi Diagram and Distance Transform", 2006.
Tensor flood(Tensor seeds) {
    Tensor owner = full({kSide, kSide}, -1);
    auto [i, j] = indices<2>(owner.shape());
    owner(seeds(arange(seeds.size(0)), 0), seeds(arange(seeds.size(0)), 1)) = arange(seeds.size(0));
    for (Tensor pass : loop(kPasses)) {
        Tensor step = (kSide / 2) >> pass, best = owner, nearest = full({kSide, kSide}, 1e9f);
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
    program.temporaries = {kPixels, kPixels};
    constexpr int kSeedsOf = 0, kResult = 1, kFirst = 2, kSecond = 3;
    program.kernels.push_back({"jump_flooding_clear",
                               kClear,
                               {256, 1, 1},
                               {int(kPixels / 256), 1, 1},
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
                                   {kSide / 64, kSide / 4, 1},
                                   {{"seeds", As::Ints, kSeedsOf},
                                    {"x", As::Floats, from},
                                    {"y", As::Floats, pass + 1 == kPasses ? kResult : to, true}},
                                   {{"STEP", (kSide / 2) >> pass}}});
    }
    return program;
}

Contest jump_flooding() {
    auto f = compile(flood, {i32("n", 2)});
    std::vector<int> seeds;
    std::vector<float> bits;
    std::vector<bool> taken(kPixels);
    for (uint32_t k = 0; seeds.size() < 2 * kSeeds; ++k) {
        const uint32_t place = host_pcg(k) % uint32_t(kPixels);
        if (!taken[place]) seeds.insert(seeds.end(), {int(place / kSide), int(place % kSide)});
        taken[place] = true;
    }
    for (int value : seeds) bits.push_back(std::bit_cast<float>(value));
    // Of each of nine candidates in every pass: the way 2, its square 3, and 2 to compare.
    return {.least = {8.0 * kSeeds, 4.0 * kPixels, 9.0 * 7 * kPasses * kPixels},
            .arguments = {bits},
            .results = {kPixels},
            .firn = [f, s = tensor(seeds, {kSeeds, 2})] { return std::vector<Tensor>{f(s)}; },
            .best = through_texels(flood_by_hand("[[unroll]]")),
            .plain = flood_by_hand(""),
            .tolerance = 0};
}

constexpr int kGrid = 256, kRounds = 24;
constexpr int64_t kPlaces = int64_t(kGrid) * kGrid;

/// Points no nearer to one another than the square root of 2, at most one in a square of a grid. In
/// every round a free square throws a dart, which stays where no point is too near, and no other
/// dart of a smaller rank. L. Wei, "Parallel Poisson Disk Sampling", 2008, in spirit.
std::tuple<Tensor, Tensor, Tensor> throw_darts(Tensor seed) {
    auto [i, j] = indices<2>({kGrid, kGrid});
    Tensor taken = zeros({kGrid, kGrid}, boolean), y = zeros({kGrid, kGrid}), x = y;
    for (Tensor round : loop(kRounds)) {
        Tensor key = pcg(cast<uint32_t>(i * kGrid + j) + pcg(round + seed));
        Tensor dart_y = i + pcgf(key), dart_x = j + pcgf(key + 1u), rank = pcg(key + 2u);
        Tensor stays = !taken;
        for (int dy = -2; dy <= 2; ++dy)
            for (int dx = -2; dx <= 2; ++dx) {
                if (dy == 0 && dx == 0) continue;
                Tensor row = i + dy, column = j + dx;
                Tensor inside = (row >= 0) & (row < kGrid) & (column >= 0) & (column < kGrid);
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
    Plane taken(kGrid, kGrid), y = taken, x = taken, dart_y = taken, dart_x = taken;
    std::vector<uint32_t> rank(kPlaces);
    for (uint32_t round = 0; round < kRounds; ++round) {
        for (size_t k = 0; k < rank.size(); ++k) {
            const uint32_t key = host_pcg(uint32_t(k) + host_pcg(round + seed));
            dart_y.values[k] = float(k / kGrid) + host_pcgf(key);
            dart_x.values[k] = float(k % kGrid) + host_pcgf(key + 1);
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
        for (int i = 0; i < kGrid; ++i)
            for (int j = 0; j < kGrid; ++j)
                if (taken(i, j) == 0 && stays(i, j)) next(i, j) = 1;
        for (size_t k = 0; k < rank.size(); ++k)
            if (next.values[k] != taken.values[k])
                y.values[k] = dart_y.values[k], x.values[k] = dart_x.values[k];
        taken = next;
    }
    out.results = {taken.values, y.values, x.values};
    return out;
}

Contest poisson_disc() {
    constexpr uint32_t kSeed = 7;
    auto f = compile(throw_darts, {u32()});
    // A distance is 6 with its comparison.
    return {.least = {0, 12.0 * kPlaces, 6 * host_samples(kSeed).distances},
            .arguments = {},
            .results = {kPlaces, kPlaces, kPlaces},
            .firn =
                [=] {
                    auto [taken, y, x] = f(kSeed);
                    return std::vector<Tensor>{taken, y, x};
                },
            .best = {},
            .plain = {},
            .tolerance = 2e-3,
            .difference = share_that_differs,
            .expected = [=] { return host_samples(kSeed).results; }};
}

}  // namespace

void add_points(std::vector<Case>& cases) {
    cases.push_back({"jump_flooding", jump_flooding, Section::HeldOut});
    cases.push_back({"poisson_disc", poisson_disc, Section::HeldOut});
}

}  // namespace firn::bench
