// A bitonic network over integer keys that are ordered as the elements are.
#include "compiler/algorithms/sort.h"

#include <limits>

#include "compiler/algorithms/power_of_two.h"
#include "compiler/algorithms/rows.h"
#include "compiler/frontend/control.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/indexing.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"

namespace firn {
namespace {

/// Signed integers, i32 or i64, in the order of the elements.
Tensor sort_keys(const Tensor& x) {
    DType type = x.dtype();
    if (type == f16) return sort_keys(x.as(f32));
    DType key = type.bytes() == 8 ? i64 : i32;
    if (type.is_bool() || type.bytes() == 1) return x.as(i32);
    Tensor bits = bitcast(x, key);
    Tensor lowest = key == i32 ? Tensor(std::numeric_limits<int32_t>::min())
                               : Tensor(std::numeric_limits<int64_t>::min());
    if (!type.is_float()) return type.is_signed() ? bits : bits ^ lowest;
    // The bits of negative floats count down from the lowest integer.
    Tensor ordered = select(bits < 0, ~bits ^ lowest, bits);
    return select(is_nan(x), ~lowest, select(x == 0, 0, ordered));
}

/// Indices that order the last of two axes by a network: every step compares all pairs.
Tensor order_by_network(Tensor key) {
    Size n = key.size(1), padded = power_of_two_from(n);
    Tensor highest = key.dtype() == i32 ? Tensor(std::numeric_limits<int32_t>::max())
                                        : Tensor(std::numeric_limits<int64_t>::max());
    // What is added stands behind equal keys, since its indices are larger.
    key = pad(key, {.after = {0, padded - n}, .value = highest});
    auto [row, i] = indices<2>(Shape{key.size(0), padded});
    Tensor order = i;
    for (Tensor block : loop(log2_from(n))) {
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

/// The same by merging sorted runs of 1, 2, 4, .. elements. Every element of a merged pair of runs
/// finds what it takes by a binary search: how many of the elements before it come from the first
/// run.
Tensor order_by_merging(Tensor key) {
    Size n = key.size(1);
    auto [row, i] = indices<2>(Shape{key.size(0), n});
    Tensor order = i;
    for (Tensor level : loop(log2_from(n))) {
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

/// Indices that order the last of two axes.
Tensor order_of(const Tensor& x, const SortOptions& options) {
    Tensor key = sort_keys(x);
    if (options.descending) key = ~key;
    return options.method == SortMethod::Network ? order_by_network(key) : order_by_merging(key);
}

Tensor back(const Tensor& values, const Rows& rows) {
    return rows.flattened ? reshape(values, {Size(-1)}) : from_rows(values, rows);
}

}  // namespace

Tensor sort(const Operand& x, const SortOptions& options) {
    LineScope at(x.line());
    Rows rows = rows_along("sort", x.tensor(), options.axis);
    return back(gather(rows.values, order_of(rows.values, options)), rows);
}

Tensor argsort(const Operand& x, const SortOptions& options) {
    LineScope at(x.line());
    Rows rows = rows_along("argsort", x.tensor(), options.axis);
    return back(order_of(rows.values, options), rows);
}

SortedPairs sort_pairs(const Operand& keys, const Operand& values, const SortOptions& options) {
    LineScope at(keys.line());
    if (keys.tensor().shape() != values.tensor().shape())
        refuse("sort_pairs: the keys are " + text(keys.tensor().shape()) + " and the values are " +
               text(values.tensor().shape()) +
               "; every key has one value, use argsort and take for rows");
    Rows rows = rows_along("sort_pairs", keys.tensor(), options.axis);
    Rows others = rows_along("sort_pairs", values.tensor(), options.axis);
    Tensor order = order_of(rows.values, options);
    return {back(gather(rows.values, order), rows), back(gather(others.values, order), rows)};
}

TopK topk(const Operand& x, const Size& k, const TopKOptions& options) {
    LineScope at(x.line());
    Rows rows = rows_along("topk", x.tensor(), options.axis);
    if (k.upper_bound() < 0 || (k - rows.n).lower_bound() > 0)
        refuse("topk: k is " + k.text() + " and axis " + std::to_string(options.axis) + " has " +
               rows.n.text() + " elements; ask for at most as many");
    Tensor order =
        slice(order_of(rows.values, {.descending = !options.smallest}), {.axis = 1, .end = k});
    return {from_rows(gather(rows.values, order), rows), from_rows(order, rows)};
}

Tensor permutation(const Size& n, const RandomOptions& options, SourceLine line) {
    LineScope at(line);
    return argsort(random_bits({n}, options));
}

Tensor shuffle(const Operand& x, const ShuffleOptions& options) {
    LineScope at(x.line());
    const Shape& shape = x.tensor().shape();
    size_t axis = static_cast<size_t>(checked_axis("shuffle", options.axis, shape));
    Tensor order = permutation(shape[axis], {.seed = options.seed, .stream = options.stream});
    return take(x, order, {.axis = options.axis});
}

}  // namespace firn
