// Indices of a lowered kernel as sums over its ranges.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "compiler/kernel/kernel_code.h"

namespace firn {

/// index = sum of along[range] * range + a rest, which is a multiple of `divisor` (0: it is 0).
struct IndexForm {
    std::map<int, Size> along;
    std::set<int> others;  // ranges that the rest depends on, in whatever way
    int64_t divisor = 0;
    std::optional<Size> size;  // the whole, where it is a size

    bool depends_on(int range) const { return along.contains(range) || others.contains(range); }
};

/// Forms of i32 nodes; each node is worked out once.
class IndexForms {
  public:
    explicit IndexForms(const KernelCode& code) : code_(code) {}
    /// Nothing where the values of a loop or a branch take part.
    const std::optional<IndexForm>& of(int node);

  private:
    std::optional<IndexForm> find(const KernelNode& n);

    const KernelCode& code_;
    std::map<int, std::optional<IndexForm>> known_;
};

}  // namespace firn
