// The tensors of a model or of an optimizer, which training changes in place.
#pragma once
#include <string>
#include <vector>

#include "compiler/base/callback.h"
#include "compiler/frontend/random.h"
#include "compiler/frontend/tensor.h"

namespace firn {

/// The first value of a variable of this shape: initialise.h has them.
using Initialiser = Callback<Tensor(const Shape& shape, const RandomOptions& random)>;

struct VariableState;

/// A handle of one tensor that stays the same variable while its value changes: copies are the same
/// variable. It has a fixed type and shape. While a function over it is recorded (state_function.h)
/// its value is an argument of that function.
///
/// Example: after `Variable w({2}, constant_init(1), true), same = w; w.set(tensor({3.0f, 4.0f}));`
/// `same.value()` is `{3, 4}`.
class Variable {
  public:
    /// An empty variable: value() is a UserError.
    Variable() = default;
    /// Makes a variable with the first value of `initialiser`, whose type and shape stay. UserError
    /// for a shape with symbols.
    Variable(const Shape& shape, const Initialiser& initialiser, bool trainable,
             SourceLine line = here());

    /// False where it is none yet.
    bool exists() const { return state_ != nullptr; }
    /// Returns its value now; this and the following throw UserError if the module has no
    /// parameters yet.
    const Tensor& value(SourceLine line = here()) const;
    /// Returns the handle of the value itself, for code that computes or donates it.
    Tensor& place(SourceLine line = here()) const;
    /// Another value; UserError where its type or shape is another.
    void set(const Tensor& value, SourceLine line = here()) const;
    /// Begins again, with random numbers of `random`.
    void initialise(const RandomOptions& random, SourceLine line = here()) const;
    /// The shape and the type of its value, which stay.
    /// @{
    const Shape& shape() const;
    DType dtype() const;
    /// @}

    /// Returns whether optimizers change it: parameters() lists only those.
    bool trainable() const;
    /// Sets whether optimizers change it; Module::freeze does so for all parameters.
    void set_trainable(bool trainable) const;
    /// Returns whether both are handles of one variable.
    bool operator==(const Variable& other) const { return state_ == other.state_; }

  private:
    friend class Binding;
    SharedPtr<VariableState> state_;
};

/// A variable by its path, `layers.0.weight`.
struct NamedVariable {
    std::string name;
    Variable variable;
};

/// While it lives, variables have other values: the arguments of a recorded function, or the values
/// of a test. Afterwards they have their own again. Types and shapes are not checked.
///
/// Examples: after `Variable w({1}, constant_init(1), true); Tensor inside;`
/// `{ Binding bound({{"w", w}}, {tensor({5.0f})}); inside = w.value(); }` `inside` is `{5}`,
/// `w.value()` is `{1}`.
class Binding {
  public:
    /// A value for each variable, in their order.
    Binding(const std::vector<NamedVariable>& variables, const std::vector<Tensor>& values);
    /// Gives the variables their own values again.
    ~Binding();
    Binding(const Binding&) = delete;
    Binding& operator=(const Binding&) = delete;

  private:
    std::vector<Variable> variables_;
    // A copy of a Tensor that is made while recording would be part of the recording.
    std::vector<SharedPtr<Tensor>> own_;
};

struct NumberState;

/// A handle of a number of the host that a recorded function takes as an argument, such as a
/// learning rate: changing it compiles nothing.
///
/// Example: after `Number rate("lr", 0.1f); rate.value() = 0.2f;` `rate.tensor()` is `0.2`.
class Number {
  public:
    /// Begins with `value`.
    Number(const std::string& name, float value);
    /// Returns its name, as it was given.
    const std::string& name() const;
    /// Returns the value, which a slider may change; it lives as long as a handle.
    float& value() const;
    /// Returns it as a tensor of rank 0: an argument of a function that is recorded over it, else
    /// the value now.
    Tensor tensor(SourceLine line = here()) const;
    /// Returns whether both are handles of one number.
    bool operator==(const Number& other) const { return state_ == other.state_; }

  private:
    friend class NumberBinding;
    SharedPtr<NumberState> state_;
};

/// A number by its path, `optimizer.lr`.
struct NamedNumber {
    std::string name;
    Number number;
};

/// The same as Binding, for numbers.
class NumberBinding {
  public:
    /// A tensor of rank 0 for each number, in their order.
    NumberBinding(const std::vector<NamedNumber>& numbers, const std::vector<Tensor>& values);
    /// Gives the numbers their own values again.
    ~NumberBinding();
    NumberBinding(const NumberBinding&) = delete;
    NumberBinding& operator=(const NumberBinding&) = delete;

  private:
    std::vector<NamedNumber> numbers_;
};

/// The state of a function or a file: the variables of modules and optimizers, and the optimizers'
/// numbers. `{net, optimizer}` is one.
struct State {
    std::vector<NamedVariable> variables;
    std::vector<NamedNumber> numbers;

    /// Nothing.
    State() = default;
    /// Joins the parts, as add() does.
    State(std::initializer_list<State> parts);
    /// Adds the entries of `other`; an entry in both is kept once, under its first name.
    void add(const State& other);
};

}  // namespace firn
