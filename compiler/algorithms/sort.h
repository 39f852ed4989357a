// Sorting along an axis, and what is made of it.
#pragma once
#include "compiler/frontend/movement.h"
#include "compiler/frontend/random.h"

namespace firn {

enum class SortMethod : uint8_t {
    Automatic,  // Merge for rows known to be short (below 256 on a CPU, 32768 else); else Radix
    Merge,      // log2 n runs of one kernel
    Radix,      // 4 turns over digits of 8 bits (8 for types of 64 bits), whatever n is
    Network,    // k (k + 1) / 2 runs with k = log2 n, in which no step depends on the data
};
struct SortOptions {
    [[no_unique_address]] ByName by_name = {};
    std::optional<int> axis = -1;  // none: x is flattened
    bool descending = false;
    SortMethod method = SortMethod::Automatic;
};

// Equal elements keep their order (stable), also where descending. A nan counts as larger than
// every number and -0 as 0, as in numpy. Merging: pairs of sorted runs, each element of the result
// finding its source by binary search; O. Green et al., "GPU Merge Path", 2012. Radix: counts of
// digits in blocks, their running sum, and a store of every element where it belongs; N. Satish et
// al., "Designing Efficient Sorting Algorithms for Manycore GPUs", 2009. The network: bitonic, over
// the next power of two; K. Batcher, "Sorting Networks and Their Applications", 1968.

/// The elements in order.
Tensor sort(const Operand& x, const SortOptions& options = {});
/// The indices that put x in order, i32: take them by `gather`.
Tensor argsort(const Operand& x, const SortOptions& options = {});

struct SortedPairs {
    Tensor keys, values;
};
/// Keys in order, and the values in the order of their keys; both have one shape.
SortedPairs sort_pairs(const Operand& keys, const Operand& values, const SortOptions& options = {});

struct TopK {
    Tensor values, indices;
};
struct TopKOptions {
    [[no_unique_address]] ByName by_name = {};
    int axis = -1;
    bool smallest = false;
};
/// The k largest elements of an axis in descending order, and their indices, i32; of equal ones the
/// first. k is at most the size of the axis.
TopK topk(const Operand& x, const Size& k, const TopKOptions& options = {});

/// The numbers 0 to n - 1 in random order, i32: every order is equally likely, but for equal random
/// keys of 32 bits.
Tensor permutation(const Size& n, const RandomOptions& options = {}, SourceLine line = here());
struct ShuffleOptions {
    [[no_unique_address]] ByName by_name = {};
    int axis = 0;
    std::optional<Tensor> seed = std::nullopt, stream = std::nullopt;  // see RandomOptions
};
/// The slices of an axis in random order.
Tensor shuffle(const Operand& x, const ShuffleOptions& options = {});

}  // namespace firn
