// Finds what the kernel of a materialised value needs: other values, memory, sizes, operations.
#pragma once
#include "compiler/schedule/asked_values.h"
#include "compiler/schedule/draft.h"

namespace firn {

struct KernelNeeds {
    /// Materialised values and host loops that the kernel comes after; true if it reads them at its
    /// own index only.
    std::unordered_map<const Node*, bool> items;
    NodeSet loads;          // what it reads from memory
    bool sizes = false;     // it needs some that only the device knows
    AskedValues values;     // all that it reaches, with maps
    double operations = 0;  // simple ones that these take in its body
    /// Values in memory that the kernel computes nevertheless, wherever it asks for them.
    NodeSet again;
};

/// Returns the needs of a root's kernel by the verdicts of the round, which is complete.
KernelNeeds kernel_needs(Draft& draft, const Node& root, NodeSet again = {});

/// Returns the operations that a kernel's body takes for a value: one load if it is in memory.
double operations_in_kernel(const Draft& draft, const Node& node);
/// Notes that the kernel reaches a value at a map; false if it did so before.
bool add_value(KernelNeeds& needs, const Draft& draft, const Node& node, int map);

/// True if the device can bind what a kernel with these outputs needs.
bool fits_device(const std::vector<Ref>& outputs, const KernelNeeds& needs,
                 const ScheduleFacts& facts);

}  // namespace firn
