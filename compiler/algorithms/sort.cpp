// Integer keys in the order of the elements, and the functions that sort by them.
#include "compiler/algorithms/sort.h"

#include <limits>

#include "compiler/algorithms/either_way.h"
#include "compiler/algorithms/order.h"
#include "compiler/algorithms/rows.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/grad.h"
#include "compiler/frontend/indexing.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/scatter.h"

namespace firn {
namespace {

/// Signed integers, i32 or i64, in the order of the elements.
Tensor sort_keys(const Tensor& x) {
    DType type = x.dtype();
    if (type.is_half()) return sort_keys(x.as(f32));
    DType key = type.bytes() == 8 ? i64 : i32;
    if (type.is_bool() || type.is_narrow()) return x.as(i32);
    Tensor bits = bitcast(x, key);
    Tensor lowest = key == i32 ? Tensor(std::numeric_limits<int32_t>::min())
                               : Tensor(std::numeric_limits<int64_t>::min());
    if (!type.is_float()) return type.is_signed() ? bits : bits ^ lowest;
    // The bits of negative floats count down from the lowest integer.
    Tensor ordered = select(bits < 0, ~bits ^ lowest, bits);
    return select(is_nan(x), ~lowest, select(x == 0, 0, ordered));
}

/// Rows of as many elements are ranked. n comparisons of each element are few beside the kernels
/// that the next best way launches: on lavapipe 256 rows of 1024 take two thirds of the time of
/// digits, 128 of 2048 more than twice. Not measured on a GPU.
int64_t longest_ranked() { return counts_digits_in_runs() ? 1024 : 256; }

/// Rows that are known to be shorter are merged where digits are compared: from there on memory
/// counts (measured on a CPU driver).
constexpr int64_t kComparedFrom = 32768;

/// The method for rows that are not short.
SortMethod method_of_long(const Size& n, SortMethod method) {
    if (method != SortMethod::Automatic) return method;
    const bool merged = !counts_digits_in_runs() && n.upper_bound() < kComparedFrom;
    return merged ? SortMethod::Merge : SortMethod::Radix;
}

/// The rows are short: 1, or 0.
Size is_short(const Size& n, SortMethod method) {
    if (method == SortMethod::Rank) return 1;
    if (method != SortMethod::Automatic) return 0;
    if (n.upper_bound() <= longest_ranked()) return 1;
    if (n.lower_bound() > longest_ranked() || !data_symbols(n).empty()) return 0;
    return max(min(Size(longest_ranked() + 1) - n, 1), 0);
}

Tensor keys_of(const Tensor& x, const SortOptions& options) {
    const Tensor key = sort_keys(x);
    return options.descending ? ~key : key;
}

/// Indices that order the last of two axes.
Tensor order_of(const Tensor& x, const SortOptions& options) {
    const Tensor key = keys_of(x, options);
    return either_way(
        is_short(x.size(1), options.method), index(x.shape(), 1),
        [&](const Tensor&) { return order_by_ranks(key); },
        [&](const Tensor&) {
            switch (method_of_long(x.size(1), options.method)) {
                case SortMethod::Merge: return order_by_merging(key);
                case SortMethod::Network: return order_by_network(key);
                default: return order_by_digits(key);
            }
        });
}

Tensor put_at_ranks(const Tensor& x, const SortOptions& options) {
    Tensor out = zeros_like(x);
    store(out(index(x.shape(), 0), ranks_of(keys_of(x, options))), x, {.permutation = true});
    return out;
}

/// The last of two axes in order, of rows that are not known to be short.
Tensor long_in_order(const Tensor& x, const SortOptions& options) {
    const bool digits = method_of_long(x.size(1), options.method) == SortMethod::Radix;
    if (!digits || !counts_digits_in_runs() || x.dtype().bytes() < 4)
        return gather(x, order_of(x, options));
    // Values that are read from outside of the loops need not be copied for them.
    const auto sorted = [options](const std::vector<Tensor>& xs) {
        const Tensor& x = xs[0];
        return either_way(
            is_short(x.size(1), options.method), x,
            [&](const Tensor&) { return put_at_ranks(x, options); },
            [&](const Tensor&) {
                return sorted_in_runs(x, [&](const Tensor& own) { return keys_of(own, options); });
            });
    };
    if (!x.dtype().is_float()) return sorted({x});
    // Gradients need the elements' old places.
    return custom_gradient(
        sorted, {x},
        {.reverse =
             [options](const std::vector<Tensor>& xs, const Tensor&, const Tensor& g) {
                 Tensor out = zeros_like(g);
                 store(out(index(g.shape(), 0), order_of(xs[0], options)), g,
                       {.permutation = true});
                 return std::vector<Tensor>{out};
             },
         .forward =
             [options](const std::vector<Tensor>& xs, const Tensor&,
                       const std::vector<Tensor>& by) {
                 return gather(by[0], order_of(xs[0], options));
             }});
}

Tensor in_order(const Tensor& x, const SortOptions& options) {
    const bool ranked = is_short(x.size(1), options.method).is(1);
    return ranked ? put_at_ranks(x, options) : long_in_order(x, options);
}

}  // namespace

Tensor sort(const Operand& x, const SortOptions& options) {
    LineScope at(x.line());
    Rows rows = rows_along("sort", x.tensor(), options.axis);
    return from_rows(in_order(rows.values, options), rows);
}

Tensor argsort(const Operand& x, const SortOptions& options) {
    LineScope at(x.line());
    Rows rows = rows_along("argsort", x.tensor(), options.axis);
    return from_rows(order_of(rows.values, options), rows);
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
    return {from_rows(gather(rows.values, order), rows),
            from_rows(gather(others.values, order), rows)};
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
