// Bounds of an integer (an interval) and its congruence modulo another.
#pragma once
#include <cstdint>

namespace firn {

/// A number of 64 bits lies in [lo, hi]. Sums and products saturate, and an unbounded end stays
/// unbounded in every sum.
struct Interval {
    int64_t lo = INT64_MIN, hi = INT64_MAX;
    friend bool operator==(const Interval&, const Interval&) = default;
};
inline constexpr Interval kAnyI32{INT32_MIN, INT32_MAX};

inline bool contains(const Interval& a, int64_t value) { return a.lo <= value && value <= a.hi; }
inline bool contains(const Interval& a, const Interval& b) { return a.lo <= b.lo && b.hi <= a.hi; }

Interval operator+(const Interval& a, const Interval& b);
Interval operator-(const Interval& a);
Interval operator-(const Interval& a, const Interval& b);
Interval operator*(const Interval& a, const Interval& b);
Interval min(const Interval& a, const Interval& b);
Interval max(const Interval& a, const Interval& b);
/// Contains the values of either interval.
Interval join(const Interval& a, const Interval& b);
/// Quotient rounded down, and its remainder, which has the sign of b. x / 0 and x % 0 are 0.
Interval floor_div(const Interval& a, const Interval& b);
Interval mod(const Interval& a, const Interval& b);

/// It is `rem` modulo `mod`, where 0 <= rem < mod. mod 1: nothing is known; mod 0: it is `rem`.
struct Congruence {
    int64_t mod = 1, rem = 0;
    friend bool operator==(const Congruence&, const Congruence&) = default;
};

/// The value may be it.
bool contains(const Congruence& a, int64_t value);
Congruence operator+(const Congruence& a, const Congruence& b);
Congruence operator*(const Congruence& a, const Congruence& b);
Congruence join(const Congruence& a, const Congruence& b);
/// The congruence of a value that may have wrapped around by 2^32.
Congruence wrapped(const Congruence& a);
/// Returns the remainder of a division by `by`, from 0 to by - 1; -1: unknown.
int64_t remainder(const Congruence& a, int64_t by);

}  // namespace firn
