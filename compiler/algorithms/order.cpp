// Sorting by a network, by merging and by digits, as loops of kernels.
#include "compiler/algorithms/order.h"

#include <limits>

#include "compiler/algorithms/power_of_two.h"
#include "compiler/algorithms/scan.h"
#include "compiler/frontend/control.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/reduce.h"
#include "compiler/frontend/scatter.h"

namespace firn {
namespace {

constexpr int kDigitBits = 8;
constexpr int64_t kDigits = 1 << kDigitBits;
constexpr int64_t kBlock = 256;  // elements whose digits are counted together

}  // namespace

Tensor order_by_network(Tensor key) {
    // As many turns as the largest size takes, where only the device knows the size.
    Size n = key.size(1), padded = power_of_two_from(largest(n));
    Tensor highest = key.dtype() == i32 ? Tensor(std::numeric_limits<int32_t>::max())
                                        : Tensor(std::numeric_limits<int64_t>::max());
    // What is added stands behind equal keys, since its indices are larger.
    key = pad(key, {.after = {0, padded - n}, .value = highest});
    auto [row, i] = indices<2>(Shape{key.size(0), padded});
    Tensor order = i;
    for (Tensor block : loop(log2_from(largest(n)))) {
        for (Tensor step : loop(block + 1)) {
            Tensor distance = 1 << (block - step), partner = i ^ distance;
            Tensor other_key = unchecked(key)(row, partner), other = unchecked(order)(row, partner);
            Tensor after = (key > other_key) | ((key == other_key) & (order > other));
            // The lower of a pair takes the smaller one, in blocks that go up.
            Tensor takes_smaller = ((i & distance) == 0) == (((i >> block) & 2) == 0);
            Tensor exchanged = after == takes_smaller;
            key = select(exchanged, other_key, key);
            order = select(exchanged, other, order);
        }
    }
    return slice(order, {.axis = 1, .end = n});
}

// Every element of a merged pair of runs finds what it takes by a binary search: how many of the
// elements before it come from the first run.
Tensor order_by_merging(Tensor key) {
    Size n = key.size(1);
    auto [row, i] = indices<2>(Shape{key.size(0), n});
    Tensor order = i;
    for (Tensor level : loop(log2_from(largest(n)))) {  // beyond n a turn changes nothing
        Tensor length = 1 << level, begin = (i >> (level + 1)) << (level + 1), place = i - begin;
        Tensor middle = min(begin + length, n), first = middle - begin;
        Tensor second = min(begin + 2 * length, n) - middle;
        Tensor low = max(place - second, 0), high = min(place, first);
        for (Tensor step : loop(min(level + 1, 31))) {
            Tensor half = (low + high) >> 1, open = low < high;
            // Of equal keys those of the first run come first.
            Tensor taken = key(row, begin + half) <= key(row, middle + place - 1 - half);
            low = select(open & taken, half + 1, low);
            high = select(open & !taken, half, high);
        }
        Tensor other = place - low;
        Tensor from_first = (low < first) & ((other >= second) |
                                             (key(row, begin + low) <= key(row, middle + other)));
        Tensor from = select(from_first, begin + low, middle + other);
        order = unchecked(order)(row, from);
        key = unchecked(key)(row, from);
    }
    return order;
}

Tensor order_by_digits(Tensor key) {
    Size rows = key.size(0), n = key.size(1), blocks = ceil_div(n, kBlock);
    bool wide = key.dtype() == i64;
    // As unsigned bits the lowest integer comes first.
    key = wide ? bitcast(key ^ Tensor(std::numeric_limits<int64_t>::min()), u64)
               : bitcast(key ^ Tensor(std::numeric_limits<int32_t>::min()), u32);
    auto [row, i] = indices<2>(Shape{rows, n});
    Tensor near = reshape(arange(kBlock), {kBlock, 1, 1}), block = i / kBlock;
    Tensor order = i;
    for (Tensor turn : loop((wide ? 64 : 32) / kDigitBits)) {
        Tensor digit = ((key >> (turn * kDigitBits)) & (kDigits - 1)).as(i32);
        Tensor counts = zeros({rows, kDigits, blocks}, i32);
        scatter_add(counts(row, digit, block), 1);
        Tensor begins =
            cumsum(reshape(counts, {rows, kDigits * blocks}), {.axis = 1, .exclusive = true});
        // Elements before it with its digit: in other blocks, and in its own.
        Tensor other = block * kBlock + near;
        Tensor before =
            sum((other < i) & (unchecked(digit)(row, min(other, n - 1)) == digit), {.axis = 0});
        Tensor place = unchecked(begins)(row, digit * blocks + block) + before;
        Tensor sorted_key = zeros({rows, n}, key.dtype()), sorted = zeros({rows, n}, i32);
        store(sorted_key(row, place), key, {.permutation = true});
        store(sorted(row, place), order, {.permutation = true});
        key = sorted_key;
        order = sorted;
    }
    return order;
}

}  // namespace firn
