// Convolutions as in neural networks: x is read by index, shifted by the kernel's.
#pragma once
#include <array>

#include "compiler/frontend/tensor.h"

namespace firn {

/// A number for every axis, or one number per axis: `2`, `{2, 1}`.
template <size_t N>
struct PerAxis {
    /// The same for every axis.
    /// @{
    PerAxis(int all) { values.fill(Size(all)); }
    PerAxis(const Size& all) { values.fill(all); }
    /// @}

    /// The numbers of the N axes, the first axis first.
    template <class... Each>
    requires(sizeof...(Each) == N && N > 1) PerAxis(const Each&... each) : values{Size(each)...} {}
    std::array<Size, N> values;
};

/// The geometry of a convolution's kernel on x; axes are planes, rows, columns: the last N of
/// these.
template <size_t N>
struct ConvOptions {
    /// The distance between the kernel's positions, the number of zeros at each end of x, and the
    /// distance in x between neighbours of the kernel.
    PerAxis<N> stride = 1, padding = 0, dilation = 1;
    int groups = 1;  ///< parts of the channels, each with results of its own
};
using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using Conv3dOptions = ConvOptions<3>;

/// The convolution of x [batch, channels, n] and weight [out, channels / groups, k].
///
/// out[b, o, p] = sum over c and k of x[b, c, p stride - padding + k dilation] weight[o, c, k],
/// with 0 outside of x (as torch's conv: the kernel is not mirrored); group g of the results sees
/// group g of the channels. The result's size is (size + 2 padding - dilation (kernel - 1) - 1) /
/// stride + 1, rounded down. Numbers of channels that do not fit, and kernels larger than the
/// padded x, are UserErrors.
///
/// Examples: after `Tensor x = tensor({1, 2, 3, 4}, {1, 1, 4}), w = tensor({1, 0, -1}, {1, 1, 3});`
/// `conv1d(x, w)` is `{{{-2, -2}}}`, `conv1d(x, w, {.padding = 1})` is `{{{-2, -2, -2, 3}}}`.
Tensor conv1d(const Operand& x, const Operand& weight, const Conv1dOptions& options = {});
/// The convolution of x [batch, channels, n, m] and weight [out, channels / groups, k, l], as
/// conv1d along both axes.
///
/// Example: `conv2d(ones({1, 1, 3, 3}), ones({1, 1, 2, 2}), {.stride = 2, .padding = 1})` is
/// `{{{{1, 2}, {2, 4}}}}`.
Tensor conv2d(const Operand& x, const Operand& weight, const Conv2dOptions& options = {});

/// The convolution of x [batch, channels, n, m, l] and weight [out, channels / groups, i, j, k], as
/// conv1d along all three axes.
///
/// Example: `conv3d(ones({1, 1, 2, 2, 3}), ones({1, 1, 2, 2, 2}))` is `{{{{{8, 8}}}}}`.
Tensor conv3d(const Operand& x, const Operand& weight, const Conv3dOptions& options = {});

/// The options of a transposed convolution, as in ConvOptions.
template <size_t N>
struct ConvTransposeOptions {
    /// With a stride, inputs of several sizes have results of one size: the output padding, below
    /// the stride, chooses the size here, and is added at the end.
    PerAxis<N> stride = 1, padding = 0, output_padding = 0, dilation = 1;
    int groups = 1;  ///< parts of the channels, each with results of its own
};
using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;
using ConvTranspose3dOptions = ConvTransposeOptions<3>;

/// The transpose of a convolution as a linear function of x: x [batch, channels, ..] and weight
/// [channels, out / groups, ..] give [batch, out, ..] of sizes (size - 1) stride - 2 padding +
/// dilation (kernel - 1) + output padding + 1, as torch's. UserError where numbers of channels do
/// not fit.
///
/// Examples: after `Tensor x = tensor({1.0f, 2.0f}), w = tensor({1.0f, 10.0f});`
/// `conv_transpose1d(reshape(x, {1, 1, 2}), reshape(w, {1, 1, 2}), {.stride = 2})` is
/// `{{{1, 10, 2, 20}}}`,
/// `conv_transpose2d(reshape(x, {1, 1, 1, 2}), reshape(w, {1, 1, 1, 2}))` is `{{{{1, 12, 20}}}}`,
/// `conv_transpose3d(ones({1, 1, 1, 1, 1}), ones({1, 2, 1, 1, 1}))` is `{{{{{1}}}, {{{1}}}}}`.
/// @{
Tensor conv_transpose1d(const Operand& x, const Operand& weight,
                        const ConvTranspose1dOptions& options = {});
Tensor conv_transpose2d(const Operand& x, const Operand& weight,
                        const ConvTranspose2dOptions& options = {});
Tensor conv_transpose3d(const Operand& x, const Operand& weight,
                        const ConvTranspose3dOptions& options = {});
/// @}

}  // namespace firn
