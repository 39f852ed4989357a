// Modules: functions with parameters, made of one another.
#pragma once
#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "compiler/learning/variable.h"

namespace firn {

struct ModuleState;

/// The base of all modules: a handle of named parameters, buffers and other modules; copies are the
/// same module. Paths are those of PyTorch's state_dict, `layers.0.weight`.
///
///     struct Net : Module {
///         Linear first = add("first", Linear(2, 16));
///         std::vector<Linear> rest = add("rest", std::vector{Linear(16, 16), Linear(16, 1)});
///         Tensor operator()(const Tensor& x) const { return rest[1](relu(rest[0](first(x)))); }
///     };
///
/// Example: after `struct Net : Module { Linear first = add("first", Linear(2, 16)); Linear last =
/// add("last", Linear(16, 1)); };` `Net net;` `net.variables()[1].name` is `"first.bias"`.
class Module {
  public:
    /// Makes a module without parameters, buffers and modules.
    Module();

    /// Returns the trainable parameters, which optimizers change, with those of the modules inside,
    /// in the order in which they were added.
    std::vector<NamedVariable> parameters() const;
    /// Returns parameters and buffers, frozen ones too, as they are written to a file.
    std::vector<NamedVariable> variables() const;
    /// Its variables.
    operator State() const;

    /// Sets whether it is being trained, which Dropout and BatchNorm check. True at first; a
    /// function that is recorded keeps the state of its recording. Modules inside follow.
    void train(bool on = true) const;
    /// train(false).
    void eval() const { train(false); }
    /// Returns whether it is being trained.
    bool training() const;
    /// The type that products are computed in, f32 at first: with f16 or bf16, parameters stay f32
    /// and are rounded where Linear, convolutions and attention use them. Modules inside follow. P.
    /// Micikevicius et al., "Mixed Precision Training", 2018.
    void compute_in(DType dtype) const;
    /// The type that products are computed in.
    DType compute_type() const;
    /// Optimizers that are made from now on leave its parameters as they are, or change them again.
    void freeze(bool on = true) const;
    /// Begins again: every variable has its first value, of the random numbers of `seed`.
    void reset(uint64_t seed, SourceLine line = here()) const;

  protected:
    /// A variable that optimizers change, with the first value that `first` gives. UserError: a
    /// name that the module has already, or with a dot; a value that is not of floats.
    Variable add_parameter(const std::string& name, const Shape& shape, const Initialiser& first,
                           SourceLine line = here());
    /// A variable that is kept, and no optimizer changes; of any type. Names as for parameters.
    Variable add_buffer(const std::string& name, const Shape& shape, const Initialiser& first,
                        SourceLine line = here());
    /// A module inside, which is given back: `Linear first = add("first", Linear(2, 16));`. Names
    /// as for parameters. UserError: a module that contains this one.
    template <std::derived_from<Module> M>
    M add(const std::string& name, M module, SourceLine line = here()) {
        add_module(name, module, line);
        return module;
    }
    /// A list of modules inside: `name.0`, `name.1`, ..
    template <std::derived_from<Module> M>
    std::vector<M> add(const std::string& name, std::vector<M> modules, SourceLine line = here()) {
        Module list;
        for (size_t k = 0; k < modules.size(); ++k)
            list.add_module(std::to_string(k), modules[k], line);
        add_module(name, list, line);
        return modules;
    }

  private:
    void add_module(const std::string& name, const Module& module, SourceLine line);
    SharedPtr<ModuleState> state_;
};

/// Modules and functions one after the other; modules are called by their positions, as PyTorch
/// does: `Sequential net(Linear(2, 16), [](const Tensor& x) { return relu(x); }, Linear(16, 1))`
/// has `0.weight` and `2.weight`.
///
/// Examples: after
/// `Sequential net(Linear(2, 16), [](const Tensor& x) { return relu(x); }, Linear(16, 1));`
/// `net.variables()[2].name` is `"2.weight"`, `net(ones({5, 2})).shape()` is `[5, 1]`.
class Sequential : public Module {
  public:
    /// Makes it of two parts or more: modules, and functions of a tensor.
    template <class... Parts>
    requires(sizeof...(Parts) > 1) explicit Sequential(const Parts&... parts) {
        (append(parts), ...);
    }
    /// Returns the result of the last part.
    Tensor operator()(const Tensor& x) const {
        Tensor y = x;
        for (const auto& part : parts_) y = part(y);
        return y;
    }

  private:
    template <class Part>
    void append(const Part& part) {
        if constexpr (std::derived_from<Part, Module>) add(std::to_string(parts_.size()), part);
        parts_.emplace_back(part);
    }
    std::vector<Callback<Tensor(const Tensor&)>> parts_;
};

/// Returns x for a layer: in the type that the module computes in if x is f32 and that is another;
/// else x itself.
///
/// Example: after `Linear layer(2, 1); layer.compute_in(f16);`
/// `computed_in(layer, ones({2})).dtype() == f16` is `true`.
Tensor computed_in(const Module& module, const Tensor& x);

}  // namespace firn
