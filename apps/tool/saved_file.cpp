// A saved program as the commands of the tool see it.
#include "apps/tool/saved_file.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <set>

#include "compiler/base/error.h"

namespace firn::tool {
std::string joined(const std::vector<std::string>& texts, const std::string& between) {
    std::string out;
    for (const std::string& each : texts) out += (out.empty() ? "" : between) + each;
    return out;
}

std::vector<Form> forms_of(const SavedProgram& saved) {
    std::vector<Form> out{{{}, saved.program}};
    for (const SavedVariant& variant : saved.variants)
        out.push_back({variant.facts, variant.program});
    return out;
}

bool is_native(const Program& program) {
    return program.profile.device_class == DeviceClass::Native;
}

std::string device_text(const Program& program) {
    switch (program.profile.device_class) {
        case DeviceClass::CpuDriver: return "Vulkan, compiled for drivers that run on the CPU";
        case DeviceClass::Gpu: return "Vulkan, compiled for GPUs";
        case DeviceClass::Native:
            return "native code for " +
                   (program.profile.processor.empty() ? "x86-64" : program.profile.processor);
    }
    throw InternalError("internal error: unknown class of device");
}

std::string facts_text(const SymbolFacts& facts) {
    std::vector<std::string> texts;
    for (const auto& [name, value] : facts.exact)
        texts.push_back(name + " = " + std::to_string(value));
    for (const auto& [name, value] : facts.divisors)
        texts.push_back(name + " a multiple of " + std::to_string(value));
    for (const auto& [name, value] : facts.largest)
        texts.push_back(name + " at most " + std::to_string(value));
    if (!facts.bindable) texts.push_back("tensors beyond the size of a binding");
    return texts.empty() ? "for all sizes" : "for " + joined(texts);
}

Named named(const std::string& option, const std::string& text) {
    const size_t equals = text.find('=');
    if (equals == text.npos || equals == 0)
        throw UserError(option + " " + text + ": give a name and a value, as in " + option +
                        " name=value");
    return {text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<std::string> symbols_of(const Program& program) {
    std::set<std::string> found;
    for (const ArgumentInfo& argument : program.arguments)
        for (const Size& size : argument.shape)
            for (const std::string& symbol : size.symbols()) found.insert(symbol);
    return {found.begin(), found.end()};
}

std::vector<std::vector<int64_t>> shapes_at(const SavedProgram& saved,
                                            const std::vector<Named>& sizes) {
    if (sizes.empty()) return saved.shapes;
    const Program& program = *saved.program;
    SizeEnv symbols = bind_symbols(program, saved.shapes, saved.scalars);
    const std::vector<std::string> known = symbols_of(program);
    for (const auto& [name, text] : sizes) {
        if (std::find(known.begin(), known.end(), name) == known.end())
            throw UserError(
                "--size " + name + "=" + text + ": the program has no size " + name + "; " +
                (known.empty() ? "all its sizes are numbers" : "it has " + joined(known)));
        const int64_t value = whole_number(text);
        if (value < 0)
            throw UserError("--size " + name + "=" + text +
                            ": this is no size; give a whole number from 0 on");
        symbols[name] = value;
    }
    std::vector<std::vector<int64_t>> out;
    for (const ArgumentInfo& argument : program.arguments) {
        out.emplace_back();
        for (const Size& size : argument.shape) out.back().push_back(size.evaluate(symbols));
    }
    return out;
}

std::string sizes_text(const Program& program, const SizeEnv& symbols) {
    std::vector<std::string> texts;
    for (const std::string& name : symbols_of(program))
        if (const auto at = symbols.find(name); at != symbols.end())
            texts.push_back(name + " = " + std::to_string(at->second));
    return joined(texts);
}

size_t first_result(const Program& program) { return program.data_sizes.size(); }

std::string type_text(DType dtype, const Shape& shape) {
    return dtype.name() + (shape.empty() ? "" : text(shape));
}

std::string type_text(DType dtype, const std::vector<int64_t>& shape) {
    return type_text(dtype, Shape(shape.begin(), shape.end()));
}

std::string argument_text(const Program& program, size_t argument) {
    const ArgumentInfo& info = program.arguments[argument];
    const std::string number = "argument " + std::to_string(argument);
    return number + " (" + (info.name.empty() || info.name == number ? "" : info.name + ", ") +
           type_text(info.dtype, info.shape) + ")";
}

size_t argument_named(const Program& program, const std::string& name, const std::string& option) {
    std::vector<size_t> found;
    for (size_t k = 0; k < program.arguments.size(); ++k)
        if (program.arguments[k].name == name) found.push_back(k);
    if (found.size() == 1) return found[0];
    const int64_t number = whole_number(name);
    if (found.empty() && number >= 0 && number < static_cast<int64_t>(program.arguments.size()))
        return static_cast<size_t>(number);
    std::string list;
    for (size_t k = 0; k < program.arguments.size(); ++k)
        list += (k ? ", " : "") + argument_text(program, k);
    throw UserError(option + ": " +
                    (found.empty() ? "there is no argument " + name
                                   : "several arguments are called " + name +
                                         "; give its number in place of its name") +
                    "; there are: " + (list.empty() ? "none" : list));
}

std::string result_name(const SavedProgram& saved, size_t result) {
    return result < saved.result_names.size() ? saved.result_names[result] : "";
}

std::string result_text(const SavedProgram& saved, size_t result) {
    const std::string name = result_name(saved, result);
    return "result " + std::to_string(result - first_result(*saved.program)) +
           (name.empty() ? "" : " '" + name + "'");
}

bool is_result(const SavedProgram& saved, const std::string& text) {
    if (whole_number(text) >= 0) return true;
    return !text.empty() && std::find(saved.result_names.begin(), saved.result_names.end(), text) !=
                                saved.result_names.end();
}

size_t result_named(const SavedProgram& saved, const std::string& text, const std::string& option) {
    const Program& program = *saved.program;
    const size_t first = first_result(program), count = program.results.size() - first;
    for (size_t k = first; k < program.results.size(); ++k)
        if (!text.empty() && result_name(saved, k) == text) return k;
    const int64_t value = whole_number(text);
    if (value >= 0 && value < static_cast<int64_t>(count)) return first + size_t(value);
    std::string list;
    for (size_t k = first; k < program.results.size(); ++k) {
        const ResultInfo& result = program.results[k];
        const std::string name = result_name(saved, k);
        list += (list.empty() ? "" : ", ") + std::to_string(k - first) + " (" +
                (name.empty() ? "" : name + ", ") + type_text(result.dtype, result.shape) + ")";
    }
    throw UserError(option + ": there is no result " + text +
                    "; there are: " + (list.empty() ? "none" : list));
}

int64_t whole_number(const std::string& text) {
    int64_t value = -1;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc{} && stop == end && !text.empty() ? value : -1;
}

std::string bytes_text(double bytes) {
    const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
    char out[64];
    std::snprintf(out, sizeof out, unit == 0 ? "%.0f %s" : "%.4g %s", bytes, units[unit]);
    return out;
}

}  // namespace firn::tool
