// Integer keys that are ordered as the elements are, and what follows from their order.
#include "compiler/algorithms/sort.h"

#include <limits>

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

/// Rows that are known to be shorter are merged. Counted in runs, digits are faster from where a
/// row is as long as there are digits; compared, from where memory counts (measured on a CPU
/// driver).
int64_t radix_from() { return counts_digits_in_runs() ? 256 : 32768; }

/// The way that it takes.
SortMethod method_of(const Size& n, SortMethod method) {
    if (method != SortMethod::Automatic) return method;
    return n.upper_bound() < radix_from() ? SortMethod::Merge : SortMethod::Radix;
}

Tensor keys_of(const Tensor& x, const SortOptions& options) {
    const Tensor key = sort_keys(x);
    return options.descending ? ~key : key;
}

/// Indices that order the last of two axes.
Tensor order_of(const Tensor& x, const SortOptions& options) {
    const Tensor key = keys_of(x, options);
    switch (method_of(x.size(1), options.method)) {
        case SortMethod::Merge: return order_by_merging(key);
        case SortMethod::Network: return order_by_network(key);
        default: return order_by_digits(key);
    }
}

/// The last of two axes in order.
Tensor in_order(const Tensor& x, const SortOptions& options) {
    const bool alone = method_of(x.size(1), options.method) == SortMethod::Radix &&
                       counts_digits_in_runs() && x.dtype().bytes() >= 4;
    if (!alone) return gather(x, order_of(x, options));
    const auto sorted = [options](const std::vector<Tensor>& xs) {
        return sorted_in_runs(xs[0], [&](const Tensor& own) { return keys_of(own, options); });
    };
    if (!x.dtype().is_float()) return sorted({x});
    // Gradients ask where the elements came from.
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
