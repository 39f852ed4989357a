// A million floats in order: four passes of eight bits, by hand and as the library sorts.
#include <firn/firn.h>

#include <algorithm>

#include "tests/bench/bench.h"

namespace firn::bench {
namespace {

constexpr int kCount = 1 << 20, kDigits = 256;
constexpr int kRuns = 64, kRun = kCount / kRuns;  // each invocation has a run of its own

// Integers in the order of the floats, and back; nan behind all others.
constexpr const char* kKeys = R"(
uint key_of(int bits) {
    uint u = uint(bits);
    if ((u & 0x7fffffffu) > 0x7f800000u) return 0xffffffffu;
    return (u & 0x80000000u) != 0u ? ~u : u ^ 0x80000000u;
}
int bits_of(uint key) {
    if (key == 0xffffffffu) return 0x7fc00000;
    return int((key & 0x80000000u) != 0u ? key ^ 0x80000000u : ~key);
}
uint key_at(int i) { return FIRST != 0 ? key_of(from_at(i)) : uint(from_at(i)); }
)";

constexpr const char* kCountDigits = R"(
void main() {
    int run = int(gl_GlobalInvocationID.x), count[256];
    for (int d = 0; d < 256; ++d) count[d] = 0;
    for (int i = run * RUN; i < run * RUN + RUN; i += 4)
        [[unroll]] for (int k = 0; k < 4; ++k) ++count[(key_at(i + k) >> SHIFT) & 255u];
    for (int d = 0; d < 256; ++d) counts[d * RUNS + run] = count[d];
}
)";

constexpr const char* kMoveKeys = R"(
void main() {
    int run = int(gl_GlobalInvocationID.x), next[256];
    for (int d = 0; d < 256; ++d) next[d] = begins_at(d * RUNS + run);
    for (int i = run * RUN; i < run * RUN + RUN; i += 4)
        [[unroll]] for (int k = 0; k < 4; ++k) {
            uint key = key_at(i + k), digit = (key >> SHIFT) & 255u;
            int place = next[digit]++;
            to[place] = LAST != 0 ? bits_of(key) : int(key);
        }
}
)";

HandProgram sort_by_hand(As read) {
    // Buffers: the floats, the result, counts, begins, keys on the way.
    constexpr int kFrom = 0, kResult = 1, kCounts = 2, kBegins = 3, kKeysA = 4, kKeysB = 5;
    HandProgram out;
    out.temporaries = {kDigits * kRuns, kDigits * kRuns, kCount, kCount};
    const int from[] = {kFrom, kKeysA, kKeysB, kKeysA}, to[] = {kKeysA, kKeysB, kKeysA, kResult};
    for (int pass = 0; pass < 4; ++pass) {
        const std::vector<std::pair<std::string, int>> constants{
            {"RUN", kRun},       {"DIGITS", kDigits},  {"RUNS", kRuns},
            {"SHIFT", 8 * pass}, {"FIRST", pass == 0}, {"LAST", pass == 3}};
        const HandBinding source{"from", read, from[pass]};
        out.kernels.push_back({"count",
                               std::string(kKeys) + kCountDigits,
                               {8, 1, 1},
                               {kRuns / 8, 1, 1},
                               {source, {"counts", As::Ints, kCounts, true}},
                               constants});
        out.kernels.push_back({"scan",
                               kScanCounts,
                               {8, 1, 1},
                               {1, 1, 1},
                               {{"counts", read, kCounts}, {"begins", As::Ints, kBegins, true}},
                               constants});
        out.kernels.push_back(
            {"move",
             std::string(kKeys) + kMoveKeys,
             {8, 1, 1},
             {kRuns / 8, 1, 1},
             {source, {"begins", read, kBegins}, {"to", As::Ints, to[pass], true}},
             constants});
    }
    return out;
}

}  // namespace

void add_sorts(std::vector<Case>& cases) {
    cases.push_back(
        {"sort",
         [] {
             const std::vector<float> x = numbers(kCount, -1, 1);
             auto f = compile([](Tensor v) { return sort(v); }, {f32("n")});
             return Contest{.least = {4.0 * kCount, 4.0 * kCount, 1.0 * kCount},
                            .arguments = {x},
                            .results = {kCount},
                            .firn = [f, v = tensor(x)] { return std::vector<Tensor>{f(v)}; },
                            .best = sort_by_hand(As::IntTexels),
                            .plain = sort_by_hand(As::Ints),
                            .processor = sort_on_threads(kCount),
                            .libraries = [] { return sort_libraries(kCount); },
                            .tolerance = 0,
                            .expected =
                                [x] {
                                    std::vector<float> out = x;
                                    std::sort(out.begin(), out.end());
                                    return std::vector<std::vector<float>>{out};
                                }};
         },
         Section::Own, "every digit is a pass: counts, their sums, and a move of all keys"});
}

}  // namespace firn::bench
