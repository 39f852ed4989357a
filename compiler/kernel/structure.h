// What a kernel computes and how, whatever its nodes are numbered and whichever buffers it is
// given.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Placed code as words. Equal words: the same kernel, so that what is emitted for one serves both.
///
/// Counted is what emission may ask: live nodes in the order of their evaluation, but those behind
/// constant conditions that never hold; the types of parameters; how buffers are bound, and which
/// of them are the same memory; the size of a group; of bounds, whether what is divided and what
/// ranges are tested with may be negative. Not counted is what a dispatch says (buffers, sizes,
/// values of parameters, groups), what only describes (names, lines, guards, bounds of trip
/// counts), and how nodes, regions and ranges are numbered.
struct KernelStructure {
    std::vector<uint64_t> words;
    uint64_t hash = 0;
    friend bool operator==(const KernelStructure& a, const KernelStructure& b) {
        return a.hash == b.hash && a.words == b.words;
    }
};
KernelStructure structure_of(const KernelCode& code);

/// Makes what `code` says of trip counts, back edges and guards true of an equal kernel as well: it
/// stands for both.
void widen(KernelCode& code, const KernelCode& equal);

/// For maps by structure.
struct KernelStructureHash {
    size_t operator()(const KernelStructure& structure) const { return structure.hash; }
};

}  // namespace firn
