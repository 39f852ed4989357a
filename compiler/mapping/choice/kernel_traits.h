// The properties of a kernel that the choice of a mapping needs.
#pragma once
#include <algorithm>
#include <vector>

#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

struct KernelTraits {
    int64_t nodes = 0;
    int64_t most_nodes = 0;  // the most nodes of a body that the driver's compiler can take
    bool loops = false;
    bool divergent = false;   // invocations run different code, or other numbers of iterations
    bool ends_early = false;  // loops may end at an iteration that data decide
    bool gathers_to_its_end = false;  // such a loop reads at places that values decide
    bool rows = false;                // stores stand in loops: each invocation walks a row
    bool unlike_rows = false;         // rows differ in length
    bool shifted = false;             // some load is not at the invocation's own index
    std::vector<Size> grid;           // extents, x first
    /// Indices along the first two ranges and of all; where only the call knows them, many.
    int64_t x = 1, y = 1, total = 1;
    int64_t stores = 0;     // stores of an index
    int64_t scattered = 0;  // stores whose places are no neighbours where indices are, along x

    /// Returns whether every invocation does the same, and stores once.
    bool plain() const { return !divergent && !ends_early && !rows; }
    /// Returns the nodes that a body may have: at most `budget`, and no more than the driver's
    /// compiler can take.
    int64_t body_budget(int64_t budget) const { return std::min(budget, most_nodes); }
};

KernelTraits kernel_traits(KernelCode ready, const DeviceProfile& profile,
                           const SymbolFacts& facts);

}  // namespace firn
