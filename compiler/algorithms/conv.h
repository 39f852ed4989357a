// Convolutions as in neural networks: x is read by index, shifted by the kernel's.
#pragma once
#include <array>

#include "compiler/frontend/tensor.h"

namespace firn {

/// One number for every axis, or one per axis.
template <size_t N>
struct PerAxis {
    PerAxis(int all) { values.fill(Size(all)); }
    PerAxis(const Size& all) { values.fill(all); }
    template <class... Each>
    requires(sizeof...(Each) == N && N > 1) PerAxis(const Each&... each) : values{Size(each)...} {}
    std::array<Size, N> values;
};

template <size_t N>
struct ConvOptions {
    PerAxis<N> stride = 1, padding = 0, dilation = 1;  // planes, rows, columns: the last N of these
    int groups = 1;
};
using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using Conv3dOptions = ConvOptions<3>;

// out[b, o, p] = sum over c and k of x[b, c, p stride - padding + k dilation] weight[o, c, k], with
// 0 outside of x (as torch's conv: the kernel is not mirrored). x is [batch, channels, ..], the
// weight [out channels, channels / groups, ..]; group g of the results sees group g of the
// channels. The result's sizes are (size + 2 padding - dilation (kernel - 1) - 1) / stride + 1,
// rounded down. Numbers of channels that do not fit, and kernels larger than the padded x, are
// UserErrors.

/// x [batch, channels, n], weight [out, channels / groups, k].
Tensor conv1d(const Operand& x, const Operand& weight, const Conv1dOptions& options = {});
/// x [batch, channels, n, m], weight [out, channels / groups, k, l].
Tensor conv2d(const Operand& x, const Operand& weight, const Conv2dOptions& options = {});

/// x [batch, channels, n, m, l], weight [out, channels / groups, i, j, k].
Tensor conv3d(const Operand& x, const Operand& weight, const Conv3dOptions& options = {});

template <size_t N>
struct ConvTransposeOptions {
    PerAxis<N> stride = 1, padding = 0, output_padding = 0, dilation = 1;
    int groups = 1;
};
using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;
using ConvTranspose3dOptions = ConvTransposeOptions<3>;

// The transpose of a convolution as a linear function of x: x [batch, channels, ..] and weight
// [channels, out / groups, ..] give [batch, out, ..] of sizes (size - 1) stride - 2 padding +
// dilation (kernel - 1) + output padding + 1, as torch's.
Tensor conv_transpose1d(const Operand& x, const Operand& weight,
                        const ConvTranspose1dOptions& options = {});
Tensor conv_transpose2d(const Operand& x, const Operand& weight,
                        const ConvTranspose2dOptions& options = {});
Tensor conv_transpose3d(const Operand& x, const Operand& weight,
                        const ConvTranspose3dOptions& options = {});

}  // namespace firn
