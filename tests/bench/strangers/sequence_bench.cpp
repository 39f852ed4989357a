// The best local alignment of two sequences, by anti-diagonals.
#include <firn/firn.h>

#include "tests/bench/strangers/strangers.h"

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

Contest smith_waterman() {
    auto f = compile(best_scores, {i32("n"), i32("m")});
    std::vector<int> a, b;
    for (uint32_t k = 0; k < kLength; ++k) {
        a.push_back(int(host_pcg(k) % 4));
        // Much of the second is the first, shifted.
        b.push_back(int(host_pcg(host_pcgf(k + 5000) < 0.7f ? k + 100 : k + 9000) % 4));
    }
    // Of a pair of letters: a comparison, two sums, four maxima.
    return {.least = {8.0 * kLength, 4.0 * kLength, 7.0 * kLength * kLength},
            .arguments = {},
            .results = {kLength},
            .firn = [f, x = tensor(a), y = tensor(b)] { return std::vector<Tensor>{f(x, y)}; },
            .best = {},
            .plain = {},
            .tolerance = 0,
            .expected = [=] { return host_scores(a, b); }};
}

}  // namespace

void add_sequences(std::vector<Case>& cases) {
    cases.push_back({"smith_waterman", smith_waterman, Section::HeldOut});
}

}  // namespace firn::bench
