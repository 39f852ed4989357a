// Indices of a lowered kernel as sums over its ranges.
#pragma once
#include <cstdint>
#include <map>
#include <set>

#include "compiler/kernel/kernel_code.h"
#include "compiler/program/affine.h"

namespace firn {

/// index = sum + a rest.
struct IndexForm {
    Affine<RangeId, Size> sum;
    Congruence rest{0, 0};      // so, there is none
    std::set<RangeId> others;   // ranges that the rest depends on in any way
    std::set<RangeId> clamped;  // of those, ranges with which it grows by 1 until a bound keeps it
    bool carried = false;       // it uses values of loops, branches or other invocations

    bool depends_on(RangeId range) const {
        return others.contains(range) || !coefficient_of(sum, range).is(0);
    }
    bool is_sum() const { return rest == Congruence{0, 0}; }
    bool is_size() const { return is_sum() && sum.terms.empty(); }
};

/// The stride of an index along a range, as a rule: bounds that clamp it are ignored. A loop's
/// carried value counts as constant, its result as moving with every range.
enum class Stride { None, One, Other };
Stride stride(const IndexForm& form, RangeId range);

/// Forms of the nodes of a kernel; each node is worked out once.
class IndexForms {
  public:
    explicit IndexForms(const KernelCode& code) : code_(code) {}
    const IndexForm& of(NodeId node);

  private:
    IndexForm find(const KernelNode& n);
    IndexForm rest(const KernelNode& n);

    const KernelCode& code_;
    std::map<NodeId, IndexForm> known_;
};

}  // namespace firn
