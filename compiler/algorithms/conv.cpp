// A convolution is a sum over reads at affine indices; the scheduler makes it a kernel.
#include "compiler/algorithms/conv.h"

#include "compiler/frontend/create.h"
#include "compiler/frontend/grad.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/reader.h"
#include "compiler/frontend/reduce.h"

namespace firn {
namespace {

/// The geometry of a kernel on x, along each axis of positions.
struct Geometry {
    std::vector<Size> stride, padding, dilation;
    int groups = 1;
};
template <class Options>
Geometry geometry(const Options& options) {
    const auto list = [](const auto& each) {
        return std::vector<Size>(each.values.begin(), each.values.end());
    };
    return {list(options.stride), list(options.padding), list(options.dilation), options.groups};
}

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

std::vector<Tensor> all_indices(const Shape& shape) {
    std::vector<Tensor> out;
    for (size_t axis = 0; axis < shape.size(); ++axis)
        out.push_back(index(shape, static_cast<int>(axis)));
    return out;
}
Tensor read(const Reader& x, const std::vector<Tensor>& at) {
    const auto index = [&](size_t k) {
        return k < at.size() ? Reader::Index(at[k]) : Reader::Index();
    };
    return x(index(0), index(1), index(2), index(3), index(4), index(5));
}
Tensor sum_from(const Tensor& terms, size_t axis) {
    std::vector<int> axes;
    for (size_t k = axis; k < terms.shape().size(); ++k) axes.push_back(static_cast<int>(k));
    return sum(terms, {.axis = axes});
}
void append(Shape& shape, const Shape& from, size_t begin) {
    for (size_t k = begin; k < from.size(); ++k) shape.push_back(from[k]);
}

/// Returns the place in x that kernel element `k` reads for position `p` of a result.
Tensor place(const Geometry& by, size_t axis, const Tensor& p, const Tensor& k) {
    return p * by.stride[axis] - by.padding[axis] + k * by.dilation[axis];
}

/// The sums of a convolution; the result has the shape `out`.
Tensor convolved(const Tensor& x, const Tensor& weight, const Shape& out, const Geometry& by) {
    const size_t axes = by.stride.size(), c = 2 + axes;  // batch, out channel, positions, channel
    Shape all = out;
    append(all, weight.shape(), 1);
    const std::vector<Tensor> at = all_indices(all);
    std::vector<Tensor> in{at[0], at[c]}, element{at[1], at[c]};
    for (size_t k = 0; k < axes; ++k) {
        in.push_back(place(by, k, at[2 + k], at[c + 1 + k]));
        element.push_back(at[c + 1 + k]);
    }
    return sum_from(read(zero(x), in) * read(unchecked(weight), element), c);
}

/// The same with several groups, which have an axis of their own: so that every index is affine,
/// and the gradients are sums too.
Tensor grouped(const Tensor& x, const Tensor& weight, const Shape& out, const Geometry& by) {
    const size_t axes = by.stride.size(), c = 3 + axes;
    const Size groups = by.groups;
    const Tensor parts = split_axis(x, 1, {groups, weight.shape()[1]}),
                 weights = split_axis(weight, 0, {groups, -1});
    Shape all{out[0], groups, weights.shape()[1]};
    append(all, out, 2);
    append(all, weights.shape(), 2);
    const std::vector<Tensor> at = all_indices(all);
    std::vector<Tensor> in{at[0], at[1], at[c]}, element{at[1], at[2], at[c]};
    for (size_t k = 0; k < axes; ++k) {
        in.push_back(place(by, k, at[3 + k], at[c + 1 + k]));
        element.push_back(at[c + 1 + k]);
    }
    return reshape(sum_from(read(zero(parts), in) * read(unchecked(weights), element), c), out);
}

Tensor conv(const char* what, const Tensor& x, const Tensor& weight, const Geometry& by) {
    const size_t axes = by.stride.size();
    const Shape &in = x.shape(), &kernel = weight.shape();
    check_channels(what, in, kernel, 2 + axes, by.groups);
    Shape out{in[0], kernel[0]};
    for (size_t k = 0; k < axes; ++k)
        out.push_back(
            positions(what, in[k + 2], kernel[k + 2], by.stride[k], by.padding[k], by.dilation[k]));
    return by.groups > 1 ? grouped(x, weight, out, by) : convolved(x, weight, out, by);
}

/// The sums of a transposed convolution; the result has the shape `out`.
Tensor transposed(const Tensor& x, const Tensor& weight, const Shape& out, const Geometry& by) {
    const size_t axes = by.stride.size(), c = 2 + axes;
    const Shape kernel = weight.shape();
    const Size per_group = floor_div(kernel[0], by.groups);
    Shape all = out;
    all.push_back(per_group);
    append(all, kernel, 2);
    const std::vector<Tensor> at = all_indices(all);
    const Tensor channel = (at[1] / kernel[1]) * per_group + at[c];
    std::vector<Tensor> in{at[0], channel}, element{channel, at[1] % kernel[1]};
    Tensor meets;
    for (size_t k = 0; k < axes; ++k) {
        // The position that this one of the result came from by kernel element k, times the stride.
        const Tensor scaled = at[2 + k] + by.padding[k] - at[c + 1 + k] * by.dilation[k];
        const Tensor whole = scaled % by.stride[k] == 0;
        meets = k == 0 ? whole : meets & whole;
        in.push_back(scaled / by.stride[k]);
        element.push_back(at[c + 1 + k]);
    }
    return sum_from(select(meets, read(zero(x), in), 0) * read(unchecked(weight), element), c);
}

/// The cotangent of a transposed convolution's weight: products of every element of x with the
/// result's cotangents that it contributes to.
Tensor transposed_by_weight(const Tensor& x, const Tensor& cotangent, const Shape& weight,
                            const Geometry& by) {
    const size_t axes = by.stride.size(), b = 3 + axes;  // group, channel, out, kernel, batch
    const Size groups = by.groups, per_group = floor_div(weight[0], by.groups);
    const Tensor in = split_axis(x, 1, {groups, per_group}),
                 out = split_axis(cotangent, 1, {groups, weight[1]});
    Shape all{groups, per_group, weight[1]};
    append(all, weight, 2);
    all.push_back(in.shape()[0]);
    append(all, in.shape(), 3);
    const std::vector<Tensor> at = all_indices(all);
    std::vector<Tensor> from{at[b], at[0], at[1]}, to{at[b], at[0], at[2]};
    for (size_t k = 0; k < axes; ++k) {
        from.push_back(at[b + 1 + k]);
        to.push_back(place(by, k, at[b + 1 + k], at[3 + k]));
    }
    return reshape(sum_from(read(unchecked(in), from) * read(zero(out), to), b), weight);
}

Tensor conv_transpose(const char* what, const Tensor& x, const Tensor& weight, const Geometry& by,
                      const Size* output_padding) {
    const size_t axes = by.stride.size();
    const Shape &in = x.shape(), &kernel = weight.shape();
    const std::string asked =
        std::string(what) + ": x is " + text(in) + " and the weight is " + text(kernel);
    if (in.size() != 2 + axes || kernel.size() != 2 + axes)
        refuse(asked + "; both have " + std::to_string(2 + axes) + " axes");
    const Size wrong = in[1] - kernel[0], rest = mod(kernel[0], by.groups < 1 ? 1 : by.groups);
    if (by.groups < 1 || (wrong.is_constant() && !wrong.is(0)) ||
        (rest.is_constant() && !rest.is(0)))
        refuse(asked + " with " + std::to_string(by.groups) +
               " groups; the weight has the channels of x on axis 0, and the groups divide them");
    Shape out{in[0], kernel[1] * Size(by.groups)};
    for (size_t k = 0; k < axes; ++k) {
        if (by.stride[k].upper_bound() < 1 || by.dilation[k].upper_bound() < 1 ||
            (output_padding[k] - by.stride[k]).lower_bound() >= 0)
            refuse(asked + "; strides and dilations are 1 or more, and above the output padding");
        out.push_back((in[k + 2] - Size(1)) * by.stride[k] - Size(2) * by.padding[k] +
                      by.dilation[k] * (kernel[k + 2] - Size(1)) + output_padding[k] + Size(1));
    }
    // Both gradients are sums, not stores that meet: by x it is the convolution that this is the
    // transpose of.
    return custom_gradient(
        [out, by](const std::vector<Tensor>& xs) { return transposed(xs[0], xs[1], out, by); },
        {x, weight},
        [what, by](const std::vector<Tensor>& xs, const Tensor&, const Tensor& cotangent) {
            return std::vector<Tensor>{conv(what, cotangent, xs[1], by),
                                       transposed_by_weight(xs[0], cotangent, xs[1].shape(), by)};
        });
}

}  // namespace

Tensor conv1d(const Operand& x, const Operand& weight, const Conv1dOptions& options) {
    LineScope at(x.line());
    return conv("conv1d", x.tensor(), weight.tensor(), geometry(options));
}
Tensor conv2d(const Operand& x, const Operand& weight, const Conv2dOptions& options) {
    LineScope at(x.line());
    return conv("conv2d", x.tensor(), weight.tensor(), geometry(options));
}
Tensor conv3d(const Operand& x, const Operand& weight, const Conv3dOptions& options) {
    LineScope at(x.line());
    return conv("conv3d", x.tensor(), weight.tensor(), geometry(options));
}

Tensor conv_transpose1d(const Operand& x, const Operand& weight,
                        const ConvTranspose1dOptions& options) {
    LineScope at(x.line());
    return conv_transpose("conv_transpose1d", x.tensor(), weight.tensor(), geometry(options),
                          options.output_padding.values.data());
}
Tensor conv_transpose2d(const Operand& x, const Operand& weight,
                        const ConvTranspose2dOptions& options) {
    LineScope at(x.line());
    return conv_transpose("conv_transpose2d", x.tensor(), weight.tensor(), geometry(options),
                          options.output_padding.values.data());
}
Tensor conv_transpose3d(const Operand& x, const Operand& weight,
                        const ConvTranspose3dOptions& options) {
    LineScope at(x.line());
    return conv_transpose("conv_transpose3d", x.tensor(), weight.tensor(), geometry(options),
                          options.output_padding.values.data());
}

}  // namespace firn
