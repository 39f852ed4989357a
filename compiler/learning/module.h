// Modules: functions with parameters, made of one another.
#pragma once
#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "compiler/learning/variable.h"

namespace firn {

struct ModuleState;

/// What all modules are: a handle of named parameters, buffers and other modules; copies are the
/// same module. Paths are those of PyTorch's state_dict, `layers.0.weight`.
///
///     struct Net : Module {
///         Linear first = add("first", Linear(2, 16));
///         std::vector<Linear> rest = add("rest", std::vector{Linear(16, 16), Linear(16, 1)});
///         Tensor operator()(const Tensor& x) const { return rest[1](relu(rest[0](first(x)))); }
///     };
class Module {
  public:
    Module();

    /// What optimizers change: trainable parameters, of the modules inside too, in the order in
    /// which they were added.
    std::vector<NamedVariable> parameters() const;
    /// Parameters and buffers: what a file keeps.
    std::vector<NamedVariable> variables() const;
    operator State() const;

    /// Whether it is being trained: Dropout and BatchNorm ask. True at first; of a function that is
    /// recorded it is what holds then. Modules inside follow.
    void train(bool on = true) const;
    void eval() const { train(false); }
    bool training() const;
    /// The type that products are computed in, f32 at first: with f16 or bf16, parameters stay f32
    /// and are rounded where Linear, convolutions and attention use them. Modules inside follow. P.
    /// Micikevicius et al., "Mixed Precision Training", 2018.
    void compute_in(DType dtype) const;
    DType compute_type() const;
    /// Optimizers that are made from now on leave its parameters as they are, or change them again.
    void freeze(bool on = true) const;
    /// Begins again: every variable has its first value, of the random numbers of `seed`.
    void reset(uint64_t seed, SourceLine line = here()) const;

  protected:
    /// Names must be new to the module, and have no dot.
    Variable add_parameter(const std::string& name, const Shape& shape, const Initialiser& first,
                           SourceLine line = here());
    /// What is kept, and no optimizer changes.
    Variable add_buffer(const std::string& name, const Shape& shape, const Initialiser& first,
                        SourceLine line = here());
    template <std::derived_from<Module> M>
    M add(const std::string& name, M module, SourceLine line = here()) {
        add_module(name, module, line);
        return module;
    }
    /// A list: `name.0`, `name.1`, ..
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
class Sequential : public Module {
  public:
    template <class... Parts>
    requires(sizeof...(Parts) > 1) explicit Sequential(const Parts&... parts) {
        (append(parts), ...);
    }
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

/// What a layer asks for: x, computed in the type that the module computes in.
Tensor computed_in(const Module& module, const Tensor& x);

}  // namespace firn
