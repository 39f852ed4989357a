// The running mean of weights.
#include "compiler/learning/averaged.h"

#include "compiler/algorithms/real.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/function.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/realize.h"
#include "compiler/learning/initialise.h"

namespace firn {
namespace {

/// Computes assigned values, unless the assignment is part of a recorded function.
void compute(const std::vector<NamedVariable>& variables, SourceLine line) {
    if (recording_now()) return;
    std::vector<Tensor*> all;
    for (const NamedVariable& each : variables) all.push_back(&each.variable.place());
    realize_leaves({}, all, line);
}

}  // namespace

AveragedWeights::AveragedWeights(const std::vector<NamedVariable>& variables, float decay,
                                 SourceLine line)
    : variables_(variables), steps_({1}, constant_init(0), false, line), decay_("decay", decay) {
    for (const NamedVariable& each : variables) {
        // The mean has memory of its own, because both change in place.
        const Initialiser copy = [from = each.variable](const Shape& shape, const RandomOptions&) {
            return tensor_from_bytes(bytes_of(from.value()), shape, from.dtype());
        };
        means_.push_back(
            {"averaged." + each.name, Variable(each.variable.shape(), copy, false, line)});
    }
}

void AveragedWeights::update(SourceLine line) const {
    LineScope at(line);
    const Tensor steps = reshape(steps_.value(), {}),
                 keep = min(decay_.tensor(line), steps / (steps + 9.0f));
    for (size_t k = 0; k < means_.size(); ++k) {
        const Tensor value = variables_[k].variable.value(), mean = means_[k].variable.value();
        // f16 would round small parts away.
        const Tensor before = as_wide(mean), part = keep.as(before.dtype());
        const Tensor next = part * before + (1.0f - part) * as_wide(value);
        means_[k].variable.set(next.as(mean.dtype()));
    }
    steps_.set(steps_.value() + 1.0f);
    std::vector<NamedVariable> changed = means_;
    changed.push_back({"", steps_});
    compute(changed, line);
}

void AveragedWeights::exchange(SourceLine line) const {
    LineScope at(line);
    for (size_t k = 0; k < means_.size(); ++k) {
        const Tensor value = variables_[k].variable.value(), mean = means_[k].variable.value();
        variables_[k].variable.set(mean);
        means_[k].variable.set(value);
    }
}

void AveragedWeights::reset(SourceLine line) const {
    for (const NamedVariable& each : means_) each.variable.initialise({}, line);
    steps_.initialise({}, line);
}

AveragedWeights::operator State() const {
    State out;
    out.variables = variables_;
    out.variables.insert(out.variables.end(), means_.begin(), means_.end());
    out.variables.push_back({"averaged.steps", steps_});
    out.numbers.push_back({"averaged.decay", decay_});
    return out;
}

}  // namespace firn
