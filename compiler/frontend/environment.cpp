// Reading the environment, and its help.
#include "compiler/frontend/environment.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "compiler/base/error.h"

namespace firn {

std::optional<std::string> environment(const char* name) {
    bool known =
        std::any_of(std::begin(kEnvironment), std::end(kEnvironment),
                    [&](const EnvironmentVariable& row) { return !std::strcmp(row.name, name); });
    ensure(known, "an environment variable is missing in the table of environment.h");
    const char* value = std::getenv(name);
    if (!value || !*value) return std::nullopt;
    return value;
}

int environment_number(const char* name, int otherwise) {
    std::optional<std::string> value = environment(name);
    if (!value) return otherwise;
    int number = 0;
    auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
    if (error != std::errc{} || end != value->data() + value->size())
        throw UserError(std::string(name) + "=" + *value +
                        " is not a number; FIRN_HELP=1 lists what each variable takes");
    return number;
}

std::string environment_help() {
    std::string out = "Firn reads these environment variables:\n";
    for (const EnvironmentVariable& row : kEnvironment) {
        std::string left = std::string("  ") + row.name + "=" + row.values;
        left.resize(std::max<size_t>(left.size() + 2, 46), ' ');
        out += left + row.help + "\n";
    }
    return out;
}

}  // namespace firn
