// Sorting by ranks, by a network, by merging and by digits.
#include "compiler/algorithms/order.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "compiler/algorithms/power_of_two.h"
#include "compiler/algorithms/scan.h"
#include "compiler/algorithms/unset.h"
#include "compiler/frontend/control.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/kernel.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/reader.h"
#include "compiler/frontend/reduce.h"
#include "compiler/frontend/scatter.h"
#include "compiler/frontend/session.h"

namespace firn {
namespace {

/// Extracts a digit; as an i32 it is seen to lie inside.
Tensor digit_of(const Tensor& key, const Tensor& shift, int64_t digits) {
    return (key >> shift).as(i32) & int(digits - 1);
}

/// Rows of keys, and where each was before.
struct Sorted {
    Tensor key, order;
};

/// Returns the begin of the elements of each block with each digit, from the counts: [rows, digits,
/// blocks].
Tensor begins_of(const Tensor& counts) {
    return reshape(cumsum(reshape(counts, {counts.size(0), counts.size(1) * counts.size(2)}),
                          {.axis = 1, .exclusive = true}),
                   counts.shape());
}

/// Elements whose digits are compared with each other, and bits of a digit: every element is
/// compared 64 * 32 / 4 times, half as often as with 256 elements and digits of 8 bits, and there
/// are a quarter as many counts as elements.
constexpr int64_t kDigitBlock = 64;
constexpr int kComparedBits = 4;

/// Sorted by one digit, as lanes that work in step do it best: every element counts those before it
/// with its digit, in other blocks and in its own.
Sorted by_comparing(const Sorted& from, const Tensor& shift) {
    const auto& [key, order] = from;
    const Size rows = key.size(0), n = key.size(1), blocks = ceil_div(n, kDigitBlock);
    constexpr int64_t kDigits = 1 << kComparedBits;
    auto [row, i] = indices<2>(Shape{rows, n});
    Tensor near = reshape(arange(kDigitBlock), {kDigitBlock, 1, 1}), block = i / kDigitBlock;
    Tensor digit = digit_of(key, shift, kDigits), counts = zeros({rows, kDigits, blocks}, i32);
    scatter_add(counts(row, digit, block), 1);
    Tensor begins = begins_of(counts), other = block * kDigitBlock + near;
    Tensor before =
        sum((other < i) & (unchecked(digit)(row, min(other, n - 1)) == digit), {.axis = 0});
    Tensor place = unchecked(begins)(row, digit, block) + before;
    Sorted to{unset_like(key), unset_like(order)};
    store(to.key(row, place), key, {.permutation = true});
    store(to.order(row, place), order, {.permutation = true});
    return to;
}

constexpr int kCountedBits = 8;  // of a digit
constexpr int64_t kCounters = 1 << kCountedBits;
/// Elements that one invocation goes through: so many that setting up its counters is a small part.
constexpr int64_t kLeastRun = 4 * kCounters;
/// Elements of one iteration: the loop's own cost is a large part of so short a body.
constexpr int kAtATime = 4;
/// Runs for each invocation that the device runs at once, so that all are done at about one time.
constexpr int64_t kRunsForEach = 4;

/// Returns the iterations in which one invocation goes through its run. A driver may end all loops
/// of an invocation after so many iterations together, and two more loops go over the counters, of
/// which one clears them; of the remaining iterations takes half, because a size that is a symbol
/// also has loops for remainders.
Size iterations_of_run(const Size& n) {
    const DeviceProfile& profile = current_session().profile();
    const auto parallel = static_cast<int64_t>(profile.parallel_invocations);
    const Size run = min(max(ceil_div(n, kRunsForEach * parallel), kLeastRun), n);
    const Size iterations = ceil_div(run, kAtATime);
    if (!profile.max_back_edges) return iterations;
    return min(iterations,
               std::max<int64_t>((int64_t{profile.max_back_edges} - 2 * kCounters) / 2, 1));
}

/// Sorts rows of n and, in the same order, their companions, all flat, by one digit of the rows'
/// keys, in the way that suits cores best: each invocation goes through a run of its own, with a
/// private counter for each digit.
std::vector<Tensor> by_counting(const std::vector<Tensor>& from, const Size& rows, const Size& n,
                                const KeyOf& key_of, const Tensor& shift) {
    const Size iterations = iterations_of_run(n);
    const Size length = iterations * kAtATime, runs = ceil_div(n, length);
    const auto for_run = [&](const Tensor& row, const Tensor& run, const auto& body) {
        for (Tensor iteration : loop(iterations))
            for (int k = 0; k < kAtATime; ++k) {
                const Tensor i = run * length + iteration * kAtATime + k, at = row * n + i;
                if_(i < n, [&] {
                    const Tensor own = unchecked(from[0])(at);
                    body(at, own, digit_of(key_of(own), shift, kCounters));
                });
            }
    };
    Tensor counts = unset(i32, {rows, kCounters, runs});
    kernel({rows, runs}, [&](const Tensor& row, const Tensor& run) {
        Local count = local(i32, kCounters);
        for_run(row, run, [&](const Tensor&, const Tensor&, const Tensor& digit) {
            count(digit) = count(digit) + 1;
        });
        for (Tensor digit : loop(kCounters)) counts(row, digit, run) = count(digit);
    });
    const Tensor begins = begins_of(counts);
    std::vector<Tensor> to;
    for (const Tensor& x : from) to.push_back(unset_like(x));
    kernel({rows, runs}, [&](const Tensor& row, const Tensor& run) {
        Local next = local(i32, kCounters);
        for (Tensor digit : loop(kCounters)) next(digit) = begins(row, digit, run);
        for_run(row, run, [&](const Tensor& at, const Tensor& own, const Tensor& digit) {
            const Tensor place = next(digit), there = row * n + place;
            store(to[0](there), own, {.permutation = true});
            for (size_t k = 1; k < to.size(); ++k)
                store(to[k](there), unchecked(from[k])(at), {.permutation = true});
            next(digit) = place + 1;
        });
    });
    return to;
}

/// Maps keys so that, as unsigned bits, the lowest integer comes first.
Tensor unsigned_key(const Tensor& key) {
    return key.dtype() == i64 ? bitcast(key ^ Tensor(std::numeric_limits<int64_t>::min()), u64)
                              : bitcast(key ^ Tensor(std::numeric_limits<int32_t>::min()), u32);
}

int iterations_of(DType key, int bits) { return 8 * key.bytes() / bits; }

}  // namespace

Tensor ranks_of(const Tensor& key) {
    const Tensor own = unsqueeze(key, 2), other = unsqueeze(key, 1);
    const Tensor place = arange(key.size(1)), before = place < unsqueeze(place, 1);
    return sum((other < own) | ((other == own) & before), {.axis = 2});
}

Tensor order_by_ranks(const Tensor& key) {
    Tensor order = zeros(key.shape(), i32);
    store(order(index(key.shape(), 0), ranks_of(key)), index(key.shape(), 1),
          {.permutation = true});
    return order;
}

Tensor order_by_network(Tensor key) {
    // If only the device knows the size, there are as many iterations as for the largest size.
    Size n = key.size(1), padded = power_of_two_from(largest(n));
    Tensor highest = key.dtype() == i32 ? Tensor(std::numeric_limits<int32_t>::max())
                                        : Tensor(std::numeric_limits<int64_t>::max());
    // Padding stands behind equal keys, because its indices are larger.
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

// Every element of a merged pair of runs finds its source by a binary search for the number of
// elements before it that come from the first run.
Tensor order_by_merging(Tensor key) {
    Size n = key.size(1);
    auto [row, i] = indices<2>(Shape{key.size(0), n});
    Tensor order = i;
    for (Tensor level : loop(log2_from(largest(n)))) {  // beyond n an iteration changes nothing
        Tensor length = 1 << level, begin = (i >> (level + 1)) << (level + 1), place = i - begin;
        Tensor middle = min(begin + length, n), first = middle - begin;
        Tensor second = min(begin + 2 * length, n) - middle;
        Tensor low = max(place - second, 0), high = min(place, first);
        for (Tensor step : loop(min(level + 1, 31))) {
            Tensor half = (low + high) >> 1, open = low < high;
            // Among equal keys those of the first run come first.
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

bool counts_digits_in_runs() { return current_session().runs_subgroups_serially(); }

Tensor order_by_digits(Tensor key) {
    const Size rows = key.size(0), n = key.size(1);
    Tensor order = index(key.shape(), 1);
    key = unsigned_key(key);
    if (!counts_digits_in_runs()) {
        for (Tensor iteration : loop(iterations_of(key.dtype(), kComparedBits))) {
            const Sorted next = by_comparing({key, order}, iteration * kComparedBits);
            key = next.key, order = next.order;
        }
        return order;
    }
    key = reshape(key, {rows * n}), order = reshape(order, {rows * n});
    for (Tensor iteration : loop(iterations_of(key.dtype(), kCountedBits))) {
        const std::vector<Tensor> next = by_counting(
            {key, order}, rows, n, [](const Tensor& own) { return own; }, iteration * kCountedBits);
        key = next[0], order = next[1];
    }
    return reshape(order, {rows, n});
}

Tensor sorted_in_runs(const Tensor& x, const KeyOf& key_of) {
    const Size rows = x.size(0), n = x.size(1);
    const auto digits = [&](const Tensor& own) { return unsigned_key(key_of(own)); };
    Tensor flat = reshape(x, {rows * n});
    for (Tensor iteration : loop(iterations_of(key_of(x).dtype(), kCountedBits)))
        flat = by_counting({flat}, rows, n, digits, iteration * kCountedBits)[0];
    return reshape(flat, {rows, n});
}

}  // namespace firn
