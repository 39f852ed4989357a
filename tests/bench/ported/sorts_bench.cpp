// Sorts as one writes them: bitonic ones by stores and by kernels, and one by digits of four bits.
#include <firn/firn.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "tests/bench/ported/ported.h"

namespace firn::bench {
namespace {

constexpr int kSortsLevels = 20;
constexpr int64_t kSortsCount = int64_t(1) << kSortsLevels;

/// The pairs that step `j` of level `k` compares, and whether they change places: t-th of all.
struct Pairs {
    Tensor low, high, a, b, swap;
    Pairs(const Tensor& x, const Tensor& t, const Tensor& k, const Tensor& j) {
        Tensor distance = 1 << (k - j);
        low = t / distance * (2 * distance) + t % distance;
        high = low + distance;
        a = x(low), b = x(high);
        swap = (a > b) == ((low & (2 << k)) == 0);
    }
};

Tensor sorted_by_stores(Tensor x) {
    for (Tensor k : loop(kSortsLevels))
        for (Tensor j : loop(k + 1)) {
            const Pairs pairs(x, arange(floor_div(x.size(0), 2)), k, j);
            x(pairs.low) = select(pairs.swap, pairs.b, pairs.a);
            x(pairs.high) = select(pairs.swap, pairs.a, pairs.b);
        }
    return x;
}

Tensor sorted_by_kernels(Tensor x) {
    for (Tensor k : loop(kSortsLevels))
        for (Tensor j : loop(k + 1))
            kernel({floor_div(x.size(0), 2)}, [&](Tensor t) {
                const Pairs pairs(x, t, k, j);
                x(pairs.low) = select(pairs.swap, pairs.b, pairs.a);
                x(pairs.high) = select(pairs.swap, pairs.a, pairs.b);
            });
    return x;
}

Tensor sorted_by_values(Tensor x) {
    Tensor i = arange(x.size(0));
    for (Tensor k : loop(kSortsLevels))
        for (Tensor j : loop(k + 1)) {
            Tensor other = i ^ (1 << (k - j)), y = x(other);
            x = select((other > i) == ((i & (2 << k)) == 0), min(x, y), max(x, y));
        }
    return x;
}

// The level and the step of it go to and fro between two buffers.
constexpr const char* kBitonicStart = R"(
void main() {
    uint i = gl_GlobalInvocationID.x;
    y[i] = x[i];
    if (i == 0u) turn[0] = turn[1] = 0;
}
)";
constexpr const char* kBitonicStage = R"(
void main() {
    int t = int(gl_GlobalInvocationID.x), level = turn[0], stage = turn[1], far = level - stage;
    int low = ((t >> far) << (far + 1)) + (t & ((1 << far) - 1)), high = low + (1 << far);
    float a = y[low], b = y[high];
    if ((a > b) == ((low & (2 << level)) == 0)) {
        y[low] = b;
        y[high] = a;
    }
    if (t == 0) {
        next[0] = stage == level ? level + 1 : level;
        next[1] = stage == level ? 0 : stage + 1;
    }
}
)";

HandProgram bitonic_by_stages() {
    constexpr int kIn = 0, kOut = 1, kTurns = 2;  // two of these
    HandProgram out;
    out.temporaries = {2, 2};
    out.kernels.push_back(
        {"bitonic_start",
         kBitonicStart,
         {256, 1, 1},
         {int(kSortsCount / 256), 1, 1},
         {{"x", As::Floats, kIn}, {"y", As::Floats, kOut, true}, {"turn", As::Ints, kTurns, true}},
         {}});
    out.kernels.push_back({"bitonic_stage",
                           kBitonicStage,
                           {256, 1, 1},
                           {int(kSortsCount / 512), 1, 1},
                           {{"turn", As::Ints, kTurns},
                            {"next", As::Ints, kTurns + 1, true},
                            {"y", As::Floats, kOut, true}},
                           {}});
    out.steps.push_back({0, {}});
    for (int k = 0; k < kSortsLevels * (kSortsLevels + 1) / 2; ++k)
        out.steps.push_back({1, {kTurns + k % 2, kTurns + (k + 1) % 2, kOut}});
    return out;
}

