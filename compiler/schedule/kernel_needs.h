// What the kernel of a materialised value needs: other values, memory, sizes, operations.
#pragma once
#include "compiler/schedule/draft.h"

namespace firn {

struct KernelNeeds {
    /// Materialised values and host loops that it comes after: true where it reads them at its own
    /// index only.
    std::unordered_map<const Node*, bool> items;
    NodeSet loads;                                 // what it reads of memory
    bool sizes = false;                            // that only the device knows
    std::set<std::pair<const Node*, int>> values;  // all that it reaches, by index map
    double operations = 0;                         // simple ones, that these take in its body
    /// Values in memory that it computes all the same, wherever it asks for them.
    NodeSet again;
};

/// By the verdicts of the round, which is complete.
KernelNeeds kernel_needs(Draft& draft, const Node& root, NodeSet again = {});

/// What a kernel's body takes for a value: a load where it is in memory.
double operations_in_kernel(const Draft& draft, const Node& node);
/// The kernel reaches a value at a map; false where it did before.
bool add_value(KernelNeeds& needs, const Draft& draft, const Node& node, int map);

/// The device binds what a kernel with these outputs needs.
bool fits_device(const std::vector<Ref>& outputs, const KernelNeeds& needs,
                 const ScheduleFacts& facts);

}  // namespace firn
