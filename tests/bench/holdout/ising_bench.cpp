// Ising's model of a magnet: Metropolis sweeps over a checkerboard of spins, and their sums.
#include <firn/firn.h>

#include <cmath>
#include <tuple>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kIsingSide = 1024, kIsingSweeps = 4;
constexpr int64_t kIsingSites = int64_t(kIsingSide) * kIsingSide;
constexpr float kIsingBeta = 0.44f;  // close to where order sets in

/// Spins of -1 and 1, and their mean after each sweep.
struct Ising {
    Tensor spins, magnetisation;
};

/// N. Metropolis et al., "Equation of State Calculations by Fast Computing Machines", 1953; the
/// fields of a checkerboard alternately, as in T. Preis et al., "GPU accelerated Monte Carlo
/// simulation of the 2D and 3D Ising model", 2009. Around the edges.
Ising ising_sweeps(Tensor spins, Tensor beta) {
    auto [i, j] = indices<2>(spins.shape());
    Tensor site = i * Tensor(spins.size(1)) + j, colour = (i + j) % 2;
    Tensor magnetisation = zeros({kIsingSweeps});
    for (Tensor sweep : loop(kIsingSweeps)) {
        for (int turn = 0; turn < 2; ++turn) {
            Tensor around = roll(spins, 1, {.axis = 0}) + roll(spins, -1, {.axis = 0}) +
                            roll(spins, 1, {.axis = 1}) + roll(spins, -1, {.axis = 1});
            Tensor chance = exp(-2.0f * beta * spins * around);
            Tensor dice = pcgf(site + pcg(2 * sweep + turn));
            spins = where((colour == turn) & (dice < chance), -spins, spins);
        }
        magnetisation(sweep) = mean(spins);
    }
    return {spins, magnetisation};
}
Ising ising_sweeps_kernel(Tensor spins, Tensor beta) {
    auto h = spins.size(0), w = spins.size(1);
    Tensor magnetisation = zeros({kIsingSweeps});
    for (Tensor sweep : loop(kIsingSweeps)) {
        for (int turn = 0; turn < 2; ++turn)
            kernel({h, w / 2}, [&](Tensor i, Tensor half) {
                Tensor j = 2 * half + ((i + turn) & 1);
                Tensor spin = spins(i, j);
                Tensor around = wrap(spins)(i - 1, j) + wrap(spins)(i + 1, j) +
                                wrap(spins)(i, j - 1) + wrap(spins)(i, j + 1);
                Tensor dice = pcgf(i * Tensor(w) + j + pcg(2 * sweep + turn));
                if_(dice < exp(-2.0f * beta * spin * around), [&] { spins(i, j) = -spin; });
            });
        magnetisation(sweep) = mean(spins);
    }
    return {spins, magnetisation};
}

std::vector<std::vector<float>> host_ising(Plane spins) {
    constexpr int kMask = kIsingSide - 1;
    std::vector<float> magnetisation;
    for (int sweep = 0; sweep < kIsingSweeps; ++sweep) {
        for (int turn = 0; turn < 2; ++turn) {
            const uint32_t salt = host_pcg(uint32_t(2 * sweep + turn));
            for (int i = 0; i < kIsingSide; ++i)
                for (int j = (i + turn) & 1; j < kIsingSide; j += 2) {
                    const float around = spins((i - 1) & kMask, j) + spins((i + 1) & kMask, j) +
                                         spins(i, (j - 1) & kMask) + spins(i, (j + 1) & kMask);
                    float& spin = spins(i, j);
                    const float dice = host_pcgf(uint32_t(spins.place(i, j)) + salt);
                    if (spin * around <= 0 || dice < std::exp(-2.0f * kIsingBeta * (spin * around)))
                        spin = -spin;
                }
        }
        double sum = 0;
        for (const float spin : spins.values) sum += double(spin);
        magnetisation.push_back(float(sum / double(kIsingSites)));
    }
    return {spins.values, magnetisation};
}

constexpr const char* kPlainIsingCopy = R"(
void main() {
    int at = int(gl_GlobalInvocationID.x);
    spins[at] = start_at(at);
}
)";

constexpr const char* kIsingHash = R"(
uint hash(uint x) {
    uint state = x * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}
)";

// An iteration works in place: it changes one colour and reads the other.
constexpr const char* kPlainIsingTurn = R"(
float spin_at(int y, int x) { return spins_at((y & 1023) * 1024 + (x & 1023)); }
void main() {
    int y = int(gl_GlobalInvocationID.y);
    int x = 2 * int(gl_GlobalInvocationID.x) + ((y + TURN) & 1), at = y * 1024 + x;
    float spin = spins_at(at);
    float around = spin_at(y - 1, x) + spin_at(y + 1, x) + spin_at(y, x - 1) + spin_at(y, x + 1);
    float dice = float(hash(uint(at) + hash(uint(TURN))) >> 8) / 16777216.0;
    if (dice < exp(-2.0 * 0.44 * spin * around)) spins[at] = -spin;
}
)";

