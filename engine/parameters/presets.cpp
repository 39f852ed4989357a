// Presets: all parameters of a program as one JSON object.
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "compiler/base/error.h"
#include "engine/parameters/parameters.h"

namespace firn {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr const char *kVersionKey = "firn_preset", *kProgramKey = "program",
                     *kValuesKey = "parameters";

Json json_of(const Parameter& parameter) {
    // A float is written as its shortest text; otherwise 0.1f would be 0.10000000149011612.
    if (std::holds_alternative<float*>(parameter.variable)) return Json::parse(text_of(parameter));
    if (std::holds_alternative<VectorVariable>(parameter.variable))
        return Json::parse("[" + text_of(parameter) + "]");
    if (auto* i = std::get_if<int*>(&parameter.variable)) return **i;
    if (auto* b = std::get_if<bool*>(&parameter.variable)) return **b;
    return text_of(parameter);
}

std::string text_of_value(const std::string& name, const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean() || value.is_number()) return value.dump();
    std::string list;
    bool numbers = value.is_array() && !value.empty();
    for (const Json& each : value.is_array() ? value : Json::array()) {
        numbers = numbers && each.is_number();
        list += (list.empty() ? "" : ",") + each.dump();
    }
    if (numbers) return list;
    throw UserError("the value of " + name + " is " + value.dump() +
                    "; it must be a number, true, false, a string or an array of numbers");
}

/// Returns the names and values of a preset, after checking that it is one of this program.
Json values_of(const std::string& text, const std::string& program) {
    Json object;
    try {
        object = Json::parse(text);
    } catch (const Json::parse_error& error) {
        throw UserError("not JSON (" + std::string(error.what()) +
                        "); it must be an object such as {\"dt\": 0.1}");
    }
    if (!object.is_object())
        throw UserError("holds " + std::string(object.type_name()) +
                        "; it must be an object such as {\"dt\": 0.1}");
    if (!object.contains(kVersionKey)) return object;
    const Json& version = object[kVersionKey];
    if (!version.is_number_integer() || version > kVersion || version < 1)
        throw UserError("is of version " + version.dump() + ", and this program reads up to " +
                        std::to_string(kVersion) + "; use a newer Firn, or save it anew");
    const Json owner = object.value(kProgramKey, Json(program));
    if (owner != program)
        throw UserError("is one of the program " + owner.dump() + ", and this is \"" + program +
                        "\"; name one that this program has saved");
    if (!object.contains(kValuesKey) || !object[kValuesKey].is_object())
        throw UserError(std::string("has no object \"") + kValuesKey + "\"; save it anew");
    return object[kValuesKey];
}

void set_all(Parameters& parameters, const Json& object, const std::string& origin,
             bool may_come_later) {
    std::vector<std::pair<std::string, std::string>> waiting;
    for (const auto& [name, value] : object.items()) {
        const std::string text = text_of_value(name, value);
        if (may_come_later && !parameters.find(name))
            waiting.emplace_back(name, text);
        else
            parameters.set(name, text);
    }
    for (const auto& [name, value] : waiting) parameters.set_when_added(name, value, origin);
}

}  // namespace

std::string preset_text(const Parameters& parameters, const std::string& program) {
    Json values = Json::object();
    for (const Parameter& parameter : parameters.all()) values[parameter.name] = json_of(parameter);
    return Json{{kVersionKey, kVersion}, {kProgramKey, program}, {kValuesKey, values}}.dump(4) +
           "\n";
}

void apply_preset(Parameters& parameters, const std::string& text, const std::string& origin,
                  const std::string& program, bool may_come_later) {
    const ParameterValues before = parameters.values();
    try {
        set_all(parameters, values_of(text, program), "preset " + origin, may_come_later);
    } catch (const UserError& error) {
        for (const auto& [name, value] : before)
            if (text_of(*parameters.find(name)) != value) parameters.set(name, value);
        throw UserError("preset " + origin + ": " + error.what());
    }
}

}  // namespace firn
