// Scans as walks along short axes, and as sums over what comes before in blocks of long ones.
#include "compiler/algorithms/scan.h"

#include <limits>
#include <optional>

#include "compiler/algorithms/either_way.h"
#include "compiler/algorithms/rows.h"
#include "compiler/algorithms/unset.h"
#include "compiler/frontend/control.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/grad.h"
#include "compiler/frontend/kernel.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/reader.h"
#include "compiler/frontend/reduce.h"
#include "compiler/frontend/scatter.h"

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

Tensor total(Scan scan, const Tensor& x, int axis = -1) {
    switch (scan) {
        case Scan::Sum: return sum(x, {.axis = axis});
        case Scan::Product: return prod(x, {.axis = axis});
        case Scan::Largest: return max(x, {.axis = axis});
        case Scan::Smallest: return min(x, {.axis = axis});
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

/// Carries of a blocked scan, one per block: the prefix before the block. Sums of floats also need
/// the prefix after the block, and its ends_of.
struct Joints {
    Tensor before;
    std::optional<Tensor> after = std::nullopt, end = std::nullopt;
};

// ends_of adds kFalling to blocks whose sums only fall, and gives kMixed for those whose sums rise
// and fall. Both are larger than any block is long.
constexpr int kFalling = 1 << 16, kMixed = 1 << 20;

/// For each block along `axis`, i32: the number of elements up to the last nonzero one. kFalling is
/// added where elements are below 0 and none is above; kMixed where both signs occur.
Tensor ends_of(const Tensor& blocks, int axis) {
    const Tensor number = index(blocks, axis) + 1;
    const Tensor above = max(select(blocks <= 0, 0, number), {.axis = axis}),  // nan, too
        below = max(select(blocks < 0, number, 0), {.axis = axis});
    return select(below == 0, above, select(above == 0, below + kFalling, kMixed));
}

/// Rounded sums of a block begin at what was before it and need not end where the next block
/// begins. Where they only rise, or only fall, they go no further than that, and reach it with the
/// last element that is not 0. `sum`: with what was before; `left`: ends_of its block, less the
/// number of elements in it.
Tensor joined(const Tensor& sum, const Tensor& left, const Tensor& after) {
    const Tensor rising = select(left <= 0, after, min(sum, after)),
                 falling = select(left <= kFalling, after, max(sum, after));
    return select(left < kFalling / 2, rising, select(left < kMixed / 2, falling, sum));
}

/// x after one identity, along axis 1, and without its last element.
Tensor shifted(Scan scan, const Tensor& x) {
    std::vector<Size> one(static_cast<size_t>(x.rank()), Size(0));
    one[1] = 1;
    return slice(pad(x, {.before = one, .value = identity(scan, x.dtype())}),
                 {.axis = 1, .end = x.size(1)});
}

/// Sums of floats round, so that blocks are to be joined.
bool rounds(Scan scan, DType type) { return scan == Scan::Sum && type.is_float(); }

/// Along the last of two axes.
Tensor scan_rows(Scan scan, const Tensor& x, bool exclusive, int level) {
    Size n = x.size(1);
    if (n.is_constant() ? n.constant() <= kScanBlock : level == kSymbolicLevels)
        return scan_short(scan, x, exclusive);
    Size count = ceil_div(n, kScanBlock), padded = count * kScanBlock;
    Tensor whole = pad(x, {.after = {0, padded - n}, .value = identity(scan, x.dtype())});
    Tensor blocks = reshape(whole, {x.size(0), count, kScanBlock}), sums = total(scan, blocks);
    const Tensor inside = scan_short(scan, blocks, exclusive);
    Tensor out;
    if (rounds(scan, x.dtype())) {
        const Tensor after = scan_rows(scan, sums, false, level + 1);
        const Tensor counted = arange(kScanBlock) + (exclusive ? 0 : 1);
        out = joined(unsqueeze(shifted(scan, after), -1) + inside,
                     unsqueeze(ends_of(blocks, 2), -1) - counted, unsqueeze(after, -1));
    } else {
        const Tensor before = scan_rows(scan, sums, true, level + 1);
        out = combined(scan, unsqueeze(before, -1), inside);
    }
    return slice(reshape(out, {x.size(0), padded}), {.axis = 1, .end = n});
}

Tensor scan_in_blocks(Scan scan, const Tensor& x, int axis, const ScanOptions& options) {
    const Rows rows = rows_along("scan", x, axis);
    Tensor values = options.reverse ? flip(rows.values, {.axis = 1}) : rows.values;
    values = scan_rows(scan, values, options.exclusive, 0);
    if (options.reverse) values = flip(values, {.axis = 1});
    return from_rows(values, rows);
}

// An axis that one invocation walks along is as long as a few launches take at most, beside others
// that keep more than one group busy, and a dispatch has enough for.
constexpr int64_t kLongestWalk = 256, kFewestWalks = 1025, kMostWalks = 65535 * 64;
/// Invocations side by side read neighbours where so many elements follow one another across the
/// axis: a subgroup of any device has no more lanes.
constexpr int64_t kNeighbours = 64;

/// 1 where a <= b, else 0.
Size below(const Size& a, const Size& b) { return Size(1) - min(max(a - b, 0), 1); }

/// 1 where walks along n of so many others are worth it, else 0.
Size walks(const Size& n, const Size& others) {
    return below(n, kLongestWalk) * below(kFewestWalks, others) * below(others, kMostWalks);
}

/// The same of a longer axis in blocks, across which `inner` elements follow one another.
Size walks_in_blocks(const Size& n, const Size& inner, const Size& others) {
    const Size all = others * ceil_div(n, kLongestWalk);
    return below(kNeighbours, inner) * below(kFewestWalks, all) * below(all, kMostWalks);
}

/// Invocations walk along the axis; each through one of `count` blocks of it, and goes on from
/// what `joints` have for that one: [outer, count, inner], or nothing.
Tensor walk_blocks(Scan scan, const Tensor& x, int axis, const ScanOptions& options,
                   const Size& count, const Size& length, const std::optional<Joints>& joints) {
    const Shape shape = x.shape();
    const auto at = shape.begin() + axis;
    const Size n = *at, outer = element_count(Shape(shape.begin(), at)),
               inner = element_count(Shape(at + 1, shape.end()));
    const Tensor flat = reshape(x, {outer * n * inner});
    Tensor out = unset_like(flat);
    const bool rounded = joints && joints->after;
    const auto walk = [&](const Tensor& o, const Tensor& block, const Tensor& i) {
        Tensor sum = joints ? Tensor(unchecked(joints->before)(o, block, i))
                            : identity(scan, x.dtype()).as(x.dtype()),
               after = rounded ? Tensor(unchecked(*joints->after)(o, block, i)) : sum,
               left = rounded ? Tensor(unchecked(*joints->end)(o, block, i)) : Tensor(0);
        const Tensor begin = block * length;
        const bool even = (count * length - n).is(0);
        for (Tensor k : loop(length)) {
            const Tensor step = begin + k, turn = options.reverse ? n - 1 - step : step,
                         place = (o * n + turn) * inner + i;
            const Tensor next =
                combined(scan, sum, even ? unchecked(flat)(place) : Tensor(flat(place)));
            // The last block may be shorter: what lies outside is not stored.
            Tensor value = options.exclusive ? sum : next;
            if (rounded) {
                value = joined(value, options.exclusive ? left : left - 1, after);
                left = left - 1;
            }
            store(out(even ? place : select(step < n, place, -1)), value);
            sum = next;
        }
    };
    if (joints)
        kernel({outer, count, inner}, walk);
    else
        kernel({outer * inner}, [&](const Tensor& one) {
            const Tensor o = one / inner;
            walk(o, 0, one - o * inner);
        });
    return reshape(out, shape);
}

Tensor scan_by_walking(Scan scan, const Tensor& x, int axis, const ScanOptions& options) {
    return walk_blocks(scan, x, axis, options, 1, x.size(axis), std::nullopt);
}

Tensor scan_by_walking_blocks(Scan scan, const Tensor& x, int axis, const ScanOptions& options) {
    const Shape shape = x.shape();
    const auto at = shape.begin() + axis;
    const Size n = *at, outer = element_count(Shape(shape.begin(), at)),
               inner = element_count(Shape(at + 1, shape.end())), count = ceil_div(n, kLongestWalk);
    Tensor rows = reshape(x, {outer, n, inner});
    if (options.reverse) rows = flip(rows, {.axis = 1});
    rows =
        pad(rows, {.after = {0, count * kLongestWalk - n, 0}, .value = identity(scan, x.dtype())});
    const Tensor blocks = reshape(rows, {outer, count, kLongestWalk, inner});
    if (!rounds(scan, x.dtype())) {
        const Tensor before = scan_in_blocks(scan, total(scan, blocks, 2), 1, {.exclusive = true});
        return walk_blocks(scan, x, axis, options, count, kLongestWalk, Joints{before});
    }
    const Tensor after = scan_in_blocks(scan, total(scan, blocks, 2), 1, {});
    return walk_blocks(scan, x, axis, options, count, kLongestWalk,
                       Joints{shifted(scan, after), after, ends_of(blocks, 2)});
}

Tensor scan_either_way(Scan scan, const Tensor& x, int axis, const ScanOptions& options) {
    const Size n = x.size(axis), all = element_count(x.shape());
    Size others = 1, inner = 1;
    for (int other = 0; other < x.rank(); ++other) {
        if (other != axis) others = others * x.size(other);
        if (other > axis) inner = inner * x.size(other);
    }
    if (!data_symbols(all).empty()) return scan_in_blocks(scan, x, axis, options);
    const auto in_blocks = [&](const Tensor& y) {
        return either_way(
            walks_in_blocks(n, inner, others), y,
            [&](const Tensor& z) { return scan_by_walking_blocks(scan, z, axis, options); },
            [&](const Tensor& z) { return scan_in_blocks(scan, z, axis, options); });
    };
    return either_way(
        walks(n, others), x,
        [&](const Tensor& y) { return scan_by_walking(scan, y, axis, options); }, in_blocks);
}

/// Sums have a rule: a sum of cotangents in the other direction. A walk has no other gradient.
Tensor scan_values(Scan scan, const Tensor& x, int axis, const ScanOptions& options) {
    if (!x.dtype().is_float()) return scan_either_way(scan, x, axis, options);
    if (scan != Scan::Sum) return scan_in_blocks(scan, x, axis, options);
    const auto sums = [=](const Tensor& y, bool back) {
        ScanOptions way = options;
        if (back) way.reverse = !way.reverse;
        return scan_values(Scan::Sum, y, axis, way);
    };
    return custom_gradient(
        [=](const std::vector<Tensor>& xs) {
            return scan_either_way(Scan::Sum, xs[0], axis, options);
        },
        {x},
        {.reverse = [=](const std::vector<Tensor>&, const Tensor&,
                        const Tensor& g) { return std::vector<Tensor>{sums(g, true)}; },
         .forward = [=](const std::vector<Tensor>&, const Tensor&,
                        const std::vector<Tensor>& by) { return sums(by[0], false); }});
}

Tensor scan_along(const char* what, Scan scan, const Operand& x, const ScanOptions& options) {
    LineScope at(x.line());
    DType own = x.tensor().dtype(), type = arithmetic_type(own);
    Tensor wide = x.tensor().as(own.is_half() ? f32 : type);
    if (!options.axis) wide = reshape(wide, {element_count(wide.shape())});
    const int axis = options.axis ? checked_axis(what, *options.axis, wide.shape()) : 0;
    Tensor out = scan_values(scan, wide, axis, options);
    if (scan == Scan::Sum || scan == Scan::Product) return out.as(type);
    // The identity of i32 stands for that of a narrower type.
    if (options.exclusive && type != own) {
        const int low = own.is_signed() ? static_cast<int>(scalar_float(-1e9, own).i) : 0;
        out = clip(out, low, static_cast<int>(scalar_float(1e9, own).i));
    }
    return out.as(own);
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
