// The best local alignment of two sequences, by anti-diagonals.
#include <firn/firn.h>

#include <bit>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kLength = 1024, kMatch = 3, kMismatch = -3, kGap = 2;

/// The best score that ends at each element of `a`. T. Smith and M. Waterman, "Identification of
/// Common Molecular Subsequences", 1981. Element i of a diagonal d stands for (i, d - i).
Tensor best_scores(Tensor a, Tensor b) {
    Size n = a.size(0), m = b.size(0);
    Tensor i = arange(n), before = zeros({n}, i32), last = before, best = before;
    for (Tensor d : loop(n + m - 1)) {
        Tensor j = d - i;
        Tensor score = select(a == b(j), kMatch, kMismatch);
        Tensor next = max(zero(before)(i - 1) + score, max(last, zero(last)(i - 1)) - kGap);
        next = select((j >= 0) & (j < m), max(next, 0), 0);
        best = max(best, next);
        before = last;
        last = next;
    }
    return best;
}

std::vector<std::vector<float>> host_scores(const std::vector<int>& a, const std::vector<int>& b) {
    std::vector<int> above(b.size() + 1);
    std::vector<float> best;
    for (int letter : a) {
        std::vector<int> row(b.size() + 1);
        int most = 0;
        for (size_t j = 0; j < b.size(); ++j) {
            const int score = above[j] + (letter == b[j] ? kMatch : kMismatch);
            row[j + 1] = std::max({0, score, above[j + 1] - kGap, row[j] - kGap});
            most = std::max(most, row[j + 1]);
        }
        best.push_back(float(most));
        above = row;
    }
    return {best};
}

// One group, with an invocation for each letter of `a`, which keeps the scores of its letter.
constexpr const char* kScores = R"(
shared int line[2][LENGTH + 1];
void main() {
    int i = int(gl_LocalInvocationID.x), letter = a_at(i), before = 0, last = 0, best = 0;
    line[0][i + 1] = line[1][i + 1] = 0;
    if (i == 0) line[0][0] = line[1][0] = 0;
    barrier();
    for (int d = 0; d < 2 * LENGTH - 1; ++d) {
        int j = d - i, above = line[d & 1][i], next = 0;
        if (j >= 0 && j < LENGTH)
            next = max(max(before + (letter == b_at(j) ? MATCH : MISMATCH), 0),
                       max(last, above) - GAP);
        best = max(best, next);
        before = above;
        last = next;
        line[(d + 1) & 1][i + 1] = next;
        barrier();
    }
    y[i] = float(best);
}
)";
// Eight lanes with a run of letters of `a` each, in registers. A lane is four letters of `b` behind
// the lane before it, and takes that lane's last scores. Beyond the ends of `b` nothing matches, so
// that scores there stay 0 or fall.
constexpr const char* kBestScores = R"(
void main() {
    int lane = int(gl_LocalInvocationID.x), letter[RUN], last[RUN], best[RUN], corner = 0;
    [[unroll]] for (int r = 0; r < RUN; ++r) {
        letter[r] = a_at(lane * RUN + r);
        last[r] = best[r] = 0;
    }
    ivec4 bottom = ivec4(0);
    for (int turn = 0; turn < LENGTH / 4 + 7; ++turn) {
        int place = turn - lane;
        bool inside = place >= 0 && place < LENGTH / 4;
        ivec4 other = floatBitsToInt(b_at(clamp(place, 0, LENGTH / 4 - 1)));
        int match = inside ? MATCH : MISMATCH;
        int above[4];
        [[unroll]] for (int c = 0; c < 4; ++c) {
            int passed = subgroupShuffle(bottom[c], gl_SubgroupInvocationID - 1u);
            above[c] = lane > 0 ? passed : 0;
        }
        int before = corner;
        corner = above[3];
        [[unroll]] for (int r = 0; r < RUN; ++r) {
            int left = last[r], top = best[r], diagonal = before;
            before = left;
            [[unroll]] for (int c = 0; c < 4; ++c) {
                int score = max(diagonal + (letter[r] == other[c] ? match : MISMATCH), 0);
                diagonal = above[c];
                left = max(max(score, left - GAP), above[c] - GAP);
                top = max(top, left);
                above[c] = left;
            }
            last[r] = left;
            best[r] = top;
        }
        bottom = ivec4(above[0], above[1], above[2], above[3]);
    }
    [[unroll]] for (int r = 0; r < RUN; ++r) y[lane * RUN + r] = float(best[r]);
}
)";

Contest smith_waterman() {
    auto f = compile(best_scores, {i32("n"), i32("m")});
    std::vector<int> a, b;
    for (uint32_t k = 0; k < kLength; ++k) {
        a.push_back(int(host_pcg(k) % 4));
        // Much of the second is the first, shifted.
        b.push_back(int(host_pcg(host_pcgf(k + 5000) < 0.7f ? k + 100 : k + 9000) % 4));
    }
    std::vector<std::vector<float>> bits(2);
    for (size_t k = 0; k < kLength; ++k) {
        bits[0].push_back(std::bit_cast<float>(a[k]));
        bits[1].push_back(std::bit_cast<float>(b[k]));
    }
    HandProgram plain{
        {{"smith_waterman",
          kScores,
          {kLength, 1, 1},
          {1, 1, 1},
          {{"a", As::Ints, 0}, {"b", As::Ints, 1}, {"y", As::Floats, 2, true}},
          {{"LENGTH", kLength}, {"MATCH", kMatch}, {"MISMATCH", kMismatch}, {"GAP", kGap}}}},
        {},
        {}};
    HandProgram best = through_texels(plain);
    best.kernels[0].body = kBestScores;
    best.kernels[0].group_size = {8, 1, 1};
    best.kernels[0].bindings[1].as = As::Texels4;
    best.kernels[0].constants.push_back({"RUN", kLength / 8});
    // Operations per pair of letters: a comparison, two sums, four maxima.
    return {.least = {8.0 * kLength, 4.0 * kLength, 7.0 * kLength * kLength},
            .arguments = bits,
            .results = {kLength},
            .firn = [f, x = tensor(a), y = tensor(b)] { return std::vector<Tensor>{f(x, y)}; },
            .best = best,
            .plain = plain,
            .tolerance = 0,
            .expected = [=] { return host_scores(a, b); }};
}

}  // namespace

void add_sequences(std::vector<Case>& cases) {
    cases.push_back({"smith_waterman", smith_waterman, Section::Training,
                     "an antidiagonal waits for the one before: few lanes at a time"});
}

}  // namespace firn::bench
