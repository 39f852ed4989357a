// Run-length encoding of a sequence of integers.
#include <firn/firn.h>

#include <bit>
#include <tuple>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kRunLengthsCount = 1 << 21, kRunLengthsKinds = 8, kRunLengthsLongest = 16;

/// The values of the runs and their lengths, each followed by zeros, and the number of runs. A
/// prefix sum gives the place of each: G. Blelloch, "Prefix Sums and Their Applications", 1990.
std::tuple<Tensor, Tensor, Tensor> run_lengths_of(Tensor x) {
    Size n = x.size(0);
    Tensor i = arange(n);
    Tensor begins = (i == 0) | (x != x(i - 1));
    Tensor run = cumsum(begins) - 1;
    Tensor count = run(n - 1) + 1;
    Tensor values = zeros({n}, i32), starts = full({n + 1}, n);
    Tensor to = select(begins, run, -1);  // what goes outside is dropped
    values(to) = x;
    starts(to) = i;
    return {values, diff(starts), count};
}

std::vector<std::vector<float>> host_run_lengths(const std::vector<int>& x) {
    std::vector<float> values, lengths;
    for (size_t k = 0; k < x.size(); ++k) {
        if (k == 0 || x[k] != x[k - 1]) {
            values.push_back(float(x[k]));
            lengths.push_back(0);
        }
        ++lengths.back();
    }
    const float count = float(values.size());
    values.resize(x.size());
    lengths.resize(x.size());
    return {values, lengths, {count}};
}

constexpr const char* kRunLengthsBegins = R"(
shared int sum[256];
void main() {
    int k = int(gl_GlobalInvocationID.x), l = int(gl_LocalInvocationID.x);
    sum[l] = k == 0 || x_at(k) != x_at(max(k - 1, 0)) ? 1 : 0;
    barrier();
    for (int far = 1; far < 256; far *= 2) {
        int other = l >= far ? sum[l - far] : 0;
        barrier();
        sum[l] += other;
        barrier();
    }
    run[k] = sum[l];
    if (l == 255) total[gl_WorkGroupID.x] = sum[l];
}
)";
constexpr const char* kRunLengthsTotals = R"(
void main() {
    int before = 0;
    for (int k = 0; k < COUNT / 256; ++k) {
        int own = total[k];
        total[k] = before;
        before += own;
    }
    count[0] = float(before);
}
)";
constexpr const char* kRunLengthsStarts = R"(
void main() {
    int k = int(gl_GlobalInvocationID.x);
    if (k == 0 || x_at(k) != x_at(max(k - 1, 0)))
        start[total_at(gl_WorkGroupID.x) + run_at(k) - 1] = k;
}
)";
constexpr const char* kRunLengthsEnds = R"(
void main() {
    int k = int(gl_GlobalInvocationID.x), runs = int(count_at(0));
    values[k] = k < runs ? float(x_at(start_at(k))) : 0.0;
    lengths[k] = k < runs ? float((k + 1 < runs ? start_at(k + 1) : COUNT) - start_at(k)) : 0.0;
}
)";

HandProgram plain_run_lengths() {
    constexpr int kIn = 0, kValues = 1, kLengths = 2, kRuns = 3, kRun = 4, kTotal = 5, kStart = 6;
    constexpr int kGroups = kRunLengthsCount / 256;
    const HandBinding x{"x", As::Ints, kIn};
    const std::vector<std::pair<std::string, int>> constants{{"COUNT", kRunLengthsCount}};
    return {{{"run_lengths_begins",
              kRunLengthsBegins,
              {256, 1, 1},
              {kGroups, 1, 1},
              {x, {"run", As::Ints, kRun, true}, {"total", As::Ints, kTotal, true}},
              constants},
             {"run_lengths_totals",
              kRunLengthsTotals,
              {1, 1, 1},
              {1, 1, 1},
              {{"total", As::Ints, kTotal, true}, {"count", As::Floats, kRuns, true}},
              constants},
             {"run_lengths_starts",
              kRunLengthsStarts,
              {256, 1, 1},
              {kGroups, 1, 1},
              {x,
               {"run", As::Ints, kRun},
               {"total", As::Ints, kTotal},
               {"start", As::Ints, kStart, true}},
              constants},
             {"run_lengths_ends",
              kRunLengthsEnds,
              {256, 1, 1},
              {kGroups, 1, 1},
              {x,
               {"start", As::Ints, kStart},
               {"count", As::Floats, kRuns},
               {"values", As::Floats, kValues, true},
               {"lengths", As::Floats, kLengths, true}},
              constants}},
            {kRunLengthsCount, kGroups, kRunLengthsCount},
            {}};
}

