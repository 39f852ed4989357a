// Scans as sums over what comes before, in blocks.
#include "compiler/algorithms/scan.h"

#include <limits>

#include "compiler/algorithms/rows.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/reduce.h"

namespace firn {
namespace {

constexpr int64_t kScanBlock = 16;  // measured: a sum of so many is unrolled
/// Levels of blocks for a size that is a symbol: 4 of them leave n / 65536 sums.
constexpr int kSymbolicLevels = 4;

enum class Scan : uint8_t { Sum, Product, Largest, Smallest };

Tensor combined(Scan scan, const Tensor& a, const Tensor& b) {
    switch (scan) {
        case Scan::Sum: return a + b;
        case Scan::Product: return a * b;
        case Scan::Largest: return max(a, b);
        case Scan::Smallest: return min(a, b);
    }
    return a;
}

Tensor total(Scan scan, const Tensor& x) {
    switch (scan) {
        case Scan::Sum: return sum(x, {.axis = -1});
        case Scan::Product: return prod(x, {.axis = -1});
        case Scan::Largest: return max(x, {.axis = -1});
        case Scan::Smallest: return min(x, {.axis = -1});
    }
    return x;
}

template <class T>
Tensor lowest_or_highest(Scan scan) {
    using Limits = std::numeric_limits<T>;
    return Tensor(scan == Scan::Largest ? Limits::lowest() : Limits::max());
}

/// What combined with x gives x.
Tensor identity(Scan scan, DType type) {
    if (scan == Scan::Sum) return 0;
    if (scan == Scan::Product) return 1;
    if (type.is_float()) {
        float infinity = std::numeric_limits<float>::infinity();
        return scan == Scan::Largest ? -infinity : infinity;
    }
    if (type == i64) return lowest_or_highest<int64_t>(scan);
    if (type == u64) return lowest_or_highest<uint64_t>(scan);
    return type == u32 ? lowest_or_highest<uint32_t>(scan) : lowest_or_highest<int32_t>(scan);
}

/// Each element of the last axis with all before it: n^2 work, one kernel.
Tensor scan_short(Scan scan, const Tensor& x, bool exclusive) {
    Size n = x.size(-1);
    Tensor i = reshape(arange(n), {n, 1}), k = arange(n);
    Tensor counts = exclusive ? k < i : k <= i;
    return total(scan, select(counts, unsqueeze(x, -2), identity(scan, x.dtype()).as(x.dtype())));
}

/// Along the last of two axes.
Tensor scan_rows(Scan scan, const Tensor& x, bool exclusive, int level) {
    Size n = x.size(1);
    if (n.is_constant() ? n.constant() <= kScanBlock : level == kSymbolicLevels)
        return scan_short(scan, x, exclusive);
    Size count = ceil_div(n, kScanBlock), padded = count * kScanBlock;
    Tensor whole = pad(x, {.after = {0, padded - n}, .value = identity(scan, x.dtype())});
    Tensor blocks = reshape(whole, {x.size(0), count, kScanBlock});
    Tensor before = scan_rows(scan, total(scan, blocks), true, level + 1);
    Tensor out = combined(scan, unsqueeze(before, -1), scan_short(scan, blocks, exclusive));
    return slice(reshape(out, {x.size(0), padded}), {.axis = 1, .end = n});
}

Tensor scan_along(const char* what, Scan scan, const Operand& x, const ScanOptions& options) {
    LineScope at(x.line());
    DType own = x.tensor().dtype(), type = arithmetic_type(own);
    Tensor wide = x.tensor().as(own.is_half() ? f32 : type);
    Rows rows = rows_along(what, wide, options.axis);
    Tensor values = options.reverse ? flip(rows.values, {.axis = 1}) : rows.values;
    values = scan_rows(scan, values, options.exclusive, 0);
    if (options.reverse) values = flip(values, {.axis = 1});
    return from_rows(values, rows).as(type);
}

}  // namespace

Tensor cumsum(const Operand& x, const ScanOptions& options) {
    return scan_along("cumsum", Scan::Sum, x, options);
}
Tensor cumprod(const Operand& x, const ScanOptions& options) {
    return scan_along("cumprod", Scan::Product, x, options);
}
Tensor cummax(const Operand& x, const ScanOptions& options) {
    return scan_along("cummax", Scan::Largest, x, options);
}
Tensor cummin(const Operand& x, const ScanOptions& options) {
    return scan_along("cummin", Scan::Smallest, x, options);
}

}  // namespace firn
