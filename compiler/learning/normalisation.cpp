// Normalisation: two reductions, then elementwise operations.
#include "compiler/learning/normalisation.h"

#include "compiler/frontend/grad.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/required_sizes.h"
#include "compiler/frontend/statistics.h"
#include "compiler/learning/initialise.h"

namespace firn {
namespace {

Tensor wide(const Tensor& x) { return x.dtype().is_half() ? x.as(f32) : x; }

void check_channels(const char* what, const Shape& x, const Size& channels) {
    if (x.size() < 2 || differ(x[1], channels))
        refuse(std::string(what) + ": x is " + text(x) + "; it is [batch, " + channels.text() +
               ", ..]");
}

void check_count(const char* what, int64_t count) {
    if (count < 1)
        refuse(std::string(what) + ": of " + std::to_string(count) + " channels; give 1 or more");
}

/// A vector along axis 1 of something of `rank` axes.
Tensor along_channels(const Tensor& x, size_t rank) {
    Shape shape(rank, Size(1));
    shape[1] = x.shape()[0];
    return reshape(x, shape);
}

/// One value has no variance to learn from. A size that only the device knows cannot be checked.
void check_values_per_channel(const Shape& x) {
    Size count = x[0];
    for (size_t axis = 2; axis < x.size(); ++axis) count = count * x[axis];
    if (!data_symbols(count).empty()) return;
    const Size kept = min(count, 2);
    require_equal_sizes(floor_div(kept, 2) * 2, kept,
                        "BatchNorm: x is " + text(x) +
                            " in training, with 1 value per channel, which has no variance; give "
                            "it more, or call eval() where it is not trained");
}

Tensor normalised(const Tensor& x, const std::vector<int>& axes, float eps) {
    const Tensor centred = x - mean(x, {.axis = axes, .keep_dims = true});
    return centred * rsqrt(mean(square(centred), {.axis = axes, .keep_dims = true}) + eps);
}

}  // namespace

BatchNorm::BatchNorm(int64_t channels, const BatchNormOptions& options, SourceLine line)
    : options_(options) {
    LineScope at(line);
    check_count("BatchNorm", channels);
    if (options.affine) {
        weight = add_parameter("weight", {channels}, constant_init(1));
        bias = add_parameter("bias", {channels}, constant_init(0));
    }
    running_mean = add_buffer("running_mean", {channels}, constant_init(0));
    running_var = add_buffer("running_var", {channels}, constant_init(1));
}

Tensor BatchNorm::operator()(const Operand& operand) const {
    LineScope at(operand.line());
    const Tensor x = wide(operand.tensor());
    const size_t rank = x.shape().size();
    check_channels("BatchNorm", x.shape(), running_mean.shape()[0]);
    std::vector<int> others{0};
    for (size_t k = 2; k < rank; ++k) others.push_back(static_cast<int>(k));
    Tensor centre = running_mean.value(), spread = running_var.value();
    if (training()) {
        check_values_per_channel(x.shape());
        const Tensor count = reduced_count(x.shape(), others, x.dtype());
        const Tensor some = max(count, 1.0f);
        centre = sum(x, {.axis = others}) / some;
        spread = sum(square(x - along_channels(centre, rank)), {.axis = others}) / some;
        const Tensor unbiased = spread * count / max(count - 1.0f, 1.0f);
        // An empty batch changes nothing.
        const Tensor part = select(count > 0.0f, options_.momentum, 0.0f);
        const DType kept = running_mean.value().dtype();
        running_mean.set(
            (running_mean.value() * (1 - part) + stop_gradient(centre) * part).as(kept));
        running_var.set(
            (running_var.value() * (1 - part) + stop_gradient(unbiased) * part).as(kept));
    }
    Tensor y =
        (x - along_channels(centre, rank)) * along_channels(rsqrt(spread + options_.eps), rank);
    if (weight.exists())
        y = y * along_channels(weight.value(), rank) + along_channels(bias.value(), rank);
    return y.as(operand.tensor().dtype());
}

LayerNorm::LayerNorm(const Shape& shape, const NormLayerOptions& options, SourceLine line)
    : shape_(shape), options_(options) {
    LineScope at(line);
    if (shape.empty()) refuse("LayerNorm: of no axes; give the sizes of the last ones");
    if (!options.affine) return;
    weight = add_parameter("weight", shape, constant_init(1));
    bias = add_parameter("bias", shape, constant_init(0));
}

Tensor LayerNorm::operator()(const Operand& operand) const {
    LineScope at(operand.line());
    const Tensor x = wide(operand.tensor());
    const Shape shape = x.shape();
    if (shape_.empty()) weight.value();  // says that there are no parameters
    const size_t count = shape_.size();
    bool fits = shape.size() >= count;
    for (size_t k = 0; fits && k < count; ++k)
        fits = !differ(shape[shape.size() - count + k], shape_[k]);
    if (!fits) refuse("LayerNorm: x is " + text(shape) + "; its last axes are " + text(shape_));
    std::vector<int> axes;
    for (size_t k = 1; k <= count; ++k) axes.push_back(-static_cast<int>(k));
    Tensor y = normalised(x, axes, options_.eps);
    if (weight.exists()) y = y * weight.value() + bias.value();
    return y.as(operand.tensor().dtype());
}

GroupNorm::GroupNorm(int64_t groups, int64_t channels, const NormLayerOptions& options,
                     SourceLine line)
    : groups_(groups), channels_(channels), options_(options) {
    LineScope at(line);
    check_count("GroupNorm", channels);
    if (groups < 1 || channels % groups != 0)
        refuse("GroupNorm: " + std::to_string(groups) + " groups of " + std::to_string(channels) +
               " channels; the groups divide the channels");
    if (!options.affine) return;
    weight = add_parameter("weight", {channels}, constant_init(1));
    bias = add_parameter("bias", {channels}, constant_init(0));
}

Tensor GroupNorm::operator()(const Operand& operand) const {
    LineScope at(operand.line());
    const Tensor x = wide(operand.tensor());
    const Shape shape = x.shape();
    if (channels_ == 0) weight.value();  // says that there are no parameters
    check_channels("GroupNorm", shape, channels_);
    Shape split{shape[0], groups_, channels_ / groups_};
    split.insert(split.end(), shape.begin() + 2, shape.end());
    std::vector<int> axes;
    for (size_t k = 2; k < split.size(); ++k) axes.push_back(static_cast<int>(k));
    Tensor y = reshape(normalised(reshape(x, split), axes, options_.eps), shape);
    if (weight.exists())
        y = y * along_channels(weight.value(), shape.size()) +
            along_channels(bias.value(), shape.size());
    return y.as(operand.tensor().dtype());
}

RMSNorm::RMSNorm(int64_t size, const NormLayerOptions& options, SourceLine line)
    : options_(options) {
    LineScope at(line);
    check_count("RMSNorm", size);
    weight = add_parameter("weight", {size}, constant_init(1));
}

Tensor RMSNorm::operator()(const Operand& operand) const {
    LineScope at(operand.line());
    const Tensor x = wide(operand.tensor());
    if (x.rank() < 1 || differ(x.shape().back(), weight.shape()[0]))
        refuse("RMSNorm: x is " + text(x.shape()) + "; its last axis has " +
               weight.shape()[0].text() + " elements");
    const Tensor scale = rsqrt(mean(square(x), {.axis = -1, .keep_dims = true}) + options_.eps);
    return (x * scale * weight.value()).as(operand.tensor().dtype());
}

}  // namespace firn
