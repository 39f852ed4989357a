// Variables, and the values that they have while something is recorded.
#include "compiler/learning/variable.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "compiler/frontend/line_scope.h"

namespace firn {

struct VariableState {
    std::shared_ptr<Tensor> value;
    Shape shape;
    DType dtype;
    Initialiser initialiser;
    bool trainable = true;
};

struct NumberState {
    std::string name;
    float value = 0;
    std::shared_ptr<Tensor> bound;
};

// --- variables -----------------------------------------------------------------------------------

Variable::Variable(const Shape& shape, const Initialiser& initialiser, bool trainable,
                   SourceLine line)
    : state_(std::make_shared<VariableState>()) {
    LineScope at(line);
    for (const Size& size : shape)
        if (!size.is_constant())
            refuse("module: a variable has shape " + text(shape) +
                   ", whose sizes are to be numbers; make the module outside of the function");
    state_->value = std::make_shared<Tensor>(initialiser(shape, {}));
    state_->shape = state_->value->shape();
    state_->dtype = state_->value->dtype();
    state_->initialiser = initialiser;
    state_->trainable = trainable;
}

const Tensor& Variable::value(SourceLine line) const { return place(line); }

Tensor& Variable::place(SourceLine line) const {
    LineScope at(line);
    if (!state_)
        refuse(
            "module: it has no parameters yet, as it was made without sizes; assign one that has, "
            "as in `layer = Linear(2, 16)`, before it is used");
    return *state_->value;
}

void Variable::set(const Tensor& value, SourceLine line) const {
    const DType had = this->value(line).dtype(line), gets = value.dtype(line);
    LineScope at(line);
    if (Shape(value.shape(line)) != state_->shape || gets != had)
        refuse(std::string("module: a variable of ") + had.name() + text(state_->shape) +
               " is given " + gets.name() + text(value.shape(line)) +
               "; give it its own type and shape");
    *state_->value = value;
}

void Variable::initialise(const RandomOptions& random, SourceLine line) const {
    value(line);
    set(state_->initialiser(state_->shape, random), line);
}

const Shape& Variable::shape() const {
    value();
    return state_->shape;
}
DType Variable::dtype() const {
    value();
    return state_->dtype;
}
bool Variable::trainable() const {
    value();
    return state_->trainable;
}
void Variable::set_trainable(bool trainable) const {
    value();
    state_->trainable = trainable;
}

Binding::Binding(const std::vector<NamedVariable>& variables, const std::vector<Tensor>& values) {
    for (size_t k = 0; k < variables.size(); ++k) {
        auto& state = variables[k].variable.state_;
        variables_.push_back(variables[k].variable);
        own_.push_back(std::move(state->value));
        state->value = std::make_shared<Tensor>(values[k]);
    }
}
Binding::~Binding() {
    for (size_t k = variables_.size(); k-- > 0;) variables_[k].state_->value = std::move(own_[k]);
}

// --- numbers -------------------------------------------------------------------------------------

Number::Number(const std::string& name, float value) : state_(std::make_shared<NumberState>()) {
    state_->name = name;
    state_->value = value;
}
const std::string& Number::name() const { return state_->name; }
float& Number::value() const { return state_->value; }
Tensor Number::tensor(SourceLine line) const {
    return state_->bound ? *state_->bound : Tensor(state_->value, line);
}

NumberBinding::NumberBinding(const std::vector<NamedNumber>& numbers,
                             const std::vector<Tensor>& values)
    : numbers_(numbers) {
    for (size_t k = 0; k < numbers.size(); ++k)
        numbers[k].number.state_->bound = std::make_shared<Tensor>(values[k]);
}
NumberBinding::~NumberBinding() {
    for (const NamedNumber& each : numbers_) each.number.state_->bound.reset();
}

// --- state ---------------------------------------------------------------------------------------

State::State(std::initializer_list<State> parts) {
    for (const State& part : parts) add(part);
}

void State::add(const State& other) {
    for (const NamedVariable& each : other.variables)
        if (std::none_of(variables.begin(), variables.end(), [&](const NamedVariable& known) {
                return known.variable == each.variable;
            }))
            variables.push_back(each);
    for (const NamedNumber& each : other.numbers)
        if (std::none_of(numbers.begin(), numbers.end(),
                         [&](const NamedNumber& known) { return known.number == each.number; }))
            numbers.push_back(each);
}

}  // namespace firn