constexpr const char* kPlainIsingRows = R"(
void main() {
    int y = int(gl_GlobalInvocationID.x);
    float sum = 0.0;
    for (int x = 0; x < 1024; ++x) sum += spins_at(y * 1024 + x);
    rows[y] = sum;
}
)";

constexpr const char* kPlainIsingMean = R"(
void main() {
    float sum = 0.0;
    for (int y = 0; y < 1024; ++y) sum += rows_at(y);
    magnetisation[SWEEP] = sum / (1024.0 * 1024.0);
}
)";

HandProgram plain_ising() {
    static const std::string turn_text = std::string(kIsingHash) + kPlainIsingTurn;
    HandProgram out;
    out.kernels = {{"ising_copy",
                    kPlainIsingCopy,
                    {256, 1, 1},
                    {int(kIsingSites / 256), 1, 1},
                    {{"start", As::Floats, 0}, {"spins", As::Floats, 1, true}},
                    {}},
                   {"ising_rows",
                    kPlainIsingRows,
                    {64, 1, 1},
                    {kIsingSide / 64, 1, 1},
                    {{"spins", As::Floats, 1}, {"rows", As::Floats, 3, true}},
                    {}}};
    out.temporaries = {kIsingSide};
    out.steps = {{0, {}}};
    for (int sweep = 0; sweep < kIsingSweeps; ++sweep) {
        for (int turn = 0; turn < 2; ++turn) {
            out.steps.push_back({int(out.kernels.size()), {}});
            out.kernels.push_back({"ising_turn",
                                   turn_text,
                                   {64, 4, 1},
                                   {kIsingSide / 2 / 64, kIsingSide / 4, 1},
                                   {{"spins", As::Floats, 1, true}},
                                   {{"TURN", 2 * sweep + turn}}});
        }
        out.steps.push_back({1, {}});
        out.steps.push_back({int(out.kernels.size()), {}});
        out.kernels.push_back({"ising_mean",
                               kPlainIsingMean,
                               {1, 1, 1},
                               {1, 1, 1},
                               {{"rows", As::Floats, 3}, {"magnetisation", As::Floats, 2, true}},
                               {{"SWEEP", sweep}}});
    }
    return out;
}

// All iterations in one dispatch, on bits: eight lanes have four words each, which is a whole row,
// and go down ROWS rows and TURNS more on either side, which the neighbours have too. In row y the
// first iteration takes row y - 1, the next one row y - 2, and so on, in place: the elements of the
// row above that an iteration reads have the other colour. Only rising energies need random
// numbers: LOW and HIGH are the chances where three or four neighbours agree, in 2^24ths. The spins
// are kept in a ring of 16 rows.
constexpr const char* kBestIsing = R"(
void main() {
    int lane = int(gl_LocalInvocationID.x), block = int(gl_WorkGroupID.x);
    int before = (lane + 7) & 7, after = (lane + 1) & 7;
    int begin = block * ROWS, end = begin + ROWS;
    uint ring[16 * 4];
    int ups[TURNS / 2];
    [[unroll]] for (int k = 0; k < TURNS / 2; ++k) ups[k] = 0;
    for (int k = 0; k < 16 * 4; ++k) ring[k] = 0u;
    for (int y = begin - TURNS; y < end + TURNS; ++y) {
        uint low[4];
        [[unroll]] for (int q = 0; q < 4; ++q) {
            uint word = 0u;
            [[unroll]] for (int k = 0; k < 8; ++k) {
                vec4 four = start_at((y & 1023) * 256 + lane * 32 + q * 8 + k);
                [[unroll]] for (int c = 0; c < 4; ++c)
                    word |= (~floatBitsToUint(four[c]) >> 31) << (4 * k + c);
            }
            low[q] = word;
            ring[(y & 15) * 4 + q] = word;
        }
        uint own[4];
        [[unroll]] for (int q = 0; q < 4; ++q) own[q] = ring[((y - 1) & 15) * 4 + q];
        for (int turn = 0; turn < TURNS; ++turn) {
            int row = y - 1 - turn;
            uint up[4];
            [[unroll]] for (int q = 0; q < 4; ++q) up[q] = ring[((row - 1) & 15) * 4 + q];
            uint from_left = eight_shuffle(own[3], before) >> 31;
            uint from_right = eight_shuffle(own[0], after) << 31;
            uint salt = hash(uint(turn)), first = uint((row + turn) & 1);
            uint site = uint((row & 1023) * 1024 + lane * 128) + first + salt;
            [[unroll]] for (int q = 0; q < 4; ++q) {
                uint here = own[q];
                uint left = (here << 1) | (q > 0 ? own[max(q - 1, 0)] >> 31 : from_left);
                uint right = (here >> 1) | (q < 3 ? own[min(q + 1, 3)] << 31 : from_right);
                uint a = ~(here ^ left), b = ~(here ^ right);
                uint c = ~(here ^ up[q]), d = ~(here ^ low[q]);
                uint both = a & b, other = c & d;
                uint four = both & other, three = (both & (c | d)) | (other & (a | b));
                uint below_low = 0u, below_high = 0u;
                [[unroll]] for (int k = 0; k < 16; ++k) {
                    int dice = int(hash(site + uint(32 * q + 2 * k)) >> 8);
                    below_low |= (uint(dice - LOW) >> 31) << (2 * k);
                    below_high |= (uint(dice - HIGH) >> 31) << (2 * k);
                }
                below_low <<= first, below_high <<= first;
                uint flip = (~three | (below_low & ~four) | below_high) & (0x55555555u << first);
                own[q] = here ^ flip;
                ring[(row & 15) * 4 + q] = own[q];
            }
            if ((turn & 1) == 1 && row >= begin && row < end)
                [[unroll]] for (int q = 0; q < 4; ++q) ups[turn >> 1] += bitCount(own[q]);
            [[unroll]] for (int q = 0; q < 4; ++q) low[q] = own[q], own[q] = up[q];
        }
        int row = y - TURNS;
        if (row >= begin && row < end) {
            [[unroll]] for (int q = 0; q < 4; ++q)
                [[unroll]] for (int k = 0; k < 8; ++k) {
                    uint bits = ~low[q] >> (4 * k);
                    uvec4 signs = uvec4(bits, bits >> 1, bits >> 2, bits >> 3) << 31;
                    spins[row * 256 + lane * 32 + q * 8 + k] = uintBitsToFloat(signs | 0x3f800000u);
                }
        }
    }
    [[unroll]] for (int k = 0; k < TURNS / 2; ++k) {
        int sum = int(eight_sum(float(ups[k])));
        if (lane == 0) parts[block * (TURNS / 2) + k] = sum;
    }
}
)";

