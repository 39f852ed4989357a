// Presets: all parameters of a program as one JSON object.
#include <nlohmann/json.hpp>

#include "compiler/program/error.h"
#include "engine/window/parameters.h"

namespace firn {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Parameter& parameter) {
    // A float goes by its shortest text, else 0.1f would be written as 0.10000000149011612.
    if (std::holds_alternative<float*>(parameter.variable)) return Json::parse(text_of(parameter));
    if (auto* i = std::get_if<int*>(&parameter.variable)) return **i;
    if (auto* b = std::get_if<bool*>(&parameter.variable)) return **b;
    return text_of(parameter);
}

std::string text_of_value(const std::string& name, const Json& value, const std::string& origin) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean() || value.is_number()) return value.dump();
    throw UserError("preset " + origin + ": the value of " + name + " is " + value.dump() +
                    "; it must be a number, true, false or a string");
}

}  // namespace

std::string preset_text(const Parameters& parameters) {
    Json object = Json::object();
    for (const Parameter& parameter : parameters.all()) object[parameter.name] = json_of(parameter);
    return object.dump(4) + "\n";
}

void apply_preset(Parameters& parameters, const std::string& text, const std::string& origin) {
    Json object;
    try {
        object = Json::parse(text);
    } catch (const Json::parse_error& error) {
        throw UserError("preset " + origin + ": not JSON (" + error.what() +
                        "); it must be an object such as {\"dt\": 0.1}");
    }
    if (!object.is_object()) {
        throw UserError("preset " + origin + ": holds " + object.type_name() +
                        "; it must be an object such as {\"dt\": 0.1}");
    }
    std::vector<std::pair<std::string, std::string>> waiting, before;
    for (const Parameter& parameter : parameters.all()) {
        before.emplace_back(parameter.name, text_of(parameter));
    }
    try {
        for (const auto& [name, value] : object.items()) {
            std::string text_value = text_of_value(name, value, origin);
            if (parameters.find(name)) {
                parameters.set(name, text_value);
            } else {
                waiting.emplace_back(name, text_value);
            }
        }
    } catch (const UserError& error) {
        for (const auto& [name, value] : before) parameters.set(name, value);
        throw UserError("preset " + origin + ": " + error.what());
    }
    for (const auto& [name, value] : waiting) parameters.set_when_added(name, value);
}

}  // namespace firn
