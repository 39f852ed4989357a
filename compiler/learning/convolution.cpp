// Convolution layers: the functions of algorithms/conv.h with parameters.
#include "compiler/learning/convolution.h"

#include <cmath>

#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/movement.h"
#include "compiler/learning/initialise.h"

namespace firn {
namespace {

void check_layer(const char* what, int64_t in, int64_t out, int groups) {
    if (in < 1 || out < 1 || groups < 1 || in % groups != 0 || out % groups != 0)
        refuse(std::string(what) + ": from " + std::to_string(in) + " to " + std::to_string(out) +
               " channels in " + std::to_string(groups) +
               " groups; give 1 or more of each, and groups that divide both");
}

Initialiser uniform_by_fan(const Shape& weight) {
    const auto bound = static_cast<float>(1 / std::sqrt(double(fan_in(weight))));
    return uniform_init(-bound, bound);
}

/// With the bias along axis 1 of `rank`.
Tensor with_bias(const Module& module, const Tensor& x, const Variable& bias) {
    if (!bias.exists()) return x;
    Shape shape(x.shape().size(), Size(1));
    shape[1] = bias.shape()[0];
    return x + reshape(computed_in(module, bias.value()), shape);
}

}  // namespace

Conv1d::Conv1d(int64_t in, int64_t out, int64_t kernel, const Conv1dLayerOptions& options,
               SourceLine line)
    : options_{options.stride, options.padding, options.dilation, options.groups} {
    LineScope at(line);
    check_layer("Conv1d", in, out, options.groups);
    const Shape shape{out, in / options.groups, kernel};
    const Initialiser uniform = uniform_by_fan(shape);
    weight = add_parameter("weight", shape, options.init ? options.init : uniform);
    if (options.bias) bias = add_parameter("bias", {out}, uniform);
}
Tensor Conv1d::operator()(const Operand& x) const {
    LineScope at(x.line());
    const Tensor w = computed_in(*this, weight.value());
    return with_bias(*this, conv1d(computed_in(*this, x.tensor()), w, options_), bias);
}

Conv2d::Conv2d(int64_t in, int64_t out, const PerAxis<2>& kernel, const Conv2dLayerOptions& options,
               SourceLine line)
    : options_{options.stride, options.padding, options.dilation, options.groups} {
    LineScope at(line);
    check_layer("Conv2d", in, out, options.groups);
    const Shape shape{out, in / options.groups, kernel.values[0], kernel.values[1]};
    const Initialiser uniform = uniform_by_fan(shape);
    weight = add_parameter("weight", shape, options.init ? options.init : uniform);
    if (options.bias) bias = add_parameter("bias", {out}, uniform);
}
Tensor Conv2d::operator()(const Operand& x) const {
    LineScope at(x.line());
    const Tensor w = computed_in(*this, weight.value());
    return with_bias(*this, conv2d(computed_in(*this, x.tensor()), w, options_), bias);
}

ConvTranspose2d::ConvTranspose2d(int64_t in, int64_t out, const PerAxis<2>& kernel,
                                 const ConvTranspose2dLayerOptions& options, SourceLine line)
    : options_{options.stride, options.padding, options.output_padding, options.dilation,
               options.groups} {
    LineScope at(line);
    check_layer("ConvTranspose2d", in, out, options.groups);
    const Shape shape{in, out / options.groups, kernel.values[0], kernel.values[1]};
    const Initialiser uniform = uniform_by_fan(shape);
    weight = add_parameter("weight", shape, options.init ? options.init : uniform);
    if (options.bias) bias = add_parameter("bias", {out}, uniform);
}
Tensor ConvTranspose2d::operator()(const Operand& x) const {
    LineScope at(x.line());
    const Tensor w = computed_in(*this, weight.value());
    return with_bias(*this, conv_transpose2d(computed_in(*this, x.tensor()), w, options_), bias);
}

}  // namespace firn
