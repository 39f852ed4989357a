// A convolution is a sum over reads at affine indices; the scheduler makes it a kernel.
#include "compiler/algorithms/conv.h"

#include "compiler/frontend/create.h"
#include "compiler/frontend/grad.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/reduce.h"

namespace firn {
namespace {

void check_channels(const char* what, const Shape& x, const Shape& weight, size_t rank,
                    int groups) {
    std::string asked =
        std::string(what) + ": x is " + text(x) + " and the weight is " + text(weight);
    if (x.size() != rank || weight.size() != rank)
        refuse(asked + "; both have " + std::to_string(rank) + " axes");
    if (groups < 1) refuse(asked + " with " + std::to_string(groups) + " groups; give 1 or more");
    Size channels = weight[1] * Size(groups), rest = mod(weight[0], groups);
    bool fit = !(x[1] - channels).is_constant() || x[1] == channels;
    if (!fit || (rest.is_constant() && !rest.is(0)))
        refuse(asked + " with " + std::to_string(groups) +
               " groups; the weight has channels / groups on axis 1, and the groups divide axis 0");
}

/// The size of a result's axis.
Size positions(const char* what, const Size& n, const Size& kernel, const Size& stride,
               const Size& padding, const Size& dilation) {
    if (stride.upper_bound() < 1 || dilation.upper_bound() < 1 || padding.upper_bound() < 0)
        refuse(std::string(what) + ": stride " + stride.text() + ", padding " + padding.text() +
               ", dilation " + dilation.text() +
               "; strides and dilations are 1 or more, padding 0 or more");
    Size room = n + Size(2) * padding - dilation * (kernel - Size(1)) - Size(1);
    if (room.upper_bound() < 0)
        refuse(std::string(what) + ": a kernel of " + kernel.text() + " with dilation " +
               dilation.text() + " is larger than " + n.text() + " with padding " + padding.text());
    return floor_div(room, stride) + Size(1);
}

/// The sums of conv2d with several groups, which have an axis of their own: so that every index is
/// affine, and the gradients are sums too. The result has the shape `out`.
Tensor grouped(const Tensor& x, const Tensor& weight, const Shape& out,
               const Conv2dOptions& options) {
    const auto &stride = options.stride.values, &padding = options.padding.values,
               &dilation = options.dilation.values;
    const Size groups = options.groups;
    const Tensor parts = split_axis(x, 1, {groups, weight.shape()[1]}),
                 weights = split_axis(weight, 0, {groups, -1});
    const Shape kernel = weights.shape();
    auto [b, g, o, i, j, c, k, l] =
        indices<8>({out[0], groups, kernel[1], out[2], out[3], kernel[2], kernel[3], kernel[4]});
    const Tensor row = i * stride[0] - padding[0] + k * dilation[0];
    const Tensor column = j * stride[1] - padding[1] + l * dilation[1];
    const Tensor terms = zero(parts)(b, g, c, row, column) * unchecked(weights)(g, o, c, k, l);
    return reshape(sum(terms, {.axis = {5, 6, 7}}), out);
}

/// The sums of conv_transpose2d; the result has the shape `out`.
Tensor transposed(const Tensor& x, const Tensor& weight, const Shape& out,
                  const ConvTranspose2dOptions& options) {
    const Shape kernel = weight.shape();
    const auto &stride = options.stride.values, &padding = options.padding.values,
               &dilation = options.dilation.values;
    const Size per_group = floor_div(kernel[0], options.groups);
    Shape all = out;
    all.insert(all.end(), {per_group, kernel[2], kernel[3]});
    auto [b, o, p, q, c, k, l] = indices<7>(all);
    // The position that position (p, q) of the result came from by kernel element (k, l), times the
    // stride.
    const Tensor row = p + padding[0] - k * dilation[0], column = q + padding[1] - l * dilation[1];
    const Tensor meets = (row % stride[0] == 0) & (column % stride[1] == 0);
    const Tensor channel = (o / kernel[1]) * per_group + c;
    const Tensor terms =
        select(meets, zero(x)(b, channel, row / stride[0], column / stride[1]), 0) *
        unchecked(weight)(channel, o % kernel[1], k, l);
    return sum(terms, {.axis = {4, 5, 6}});
}

/// The cotangent of conv_transpose2d's weight: what every element of x meets in the result's.
Tensor transposed_by_weight(const Tensor& x, const Tensor& cotangent, const Shape& weight,
                            const ConvTranspose2dOptions& options) {
    const auto &stride = options.stride.values, &padding = options.padding.values,
               &dilation = options.dilation.values;
    const Size groups = options.groups, per_group = floor_div(weight[0], options.groups);
    const Tensor in = split_axis(x, 1, {groups, per_group}),
                 out = split_axis(cotangent, 1, {groups, weight[1]});
    const Shape shape = in.shape();
    auto [g, c, o, k, l, b, i, j] = indices<8>(
        {groups, per_group, weight[1], weight[2], weight[3], shape[0], shape[3], shape[4]});
    const Tensor row = i * stride[0] - padding[0] + k * dilation[0];
    const Tensor column = j * stride[1] - padding[1] + l * dilation[1];
    const Tensor terms = unchecked(in)(b, g, c, i, j) * zero(out)(b, g, o, row, column);
    return reshape(sum(terms, {.axis = {5, 6, 7}}), weight);
}

}  // namespace

Tensor conv2d(const Operand& x, const Operand& weight, const Conv2dOptions& options) {
    LineScope at(x.line());
    const Shape &in = x.tensor().shape(), &kernel = weight.tensor().shape();
    check_channels("conv2d", in, kernel, 4, options.groups);
    const auto &stride = options.stride.values, &padding = options.padding.values,
               &dilation = options.dilation.values;
    Shape out{in[0], kernel[0]};
    for (size_t k = 0; k < 2; ++k)
        out.push_back(
            positions("conv2d", in[k + 2], kernel[k + 2], stride[k], padding[k], dilation[k]));
    if (options.groups > 1) return grouped(x.tensor(), weight.tensor(), out, options);
    // Axes: batch, out channel, row, column, and what is summed: channel, kernel row and column.
    Shape all = out;
    all.insert(all.end(), kernel.begin() + 1, kernel.end());
    auto [b, o, i, j, c, k, l] = indices<7>(all);
    Tensor row = i * stride[0] - padding[0] + k * dilation[0];
    Tensor column = j * stride[1] - padding[1] + l * dilation[1];
    Tensor terms = zero(x)(b, c, row, column) * unchecked(weight)(o, c, k, l);
    return sum(terms, {.axis = {4, 5, 6}});
}

Tensor conv1d(const Operand& x, const Operand& weight, const Conv1dOptions& options) {
    LineScope at(x.line());
    const Shape &in = x.tensor().shape(), &kernel = weight.tensor().shape();
    check_channels("conv1d", in, kernel, 3, options.groups);
    positions("conv1d", in[2], kernel[2], options.stride.values[0], options.padding.values[0],
              options.dilation.values[0]);
    const auto one_row = [](const PerAxis<1>& along, int across) {
        return PerAxis<2>(Size(across), along.values[0]);
    };
    const Tensor picture = conv2d(unsqueeze(x, 2), unsqueeze(weight, 2),
                                  {one_row(options.stride, 1), one_row(options.padding, 0),
                                   one_row(options.dilation, 1), options.groups});
    return squeeze(picture, {2});
}

Tensor conv_transpose2d(const Operand& x, const Operand& weight,
                        const ConvTranspose2dOptions& options) {
    LineScope at(x.line());
    const Shape &in = x.tensor().shape(), &kernel = weight.tensor().shape();
    const int groups = options.groups;
    const std::string asked =
        "conv_transpose2d: x is " + text(in) + " and the weight is " + text(kernel);
    if (in.size() != 4 || kernel.size() != 4) refuse(asked + "; both have 4 axes");
    const Size wrong = in[1] - kernel[0], rest = mod(kernel[0], groups < 1 ? 1 : groups);
    if (groups < 1 || (wrong.is_constant() && !wrong.is(0)) || (rest.is_constant() && !rest.is(0)))
        refuse(asked + " with " + std::to_string(groups) +
               " groups; the weight has the channels of x on axis 0, and the groups divide them");
    const auto &stride = options.stride.values, &padding = options.padding.values,
               &more = options.output_padding.values, &dilation = options.dilation.values;
    Shape all{in[0], kernel[1] * Size(groups)};
    for (size_t k = 0; k < 2; ++k) {
        if (stride[k].upper_bound() < 1 || dilation[k].upper_bound() < 1 ||
            (more[k] - stride[k]).lower_bound() >= 0)
            refuse(asked + "; strides and dilations are 1 or more, and above the output padding");
        all.push_back((in[k + 2] - Size(1)) * stride[k] - Size(2) * padding[k] +
                      dilation[k] * (kernel[k + 2] - Size(1)) + more[k] + Size(1));
    }
    // Both gradients are sums, not stores that meet: by x it is the convolution that this is the
    // transpose of.
    return custom_gradient(
        [&](const std::vector<Tensor>& xs) { return transposed(xs[0], xs[1], all, options); },
        {x.tensor(), weight.tensor()},
        [options](const std::vector<Tensor>& xs, const Tensor&, const Tensor& cotangent) {
            const Conv2dOptions forward{options.stride, options.padding, options.dilation,
                                        options.groups};
            return std::vector<Tensor>{
                conv2d(cotangent, xs[1], forward),
                transposed_by_weight(xs[0], cotangent, xs[1].shape(), options)};
        });
}

}  // namespace firn
