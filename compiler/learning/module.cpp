// The tree of modules and the functions on all of it.
#include "compiler/learning/module.h"

#include <algorithm>
#include <memory>

#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"

namespace firn {

struct ModuleState {
    /// A variable or a module; in the order in which they were added.
    struct Member {
        std::string name;
        Variable variable;
        bool parameter = false;
        std::shared_ptr<ModuleState> module;
    };
    std::vector<Member> members;
    bool training = true;
    DType compute_type = f32;
};

namespace {

/// Parameters, buffers, or both.
enum class Which : uint8_t { Parameters, All };

void collect(const ModuleState& module, const std::string& prefix, Which which,
             std::vector<NamedVariable>& out) {
    for (const ModuleState::Member& each : module.members) {
        if (each.module)
            collect(*each.module, prefix + each.name + ".", which, out);
        else if (which == Which::All || (each.parameter && each.variable.trainable()))
            out.push_back({prefix + each.name, each.variable});
    }
}

/// Calls `f` for the module and all inside.
void visit(ModuleState& module, const Callback<void(ModuleState&)>& f) {
    f(module);
    for (ModuleState::Member& each : module.members)
        if (each.module) visit(*each.module, f);
}

bool contains(const ModuleState& module, const ModuleState& other) {
    return &module == &other ||
           std::any_of(module.members.begin(), module.members.end(), [&](const auto& each) {
               return each.module && contains(*each.module, other);
           });
}

void check_name(const ModuleState& module, const std::string& name) {
    if (name.empty() || name.find('.') != name.npos)
        refuse("module: a member is called '" + name + "'; a name has letters, and no dot");
    for (const ModuleState::Member& each : module.members)
        if (each.name == name)
            refuse("module: it has two members called '" + name + "'; give one another name");
}

std::vector<NamedVariable> each_once(const ModuleState& module, Which which) {
    State all, once;
    collect(module, "", which, all.variables);
    once.add(all);
    return once.variables;
}

}  // namespace

Module::Module() : state_(std::make_shared<ModuleState>()) {}

std::vector<NamedVariable> Module::parameters() const {
    return each_once(*state_, Which::Parameters);
}
std::vector<NamedVariable> Module::variables() const { return each_once(*state_, Which::All); }
Module::operator State() const {
    State out;
    out.variables = variables();
    return out;
}

void Module::train(bool on) const {
    visit(*state_, [on](ModuleState& each) { each.training = on; });
}
bool Module::training() const { return state_->training; }
void Module::compute_in(DType dtype) const {
    visit(*state_, [dtype](ModuleState& each) { each.compute_type = dtype; });
}
DType Module::compute_type() const { return state_->compute_type; }
void Module::freeze(bool on) const {
    visit(*state_, [on](ModuleState& each) {
        for (ModuleState::Member& member : each.members)
            if (member.parameter) member.variable.set_trainable(!on);
    });
}
void Module::reset(uint64_t seed, SourceLine line) const {
    int stream = 0;
    for (const NamedVariable& each : variables())
        each.variable.initialise({.seed = Tensor(seed), .stream = Tensor(stream++)}, line);
}

Variable Module::add_parameter(const std::string& name, const Shape& shape,
                               const Initialiser& first, SourceLine line) {
    LineScope at(line);
    check_name(*state_, name);
    Variable out(shape, first, true, line);
    if (!out.dtype().is_float())
        refuse("module: parameter '" + name + "' is " + out.dtype().name() +
               ", and only floats have gradients; add it as a buffer");
    state_->members.push_back({name, out, true, nullptr});
    return out;
}

Variable Module::add_buffer(const std::string& name, const Shape& shape, const Initialiser& first,
                            SourceLine line) {
    LineScope at(line);
    check_name(*state_, name);
    Variable out(shape, first, false, line);
    state_->members.push_back({name, out, false, nullptr});
    return out;
}

void Module::add_module(const std::string& name, const Module& module, SourceLine line) {
    LineScope at(line);
    check_name(*state_, name);
    if (contains(*module.state_, *state_))
        refuse("module: '" + name + "' contains the module that it is added to");
    state_->members.push_back({name, {}, false, module.state_});
}

Tensor computed_in(const Module& module, const Tensor& x) {
    const DType type = module.compute_type();
    return type != f32 && x.dtype() == f32 ? x.as(type) : x;
}

}  // namespace firn