// Each lane has a part of its own, in words of 32 elements: a bit where a run begins. All three
// kernels take 1.8 ms; 2.8 to 3.5 with a branch in the last one instead of its loops, and 1 to 2
// more with one for each bit in the second instead of its loop.
constexpr const char* kBestRunLengthsBegins = R"(
void main() {
    int part = int(gl_GlobalInvocationID.x), total = 0;
    int last = ints_at(max(part * PART - 1, 0));
    if (part == 0) last = ~ints_at(0);
    for (int word = 0; word < PART / 32; ++word) {
        int at = (part * PART + word * 32) / 4, own = 0;
        [[unroll]] for (int k = 0; k < 8; ++k) {
            ivec4 four = floatBitsToInt(x_at(at + k));
            own |= four.x != last ? 1 << (4 * k) : 0;
            own |= four.y != four.x ? 2 << (4 * k) : 0;
            own |= four.z != four.y ? 4 << (4 * k) : 0;
            own |= four.w != four.z ? 8 << (4 * k) : 0;
            last = four.w;
        }
        begins[part * (PART / 32) + word] = own;
        total += bitCount(own);
    }
    totals[part] = total;
}
)";
// Goes from bit to bit, so that as many stores are made as a word of eight lanes has runs at most.
constexpr const char* kBestRunLengthsStarts = R"(
void main() {
    int part = int(gl_GlobalInvocationID.x), lane = int(gl_LocalInvocationID.x), before = 0;
    for (int k = lane; k < part - lane; k += 8) before += totals_at(k);
    before = int(eight_sum(float(before)));
    int own_total = totals_at(part);
    [[unroll]] for (int k = 0; k < 7; ++k) {
        int other = eight_shuffle(own_total, k);
        before += k < lane ? other : 0;
    }
    for (int word = 0; word < PART / 32; ++word) {
        int own = begins_at(part * (PART / 32) + word), at = part * PART + word * 32;
        while (own != 0) {
            start[before++] = at + findLSB(own);
            own &= own - 1;
        }
    }
    if (part == COUNT / PART - 1) {
        count[0] = float(before);
        start[before] = COUNT;
    }
}
)";
// Loops, which a driver leaves where no lane goes on: it goes through both sides of a branch.
constexpr const char* kBestRunLengthsEnds = R"(
void main() {
    int runs = int(count_at(0)), end = (int(gl_WorkGroupID.x) + 1) * SPAN;
    int at = end - SPAN + int(gl_LocalInvocationID.x);
    for (; at < end && 4 * at < runs; at += 8) {
        ivec4 from = floatBitsToInt(start_at(at));
        ivec4 to = ivec4(from.yzw, starts_at(4 * at + 4));
        vec4 value, length_;
        [[unroll]] for (int c = 0; c < 4; ++c) {
            bool is_run = 4 * at + c < runs;
            value[c] = is_run ? float(ints_at(is_run ? from[c] : 0)) : 0.0;
            length_[c] = is_run ? float(to[c] - from[c]) : 0.0;
        }
        values[at] = value;
        lengths[at] = length_;
    }
    for (; at < end; at += 8) values[at] = vec4(0.0), lengths[at] = vec4(0.0);
}
)";

HandProgram best_run_lengths() {
    constexpr int kPart = 2048, kSpan = 1024, kGroups = kRunLengthsCount / kPart / 8;
    constexpr int kIn = 0, kValues = 1, kLengths = 2, kRuns = 3, kBegins = 4, kTotals = 5,
                  kStart = 6;
    const std::vector<std::pair<std::string, int>> constants{
        {"COUNT", kRunLengthsCount}, {"PART", kPart}, {"SPAN", kSpan}};
    return {{{"run_lengths_begins",
              kBestRunLengthsBegins,
              {8, 1, 1},
              {kGroups, 1, 1},
              {{"x", As::Texels4, kIn},
               {"ints", As::IntTexels, kIn},
               {"begins", As::Ints, kBegins, true},
               {"totals", As::Ints, kTotals, true}},
              constants},
             {"run_lengths_starts",
              kBestRunLengthsStarts,
              {8, 1, 1},
              {kGroups, 1, 1},
              {{"begins", As::IntTexels, kBegins},
               {"totals", As::IntTexels, kTotals},
               {"start", As::Ints, kStart, true},
               {"count", As::Floats, kRuns, true}},
              constants},
             {"run_lengths_ends",
              kBestRunLengthsEnds,
              {8, 1, 1},
              {kRunLengthsCount / 4 / kSpan, 1, 1},
              {{"ints", As::IntTexels, kIn},
               {"start", As::Texels4, kStart},
               {"starts", As::IntTexels, kStart},
               {"count", As::Texels, kRuns},
               {"values", As::Vec4s, kValues, true},
               {"lengths", As::Vec4s, kLengths, true}},
              constants}},
            {kRunLengthsCount / 32, kRunLengthsCount / kPart, kRunLengthsCount + 4},
            {}};
}

Contest run_lengths() {
    auto f = compile(run_lengths_of, {i32("n")});
    std::vector<int> x;
    std::vector<float> bits;
    for (uint32_t run = 0; x.size() < kRunLengthsCount; ++run) {
        const int value = int(host_pcg(run) % kRunLengthsKinds);
        const size_t length = 1 + host_pcg(run + 7777777) % kRunLengthsLongest;
        x.resize(std::min<size_t>(x.size() + length, kRunLengthsCount), value);
    }
    for (int value : x) bits.push_back(std::bit_cast<float>(value));
    // Operations per element: a comparison with the one before, and a sum.
    return {.least = {4.0 * kRunLengthsCount, 8.0 * kRunLengthsCount + 4, 2.0 * kRunLengthsCount},
            .arguments = {bits},
            .results = {kRunLengthsCount, kRunLengthsCount, 1},
            .firn =
                [f, x0 = tensor(x)] {
                    auto [values, lengths, count] = f(x0);
                    return std::vector<Tensor>{values, lengths, count};
                },
            .best = best_run_lengths(),
            .plain = plain_run_lengths(),
            .tolerance = 0,
            .expected = [x] { return host_run_lengths(x); }};
}

}  // namespace

void add_run_lengths(std::vector<Case>& cases) {
    cases.push_back({"run_lengths", run_lengths, Section::Training,
                     "where a run goes is known when all before it are counted"});
}

}  // namespace firn::bench
