// Scans by walking along short axes, and by block sums along long ones.
#include "compiler/algorithms/scan.h"

#include <functional>
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

/// Returns the neutral element.
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

/// Along the last of two axes; with gradients, as nothing is stored.
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
/// Few elements are scanned by one group for each axis, in one launch. Its invocations walk along
/// four blocks at most; every device allows so many.
constexpr int kGroup = 64;
constexpr int64_t kMostOfInvocation = 4 * kScanBlock, kMostInGroups = kGroup * kMostOfInvocation;

/// 1 where a <= b, else 0.
Size below(const Size& a, const Size& b) { return Size(1) - min(max(a - b, 0), 1); }

/// 1 where walks along n of so many others are worth it, else 0.
Size walks(const Size& n, const Size& others) {
    return below(n, kLongestWalk) * below(kFewestWalks, others) * below(others, kMostWalks);
}

/// An axis between others, in blocks of `length` that one invocation walks along each; the last
/// block may be shorter.
struct Walk {
    Size outer, n, inner, length, count;  // elements outside, along and inside; of blocks
    bool reverse = false;
};

/// Without a length the whole axis is one block.
Walk walk_along(const Shape& shape, int axis, const std::optional<Size>& length,
                bool reverse = false) {
    const auto at = shape.begin() + axis;
    return {element_count(Shape(shape.begin(), at)),   *at,
            element_count(Shape(at + 1, shape.end())), length.value_or(*at),
            length ? ceil_div(*at, *length) : Size(1), reverse};
}

/// `each(o, block, i)` once for each block.
void for_blocks(const Walk& w, const std::function<void(Tensor, Tensor, Tensor)>& each) {
    if (w.count.is(1))
        kernel({w.outer * w.inner}, [&](const Tensor& one) {
            const Tensor o = one / w.inner;
            each(o, 0, one - o * w.inner);
        });
    else if (w.inner.is(1))
        kernel({w.outer, w.count},
               [&](const Tensor& o, const Tensor& block) { each(o, block, 0); });
    else
        kernel({w.outer, w.count, w.inner}, each);
}

/// The place of the element k of a block in a tensor [outer, n, inner] that is flat; past the end
/// of the axis it is that of another element, or outside.
Tensor place_of(const Walk& w, const Tensor& o, const Tensor& block, const Tensor& i,
                const Tensor& k) {
    const Tensor step = block * w.length + k, place = w.reverse ? w.n - 1 - step : step;
    return (o * w.n + place) * w.inner + i;
}

/// True where the axis is a whole number of blocks.
bool even(const Walk& w) { return (w.count * w.length - w.n).is(0); }

/// An element of x, flat; past the end of the axis it is any.
Tensor element_at(const Tensor& flat, const Walk& w, const Tensor& place) {
    return even(w) ? Tensor(unchecked(flat)(place)) : Tensor(flat(place));
}

/// Goes through a block of x from the left, and returns its total. `each(k, before, now)` gets the
/// result before element k, and with it.
template <class Each>
Tensor walk_block(Scan scan, const Tensor& x, const Walk& w, const Tensor& o, const Tensor& block,
                  const Tensor& i, const Each& each) {
    const Tensor flat = reshape(x, {w.outer * w.n * w.inner});
    Tensor sum = identity(scan, x.dtype()).as(x.dtype());
    for (Tensor k : loop(w.length)) {
        const Tensor now = combined(scan, sum, element_at(flat, w, place_of(w, o, block, i, k)));
        each(k, sum, now);
        sum = now;
    }
    return sum;
}

/// Returns the totals of blocks of x, as walk_block does, [outer, count, inner]: without a loop,
/// which would leave the order to the compiler. The total of the last block is any value if the
/// axis ends inside it.
Tensor totals_of(Scan scan, const Tensor& x, const Walk& w) {
    const Tensor flat = reshape(x, {w.outer * w.n * w.inner});
    Tensor totals = unset(x.dtype(), {w.outer, w.count, w.inner});
    for_blocks(w, [&](const Tensor& o, const Tensor& block, const Tensor& i) {
        Tensor sum = identity(scan, x.dtype()).as(x.dtype());
        for (int k = 0; k < w.length.constant(); ++k)
            sum = combined(scan, sum, element_at(flat, w, place_of(w, o, block, i, k)));
        store(totals(o, block, i), sum);
    });
    return totals;
}

/// The carries of blocks, [outer, all, inner]. The first kind has, for each block, the total of the
/// blocks before it in its run of kScanBlock blocks; the next kind has, for each of these runs, the
/// total of the runs before it in a run of runs, and so on. Each kind begins at its start. One
/// tensor holds all kinds, so that a kernel that takes them binds one.
struct Carries {
    Tensor values;
    std::vector<Size> starts;
};

