// Makes a parameter of the registry of a variable and its options.
#include "engine/parameters/bound_parameter.h"

#include <tuple>
#include <utility>

namespace firn {
namespace {

using Kind = ParamVariable::Kind;

decltype(Parameter::variable) variable_of(const ParamVariable& variable) {
    switch (variable.kind) {
        case Kind::Float:
        case Kind::Angle: return static_cast<float*>(variable.value);
        case Kind::Int: return static_cast<int*>(variable.value);
        case Kind::Bool: return static_cast<bool*>(variable.value);
        case Kind::Text:
        case Kind::File: return static_cast<std::string*>(variable.value);
        case Kind::Choice: return ChoiceVariable{static_cast<int*>(variable.value), variable.names};
        case Kind::Vector:
        case Kind::Colour:
            return VectorVariable{static_cast<float*>(variable.value), variable.count};
    }
    return static_cast<float*>(nullptr);
}

ParameterLook look_of(Kind kind) {
    return kind == Kind::Colour  ? ParameterLook::Colour
           : kind == Kind::Angle ? ParameterLook::Angle
           : kind == Kind::File  ? ParameterLook::File
                                 : ParameterLook::Plain;
}

/// Returns the ends of a slider: the given ones, or else those of the range; equal if one is
/// missing.
std::pair<double, double> slider_ends(const ParamOptions& options) {
    const auto low = options.soft_min ? options.soft_min : options.min,
               high = options.soft_max ? options.soft_max : options.max;
    return low && high ? std::pair{*low, *high} : std::pair{0.0, 0.0};
}

}  // namespace

Parameter bound_parameter(const std::string& name, const ParamVariable& variable,
                          const ParamOptions& options) {
    Parameter parameter{name, options.help, variable_of(variable)};
    parameter.low = options.min.value_or(-Parameter::kNone);
    parameter.high = options.max.value_or(Parameter::kNone);
    std::tie(parameter.soft_low, parameter.soft_high) = slider_ends(options);
    parameter.logarithmic = options.log;
    parameter.step = options.step;
    parameter.unit = options.unit;
    parameter.label = options.label;
    parameter.group = options.group;
    parameter.look = look_of(variable.kind);
    parameter.owner = variable.owner;
    return parameter;
}

}  // namespace firn
