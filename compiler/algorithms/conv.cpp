// A convolution is a sum over reads at affine indices; the scheduler makes it a kernel.
#include "compiler/algorithms/conv.h"

#include "compiler/frontend/create.h"
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
    // Axes: batch, out channel, row, column, and what is summed: channel, kernel row and column.
    Shape all = out;
    all.insert(all.end(), kernel.begin() + 1, kernel.end());
    auto [b, o, i, j, c, k, l] = indices<7>(all);
    Tensor group = o / floor_div(kernel[0], options.groups), channel = group * kernel[1] + c;
    Tensor row = i * stride[0] - padding[0] + k * dilation[0];
    Tensor column = j * stride[1] - padding[1] + l * dilation[1];
    Tensor terms = zero(x)(b, channel, row, column) * unchecked(weight)(o, c, k, l);
    return sum(terms, {.axis = {4, 5, 6}});
}

Tensor conv1d(const Operand& x, const Operand& weight, const Conv1dOptions& options) {
    LineScope at(x.line());
    const Shape &in = x.tensor().shape(), &kernel = weight.tensor().shape();
    check_channels("conv1d", in, kernel, 3, options.groups);
    const Size &stride = options.stride.values[0], &padding = options.padding.values[0],
               &dilation = options.dilation.values[0];
    Shape all{in[0], kernel[0], positions("conv1d", in[2], kernel[2], stride, padding, dilation),
              kernel[1], kernel[2]};
    auto [b, o, i, c, k] = indices<5>(all);
    Tensor group = o / floor_div(kernel[0], options.groups), channel = group * kernel[1] + c;
    Tensor terms =
        zero(x)(b, channel, i * stride - padding + k * dilation) * unchecked(weight)(o, c, k);
    return sum(terms, {.axis = {3, 4}});
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
        if (stride[k].upper_bound() < 1 || dilation[k].upper_bound() < 1)
            refuse(asked + "; strides and dilations are 1 or more");
        all.push_back((in[k + 2] - Size(1)) * stride[k] - Size(2) * padding[k] +
                      dilation[k] * (kernel[k + 2] - Size(1)) + more[k] + Size(1));
    }
    const Size per_group = floor_div(kernel[0], groups);
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

}  // namespace firn
