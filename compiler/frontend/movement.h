// Functions that move elements without computing: they cost nothing in a kernel.
#pragma once
#include <concepts>
#include <initializer_list>
#include <optional>
#include <vector>

#include "compiler/frontend/tensor.h"

namespace firn {

/// Comes first in options of which a list of numbers could be meant otherwise: `{.axis = 0, .begin
/// = 1}` is how they are given, and `{0, 1}` does not compile.
struct ByName {};

/// Axes in braces, `sum(x, {0, 1})`: one or more integers.
struct Axis {
    template <std::integral T>
    requires(!std::same_as<T, bool>) Axis(T axis) : value(static_cast<int>(axis)) {}
    int value;
};
struct AxisList {
    template <std::convertible_to<Axis>... More>
    AxisList(Axis first, const More&... more) : values{first.value, Axis(more).value...} {}
    std::vector<int> values;
};

/// One axis or several; negative ones count from the end. None given means all.
struct Axes {
    Axes() = default;
    Axes(int axis) : values{axis} {}
    Axes(std::initializer_list<int> axes) : values(axes) {}
    Axes(std::vector<int> axes) : values(std::move(axes)) {}
    std::vector<int> values;
};

/// The same elements in row-major order in another shape; at most one size may be -1.
Tensor reshape(const Operand& x, const Shape& shape);
/// Axes in reverse order, as in numpy; or two axes swapped.
Tensor transpose(const Operand& x);
Tensor transpose(const Operand& x, int a, int b);
/// Axis k of the result is axis axes[k] of x.
Tensor permute(const Operand& x, const std::vector<int>& axes);
/// Repeats axes of size 1, and adds axes in front.
Tensor expand(const Operand& x, const Shape& shape);

struct SqueezeOptions {
    [[no_unique_address]] ByName by_name = {};
    Axes axis = {};  // none: every axis of size 1
};
/// Removes axes of size 1.
Tensor squeeze(const Operand& x, const SqueezeOptions& options = {});
inline Tensor squeeze(const Operand& x, const AxisList& axes) {
    return squeeze(x, {.axis = axes.values});
}
/// Puts an axis of size 1 before `axis` of the result; -1 is the last.
Tensor unsqueeze(const Operand& x, int axis);

/// One axis as several, whose sizes multiply to its own; at most one may be -1.
Tensor split_axis(const Operand& x, int axis, const Shape& sizes);
/// Axes `first` to `last`, both included, as one.
Tensor merge_axes(const Operand& x, int first, int last);

struct SliceOptions {
    [[no_unique_address]] ByName by_name = {};
    int axis = 0;
    Size begin = 0;                          // a negative number counts from the end
    std::optional<Size> end = std::nullopt;  // none: to the end
    int64_t step = 1;  // negative: backwards, from the last of the range to its first
};
/// Elements begin, begin + step, ... before end of one axis. Numbers beyond the axis are cut, as in
/// Python; symbolic ones must be inside, which is checked at the call.
Tensor slice(const Operand& x, const SliceOptions& options);

struct FlipOptions {
    [[no_unique_address]] ByName by_name = {};
    Axes axis = {};  // none: all
};
/// Reverses axes.
Tensor flip(const Operand& x, const FlipOptions& options = {});
inline Tensor flip(const Operand& x, const AxisList& axes) {
    return flip(x, {.axis = axes.values});
}

/// Which axis a function goes along.
struct AlongOptions {
    std::optional<int> axis = std::nullopt;  // none: x is flattened first
};
/// Moves elements by `shift` along an axis, around its end, as numpy's roll: element i comes from
/// i - shift. The shift is one integer, a tensor's too. Flattened, x gets its shape back.
Tensor roll(const Operand& x, const Arg& shift, const AlongOptions& options = {});
/// x repeated as a whole counts[k] times along axis k, right-aligned, as numpy's tile.
Tensor tile(const Operand& x, const Shape& counts);
/// Every element `count` times in a row, as numpy's repeat: {a, b} to {a, a, b, b}.
Tensor repeat(const Operand& x, const Size& count, const AlongOptions& options = {});

struct PadOptions {
    [[no_unique_address]] ByName by_name = {};
    std::vector<Size> before = {};  // one per axis; fewer: the first axes
    std::vector<Size> after = {};
    Tensor value = 0.0f;  // a number
};
/// Puts a constant around x.
Tensor pad(const Operand& x, const PadOptions& options);

struct JoinOptions {
    int axis = 0;
};
/// Tensors one after the other along an axis that they have; the other sizes must be equal.
Tensor concat(const std::vector<Tensor>& parts, const JoinOptions& options = {},
              SourceLine line = here());
/// Tensors of one shape along a new axis.
Tensor stack(const std::vector<Tensor>& parts, const JoinOptions& options = {},
             SourceLine line = here());

}  // namespace firn
