// Losses in forms that neither overflow nor lose small values.
#include "compiler/learning/losses.h"

#include <limits>
#include <string>

#include "compiler/frontend/create.h"
#include "compiler/frontend/effects.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/reduce.h"
#include "compiler/frontend/statistics.h"
#include "compiler/learning/activations.h"
#include "compiler/learning/may_equal.h"

namespace firn {
namespace {

struct Pair {
    Tensor prediction, target;
};

Tensor in_f32(const Tensor& x) { return x.dtype().is_half() ? x.as(f32) : x; }

std::string described(const Tensor& x) { return std::string(x.dtype().name()) + text(x.shape()); }

Pair checked(const char* what, const Tensor& prediction, const Tensor& target) {
    const std::string asked = std::string(what) + ": the prediction is " + described(prediction) +
                              " and the target " + described(target);
    if (!prediction.dtype().is_float() || !target.dtype().is_float())
        refuse(asked + "; both are to be floats, convert by .as(f32)");
    if (!may_equal(prediction.shape(), target.shape()))
        refuse(asked + "; give both one shape, by reshape or unsqueeze");
    return {in_f32(prediction), in_f32(target)};
}

Tensor reduced(const Tensor& terms, Reduction reduction) {
    switch (reduction) {
        case Reduction::Mean: return mean(terms);
        case Reduction::Sum: return sum(terms);
        case Reduction::None: return terms;
    }
    return terms;
}

}  // namespace

Tensor mse_loss(const Operand& prediction, const Tensor& target, const LossOptions& options) {
    LineScope at(prediction.line());
    auto [p, t] = checked("mse_loss", prediction.tensor(), target);
    return reduced(square(p - t), options.reduction);
}

Tensor l1_loss(const Operand& prediction, const Tensor& target, const LossOptions& options) {
    LineScope at(prediction.line());
    auto [p, t] = checked("l1_loss", prediction.tensor(), target);
    return reduced(abs(p - t), options.reduction);
}

Tensor huber_loss(const Operand& prediction, const Tensor& target, const HuberOptions& options) {
    LineScope at(prediction.line());
    auto [p, t] = checked("huber_loss", prediction.tensor(), target);
    const Tensor distance = abs(p - t);
    const float delta = options.delta;
    return reduced(
        select(distance <= delta, 0.5f * square(distance), delta * (distance - 0.5f * delta)),
        options.reduction);
}

Tensor cross_entropy(const Operand& logits, const Tensor& target,
                     const CrossEntropyOptions& options) {
    LineScope at(logits.line());
    const Tensor x = in_f32(logits.tensor());
    const std::string asked =
        "cross_entropy: the logits are " + described(x) + " and the target " + described(target);
    if (!x.dtype().is_float() || x.rank() < 2)
        refuse(asked + "; logits are floats [batch, classes, ..]");
    Shape without = x.shape();
    const Size classes = without[1];
    without.erase(without.begin() + 1);
    const Tensor logarithms = log_softmax(x, {.axis = 1});
    const float smoothing = options.label_smoothing;
    const Tensor spread = smoothing / Tensor(classes).as(x.dtype());
    Tensor terms;
    if (target.dtype().is_float()) {
        if (!may_equal(x.shape(), target.shape()))
            refuse(asked + "; give integer labels " + text(without) + ", or probabilities " +
                   text(x.shape()));
        if (options.ignore_index)
            refuse(asked +
                   "; ignore_index leaves out labels, and these are probabilities: give a "
                   "row to leave out probabilities 0");
        const Tensor smooth = in_f32(target) * (1.0f - smoothing) + spread;
        terms = -sum(logarithms * smooth, {1});
    } else {
        if (!target.dtype().is_integer() || !may_equal(without, target.shape()))
            refuse(asked + "; give integer labels " + text(without) + ", or probabilities " +
                   text(x.shape()));
        // A narrow type need not hold the number of classes.
        const DType type = arithmetic_type(target.dtype());
        const Tensor label = target.as(type);
        Tensor valid = (label >= 0) & (label < Tensor(classes).as(type));
        const std::optional<int> ignored = options.ignore_index;
        // A type that cannot hold this label leaves none out.
        const bool leaves_out = ignored && !loses_value(scalar_int(*ignored, i64), target.dtype());
        const Tensor left_out = leaves_out ? label == Tensor(*ignored).as(type) : Tensor(false);
        if (leaves_out) valid = valid | left_out;
        if (options.check_labels)
            assert_value(valid, "cross_entropy: a label is not one of the " + classes.text() +
                                    " classes, from 0; mend the labels, or leave some out by "
                                    "ignore_index");
        // Not a read at the label: the gradient of this is no store.
        const Tensor is_label = unsqueeze(label, 1) == index(logarithms, 1).as(type);
        terms = -sum(select(is_label, logarithms, 0.0f), {1});
        if (smoothing != 0) terms = (1.0f - smoothing) * terms - sum(logarithms * spread, {1});
        if (!options.check_labels)
            terms = select(valid, terms, std::numeric_limits<float>::quiet_NaN());
        if (leaves_out) {
            terms = select(left_out, 0.0f, terms);
            if (options.reduction == Reduction::Mean)
                return sum(terms) / sum(!left_out).as(terms.dtype());
        }
    }
    return reduced(terms, options.reduction);
}

Tensor binary_cross_entropy_with_logits(const Operand& logits, const Tensor& target,
                                        const LossOptions& options) {
    LineScope at(logits.line());
    auto [x, t] = checked("binary_cross_entropy_with_logits", logits.tensor(), target);
    // Nothing large is subtracted of a logit that is large and right, here and in the gradient.
    const Tensor terms = (1.0f - t) * softplus(x) + t * softplus(-x);
    return reduced(terms, options.reduction);
}

Tensor binary_cross_entropy(const Operand& probability, const Tensor& target,
                            const BinaryCrossEntropyOptions& options) {
    LineScope at(probability.line());
    auto [p, t] = checked("binary_cross_entropy", probability.tensor(), target);
    const Tensor valid = (p >= 0.0f) & (p <= 1.0f);
    if (options.check_probabilities)
        assert_value(valid,
                     "binary_cross_entropy: a probability is not in [0, 1]; give it sigmoid(x), or "
                     "x to binary_cross_entropy_with_logits");
    // A select: a value that is cut off has no gradient, not even an infinite one times 0.
    const auto at_least = [](const Tensor& x) { return select(x < -100.0f, -100.0f, x); };
    const Tensor yes = at_least(log(p)), no = at_least(log1p(-p));
    Tensor terms = -(t * yes + (1.0f - t) * no);
    if (!options.check_probabilities)
        terms = select(valid, terms, std::numeric_limits<float>::quiet_NaN());
    return reduced(terms, options.reduction);
}

Tensor kl_div(const Operand& log_probability, const Tensor& target) {
    LineScope at(log_probability.line());
    auto [l, t] = checked("kl_div", log_probability.tensor(), target);
    if (l.rank() == 0) refuse("kl_div: the prediction is one number; it is [batch, ..]");
    const Tensor none = t <= 0.0f;
    const Tensor terms =
        select(none, select(is_nan(l), l, 0.0f), t * (log(select(none, 1.0f, t)) - l));
    return sum(terms) / Tensor(l.size(0)).as(f32);
}

}  // namespace firn
