// The structure of a kernel: its computation without the numbers of its nodes and the buffers it is
// given.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Placed code as words. Kernels with equal words are the same, so that one emitted text serves
/// both.
///
/// The words hold all facts that emission may use: live nodes in the order of their evaluation,
/// except for those behind constant conditions that never hold; the types of parameters; how
/// buffers are bound, and which of them are the same memory; the size of a group; which loops are
/// written out, and whether loads wait for stores; and as bounds, whether the operands of divisions
/// and of range tests may be negative, and quotients of floats large (then those of trip counts
/// too). They do not hold the data of a dispatch (buffers, sizes, values of parameters, groups),
/// descriptions (names, lines, guards, other bounds of trip counts), and the numbers of nodes,
/// regions and ranges.
struct KernelStructure {
    std::vector<uint64_t> words;
    uint64_t hash = 0;
    friend bool operator==(const KernelStructure& a, const KernelStructure& b) {
        return a.hash == b.hash && a.words == b.words;
    }
};
KernelStructure structure_of(const KernelCode& code);

/// Returns the structure as a short name, the same in every run of a compiler with these
/// operations.
std::string identity_of(const KernelStructure& structure);

/// Makes the trip counts, back edges and guards of `code` hold for an equal kernel as well: it
/// stands for both.
void widen(KernelCode& code, const KernelCode& equal);

/// The hash of maps by structure.
struct KernelStructureHash {
    size_t operator()(const KernelStructure& structure) const { return structure.hash; }
};

}  // namespace firn