constexpr const char* kBestIsingMean = R"(
void main() {
    int sweep = int(gl_LocalInvocationID.x), ups = 0;
    for (int block = 0; block < BLOCKS; ++block) ups += parts_at(block * SWEEPS + sweep);
    magnetisation[sweep] = float(2 * ups - 1024 * 1024) / (1024.0 * 1024.0);
}
)";

HandProgram best_ising() {
    static const std::string text = std::string(kIsingHash) + kBestIsing;
    constexpr int kRows = kIsingSide / 4, kBlocks = kIsingSide / kRows;
    const auto chance = [](float rise) {
        return int(std::ceil(16777216.0f * std::exp(-2.0f * kIsingBeta * rise)));
    };
    HandProgram out;
    out.kernels = {
        {"ising",
         text,
         {8, 1, 1},
         {kBlocks, 1, 1},
         {{"start", As::Texels4, 0}, {"spins", As::Vec4s, 1, true}, {"parts", As::Ints, 3, true}},
         {{"TURNS", 2 * kIsingSweeps}, {"ROWS", kRows}, {"LOW", chance(2)}, {"HIGH", chance(4)}}},
        {"ising_mean",
         kBestIsingMean,
         {kIsingSweeps, 1, 1},
         {1, 1, 1},
         {{"parts", As::Ints, 3}, {"magnetisation", As::Floats, 2, true}},
         {{"BLOCKS", kBlocks}, {"SWEEPS", kIsingSweeps}}}};
    out.temporaries = {kBlocks * kIsingSweeps};
    return out;
}

Contest ising(Ising (*program)(Tensor, Tensor)) {
    auto f = compile(program, {f32("h", "w"), f32()});
    Plane spins(kIsingSide, kIsingSide, numbers(kIsingSites, -1.0f, 1.0f, 3));
    for (float& spin : spins.values) spin = spin < 0 ? -1.0f : 1.0f;
    // The fewest operations known. A site needs a random number if three or four neighbours agree
    // with it: those are 10 operations on integers, which count as such of floats here, and two to
    // compare and flip. Comparisons with the neighbours can be done for 32 sites at once.
    constexpr double kThrown = 0.66;
    return {.least = {4.0 * kIsingSites, 4.0 * kIsingSites,
                      12.0 * kThrown * kIsingSweeps * kIsingSites},
            .arguments = {spins.values},
            .results = {kIsingSites, kIsingSweeps},
            .firn =
                [f, start = tensor(spins.values, {kIsingSide, kIsingSide})] {
                    auto [a, b] = f(start, kIsingBeta);
                    return std::vector<Tensor>{a, b};
                },
            .best = best_ising(),
            .plain = plain_ising(),
            // One random number in some millions lies so close to its chance that exp decides, and
            // its consequences spread by a site with each iteration.
            .tolerance = 1e-3,
            .difference = share_that_differs,
            .expected = [=] { return host_ising(spins); }};
}

constexpr const char* kIsingFar =
    "turns wait for one another, and lanes throw dice for sites that need none";

}  // namespace

void add_ising(std::vector<Case>& cases) {
    cases.push_back({"ising", [] { return ising(ising_sweeps); }, Section::Holdout, kIsingFar});
    cases.push_back(
        {"ising_kernel", [] { return ising(ising_sweeps_kernel); }, Section::Holdout, kIsingFar});
}

}  // namespace firn::bench
