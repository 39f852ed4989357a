// Converts values of parameters from and to texts.
#include "engine/parameters/parameter_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <type_traits>

#include "compiler/base/error.h"

namespace firn {
namespace {

constexpr double kDegreesPerRadian = 180 / 3.14159265358979323846;

[[noreturn]] void refuse(const Parameter& parameter, const std::string& text,
                         const std::string& why) {
    throw UserError("parameter " + parameter.name + ": cannot be set to '" + text + "', " + why +
                    "; it takes " + describe(parameter));
}

template <class T>
void check_range(const Parameter& parameter, const std::string& text, T value) {
    if (!has_range(parameter)) return;
    // The comparison uses the variable's own precision, so that the printed ends of a range are
    // inside it.
    using Compared = std::conditional_t<std::is_same_v<T, float>, float, double>;
    if (static_cast<Compared>(value) < static_cast<Compared>(parameter.low))
        refuse(parameter, text, "which is below the minimum");
    if (static_cast<Compared>(value) > static_cast<Compared>(parameter.high))
        refuse(parameter, text, "which is above the maximum");
}

template <class T>
T parse_number(const Parameter& parameter, const std::string& all, std::string_view text) {
    T value{};
    const char* begin = text.data();
    const char* end = begin + text.size();
    if (begin != end && *begin == '+') ++begin;
    auto [stop, error] = std::from_chars(begin, end, value);
    if (error == std::errc::result_out_of_range) refuse(parameter, all, "which is too large");
    if (error != std::errc{} || stop != end)
        refuse(parameter, all,
               "which is not a " + std::string(std::is_integral_v<T> ? "whole number" : "number"));
    if constexpr (std::is_floating_point_v<T>) {
        if (!std::isfinite(value)) refuse(parameter, all, "which is not finite");
    }
    return value;
}

template <class T>
T parse_in_range(const Parameter& parameter, const std::string& text) {
    const T value = parse_number<T>(parameter, text, text);
    check_range(parameter, text, value);
    return value;
}

float radians_of(const Parameter& parameter, const std::string& text) {
    const double degrees = parse_number<double>(parameter, text, text);
    const auto value = static_cast<float>(degrees / kDegreesPerRadian);
    check_range(parameter, text, value);
    return value;
}

/// Returns the shortest text that is read back as the same angle.
std::string degrees_text(float radians) {
    char buffer[64];
    for (int digits = 6; digits <= 17; ++digits) {
        std::snprintf(buffer, sizeof buffer, "%.*g", digits,
                      static_cast<double>(radians) * kDegreesPerRadian);
        if (static_cast<float>(std::strtod(buffer, nullptr) / kDegreesPerRadian) == radians) break;
    }
    return buffer;
}

bool parse_bool(const Parameter& parameter, const std::string& text) {
    if (text == "true" || text == "1" || text == "on" || text == "yes") return true;
    if (text == "false" || text == "0" || text == "off" || text == "no") return false;
    refuse(parameter, text, "which is neither true nor false");
}

int parse_choice(const Parameter& parameter, const ChoiceVariable& choice,
                 const std::string& text) {
    const auto found = std::find(choice.names.begin(), choice.names.end(), text);
    if (found == choice.names.end()) refuse(parameter, text, "which is not one of its choices");
    return static_cast<int>(found - choice.names.begin());
}

/// Parses `#ff8000`: two digits for each channel.
std::vector<float> parse_hex(const Parameter& parameter, const std::string& text, size_t count) {
    std::vector<float> values;
    for (size_t at = 1; at + 1 < text.size(); at += 2) {
        int value = 0;
        auto [stop, error] = std::from_chars(&text[at], &text[at] + 2, value, 16);
        if (error != std::errc{} || stop != &text[at] + 2)
            refuse(parameter, text, "which is not a colour");
        values.push_back(static_cast<float>(value) / 255);
    }
    if (text.size() != 2 * count + 1) refuse(parameter, text, "which is not a colour");
    return values;
}

std::vector<float> parse_vector(const Parameter& parameter, const VectorVariable& vector,
                                const std::string& text) {
    const auto count = static_cast<size_t>(vector.count);
    if (parameter.look == ParameterLook::Colour && text.starts_with('#'))
        return parse_hex(parameter, text, count);
    std::vector<float> values;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        std::string_view part = std::string_view(text).substr(begin, end - begin);
        while (part.starts_with(' ')) part.remove_prefix(1);
        while (part.ends_with(' ')) part.remove_suffix(1);
        values.push_back(parse_number<float>(parameter, text, part));
        check_range(parameter, text, values.back());
        begin = end + 1;
    }
    if (values.size() != count)
        refuse(parameter, text, "which has " + std::to_string(values.size()) + " numbers");
    return values;
}

std::string vector_text(const VectorVariable& vector) {
    std::string text;
    for (int k = 0; k < vector.count; ++k) text += (k ? "," : "") + float_text(vector.values[k]);
    return text;
}

/// Returns the text of a number, which may be the end of a range.
std::string end_text(const Parameter& parameter, double value) {
    // The value is converted to float, so that 0.1f prints as 0.1.
    return parameter.look == ParameterLook::Angle ? degrees_text(static_cast<float>(value))
                                                  : float_text(static_cast<float>(value));
}

/// Returns the range of the accepted numbers.
std::string range_text(const Parameter& parameter) {
    const bool low = std::isfinite(parameter.low), high = std::isfinite(parameter.high);
    if (!has_range(parameter)) return "";
    if (low && high)
        return " in [" + end_text(parameter, parameter.low) + ", " +
               end_text(parameter, parameter.high) + "]";
    return low ? " of at least " + end_text(parameter, parameter.low)
               : " of at most " + end_text(parameter, parameter.high);
}

}  // namespace

