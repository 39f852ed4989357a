// The registry of named parameters: binding, setting, and messages.
#include "engine/parameters/parameters.h"

#include <utility>

#include "compiler/base/error.h"
#include "engine/parameters/parameter_text.h"

namespace firn {
namespace {

[[noreturn]] void refuse_unknown(const std::deque<Parameter>& known, const std::string& name,
                                 const std::string& text, const std::string& origin) {
    std::vector<std::string> names;
    for (const Parameter& parameter : known) names.push_back(parameter.name);
    throw UserError(
        (origin.empty() ? "" : origin + ": ") + "parameter " + name +
        ": there is no such parameter (to set to '" + text + "'); " +
        (names.empty() ? "this program has no parameters" : "this program has " + joined(names)));
}

void check_limits(const Parameter& parameter) {
    const auto fail = [&](const std::string& what) {
        throw UserError("parameter " + parameter.name + ": " + what);
    };
    if (parameter.low > parameter.high) fail("its minimum is above its maximum; swap them");
    if (parameter.soft_low > parameter.soft_high)
        fail("its slider's minimum is above its maximum; swap them");
    if (parameter.soft_low == parameter.soft_high || !has_range(parameter)) return;
    if (parameter.soft_low < parameter.low || parameter.soft_high > parameter.high)
        fail("its soft limits are outside of its range, which is " + describe(parameter) +
             "; move them inside");
}

/// True if the parameter has an owner besides the registry.
bool is_owned(const Parameter& parameter) {
    return parameter.owner && parameter.owner.use_count() > 1;
}

}  // namespace

const Parameter& Parameters::add(Parameter parameter) {
    if (parameter.name.empty())
        throw UserError("parameter: the name is empty; give every parameter one");
    check_limits(parameter);
    if (Parameter* known = get(parameter.name)) {
        if (known->variable.index() != parameter.variable.index() ||
            known->look != parameter.look) {
            throw UserError("parameter " + known->name +
                            ": added twice with different kinds, first as " + describe(*known) +
                            " and now as " + describe(parameter) +
                            "; give one of them another name");
        }
        if (is_owned(*known) && is_owned(parameter))
            throw UserError("parameter " + known->name +
                            ": there is one of this name already; give one of them another name");
        parameter.touched = known->touched;
        parameter.structural = known->structural, parameter.state = known->state;
        *known = std::move(parameter);
        return *known;
    }
    // This refuses a value outside its own range; a file is first looked for when it is read.
    if (parameter.look != ParameterLook::File) assign(parameter, text_of(parameter));
    Parameter& added = parameters_.emplace_back(std::move(parameter));
    initial_[added.name] = text_of(added);
    if (auto waiting = pending_.find(added.name); waiting != pending_.end()) {
        assign(added, waiting->second.text);
        added.touched = true;
        pending_.erase(waiting);
    }
    return added;
}

Parameter* Parameters::get(const std::string& name) {
    for (Parameter& parameter : parameters_) {
        if (parameter.name == name) return &parameter;
    }
    return nullptr;
}

const Parameter* Parameters::find(const std::string& name) const {
    return const_cast<Parameters*>(this)->get(name);
}

bool Parameters::take_touched(const std::string& name) {
    Parameter* parameter = get(name);
    return parameter && std::exchange(parameter->touched, false);
}

void Parameters::touch(const std::string& name) {
    if (Parameter* parameter = get(name)) parameter->touched = true;
}

void Parameters::set_step(const std::string& name, double step) {
    if (Parameter* parameter = get(name)) parameter->step = step;
}

void Parameters::set_structural(const std::string& name, const std::string& state) {
    if (Parameter* parameter = get(name)) parameter->structural = true, parameter->state = state;
}

void Parameters::set(const std::string& name, const std::string& text) {
    Parameter* parameter = get(name);
    if (!parameter) refuse_unknown(parameters_, name, text, "");
    assign(*parameter, text);
    parameter->touched = true;
}

void Parameters::set_when_added(const std::string& name, const std::string& text,
                                const std::string& origin) {
    if (find(name)) {
        set(name, text);
    } else {
        pending_[name] = {text, origin};
    }
}

void Parameters::check_all_known() const {
    if (pending_.empty()) return;
    const auto& [name, value] = *pending_.begin();
    refuse_unknown(parameters_, name, value.text, value.origin);
}

ParameterValues Parameters::values() const {
    ParameterValues values;
    for (const Parameter& parameter : parameters_) values[parameter.name] = text_of(parameter);
    return values;
}

void Parameters::reset() {
    for (const Parameter& parameter : parameters_) set(parameter.name, initial_.at(parameter.name));
}

std::string command_line_of(const Parameters& parameters, const std::string& program) {
    std::string line = program;
    for (const Parameter& parameter : parameters.all()) {
        const std::string text = text_of(parameter);
        if (text == parameters.initial(parameter.name)) continue;
        std::string word = parameter.name + "=" + text;
        if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                   "_-+=.,:/@") != std::string::npos) {
            for (size_t at = 0; (at = word.find('\'', at)) != std::string::npos; at += 4)
                word.replace(at, 1, "'\\''");
            word = "'" + word + "'";
        }
        line += " --set " + word;
    }
    return line;
}

}  // namespace firn
