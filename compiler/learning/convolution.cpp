// Convolution layers: the functions of algorithms/conv.h with parameters.
#include "compiler/learning/convolution.h"

#include <cmath>

#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/movement.h"
#include "compiler/learning/initialise.h"

namespace firn {
namespace {

void check_layer(const std::string& what, int64_t in, int64_t out, int groups) {
    if (in < 1 || out < 1 || groups < 1 || in % groups != 0 || out % groups != 0)
        refuse(what + ": from " + std::to_string(in) + " to " + std::to_string(out) +
               " channels in " + std::to_string(groups) +
               " groups; give 1 or more of each, and groups that divide both");
}

Initialiser uniform_by_fan(const Shape& weight) {
    const auto bound = static_cast<float>(1 / std::sqrt(double(fan_in(weight))));
    return uniform_init(-bound, bound);
}

/// Adds the bias along axis 1 of `rank`.
Tensor with_bias(const Module& module, const Tensor& x, const Variable& bias) {
    if (!bias.exists()) return x;
    Shape shape(x.shape().size(), Size(1));
    shape[1] = bias.shape()[0];
    return x + reshape(computed_in(module, bias.value()), shape);
}

template <size_t N>
std::string layer_name(const char* kind) {
    return kind + std::to_string(N) + "d";
}
template <size_t N>
Shape weight_shape(int64_t first, int64_t second, const PerAxis<N>& kernel) {
    Shape out{first, second};
    out.insert(out.end(), kernel.values.begin(), kernel.values.end());
    return out;
}

Tensor convolution(const Tensor& x, const Tensor& w, const Conv1dOptions& by) {
    return conv1d(x, w, by);
}
Tensor convolution(const Tensor& x, const Tensor& w, const Conv2dOptions& by) {
    return conv2d(x, w, by);
}
Tensor convolution(const Tensor& x, const Tensor& w, const Conv3dOptions& by) {
    return conv3d(x, w, by);
}
Tensor convolution(const Tensor& x, const Tensor& w, const ConvTranspose1dOptions& by) {
    return conv_transpose1d(x, w, by);
}
Tensor convolution(const Tensor& x, const Tensor& w, const ConvTranspose2dOptions& by) {
    return conv_transpose2d(x, w, by);
}
Tensor convolution(const Tensor& x, const Tensor& w, const ConvTranspose3dOptions& by) {
    return conv_transpose3d(x, w, by);
}

}  // namespace

template <size_t N>
ConvLayer<N>::ConvLayer(int64_t in, int64_t out, const PerAxis<N>& kernel,
                        const ConvLayerOptions<N>& options, SourceLine line)
    : options_{options.stride, options.padding, options.dilation, options.groups} {
    LineScope at(line);
    check_layer(layer_name<N>("Conv"), in, out, options.groups);
    const Shape shape = weight_shape(out, in / options.groups, kernel);
    const Initialiser uniform = uniform_by_fan(shape);
    weight = add_parameter("weight", shape, options.init ? options.init : uniform);
    if (options.bias) bias = add_parameter("bias", {out}, uniform);
}
template <size_t N>
Tensor ConvLayer<N>::operator()(const Operand& x) const {
    LineScope at(x.line());
    const Tensor w = computed_in(*this, weight.value());
    return with_bias(*this, convolution(computed_in(*this, x.tensor()), w, options_), bias);
}

template <size_t N>
ConvTransposeLayer<N>::ConvTransposeLayer(int64_t in, int64_t out, const PerAxis<N>& kernel,
                                          const ConvTransposeLayerOptions<N>& options,
                                          SourceLine line)
    : options_{options.stride, options.padding, options.output_padding, options.dilation,
               options.groups} {
    LineScope at(line);
    check_layer(layer_name<N>("ConvTranspose"), in, out, options.groups);
    const Shape shape = weight_shape(in, out / options.groups, kernel);
    const Initialiser uniform = uniform_by_fan(shape);
    weight = add_parameter("weight", shape, options.init ? options.init : uniform);
    if (options.bias) bias = add_parameter("bias", {out}, uniform);
}
template <size_t N>
Tensor ConvTransposeLayer<N>::operator()(const Operand& x) const {
    LineScope at(x.line());
    const Tensor w = computed_in(*this, weight.value());
    return with_bias(*this, convolution(computed_in(*this, x.tensor()), w, options_), bias);
}

template class ConvLayer<1>;
template class ConvLayer<2>;
template class ConvLayer<3>;
template class ConvTransposeLayer<1>;
template class ConvTransposeLayer<2>;
template class ConvTransposeLayer<3>;

}  // namespace firn