/// The carries of blocks with these totals, [outer, count, inner]. Each is combined from the left,
/// one by one, so that where a block ends it is, to the last bit, where the next begins.
Carries carries_of(Scan scan, Tensor totals) {
    std::vector<Walk> kinds;
    std::vector<Size> starts;
    Size all = 0;
    for (bool whole = false; !whole;) {
        const Size n = kinds.empty() ? totals.size(1) : kinds.back().count;
        whole = n.is_constant() ? n.constant() <= kScanBlock
                                : static_cast<int>(kinds.size()) + 1 == kSymbolicLevels;
        kinds.push_back(walk_along({totals.size(0), n, totals.size(2)}, 1,
                                   whole ? std::nullopt : std::optional<Size>(kScanBlock)));
        starts.push_back(all);
        all = all + kinds.back().count * kinds.back().length;
    }
    Tensor values = unset(totals.dtype(), {totals.size(0), all, totals.size(2)});
    for (size_t kind = 0; kind < kinds.size(); ++kind) {
        const Walk& w = kinds[kind];
        const bool last = kind + 1 == kinds.size();
        Tensor next = last ? totals : unset(totals.dtype(), {w.outer, w.count, w.inner});
        for_blocks(w, [&](const Tensor& o, const Tensor& block, const Tensor& i) {
            const Tensor begin = block * w.length + starts[kind];
            const Tensor sum =
                walk_block(scan, totals, w, o, block, i,
                           [&](const Tensor& k, const Tensor& before, const Tensor&) {
                               store(values(o, begin + k, i), before);
                           });
            if (!last) store(next(o, block, i), sum);
        });
        totals = next;
    }
    return {values, starts};
}

/// Walks along blocks of that length, or along the whole axis. Combines each element with the
/// smallest carries first: all elements before it within one more kScanBlock of blocks are rounded
/// before the sum before those is added, so that sums of floats are monotone where addition is.
Tensor scan_by_walking(Scan scan, const Tensor& x, int axis, const ScanOptions& options,
                       const std::optional<Size>& length) {
    const Walk w = walk_along(x.shape(), axis, length, options.reverse);
    std::optional<Carries> carries;
    if (!w.count.is(1)) carries = carries_of(scan, totals_of(scan, x, w));
    Tensor out = unset_like(reshape(x, {w.outer * w.n * w.inner}));
    for_blocks(w, [&](const Tensor& o, const Tensor& block, const Tensor& i) {
        std::vector<Tensor> before;
        Tensor at = block;
        if (carries)
            for (const Size& start : carries->starts) {
                before.push_back(unchecked(carries->values)(o, at + start, i));
                at = at / kScanBlock;
            }
        walk_block(scan, x, w, o, block, i,
                   [&](const Tensor& k, const Tensor& sum, const Tensor& now) {
                       Tensor value = options.exclusive ? sum : now;
                       for (const Tensor& each : before) value = combined(scan, each, value);
                       const Tensor place = place_of(w, o, block, i, k);
                       // The last block may be shorter: elements outside are not stored.
                       const Tensor inside = block * w.length + k < w.n;
                       store(out(even(w) ? place : select(inside, place, -1)), value);
                   });
    });
    return reshape(out, x.shape());
}

/// Scans the axis, of kMostInGroups elements at most, by one group: its invocations walk along a
/// block each, one of them along the totals of these, and all add the sum before their block.
Tensor scan_by_group(Scan scan, const Tensor& x, int axis, const ScanOptions& options) {
    Walk w = walk_along(x.shape(), axis, std::nullopt, options.reverse);
    w.length = min(max(ceil_div(w.n, kGroup), kScanBlock), kMostOfInvocation);
    w.count = kGroup;
    Tensor out = unset_like(reshape(x, {w.outer * w.n * w.inner}));
    kernel({w.outer * w.inner, kGroup}, {.group = {1, kGroup}},
           [&](const Tensor& one, const Tensor& block) {
               const Tensor o = one / w.inner, i = one - o * w.inner;
               Shared totals = shared(x.dtype(), kGroup), carries = shared(x.dtype(), kGroup);
               const auto place_if_inside = [&](const Tensor& k) {
                   return select(block * w.length + k < w.n, place_of(w, o, block, i, k), -1);
               };
               totals(block) =
                   walk_block(scan, x, w, o, block, i,
                              [&](const Tensor& k, const Tensor& before, const Tensor& now) {
                                  store(out(place_if_inside(k)), options.exclusive ? before : now);
                              });
               barrier();
               if_(block == 0, [&] {
                   Tensor sum = identity(scan, x.dtype()).as(x.dtype());
                   for (Tensor k : loop(kGroup)) {
                       carries(k) = sum;
                       sum = combined(scan, sum, totals(k));
                   }
               });
               barrier();
               for (Tensor k : loop(w.length)) {
                   const Tensor place = place_if_inside(k);
                   if_(place >= 0,
                       [&] { out(place) = combined(scan, carries(block), own(out)(place)); });
               }
           });
    return reshape(out, x.shape());
}

Tensor scan_either_way(Scan scan, const Tensor& x, int axis, const ScanOptions& options) {
    const Size n = x.size(axis);
    Size others = 1;
    for (int other = 0; other < x.rank(); ++other)
        if (other != axis) others = others * x.size(other);
    const auto walk = [&](const Tensor& y, const std::optional<Size>& length) {
        return scan_by_walking(scan, y, axis, options, length);
    };
    if (!data_symbols(element_count(x.shape())).empty()) return walk(x, Size(kScanBlock));
    const Size all = n * others;
    const auto by_groups = [&](const Tensor& y) {
        return either_way(
            below(1, all) * below(all, kMostInGroups), y,
            [&](const Tensor& z) { return scan_by_group(scan, z, axis, options); },
            [&](const Tensor& z) { return walk(z, Size(kScanBlock)); });
    };
    return either_way(
        walks(n, others), x, [&](const Tensor& y) { return walk(y, std::nullopt); }, by_groups);
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
