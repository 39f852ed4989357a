// Compacts by a running count of the chosen elements, which gives their new places.
#include "compiler/algorithms/compact.h"

#include <vector>

#include "compiler/algorithms/scan.h"
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

constexpr int kWord = 32;           // elements that are chosen by the bits of a word
constexpr int64_t kFewNumbers = 8;  // of a slice, which one invocation moves

/// Counts the one bits of u32 words, by sums of ever more neighbours.
Tensor count_bits(Tensor x) {
    x = x - ((x >> 1u) & 0x55555555u);
    x = (x & 0x33333333u) + ((x >> 2u) & 0x33333333u);
    x = (x + (x >> 4u)) & 0x0f0f0f0fu;
    return ((x * 0x01010101u) >> 24u).as(i32);
}

/// A condition [n] as words [ceil(n / 32)].
struct Chosen {
    Tensor holds, words, counts;
};
Chosen in_words(const Tensor& holds) {
    const Size n = holds.size(0), words = ceil_div(n, kWord);
    const Tensor bits = reshape(pad(holds, {.after = {words * kWord - n}}), {words, kWord});
    const Tensor word = sum(select(bits, Tensor(1u) << arange(kWord).as(u32), 0u), {.axis = 1});
    return {holds, word, count_bits(word)};
}

/// Returns the new place of each chosen element; the others get a place outside, each its own.
Tensor places(const Tensor& holds) {
    const Size n = holds.size(0);
    return select(holds, cumsum(holds, {.axis = 0, .exclusive = true}), n + arange(n));
}

/// Returns `room` with the chosen slices [n, numbers] in front, in their order. One invocation
/// moves a word's elements, so that slices that were not chosen are not even read.
Tensor moved_by_word(const Tensor& x, const Chosen& chosen, Tensor room, const Size& rows,
                     bool full) {
    const Size words = chosen.words.size(0);
    // The new places of a word's elements, and the word: in one tensor, because some devices bind
    // only four.
    const Tensor begin = cumsum(chosen.counts, {.axis = 0, .exclusive = true});
    Tensor table = unset(i32, {words, 2});
    kernel({words}, [&](const Tensor& w) {
        store(table(w, 0), begin(w));
        store(table(w, 1), bitcast(chosen.words(w), i32));
    });
    kernel({words}, [&](const Tensor& w) {
        Tensor place = table(w, 0), left = bitcast(table(w, 1), u32);
        for (Tensor iteration : loop(kWord)) {
            if_((left == 0u) | (place >= rows), [&] { break_(); });
            const Tensor lowest = left & (0u - left);  // a power of two, exact as a float
            const Tensor from = w * kWord + (bitcast(lowest.as(f32), i32) >> 23) - 127;
            for (int k = 0; k < x.size(1).constant(); ++k)
                store(room(place, k), x(from, k), {.permutation = full});
            place += 1;
            left = left ^ lowest;
        }
    });
    return room;
}

Size numbers_of(const Shape& shape) { return element_count(Shape(shape.begin() + 1, shape.end())); }

/// Returns the chosen slices of x in front of zeros; `full`: `shape` has no room for zeros.
Tensor moved_to_front(const Tensor& x, const Chosen& chosen, const Shape& shape, bool full) {
    const Size numbers = numbers_of(shape);
    const bool few = numbers.is_constant() && numbers.constant() <= kFewNumbers;
    const Shape flat = few ? Shape{shape[0], numbers} : shape;
    Tensor room = full ? unset(x.dtype(), flat) : zeros(flat, x.dtype());
    if (few)
        return reshape(moved_by_word(reshape(x, {-1, numbers}), chosen, room, shape[0], full),
                       shape);
    store(room(places(chosen.holds)), x, {.unique = true, .permutation = full});
    return room;
}

/// Does the same with a gradient: moved elements go back.
Tensor front_of(const Tensor& x, const Chosen& chosen, const Shape& shape, bool full) {
    const auto moved = [=](const Tensor& y) { return moved_to_front(y, chosen, shape, full); };
    if (!x.dtype().is_float()) return moved(x);
    return custom_gradient(
        [=](const std::vector<Tensor>& xs) { return moved(xs[0]); }, {x},
        {.reverse =
             [=](const std::vector<Tensor>&, const Tensor&, const Tensor& g) {
                 return std::vector<Tensor>{zero(g)(places(chosen.holds))};
             },
         .forward = [=](const std::vector<Tensor>&, const Tensor&,
                        const std::vector<Tensor>& by) { return moved(by[0]); }});
}

Tensor condition(const char* what, const Tensor& x, const Tensor& chosen) {
    Shape shape = x.shape(), mask = chosen.shape();
    if (mask.size() != 1 || shape.empty() ||
        ((mask[0] - shape[0]).is_constant() && !(mask[0] == shape[0])))
        refuse(std::string(what) + ": x is " + text(shape) + " and the condition is " + text(mask) +
               "; it has one axis, the first of x");
    return chosen.as(boolean);
}

/// Every element's indices, [elements, rank].
Tensor all_indices(const char* what, const Tensor& x) {
    Shape shape = x.shape();
    if (shape.empty())
        refuse(std::string(what) + ": x is a scalar and has no indices; reshape it to {1}");
    std::vector<Tensor> axes;
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
        axes.push_back(index(shape, axis));
    return reshape(stack(axes, {.axis = -1}), {-1, shape.size()});
}

}  // namespace

Tensor compact(const Operand& x, const Operand& chosen, const CompactOptions& options) {
    LineScope at(x.line());
    const Chosen words = in_words(condition("compact", x.tensor(), chosen.tensor()));
    Tensor count = sum(words.counts);
    Size most = words.holds.size(0);
    if (options.at_most) {
        count = min(count, Tensor(*options.at_most));
        most = min(most, *options.at_most);
    }
    Shape shape = x.tensor().shape();
    shape[0] = device_size(count, most);
    return front_of(x.tensor(), words, shape, true);
}

Compacted compact_padded(const Operand& x, const Operand& chosen) {
    LineScope at(x.line());
    const Chosen words = in_words(condition("compact_padded", x.tensor(), chosen.tensor()));
    return {front_of(x.tensor(), words, x.tensor().shape(), false), sum(words.counts)};
}

Tensor nonzero(const Operand& x, const CompactOptions& options) {
    LineScope at(x.line());
    return compact(all_indices("nonzero", x.tensor()), reshape(x, {-1}), options);
}

Compacted nonzero_padded(const Operand& x) {
    LineScope at(x.line());
    return compact_padded(all_indices("nonzero_padded", x.tensor()), reshape(x, {-1}));
}

}  // namespace firn