bool has_range(const Parameter& parameter) {
    return parameter.low < parameter.high &&
           (std::isfinite(parameter.low) || std::isfinite(parameter.high));
}

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

void assign(const Parameter& parameter, const std::string& text) {
    if (auto* f = std::get_if<float*>(&parameter.variable)) {
        **f = parameter.look == ParameterLook::Angle ? radians_of(parameter, text)
                                                     : parse_in_range<float>(parameter, text);
    } else if (auto* i = std::get_if<int*>(&parameter.variable)) {
        **i = parse_in_range<int>(parameter, text);
    } else if (auto* b = std::get_if<bool*>(&parameter.variable)) {
        **b = parse_bool(parameter, text);
    } else if (auto* s = std::get_if<std::string*>(&parameter.variable)) {
        if (parameter.look == ParameterLook::File && !text.empty() &&
            !std::filesystem::exists(text))
            refuse(parameter, text, "there is no such file");
        **s = text;
    } else if (auto* c = std::get_if<ChoiceVariable>(&parameter.variable)) {
        *c->index = parse_choice(parameter, *c, text);
    } else {
        const auto& vector = std::get<VectorVariable>(parameter.variable);
        const std::vector<float> values = parse_vector(parameter, vector, text);
        std::copy(values.begin(), values.end(), vector.values);
    }
}

std::string text_of(const Parameter& parameter) {
    if (auto* f = std::get_if<float*>(&parameter.variable))
        return parameter.look == ParameterLook::Angle ? degrees_text(**f) : float_text(**f);
    if (auto* i = std::get_if<int*>(&parameter.variable)) return std::to_string(**i);
    if (auto* b = std::get_if<bool*>(&parameter.variable)) return **b ? "true" : "false";
    if (auto* s = std::get_if<std::string*>(&parameter.variable)) return **s;
    if (auto* v = std::get_if<VectorVariable>(&parameter.variable)) return vector_text(*v);
    const auto& choice = std::get<ChoiceVariable>(parameter.variable);
    if (*choice.index < 0 || static_cast<size_t>(*choice.index) >= choice.names.size()) {
        throw UserError("parameter " + parameter.name + ": its index " +
                        std::to_string(*choice.index) + " names none of its " +
                        std::to_string(choice.names.size()) + " choices; start it inside the list");
    }
    return choice.names[static_cast<size_t>(*choice.index)];
}

std::string describe(const Parameter& parameter) {
    const std::string unit = parameter.unit.empty() ? "" : " " + parameter.unit;
    const std::string range = range_text(parameter) + unit;
    if (std::holds_alternative<float*>(parameter.variable))
        return parameter.look == ParameterLook::Angle ? "degrees" + range : "a number" + range;
    if (std::holds_alternative<int*>(parameter.variable)) return "a whole number" + range;
    if (std::holds_alternative<bool*>(parameter.variable)) return "true or false";
    if (std::holds_alternative<std::string*>(parameter.variable))
        return parameter.look == ParameterLook::File ? "the name of a file" : "text";
    if (auto* vector = std::get_if<VectorVariable>(&parameter.variable)) {
        if (parameter.look == ParameterLook::Colour)
            return "a colour such as " + std::string(vector->count == 4 ? "#ff8000ff or 1,0.5,0,1"
                                                                        : "#ff8000 or 1,0.5,0");
        return std::to_string(vector->count) + " numbers with commas between" +
               (range.empty() ? "" : ", each" + range);
    }
    return "one of " + joined(std::get<ChoiceVariable>(parameter.variable).names);
}

}  // namespace firn
