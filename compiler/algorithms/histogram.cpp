// Counts are combining stores.
#include "compiler/algorithms/histogram.h"

#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/scatter.h"

namespace firn {
namespace {

void check(const Operand& x, const Size& count) {
    DType type = x.tensor().dtype();
    if (!type.is_integer())
        refuse(std::string("bincount: x is ") + type.name() +
               "; it must be integers: cast it, or use histogram");
    if (count.upper_bound() < 0)
        refuse("bincount: the count is " + count.text() + "; count 0 values or more");
}

}  // namespace

Tensor bincount(const Operand& x, const Size& count) {
    LineScope at(x.line());
    check(x, count);
    Tensor counts = zeros({count}, i32);
    scatter_add(counts(x.tensor()), 1);
    return counts;
}

Tensor bincount(const Operand& x, const Size& count, const Operand& weights,
                const CombineOptions& options) {
    LineScope at(x.line());
    check(x, count);
    DType type = weights.tensor().dtype();
    Tensor sums = zeros({count}, arithmetic_type(type));
    scatter_add(sums(x.tensor()), weights, options);
    return sums;
}

Tensor histogram(const Operand& x, const Size& bins, const HistogramOptions& options) {
    LineScope at(x.line());
    if (bins.upper_bound() < 1)
        refuse("histogram: the number of bins is " + bins.text() + "; ask for 1 or more");
    Tensor value = x.tensor() * 1.0f, part = (value - options.low) / (options.high - options.low);
    Tensor bin = min(floor(part * Tensor(bins).as(value.dtype())).as(i32), bins - Size(1));
    Tensor inside = (value >= options.low) & (value <= options.high);
    return bincount(select(inside, bin, -1), bins);
}

Tensor segment_sum(const Operand& values, const Operand& ids, const Size& count) {
    LineScope at(values.line());
    check(ids, count);
    Tensor x = values.tensor(), id = ids.tensor();
    if (id.dtype().bytes() < 8) id = id.as(i32);  // else what is outside of i32 is outside
    if (x.rank() != 1 || x.shape() != id.shape())
        refuse("segment_sum: the values are " + text(x.shape()) + " and the ids are " +
               text(id.shape()) + "; both are vectors of one length");
    const DType type = arithmetic_type(x.dtype());
    return added_in_order(zeros({count}, type), id, x);
}

}  // namespace firn
