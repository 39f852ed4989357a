// Sorting by a network, by merging and by digits, as loops of kernels.
#include "compiler/algorithms/order.h"

#include <limits>

#include "compiler/algorithms/power_of_two.h"
#include "compiler/algorithms/scan.h"
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

constexpr int kDigitBits = 8;
constexpr int64_t kDigits = 1 << kDigitBits;

/// Rows of keys, and where each was before.
struct Sorted {
    Tensor key, order;
};

Tensor digit_of(const Tensor& key, const Tensor& shift) {
    return ((key >> shift) & (kDigits - 1)).as(i32);
}

/// Where the elements of each block with each digit begin, from how many there are: [rows, digits,
/// blocks].
Tensor begins_of(const Tensor& counts) {
    const Size rows = counts.size(0), blocks = counts.size(2);
    return reshape(
        cumsum(reshape(counts, {rows, kDigits * blocks}), {.axis = 1, .exclusive = true}),
        {rows, kDigits, blocks});
}

constexpr int64_t kDigitBlock = 256;  // elements whose digits are compared with each other

/// Sorted by one digit, as lanes that work in step do it best: every element counts those before it
/// with its digit, in other blocks and in its own.
Sorted by_comparing(const Sorted& from, const Tensor& shift) {
    const auto& [key, order] = from;
    const Size rows = key.size(0), n = key.size(1), blocks = ceil_div(n, kDigitBlock);
    auto [row, i] = indices<2>(Shape{rows, n});
    Tensor near = reshape(arange(kDigitBlock), {kDigitBlock, 1, 1}), block = i / kDigitBlock;
    Tensor digit = digit_of(key, shift), counts = zeros({rows, kDigits, blocks}, i32);
    scatter_add(counts(row, digit, block), 1);
    Tensor begins = begins_of(counts), other = block * kDigitBlock + near;
    Tensor before =
        sum((other < i) & (unchecked(digit)(row, min(other, n - 1)) == digit), {.axis = 0});
    Tensor place = unchecked(begins)(row, digit, block) + before;
    Sorted to{zeros({rows, n}, key.dtype()), zeros({rows, n}, i32)};
    store(to.key(row, place), key, {.permutation = true});
    store(to.order(row, place), order, {.permutation = true});
    return to;
}

/// Elements that one invocation goes through: so many that setting up its counters is a small part.
constexpr int64_t kLeastRun = 4 * kDigits;
/// Runs for each invocation that the device runs at once, so that all are done at about one time.
constexpr int64_t kRunsForEach = 4;

/// Sorted by one digit, as cores do it best: each invocation goes through a run of its own, with a
/// counter for each digit in memory of its own.
Sorted by_counting(const Sorted& from, const Tensor& shift) {
    const auto& [key, order] = from;
    const Size rows = key.size(0), n = key.size(1);
    const auto parallel = static_cast<int64_t>(current_session().profile().parallel_invocations);
    const Size length = min(max(ceil_div(n, kRunsForEach * parallel), kLeastRun), n);
    const Size runs = ceil_div(n, length);
    const auto for_run = [&](const Tensor& run, const auto& body) {
        for (Tensor step : loop(length)) {
            const Tensor i = run * length + step;
            if_(i < n, [&] { body(i); });
        }
    };
    Tensor counts = zeros({rows, kDigits, runs}, i32);
    kernel({rows, runs}, [&](const Tensor& row, const Tensor& run) {
        Local count = local(i32, kDigits);
        for_run(run, [&](const Tensor& i) {
            const Tensor digit = digit_of(unchecked(key)(row, i), shift);
            count(digit) = count(digit) + 1;
        });
        for (Tensor digit : loop(kDigits)) counts(row, digit, run) = count(digit);
    });
    const Tensor begins = begins_of(counts);
    Sorted to{zeros({rows, n}, key.dtype()), zeros({rows, n}, i32)};
    kernel({rows, runs}, [&](const Tensor& row, const Tensor& run) {
        Local next = local(i32, kDigits);
        for (Tensor digit : loop(kDigits)) next(digit) = begins(row, digit, run);
        for_run(run, [&](const Tensor& i) {
            const Tensor own = unchecked(key)(row, i), digit = digit_of(own, shift);
            const Tensor place = next(digit);
            store(to.key(row, place), own, {.permutation = true});
            store(to.order(row, place), unchecked(order)(row, i), {.permutation = true});
            next(digit) = place + 1;
        });
    });
    return to;
}

}  // namespace

Tensor order_by_network(Tensor key) {
    // As many turns as the largest size takes, where only the device knows the size.
    Size n = key.size(1), padded = power_of_two_from(largest(n));
    Tensor highest = key.dtype() == i32 ? Tensor(std::numeric_limits<int32_t>::max())
                                        : Tensor(std::numeric_limits<int64_t>::max());
    // What is added stands behind equal keys, since its indices are larger.
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

// Every element of a merged pair of runs finds what it takes by a binary search: how many of the
// elements before it come from the first run.
Tensor order_by_merging(Tensor key) {
    Size n = key.size(1);
    auto [row, i] = indices<2>(Shape{key.size(0), n});
    Tensor order = i;
    for (Tensor level : loop(log2_from(largest(n)))) {  // beyond n a turn changes nothing
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

bool counts_digits_in_runs() {
    const Session session = current_session();
    return session.compiles() && session.profile().device_class == DeviceClass::Cpu;
}

Tensor order_by_digits(Tensor key) {
    bool wide = key.dtype() == i64;
    // As unsigned bits the lowest integer comes first.
    key = wide ? bitcast(key ^ Tensor(std::numeric_limits<int64_t>::min()), u64)
               : bitcast(key ^ Tensor(std::numeric_limits<int32_t>::min()), u32);
    const bool in_runs = counts_digits_in_runs();
    Tensor order = index(key.shape(), 1);
    for (Tensor turn : loop((wide ? 64 : 32) / kDigitBits)) {
        const Tensor shift = turn * kDigitBits;
        Sorted next =
            in_runs ? by_counting({key, order}, shift) : by_comparing({key, order}, shift);
        key = next.key;
        order = next.order;
    }
    return order;
}

}  // namespace firn
