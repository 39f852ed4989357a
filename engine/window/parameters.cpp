// The registry of named parameters: binding, conversion from text, and messages.
#include "engine/window/parameters.h"

#include <charconv>
#include <cmath>

#include "compiler/program/error.h"

namespace firn {
namespace {

std::string float_text(float value) {
    char buffer[64];
    auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
    return std::string(buffer, end);
}

std::string joined(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    return list;
}

[[noreturn]] void refuse_unknown(const std::deque<Parameter>& known, const std::string& name,
                                 const std::string& text) {
    std::vector<std::string> names;
    for (const Parameter& parameter : known) names.push_back(parameter.name);
    throw UserError(
        "parameter " + name + ": there is none of this name (asked to set it to '" + text + "'); " +
        (names.empty() ? "this program has no parameters" : "this program has " + joined(names)));
}

[[noreturn]] void refuse(const Parameter& parameter, const std::string& text,
                         const std::string& why) {
    throw UserError("parameter " + parameter.name + ": cannot be set to '" + text + "', " + why +
                    "; it takes " + describe(parameter));
}

template <class T>
T parse_number(const Parameter& parameter, const std::string& text) {
    T value{};
    const char* begin = text.data();
    const char* end = begin + text.size();
    if (begin != end && *begin == '+') ++begin;
    auto [stop, error] = std::from_chars(begin, end, value);
    if (error == std::errc::result_out_of_range)
        refuse(parameter, text, "which is too large a number");
    if (error != std::errc{} || stop != end) refuse(parameter, text, "which is not such a number");
    if constexpr (std::is_floating_point_v<T>) {
        if (!std::isfinite(value)) refuse(parameter, text, "which is not finite");
    }
    bool ranged = parameter.low < parameter.high;
    // Compared in the variable's own precision, so that the printed ends of a range are inside it.
    if (ranged &&
        (value < static_cast<T>(parameter.low) || value > static_cast<T>(parameter.high))) {
        refuse(parameter, text, "which is outside its range");
    }
    return value;
}

bool parse_bool(const Parameter& parameter, const std::string& text) {
    if (text == "true" || text == "1" || text == "on" || text == "yes") return true;
    if (text == "false" || text == "0" || text == "off" || text == "no") return false;
    refuse(parameter, text, "which is neither true nor false");
}

int parse_choice(const Parameter& parameter, const ChoiceVariable& choice,
                 const std::string& text) {
    for (size_t i = 0; i < choice.names.size(); ++i) {
        if (choice.names[i] == text) return static_cast<int>(i);
    }
    refuse(parameter, text, "which is not one of its choices");
}

/// Checks `text` and returns the value it stands for.
std::variant<float, int, bool, std::string> parse(const Parameter& parameter,
                                                  const std::string& text) {
    if (std::holds_alternative<float*>(parameter.variable))
        return parse_number<float>(parameter, text);
    if (std::holds_alternative<int*>(parameter.variable)) return parse_number<int>(parameter, text);
    if (std::holds_alternative<bool*>(parameter.variable)) return parse_bool(parameter, text);
    if (auto* choice = std::get_if<ChoiceVariable>(&parameter.variable)) {
        return parse_choice(parameter, *choice, text);
    }
    return text;
}

void assign(const Parameter& parameter, const std::string& text) {
    auto value = parse(parameter, text);
    if (auto* f = std::get_if<float*>(&parameter.variable)) **f = std::get<float>(value);
    if (auto* i = std::get_if<int*>(&parameter.variable)) **i = std::get<int>(value);
    if (auto* b = std::get_if<bool*>(&parameter.variable)) **b = std::get<bool>(value);
    if (auto* s = std::get_if<std::string*>(&parameter.variable))
        **s = std::get<std::string>(value);
    if (auto* c = std::get_if<ChoiceVariable>(&parameter.variable))
        *c->index = std::get<int>(value);
}

}  // namespace

const Parameter& Parameters::add(Parameter parameter) {
    if (parameter.name.empty())
        throw UserError("parameter: the name is empty; give every parameter one");
    for (Parameter& known : parameters_) {
        if (known.name != parameter.name) continue;
        if (known.variable.index() != parameter.variable.index()) {
            throw UserError("parameter " + known.name +
                            ": added twice with different kinds, first as " + describe(known) +
                            " and now as " + describe(parameter) +
                            "; give one of them another name");
        }
        known = std::move(parameter);
        return known;
    }
    assign(parameter, text_of(parameter));  // refuses a value outside its own range
    Parameter& added = parameters_.emplace_back(std::move(parameter));
    initial_[added.name] = text_of(added);
    if (auto waiting = pending_.find(added.name); waiting != pending_.end()) {
        assign(added, waiting->second);
        pending_.erase(waiting);
    }
    return added;
}

const Parameter* Parameters::find(const std::string& name) const {
    for (const Parameter& parameter : parameters_) {
        if (parameter.name == name) return &parameter;
    }
    return nullptr;
}

void Parameters::set(const std::string& name, const std::string& text) {
    const Parameter* parameter = find(name);
    if (!parameter) refuse_unknown(parameters_, name, text);
    assign(*parameter, text);
}

void Parameters::set_when_added(const std::string& name, const std::string& text) {
    if (find(name)) {
        set(name, text);
    } else {
        pending_[name] = text;
    }
}

void Parameters::check_all_known() const {
    if (!pending_.empty()) {
        refuse_unknown(parameters_, pending_.begin()->first, pending_.begin()->second);
    }
}

void Parameters::reset() {
    for (const Parameter& parameter : parameters_) assign(parameter, initial_.at(parameter.name));
}

std::string text_of(const Parameter& parameter) {
    if (auto* f = std::get_if<float*>(&parameter.variable)) return float_text(**f);
    if (auto* i = std::get_if<int*>(&parameter.variable)) return std::to_string(**i);
    if (auto* b = std::get_if<bool*>(&parameter.variable)) return **b ? "true" : "false";
    if (auto* s = std::get_if<std::string*>(&parameter.variable)) return **s;
    const auto& choice = std::get<ChoiceVariable>(parameter.variable);
    if (*choice.index < 0 || static_cast<size_t>(*choice.index) >= choice.names.size()) {
        throw UserError("parameter " + parameter.name + ": its index " +
                        std::to_string(*choice.index) + " names none of its " +
                        std::to_string(choice.names.size()) + " choices; start it inside the list");
    }
    return choice.names[static_cast<size_t>(*choice.index)];
}

std::string describe(const Parameter& parameter) {
    std::string range;
    if (parameter.low < parameter.high) {
        // Through float, so that 0.1f prints as 0.1.
        range = " in [" + float_text(static_cast<float>(parameter.low)) + ", " +
                float_text(static_cast<float>(parameter.high)) + "]";
    }
    if (std::holds_alternative<float*>(parameter.variable)) return "a number" + range;
    if (std::holds_alternative<int*>(parameter.variable)) return "a whole number" + range;
    if (std::holds_alternative<bool*>(parameter.variable)) return "true or false";
    if (std::holds_alternative<std::string*>(parameter.variable)) return "text";
    return "one of " + joined(std::get<ChoiceVariable>(parameter.variable).names);
}

}  // namespace firn
