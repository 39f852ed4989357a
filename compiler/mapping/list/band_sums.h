// Indices of the points of bands as sums, by which elements of one band are told apart.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "compiler/kernel/kernel_builder.h"
#include "compiler/program/affine.h"

namespace firn {

/// The parts of the index of a point along the axis, which is (points * high + u) * 2^exponent +
/// low, u being the point's place in its band, and low less than 2^exponent.
enum BandPart : uint8_t {
    kExponent,
    kHigh,
    kLow,
    kFar,      // 2^exponent
    kHighFar,  // high * 2^exponent
};
/// The number of the group along an axis.
struct GroupAlong {
    size_t axis;
    friend auto operator<=>(const GroupAlong&, const GroupAlong&) = default;
};
/// The number of the invocation in it.
struct LaneAlong {
    size_t axis;
    friend auto operator<=>(const LaneAlong&, const LaneAlong&) = default;
};
/// An atom of an index of a point; the nodes are of the kernel that is made.
using BandAtom = std::variant<LaneAlong, GroupAlong, BandPart, NodeId>;
using BandSum = Affine<BandAtom, int64_t, int64_t>;

inline BandSum number(int64_t value) { return {{}, value}; }
inline BandSum atom(const BandAtom& of, int64_t times = 1) {
    return times ? BandSum{{{of, times}}, 0} : BandSum{};
}
inline bool is_number(const BandSum& s) { return s.terms.empty(); }

/// Computes with indices as sums: each operation returns the sum of its result. Bands have `points`
/// points, and 2^exponent times that divides the `extent` of their axis. Sums are of numbers of 32
/// bits.
class BandAlgebra {
  public:
    BandAlgebra(const KernelBuilder& b, int64_t points, Size extent)
        : b_(b), points_(points), extent_(std::move(extent)) {}
    /// Each returns nothing if the result is no sum, and has to be computed.
    std::optional<BandSum> combined(KernelOp op, const BandSum& a, const BandSum& b) const;
    /// Returns the result of a comparison of two sums where it is known.
    std::optional<bool> compared(KernelOp op, const BandSum& a, const BandSum& b) const;
    /// Returns the sum as a Size if all its terms are parameters that the host computes.
    std::optional<Size> size_of(const BandSum& s) const;

  private:
    std::optional<Size> limit_of(const BandSum& s) const;
    std::optional<BandSum> quotient(const BandSum& a, int64_t w) const;
    std::optional<BandSum> remainder(const BandSum& a, int64_t w) const;
    std::pair<std::optional<BandSum>, std::optional<BandSum>> parts(const BandSum& a,
                                                                    int64_t by) const;
    std::optional<BandSum> bits_of(const BandSum& a, const BandSum& mask) const;
    std::optional<BandSum> bit_changed(KernelOp op, const BandSum& a, const BandSum& bit) const;
    bool are_apart(const BandSum& a, const BandSum& b) const;
    bool stays_below(const BandSum& a, const BandSum& b, int64_t less) const;

    const KernelBuilder& b_;
    const int64_t points_;
    const Size extent_;
};

}  // namespace firn
