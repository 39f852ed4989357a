// Functions that move elements without computing: they cost nothing in a kernel.
#pragma once
#include <concepts>
#include <initializer_list>
#include <optional>
#include <vector>

#include "compiler/frontend/tensor.h"

namespace firn {

/// The first member of options that could be confused with a list of numbers: `{.axis = 0, .begin =
/// 1}` compiles, and `{0, 1}` does not.
struct ByName {};

/// An axis given in braces; a negative number counts from the end.
struct Axis {
    /// Any integer; a bool is none.
    template <std::integral T>
    requires(!std::same_as<T, bool>) Axis(T axis) : value(static_cast<int>(axis)) {}
    int value;
};
/// A list of integers: std::vector<int>, std::array<int64_t, 2> and their like.
template <class T>
concept ListOfIntegers = requires(const T& list) {
    requires std::integral<std::remove_cvref_t<decltype(*list.begin())>>;
    requires !std::same_as<std::remove_cvref_t<decltype(*list.begin())>, bool>;
    requires !std::same_as<std::remove_cvref_t<decltype(*list.begin())>, char>;
    list.end();
};

/// An axis or several axes; negative numbers count from the end. `{}` means all.
struct Axes {
    Axes() = default;
    /// These axes.
    /// @{
    Axes(int axis) : values{axis} {}
    Axes(std::initializer_list<int> axes) : values(axes) {}
    Axes(std::vector<int> axes) : values(std::move(axes)) {}
    template <ListOfIntegers T>
    Axes(const T& axes) : values(axes.begin(), axes.end()) {}
    /// @}
    std::vector<int> values;
};

/// Axes in braces, `sum(x, {0, 1})`, or those of a variable, `sum(x, axes)`: one or more integers.
struct AxisList {
    /// The axes in the braces.
    template <std::convertible_to<Axis>... More>
    AxisList(Axis first, const More&... more) : values{first.value, Axis(more).value...} {}
    /// The axes of a std::vector<int> or another list of integers, or of Axes.
    /// @{
    template <ListOfIntegers T>
    AxisList(const T& axes) : values(axes.begin(), axes.end()) {}
    template <std::same_as<Axes> T>  // no `{0}`, which is the constructor above
    AxisList(const T& axes) : values(axes.values) {}
    /// @}
    std::vector<int> values;
};

/// The same elements in row-major order in another shape; at most one size may be -1, and follows
/// from the others. UserError if the number of elements differs.
///
/// Examples: `reshape(arange(6), {2, -1})` is `{{0, 1, 2}, {3, 4, 5}}`,
/// `reshape(zeros({2, 3}), {-1}).shape()` is `[6]`.
Tensor reshape(const Operand& x, const Shape& shape);
/// Axes in reverse order, as in numpy.
///
/// Example: `transpose(reshape(arange(6), {2, 3}))` is `{{0, 3}, {1, 4}, {2, 5}}`.
Tensor transpose(const Operand& x);
/// Axes a and b swapped; negative ones count from the end.
///
/// Example: `transpose(zeros({2, 3, 4}), 0, -1).shape()` is `[4, 3, 2]`.
Tensor transpose(const Operand& x, int a, int b);
/// Axis k of the result is axis axes[k] of x; each is named once.
///
/// Example: `permute(zeros({2, 3, 4}), {1, 2, 0}).shape()` is `[3, 4, 2]`.
Tensor permute(const Operand& x, const std::vector<int>& axes);
/// The same, by numpy's name.
///
/// Example: `transpose(zeros({2, 3, 4}), {1, 2, 0}).shape()` is `[3, 4, 2]`.
inline Tensor transpose(const Operand& x, const std::vector<int>& axes) { return permute(x, axes); }
/// Repeats axes of size 1, and adds axes in front. UserError where an axis has another size than
/// that of the shape.
///
/// Examples: `expand(tensor({1, 2}), {2, 2})` is `{{1, 2}, {1, 2}}`,
/// `expand(tensor({1, 2}, {2, 1}), {2, 2})` is `{{1, 1}, {2, 2}}`.
Tensor expand(const Operand& x, const Shape& shape);

/// The axes that squeeze removes.
struct SqueezeOptions {
    [[no_unique_address]] ByName by_name = {};
    Axes axis = {};  ///< none: every axis of size 1
};
/// Removes axes of size 1; a named one of another size is a UserError.
///
/// Examples: `squeeze(zeros({1, 3, 1})).shape()` is `[3]`, `squeeze(zeros({1, 3, 1}), {0}).shape()`
/// is `[3, 1]`.
/// @{
Tensor squeeze(const Operand& x, const SqueezeOptions& options = {});
inline Tensor squeeze(const Operand& x, const AxisList& axes) {
    return squeeze(x, {.axis = axes.values});
}
/// @}

/// Puts an axis of size 1 before `axis` of the result; -1 is the last.
///
/// Examples: `unsqueeze(tensor({1, 2}), 0)` is `{{1, 2}}`, `unsqueeze(tensor({1, 2}), -1)` is
/// `{{1}, {2}}`.
Tensor unsqueeze(const Operand& x, int axis);

/// Splits an axis into several, with its size as the product of theirs; at most one may be -1.
///
/// Example: `split_axis(zeros({2, 12}), 1, {3, -1}).shape()` is `[2, 3, 4]`.
Tensor split_axis(const Operand& x, int axis, const Shape& sizes);
/// Axes `first` to `last`, both included, as one.
///
/// Example: `merge_axes(zeros({2, 3, 4}), 0, 1).shape()` is `[6, 4]`.
Tensor merge_axes(const Operand& x, int first, int last);

/// The part of the axis that slice returns.
struct SliceOptions {
    [[no_unique_address]] ByName by_name = {};
    int axis = 0;
    Size begin = 0;                          ///< a negative number counts from the end
    std::optional<Size> end = std::nullopt;  ///< none: to the end
    int64_t step = 1;  ///< negative: backwards, from the last of the range to its first
};
/// Elements begin, begin + step, ... before end of one axis. Numbers beyond the axis are cut, as in
/// Python; symbolic ones must be inside, which is checked at the call. Backwards it goes from
/// end - 1, where a range among indices goes from its begin.
///
/// Examples: `slice(arange(6), {.begin = 1, .end = 4})` is `{1, 2, 3}`,
/// `slice(arange(6), {.begin = -2, .end = 99})` is `{4, 5}`,
/// `slice(arange(6), {.begin = 1, .end = 4, .step = -1})` is `{3, 2, 1}`.
Tensor slice(const Operand& x, const SliceOptions& options);

/// The axes that flip reverses.
struct FlipOptions {
    [[no_unique_address]] ByName by_name = {};
    Axes axis = {};  ///< none: all
};
/// Reverses axes.
///
/// Examples: `flip(tensor({1, 2, 3}))` is `{3, 2, 1}`,
/// `flip(reshape(arange(4), {2, 2}), {1})` is `{{1, 0}, {3, 2}}`.
/// @{
Tensor flip(const Operand& x, const FlipOptions& options = {});
inline Tensor flip(const Operand& x, const AxisList& axes) {
    return flip(x, {.axis = axes.values});
}
/// @}

/// The axis along which a function works.
struct AlongOptions {
    std::optional<int> axis = std::nullopt;  ///< none: x is flattened first
};
/// Moves elements by `shift` along an axis, around its end, as numpy's roll: element i comes from
/// i - shift. The shift is one integer, a tensor's too. Flattened, x gets its shape back.
///
/// Examples: `roll(tensor({1, 2, 3, 4}), 1)` is `{4, 1, 2, 3}`,
/// `roll(reshape(arange(4), {2, 2}), -1)` is `{{1, 2}, {3, 0}}`.
Tensor roll(const Operand& x, const Arg& shift, const AlongOptions& options = {});
/// x repeated as a whole counts[k] times along axis k, right-aligned, as numpy's tile.
///
/// Examples: `tile(tensor({1, 2}), {2})` is `{1, 2, 1, 2}`, `tile(tensor({1, 2}), {2, 1})` is
/// `{{1, 2}, {1, 2}}`.
Tensor tile(const Operand& x, const Shape& counts);
/// Every element `count` times in a row, as numpy's repeat.
///
/// Examples: `repeat(tensor({1, 2}), 2)` is `{1, 1, 2, 2}`,
/// `repeat(tensor({1, 2}, {1, 2}), 2, {.axis = 0})` is `{{1, 2}, {1, 2}}`.
Tensor repeat(const Operand& x, const Size& count, const AlongOptions& options = {});

/// The width and the value of pad's border.
struct PadOptions {
    [[no_unique_address]] ByName by_name = {};
    std::vector<Size> before = {};  ///< one per axis; fewer: the first axes
    std::vector<Size> after = {};
    Tensor value = 0.0f;  ///< a number that is known while recording
};
/// Puts a constant around x. Widths are 0 or more; `pad` with a PadMode repeats or reflects.
///
/// Examples: `pad(tensor({1, 2}), {.before = {1}, .after = {2}})` is `{0, 1, 2, 0, 0}`,
/// `pad(ones({1, 2}), {.before = {1}, .value = 9})` is `{{9, 9}, {1, 1}}`.
Tensor pad(const Operand& x, const PadOptions& options);

/// The axis along which tensors are joined.
struct JoinOptions {
    int axis = 0;  ///< negative: from the end
};
/// Tensors one after the other along an axis that they have; the other sizes must be equal. Types
/// meet as by `select`.
///
/// Examples: `concat({tensor({1, 2}), tensor({0.5f})})` is `{1, 2, 0.5}`,
/// `concat({zeros({2, 3}), zeros({2, 1})}, {.axis = -1}).shape()` is `[2, 4]`.
Tensor concat(const std::vector<Tensor>& parts, const JoinOptions& options = {},
              SourceLine line = here());
/// The inverse of `concat`: so many pieces of equal size along an axis. UserError where its size is
/// not known to be a multiple.
///
/// Example: `split(arange(6), 3)[2]` is `{4, 5}`.
std::vector<Tensor> split(const Operand& x, int64_t pieces, const JoinOptions& options = {});
/// Pieces that begin at 0 and at each of these numbers, which rise.
///
/// Example: `split_at(arange(6), {1, 4})[1]` is `{1, 2, 3}`.
std::vector<Tensor> split_at(const Operand& x, const std::vector<Size>& begins,
                             const JoinOptions& options = {});
/// Tensors of one shape along a new axis.
///
/// Examples: `stack({tensor({1, 2}), tensor({3, 4})})` is `{{1, 2}, {3, 4}}`,
/// `stack({tensor({1, 2}), tensor({3, 4})}, {.axis = -1})` is `{{1, 3}, {2, 4}}`.
Tensor stack(const std::vector<Tensor>& parts, const JoinOptions& options = {},
             SourceLine line = here());

}  // namespace firn
