// Sorting along an axis, and functions that sort.
#pragma once
#include "compiler/frontend/movement.h"
#include "compiler/frontend/random.h"

namespace firn {

/// The sorting algorithm; all give the same result.
enum class SortMethod : uint8_t {
    /// Rank for short rows (up to 1024 elements on a CPU, 256 else); else Merge for rows known to
    /// be below 32768 where no CPU sorts them, and Radix. A symbolic size says at the call whether
    /// it is short.
    Automatic,
    /// n^2 comparisons in one kernel: each element counts those that come before it.
    Rank,
    /// log2 n runs of one kernel. Pairs of sorted runs are merged, each element of the result
    /// finding its source by binary search; O. Green et al., "GPU Merge Path", 2012.
    Merge,
    /// 4 iterations over digits of 8 bits (8 for types of 64 bits), for any n. Counts of digits in
    /// blocks, their running sum, and a store of every element where it belongs; N. Satish et al.,
    /// "Designing Efficient Sorting Algorithms for Manycore GPUs", 2009.
    Radix,
    /// k (k + 1) / 2 runs with k = log2 n, in which no step depends on the data. Bitonic, over the
    /// next power of two; K. Batcher, "Sorting Networks and Their Applications", 1968.
    Network,
};
/// The axis, the direction and the method of sorting.
struct SortOptions {
    [[no_unique_address]] ByName by_name = {};
    std::optional<int> axis = -1;  ///< none: x is flattened
    bool descending = false;
    SortMethod method = SortMethod::Automatic;
};

/// The elements in order, as numpy's sort. Equal elements keep their order (stable), also where
/// descending. A nan counts as larger than every number and -0 as 0, as in numpy.
///
/// Examples: `sort(tensor({2.0f, NAN, 1.0f}))` is `{1, 2, nan}`,
/// `sort(tensor({2.0f, NAN, 1.0f}), {.descending = true})` is `{nan, 2, 1}`.
Tensor sort(const Operand& x, const SortOptions& options = {});
/// The indices that put x in order, i32: take them by `gather`. Equal elements and nan are as for
/// sort.
///
/// Examples: `argsort(tensor({30, 10, 20}))` is `{1, 2, 0}`,
/// `argsort(tensor({5, 7, 5}), {.descending = true})` is `{1, 0, 2}`.
Tensor argsort(const Operand& x, const SortOptions& options = {});

/// The result of `sort_pairs`.
struct SortedPairs {
    Tensor keys, values;
};
/// Keys in order, and the values in the order of their keys; both have one shape, else UserError.
///
/// Example: after `SortedPairs p = sort_pairs(tensor({3, 1, 2}), tensor({10, 20, 30}));` `p.keys`
/// is `{1, 2, 3}` and `p.values` is `{20, 30, 10}`.
SortedPairs sort_pairs(const Operand& keys, const Operand& values, const SortOptions& options = {});

/// The result of `topk`: elements, and their places along the axis.
struct TopK {
    Tensor values, indices;
};
/// The axis, and the end of the order.
struct TopKOptions {
    [[no_unique_address]] ByName by_name = {};
    int axis = -1;
    bool smallest = false;  ///< the smallest in ascending order instead
};
/// The k largest elements of an axis in descending order, and their indices, i32; of equal ones the
/// first. k is at most the size of the axis, else UserError. A nan counts as larger than every
/// number.
///
/// Example: after `TopK best = topk(tensor({3, 9, 1, 9}), 3);` `best.values` is `{9, 9, 3}` and
/// `best.indices` is `{1, 3, 0}`.
TopK topk(const Operand& x, const Size& k, const TopKOptions& options = {});

/// The numbers 0 to n - 1 in random order, i32: every order is equally likely, but for equal random
/// keys of 32 bits.
///
/// Examples: `sort(permutation(4))` is `{0, 1, 2, 3}`,
/// `array_equal(permutation(9, {.seed = 1}), permutation(9, {.seed = 1}))` is `true`.
Tensor permutation(const Size& n, const RandomOptions& options = {}, SourceLine line = here());
/// The axis that is shuffled, and the random numbers.
struct ShuffleOptions {
    [[no_unique_address]] ByName by_name = {};
    int axis = 0;
    /// See RandomOptions.
    std::optional<Tensor> seed = std::nullopt, stream = std::nullopt;
};
/// The slices of an axis in random order.
///
/// Example: after `Tensor x = shuffle(tensor({1, 10, 2, 20, 3, 30}, {3, 2}));` `sort(x(all, 0))` is
/// `{1, 2, 3}` and `all(x(all, 1) == 10 * x(all, 0))` is `true`.
Tensor shuffle(const Operand& x, const ShuffleOptions& options = {});

}  // namespace firn
