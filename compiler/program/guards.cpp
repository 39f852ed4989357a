// Checks a program's assumptions about its symbols.
#include "compiler/program/guards.h"

#include <algorithm>

#include "compiler/base/error.h"

namespace firn {

void check_guards(const Program& program, const SizeEnv& env) {
    for (const Guard& guard : program.guards) {
        std::vector<std::string> symbols = guard.left.symbols();
        for (std::string& symbol : guard.right.symbols()) symbols.push_back(std::move(symbol));
        if (!std::all_of(symbols.begin(), symbols.end(),
                         [&](const std::string& each) { return env.contains(each); }))
            continue;
        const int64_t left = guard.left.evaluate(env), right = guard.right.evaluate(env);
        if (left == right) continue;
        std::string sizes;
        std::sort(symbols.begin(), symbols.end());
        symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
        for (const std::string& symbol : symbols)
            sizes +=
                (sizes.empty() ? " with " : ", ") + symbol + " = " + std::to_string(env.at(symbol));
        throw UserError(program.name + ": " + guard.message + ": " + guard.left.text() + " is " +
                        std::to_string(left) + " and " + guard.right.text() + " is " +
                        std::to_string(right) + sizes);
    }
}

}  // namespace firn
