// Elements that differ from the one before them in order.
#include "compiler/algorithms/unique.h"

#include "compiler/algorithms/compact.h"
#include "compiler/algorithms/scan.h"
#include "compiler/algorithms/sort.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/indexing.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/reduce.h"
#include "compiler/frontend/scatter.h"

namespace firn {
namespace {

/// Marks the first of each run of equal elements.
Tensor begins(const Tensor& sorted) {
    const Tensor i = index(sorted, 0), before = sorted(i - 1);
    Tensor other = sorted != before;
    if (sorted.dtype().is_float()) other = other & !(is_nan(sorted) & is_nan(before));
    return (i == 0) | other;
}

}  // namespace

Tensor unique(const Operand& x) {
    LineScope at(x.line());
    const Tensor sorted = sort(reshape(x, {-1}));
    return compact(sorted, begins(sorted));
}

Unique unique_all(const Operand& x) {
    LineScope at(x.line());
    const Tensor flat = reshape(x, {-1}), order = argsort(flat), sorted = gather(flat, order);
    const Tensor first = begins(sorted), i = index(flat, 0);
    Tensor inverse = zeros(flat.shape(), i32);
    store(inverse(order), cumsum(first) - 1, {.permutation = true});
    const Tensor start = compact(i, first), k = index(start, 0);
    const Tensor end = select(k + 1 < sum(first), start(k + 1), flat.size(0));
    return {compact(sorted, first), compact(order, first), end - start,
            reshape(inverse, x.tensor().shape())};
}

}  // namespace firn