// A subgroup sorts, or merges, a block of 512 floats: bits 0 and 1 of a place are the component of
// a vec4, bits 2 to 4 the lane, bits 5 to 8 the vec4. For a descending order the signs are
// inverted.
constexpr const char* kBitonicBlock = R"(
vec4 v[16];
int lane = int(gl_LocalInvocationID.x), block = int(gl_WorkGroupID.x), own = block * 128 + lane;
#define EACH [[unroll]] for (int q = 0; q < 16; ++q)
#define TURN(FALLS) EACH v[q] *= (FALLS) != 0 ? -1.0 : 1.0;
#define OF_PARTS EACH v[q] = vec4(min(v[q].xz, v[q].yw), max(v[q].xz, v[q].yw)).xzyw;
#define OF_HALVES EACH v[q] = vec4(min(v[q].xy, v[q].zw), max(v[q].xy, v[q].zw));
#define OF_LANES(FAR) EACH { \
    vec4 other = subgroupShuffleXor(v[q], FAR); \
    v[q] = (lane & FAR) != 0 ? max(v[q], other) : min(v[q], other); }
#define OF_VECTORS(FAR) EACH if ((q & FAR) == 0) { \
    vec4 least = min(v[q], v[q + FAR]); v[q + FAR] = max(v[q], v[q + FAR]); v[q] = least; }
#define IN_VECTOR OF_HALVES OF_PARTS
#define IN_LANES OF_LANES(4) OF_LANES(2) OF_LANES(1) IN_VECTOR
)";
constexpr const char* kBitonicSort = R"(
void main() {
    EACH v[q] = x_at(own + 8 * q);
    vec4 second = vec4(1, 1, -1, -1);
    EACH v[q] *= second;
    OF_PARTS
    EACH v[q] *= second;
    TURN(lane & 1) IN_VECTOR TURN(lane & 1)
    TURN(lane & 2) OF_LANES(1) IN_VECTOR TURN(lane & 2)
    TURN(lane & 4) OF_LANES(2) OF_LANES(1) IN_VECTOR TURN(lane & 4)
    TURN(q & 1) IN_LANES TURN(q & 1)
    TURN(q & 2) OF_VECTORS(1) IN_LANES TURN(q & 2)
    TURN(q & 4) OF_VECTORS(2) OF_VECTORS(1) IN_LANES TURN(q & 4)
    TURN(q & 8) OF_VECTORS(4) OF_VECTORS(2) OF_VECTORS(1) IN_LANES TURN(q & 8)
    TURN(block & 1)
    OF_VECTORS(8) OF_VECTORS(4) OF_VECTORS(2) OF_VECTORS(1) IN_LANES
    TURN(block & 1)
    EACH y[own + 8 * q] = v[q];
    if (own == 0) next[0] = 9;
}
)";
constexpr const char* kBitonicMerge = R"(
void main() {
    int level = turn_at(0);
    EACH v[q] = x_at(own + 8 * q);
    TURN(block >> (level - 8) & 1)
    OF_VECTORS(8) OF_VECTORS(4) OF_VECTORS(2) OF_VECTORS(1) IN_LANES
    TURN(block >> (level - 8) & 1)
    EACH y[own + 8 * q] = v[q];
    if (own == 0) next[0] = level + 1;
}
)";
// The first of a level's stages: `STAGES` of them in registers, down to bit `LOW` of a place; where
// that is 0, from the level's own bit.
constexpr const char* kBitonicFar = R"(
vec4 v[1 << STAGES];
#define STAGE(FAR) if (FAR < (1 << STAGES)) [[unroll]] for (int q = 0; q < (1 << STAGES); ++q) \
    if ((q & FAR) == 0) { \
        vec4 least = min(v[q], v[(q | FAR) & ((1 << STAGES) - 1)]); \
        v[(q | FAR) & ((1 << STAGES) - 1)] = max(v[q], v[(q | FAR) & ((1 << STAGES) - 1)]); \
        v[q] = least; }
void main() {
    int t = int(gl_GlobalInvocationID.x), level = turn_at(0);
    int low = (LOW != 0 ? LOW : level + 1 - STAGES) - 2;
    int own = ((t >> low) << (low + STAGES)) + (t & ((1 << low) - 1));
    float sign = (own >> (level - 1) & 1) != 0 ? -1.0 : 1.0;
    [[unroll]] for (int q = 0; q < (1 << STAGES); ++q) v[q] = sign * x_at(own + (q << low));
    STAGE(8) STAGE(4) STAGE(2) STAGE(1)
    [[unroll]] for (int q = 0; q < (1 << STAGES); ++q) y[own + (q << low)] = sign * v[q];
}
)";

