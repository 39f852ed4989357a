// The parameters of a saved program in a registry.
#include "engine/parameters/program_parameters.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "compiler/base/error.h"
#include "engine/parameters/bound_parameter.h"

namespace firn {
namespace {

using ProgramKind = ProgramParameter::Kind;

/// The storage of a value of any type.
struct ParameterStore {
    float floats[4] = {};
    int integer = 0;
    bool truth = false;
};

ParamVariable::Kind kind_of_variable(ProgramKind kind) {
    switch (kind) {
        case ProgramKind::Float: return ParamVariable::Kind::Float;
        case ProgramKind::Int: return ParamVariable::Kind::Int;
        case ProgramKind::Bool: return ParamVariable::Kind::Bool;
        case ProgramKind::Choice: return ParamVariable::Kind::Choice;
        case ProgramKind::Vector: return ParamVariable::Kind::Vector;
        case ProgramKind::Colour: return ParamVariable::Kind::Colour;
        case ProgramKind::Angle: return ParamVariable::Kind::Angle;
    }
    throw InternalError("internal error: unknown kind of parameter");
}

/// Returns the variable that holds the value, set to it.
void* filled_store(ParameterStore& store, const ProgramParameter& parameter) {
    switch (parameter.kind) {
        case ProgramKind::Int:
        case ProgramKind::Choice:
            store.integer = static_cast<int>(parameter.value[0]);
            return &store.integer;
        case ProgramKind::Bool: store.truth = parameter.value[0] != 0; return &store.truth;
        case ProgramKind::Float:
        case ProgramKind::Vector:
        case ProgramKind::Colour:
        case ProgramKind::Angle:
            for (size_t k = 0; k < parameter.value.size(); ++k)
                store.floats[k] = static_cast<float>(parameter.value[k]);
            return store.floats;
    }
    throw InternalError("internal error: unknown kind of parameter");
}

/// Returns the present components of a value, each of its type; none for a text.
std::vector<Scalar> components_of(const Parameter& parameter) {
    const auto& variable = parameter.variable;
    if (auto* f = std::get_if<float*>(&variable)) return {scalar_float(**f)};
    if (auto* i = std::get_if<int*>(&variable)) return {scalar_int(**i)};
    if (auto* b = std::get_if<bool*>(&variable)) return {scalar_bool(**b)};
    if (auto* choice = std::get_if<ChoiceVariable>(&variable)) return {scalar_int(*choice->index)};
    std::vector<Scalar> out;
    if (auto* vector = std::get_if<VectorVariable>(&variable))
        for (int k = 0; k < vector->count; ++k) out.push_back(scalar_float(vector->values[k]));
    return out;
}

ProgramKind kind_in_file(const Parameter& parameter) {
    if (std::holds_alternative<int*>(parameter.variable)) return ProgramKind::Int;
    if (std::holds_alternative<bool*>(parameter.variable)) return ProgramKind::Bool;
    if (std::holds_alternative<ChoiceVariable>(parameter.variable)) return ProgramKind::Choice;
    const bool vector = std::holds_alternative<VectorVariable>(parameter.variable);
    if (parameter.look == ParameterLook::Colour) return ProgramKind::Colour;
    if (parameter.look == ParameterLook::Angle) return ProgramKind::Angle;
    return vector ? ProgramKind::Vector : ProgramKind::Float;
}

std::optional<double> end_of(double limit) {
    return std::isfinite(limit) ? std::optional(limit) : std::nullopt;
}

}  // namespace

std::vector<HeldParameter> held_parameters(const SavedProgram& saved) {
    std::vector<HeldParameter> out;
    for (const ProgramParameter& parameter : saved.parameters) {
        const auto store = std::make_shared<ParameterStore>();
        void* value = filled_store(*store, parameter);
        out.push_back(
            {parameter.name,
             {kind_of_variable(parameter.kind), value, static_cast<int>(parameter.value.size()),
              parameter.names, std::shared_ptr<void>(store)},
             {.min = parameter.min,
              .max = parameter.max,
              .soft_min = parameter.soft_min,
              .soft_max = parameter.soft_max,
              .log = parameter.log,
              .step = parameter.step,
              .unit = parameter.unit,
              .label = parameter.label,
              .group = parameter.group,
              .help = parameter.help}});
    }
    return out;
}

void add_parameters(Parameters& parameters, const SavedProgram& saved) {
    for (const HeldParameter& held : held_parameters(saved))
        parameters.add(bound_parameter(held.name, held.variable, held.options));
}

std::vector<Scalar> scalars_now(const SavedProgram& saved, const Parameters& parameters) {
    std::vector<Scalar> out = saved.scalars;
    for (const ProgramParameter& parameter : saved.parameters) {
        const Parameter* known = parameters.find(parameter.name);
        const std::vector<Scalar> now = known ? components_of(*known) : std::vector<Scalar>();
        if (now.size() != parameter.value.size())
            throw UserError("parameter " + parameter.name + " of the program " + saved.name +
                            " is not among those given; make it one by add_parameters");
        for (size_t k = 0; k < parameter.arguments.size(); ++k) {
            Scalar& argument = out[static_cast<size_t>(parameter.arguments[k])];
            const Scalar& value = now[k % now.size()];
            if (loses_value(value, argument.dtype))
                throw UserError("parameter " + parameter.name + " is " + text(value) +
                                ", which the program " + saved.name + " takes as " +
                                argument.dtype.name() + "; set it to a number of that type");
            argument = value.to(argument.dtype);
        }
    }
    return out;
}

ProgramParameter program_parameter(const Parameter& parameter) {
    ProgramParameter out;
    out.name = parameter.name;
    for (const Scalar& component : components_of(parameter))
        out.value.push_back(component.as_double());
    if (out.value.empty())
        throw UserError("parameter " + parameter.name +
                        ": a text cannot feed a program; leave it out of the arguments");
    out.kind = kind_in_file(parameter);
    if (parameter.low != parameter.high)
        out.min = end_of(parameter.low), out.max = end_of(parameter.high);
    if (parameter.soft_low != parameter.soft_high)
        out.soft_min = parameter.soft_low, out.soft_max = parameter.soft_high;
    out.log = parameter.logarithmic;
    out.step = static_cast<float>(parameter.step);
    out.unit = parameter.unit, out.label = parameter.label, out.group = parameter.group;
    out.help = parameter.help;
    if (auto* choice = std::get_if<ChoiceVariable>(&parameter.variable)) out.names = choice->names;
    return out;
}

}  // namespace firn
