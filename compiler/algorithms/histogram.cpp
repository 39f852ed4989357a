// Counts are combining stores.
#include "compiler/algorithms/histogram.h"

#include <cmath>
#include <optional>

#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/record.h"
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

namespace {

/// A number that is known while recording.
std::optional<double> known(const Tensor& x) {
    const Ref node = x.node();
    if (node->op != Op::Constant) return std::nullopt;
    return node->as<ConstantAttr>().value.as_double();
}

void check_ends(const HistogramOptions& options) {
    const std::optional<double> low = known(options.low), high = known(options.high);
    const bool finite = std::isfinite(low.value_or(0)) && std::isfinite(high.value_or(0));
    if (finite && !(low && high && *low > *high)) return;
    const auto shown = [](const std::optional<double>& x) {
        return x ? text(scalar_float(*x, f32)) : std::string("a tensor");
    };
    refuse("histogram: low is " + shown(low) + " and high is " + shown(high) +
           "; give finite numbers, low <= high");
}

/// The part of a float, by one multiplication and then by the ends of that part; -1 outside.
Tensor part_of(const Tensor& value, Tensor low, Tensor high, const Tensor& count,
               const Tensor& last) {
    const Tensor around = select(low == high, 0.5f, 0.0f);
    low = low - around, high = high + around;
    const Tensor inside = (value >= low) & (value <= high);
    // Large ends are made smaller, so that no product or difference is infinite.
    const Tensor large = max(abs(low), abs(high)) > 0x1p90f, scale = select(large, 0x1p-64f, 1.0f),
                 back = select(large, 0x1p64f, 1.0f), bins = count.as(value.dtype());
    low = low * scale, high = high * scale;
    const auto begins = [&](const Tensor& part) {
        const Tensor k = part.as(value.dtype());
        return (low * (bins - k) + high * k) / bins * back;
    };
    const Tensor about = (value * scale - low) / (high - low) * bins;
    Tensor part = clip(floor(about).as(i32), 0, last);
    part = part - ((value < begins(part)) & (part > 0)).as(i32);
    part = part + ((value >= begins(part + 1)) & (part < last)).as(i32);
    return select(inside, part, -1);
}

/// The part of an integer that lies `value` above the lower end, of ends that lie `span` apart:
/// both unsigned, and every comparison exact.
Tensor part_of_integer(const Tensor& value, const Tensor& span, const Tensor& count,
                       const Tensor& last) {
    const DType type = value.dtype();
    const Tensor bins = count.as(type), whole = span / bins, rest = span % bins;
    // Part k begins at whole k + rest k / bins; where that product has more than 32 bits, about.
    const auto begins = [&](const Tensor& part) {
        const Tensor k = part.as(type);
        Tensor more = (rest * k + bins - 1) / bins;
        if (type == u32)
            more =
                select(bins <= 65536u, more, ceil(rest.as(f32) * k.as(f32) / bins.as(f32)).as(u32));
        return whole * k + more;
    };
    const Tensor about = value.as(f32) / max(span.as(f32), 1.0f) * bins.as(f32);
    Tensor part = clip(floor(about).as(i32), 0, last);
    part = part - ((value < begins(part)) & (part > 0)).as(i32);
    part = part + ((value >= begins(part + 1)) & (part < last)).as(i32);
    return select(span == 0, count / 2, part);
}

}  // namespace

Tensor histogram(const Operand& x, const Size& bins, const HistogramOptions& options) {
    LineScope at(x.line());
    if (bins.upper_bound() < 1)
        refuse("histogram: the number of bins is " + bins.text() + "; ask for 1 or more");
    check_ends(options);
    const Tensor count = Tensor(bins).as(i32), last = count - 1;
    const bool integers = !x.tensor().dtype().is_float() && !options.low.dtype().is_float() &&
                          !options.high.dtype().is_float();
    Tensor value = x.tensor() + 0;
    if (integers) {
        const DType own = value.dtype(), type = own.bytes() == 8 ? u64 : u32;
        const Tensor low = options.low.as(own), high = options.high.as(own);
        const Tensor part =
            part_of_integer((value - low).as(type), (high - low).as(type), count, last);
        return bincount(select((value >= low) & (value <= high), part, -1), bins);
    }
    const DType type = value.dtype().is_float() && !value.dtype().is_half() ? value.dtype() : f32;
    return bincount(
        part_of(value.as(type), options.low.as(type), options.high.as(type), count, last), bins);
}

Tensor segment_sum(const Operand& values, const Operand& ids, const Size& count) {
    LineScope at(values.line());
    check(ids, count);
    Tensor x = values.tensor(), id = ids.tensor();
    if (id.dtype().bytes() < 8) id = id.as(i32);  // in 64 bits values beyond i32 stay outside
    if (x.rank() != 1 || x.shape() != id.shape())
        refuse("segment_sum: the values are " + text(x.shape()) + " and the ids are " +
               text(id.shape()) + "; both are vectors of one length");
    const DType type = arithmetic_type(x.dtype());
    return added_in_order(zeros({count}, type), id, x);
}

}  // namespace firn