HandProgram bitonic_by_blocks() {
    constexpr int kIn = 0, kOut = 1, kTurns = 2;  // two of these
    constexpr int kNear = 9, kAtOnce = 4;
    HandProgram out;
    out.temporaries = {1, 1};
    const std::string block = kBitonicBlock;
    const HandBinding y{"y", As::Vec4s, kOut, true}, old{"x", As::Texels4, kOut},
        turn{"turn", As::Ints, kTurns}, next{"next", As::Ints, kTurns + 1, true};
    out.kernels.push_back({"bitonic_sort",
                           block + kBitonicSort,
                           {8, 1, 1},
                           {int(kSortsCount >> kNear), 1, 1},
                           {next, {"x", As::Texels4, kIn}, y},
                           {}});
    out.kernels.push_back({"bitonic_merge",
                           block + kBitonicMerge,
                           {8, 1, 1},
                           {int(kSortsCount >> kNear), 1, 1},
                           {turn, next, old, y},
                           {}});
    const auto add = [&](int stages, int low) {
        out.kernels.push_back({"bitonic_far",
                               kBitonicFar,
                               {64, 1, 1},
                               {int(kSortsCount / 256) >> stages, 1, 1},
                               {turn, old, y},
                               {{"STAGES", stages}, {"LOW", low}}});
    };
    for (int stages = 1; stages < kAtOnce; ++stages) add(stages, 0);
    for (int low = kNear; low + kAtOnce <= kSortsLevels; low += kAtOnce) add(kAtOnce, low);
    out.steps.push_back({0, {kTurns, kIn, kOut}});
    for (int level = kNear; level < kSortsLevels; ++level) {
        const int odd = (level - kNear) % 2, from = kTurns + odd, to = kTurns + 1 - odd;
        const int far = level + 1 - kNear, rest = far % kAtOnce;
        if (rest > 0) out.steps.push_back({1 + rest, {from, kOut, kOut}});
        for (int k = far / kAtOnce; k > 0; --k)
            out.steps.push_back({kAtOnce + k, {from, kOut, kOut}});
        out.steps.push_back({1, {from, to, kOut, kOut}});
    }
    return out;
}

Contest bitonic(Tensor (*sorted)(Tensor)) {
    const std::vector<float> keys = numbers(kSortsCount, -1, 1);
    auto f = compile(sorted, {f32("n")});
    return {.least = {4.0 * kSortsCount, 4.0 * kSortsCount, 2.0 * kSortsCount * kSortsLevels},
            .arguments = {keys},
            .results = {kSortsCount},
            .firn = [f, x = tensor(keys)] { return std::vector<Tensor>{f(x)}; },
            .best = bitonic_by_blocks(),
            .plain = bitonic_by_stages(),
            .tolerance = 0,
            .expected =
                [keys] {
                    std::vector<float> out = keys;
                    std::sort(out.begin(), out.end());
                    return std::vector<std::vector<float>>{out};
                }};
}

/// Counts of each block's digits, summed up, say where the block's keys of a digit begin.
std::tuple<Tensor, Tensor> sorted_by_digits(Tensor keys, Tensor values) {
    constexpr int kBlock = 64;
    Size n = keys.size(0), blocks = ceil_div(n, kBlock);
    Tensor i = arange(n), block = i / kBlock;
    for (Tensor pass : loop(8)) {
        Tensor digit = (keys >> (4 * pass)) & 15;
        Tensor counts = zeros({16, blocks}, i32);
        scatter_add(counts(digit, block), 1);
        Tensor flat = reshape(counts, {16 * blocks});
        Tensor begin = reshape(cumsum(flat) - flat, {16, blocks}), rank = zeros({n}, i32);
        for (Tensor k : loop(kBlock)) {
            Tensor other = block * kBlock + k;
            rank = rank + select((other < i) & (digit(other) == digit), 1, 0);
        }
        Tensor to = begin(digit, block) + rank, old_keys = keys, old_values = values;
        keys(to) = old_keys;
        values(to) = old_values;
    }
    return {keys, values};
}

