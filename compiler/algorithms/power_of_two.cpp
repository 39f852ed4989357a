// Logarithms of sizes as sums of comparisons, which symbols allow.
#include "compiler/algorithms/power_of_two.h"

namespace firn {
namespace {

/// 1 where n > 2^k, else 0.
Size above(const Size& n, int k) { return min(max(n - Size(int64_t{1} << k), Size(0)), Size(1)); }

}  // namespace

// The sums are wrapped into an extremum that changes nothing: in further arithmetic it is one atom
// instead of 31 terms.

Size log2_from(const Size& n) {
    Size count = 0;
    for (int k = 0; k < 31; ++k) count += above(n, k);
    return min(count, n);
}

Size power_of_two_from(const Size& n) {
    Size power = 1;
    for (int k = 0; k < 31; ++k) power += Size(int64_t{1} << k) * above(n, k);
    return max(power, n);
}

}  // namespace firn