// Blocks of 64 keys, a group each; counts lie by digits first.
constexpr const char* kDigitCounts = R"(
shared int count[16];
void main() {
    int lane = int(gl_LocalInvocationID.x), block = int(gl_WorkGroupID.x);
    if (lane < 16) count[lane] = 0;
    barrier();
    atomicAdd(count[(keys[block * 64 + lane] >> SHIFT) & 15], 1);
    barrier();
    if (lane < 16) counts[lane * BLOCKS + block] = count[lane];
}
)";
constexpr const char* kDigitSums = R"(
void main() {
    int part = int(gl_GlobalInvocationID.x), sum = 0;
    for (int k = 0; k < 512; ++k) sum += counts[part * 512 + k];
    sums[part] = sum;
}
)";
constexpr const char* kDigitSumsBefore = R"(
shared int before[512];
void main() {
    int lane = int(gl_LocalInvocationID.x), own = sums[lane], sum = own;
    for (int far = 1; far < 512; far *= 2) {
        before[lane] = sum;
        barrier();
        if (lane >= far) sum += before[lane - far];
        barrier();
    }
    sums[lane] = sum - own;
}
)";
constexpr const char* kDigitBegins = R"(
void main() {
    int part = int(gl_GlobalInvocationID.x), sum = sums[part];
    for (int k = part * 512; k < part * 512 + 512; ++k) {
        begins[k] = sum;
        sum += counts[k];
    }
}
)";
constexpr const char* kDigitMoves = R"(
shared int digits[64];
void main() {
    int lane = int(gl_LocalInvocationID.x), block = int(gl_WorkGroupID.x), i = block * 64 + lane;
    int key = keys[i], digit = (key >> SHIFT) & 15;
    digits[lane] = digit;
    barrier();
    int place = begins[digit * BLOCKS + block];
    for (int k = 0; k < lane; ++k) place += digits[k] == digit ? 1 : 0;
    keys_to[place] = STORED(key);
    values_to[place] = STORED(values[i]);
}
)";

// An invocation has a run of its own, whose keys of a digit lie in order.
constexpr const char* kRunCounts = R"(
void main() {
    int run = int(gl_GlobalInvocationID.x), count[16];
    [[unroll]] for (int d = 0; d < 16; ++d) count[d] = 0;
    for (int i = run * RUN / 4; i < (run + 1) * RUN / 4; ++i) {
        ivec4 digit = (floatBitsToInt(keys_at(i)) >> SHIFT) & 15;
        [[unroll]] for (int l = 0; l < 4; ++l) ++count[digit[l]];
    }
    [[unroll]] for (int d = 0; d < 16; ++d) counts[d * RUNS + run] = count[d];
}
)";
constexpr const char* kRunMoves = R"(
void main() {
    int run = int(gl_GlobalInvocationID.x), next[16];
    [[unroll]] for (int d = 0; d < 16; ++d) next[d] = begins_at(d * RUNS + run);
    for (int i = run * RUN / 4; i < (run + 1) * RUN / 4; ++i) {
        ivec4 key = floatBitsToInt(keys_at(i)), value = floatBitsToInt(values_at(i));
        [[unroll]] for (int l = 0; l < 4; ++l) {
            int place = next[(key[l] >> SHIFT) & 15]++;
            keys_to[place] = STORED(key[l]);
            values_to[place] = STORED(value[l]);
        }
    }
}
)";

HandProgram radix_by_hand(bool best) {
    // Buffers in pairs of keys and values: arguments, results, and two on the way.
    constexpr int kIn = 0, kOut = 2, kOneWay = 4, kOtherWay = 6, kCounts = 8, kBegins = 9,
                  kSums = 10;
    constexpr int kPasses = 8, kBlocks = int(kSortsCount / 64), kRuns = 128, kParts = 512;
    const As read = best ? As::Texels4 : As::Ints;
    const HandBinding counts{"counts", best ? As::IntTexels : As::Ints, kCounts},
        begins{"begins", best ? As::IntTexels : As::Ints, kBegins},
        counts_to{"counts", As::Ints, kCounts, true}, begins_to{"begins", As::Ints, kBegins, true},
        sums_to{"sums", As::Ints, kSums, true};
    HandProgram out;
    out.temporaries = {kSortsCount,  kSortsCount,  kSortsCount, kSortsCount,
                       16 * kBlocks, 16 * kBlocks, kParts};
    if (best) {
        out.kernels.push_back({"radix_begins",
                               kScanCounts,
                               {8, 1, 1},
                               {1, 1, 1},
                               {counts, begins_to},
                               {{"DIGITS", 16}, {"RUNS", kRuns}}});
    } else {
        out.kernels.push_back(
            {"radix_sums", kDigitSums, {64, 1, 1}, {kParts / 64, 1, 1}, {counts, sums_to}, {}});
        out.kernels.push_back(
            {"radix_sums_before", kDigitSumsBefore, {kParts, 1, 1}, {1, 1, 1}, {sums_to}, {}});
        out.kernels.push_back({"radix_begins",
                               kDigitBegins,
                               {64, 1, 1},
                               {kParts / 64, 1, 1},
                               {counts, {"sums", As::Ints, kSums}, begins_to},
                               {}});
    }
    const int scans = int(out.kernels.size());
    for (int pass = 0; pass < kPasses; ++pass) {
        const bool last = pass + 1 == kPasses;
        const int from = pass == 0 ? kIn : pass % 2 ? kOneWay : kOtherWay;
        const int to = last ? kOut : pass % 2 ? kOtherWay : kOneWay;
        const std::vector<std::pair<std::string, int>> constants{{"SHIFT", 4 * pass},
                                                                 {"BLOCKS", kBlocks},
                                                                 {"RUNS", kRuns},
                                                                 {"RUN", int(kSortsCount / kRuns)}};
        const std::array<uint32_t, 3> size{best ? 8u : 64u, 1, 1};
        const std::array<int, 3> groups{best ? kRuns / 8 : kBlocks, 1, 1};
        const HandBinding keys{"keys", read, from}, values{"values", read, from + 1};
        const As stored = last ? As::Floats : As::Ints;
        out.kernels.push_back({"radix_counts",
                               best ? kRunCounts : kDigitCounts,
                               size,
                               groups,
                               {keys, counts_to},
                               constants});
        out.kernels.push_back({"radix_moves",
                               std::string("#define STORED ") + (last ? "float" : "int") +
                                   (best ? kRunMoves : kDigitMoves),
                               size,
                               groups,
                               {keys,
                                values,
                                begins,
                                {"keys_to", stored, to, true},
                                {"values_to", stored, to + 1, true}},
                               constants});
        out.steps.push_back({scans + 2 * pass, {}});
        for (int scan = 0; scan < scans; ++scan) out.steps.push_back({scan, {}});
        out.steps.push_back({scans + 2 * pass + 1, {}});
    }
    return out;
}

Contest radix_pairs() {
    std::vector<int> keys;
    std::vector<float> key_bits, value_bits;
    for (float x : numbers(kSortsCount, 0, 1)) {
        keys.push_back(int(x * 1e9f));
        key_bits.push_back(std::bit_cast<float>(keys.back()));
        value_bits.push_back(std::bit_cast<float>(int(value_bits.size())));
    }
    auto f = compile(sorted_by_digits, {i32("n"), i32("n")});
    return {.least = {8.0 * kSortsCount, 8.0 * kSortsCount, 8.0 * kSortsCount},
            .arguments = {key_bits, value_bits},
            .results = {kSortsCount, kSortsCount},
            .firn =
                [f, k = tensor(keys), v = arange(kSortsCount)] {
                    auto [sorted, places] = f(k, v);
                    return std::vector<Tensor>{sorted, places};
                },
            .best = radix_by_hand(true),
            .plain = radix_by_hand(false),
            .tolerance = 0,
            .expected =
                [keys] {
                    std::vector<int> places(keys.size()), sorted;
                    std::iota(places.begin(), places.end(), 0);
                    std::stable_sort(places.begin(), places.end(), [&](int a, int b) {
                        return keys[size_t(a)] < keys[size_t(b)];
                    });
                    for (int place : places) sorted.push_back(keys[size_t(place)]);
                    const std::vector<std::vector<float>> out{{sorted.begin(), sorted.end()},
                                                              {places.begin(), places.end()}};
                    return out;
                }};
}

}  // namespace

void add_ported_sorts(std::vector<Case>& cases) {
    cases.push_back({"bitonic_stores", [] { return bitonic(sorted_by_stores); }, Section::Ported,
                     "levels that no core holds are passes through memory, 210 levels in all"});
    cases.push_back({"bitonic_kernels", [] { return bitonic(sorted_by_kernels); }, Section::Ported,
                     "levels that no core holds are passes through memory, 210 levels in all"});
    cases.push_back({"bitonic_values", [] { return bitonic(sorted_by_values); }, Section::Ported,
                     "levels that no core holds are passes through memory, 210 levels in all"});
    cases.push_back({"radix_pairs", radix_pairs, Section::Ported,
                     "every digit is a pass: counts, their sums, and a move of all pairs"});
}

}  // namespace firn::bench
