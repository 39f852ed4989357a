// Values for symbols that only the call knows.
#include "compiler/program/size_env.h"

#include <algorithm>

#include "compiler/program/size_builder.h"

namespace firn {
namespace {

constexpr int64_t kSymbolEstimate = 1024;

int64_t estimated_value(const std::string& symbol, const SymbolFacts& facts) {
    const auto known = facts.largest.find(symbol);
    const auto divisor = facts.divisors.find(symbol);
    return std::max(known == facts.largest.end() ? kSymbolEstimate : known->second / 2,
                    divisor == facts.divisors.end() ? 1 : divisor->second);
}

/// Adds an estimate of each symbol in the size; returns false where one is a data symbol.
bool add_estimates(const Size& size, const SymbolFacts& facts, SizeEnv& env) {
    for (const SizeTerm& term : SizeBuilder::terms(size))
        for (const SizeAtom& atom : term.atoms) {
            if (atom.is_data()) return false;
            if (atom.kind == SizeAtom::Kind::Symbol) {
                const auto [at, added] = env.try_emplace(atom.name);
                if (added) at->second = estimated_value(atom.name, facts);
            }
            for (const Size& arg : atom.args)
                if (!add_estimates(arg, facts, env)) return false;
        }
    return true;
}

}  // namespace

bool assumes_nothing(const SymbolFacts& facts) {
    return facts.exact.empty() && facts.divisors.empty() && facts.largest.empty();
}

std::string text(const SymbolFacts& facts) {
    std::string out;
    const auto add = [&](const SizeEnv& values, const char* relation) {
        for (const auto& [symbol, value] : values)
            out += symbol + relation + std::to_string(value) + " ";
    };
    add(facts.exact, "==");
    add(facts.divisors, "%");
    add(facts.largest, "<=");
    if (!facts.bindable) out += "large ";
    return out;
}

bool hold(const SymbolFacts& facts, const SizeEnv& symbols) {
    const auto all = [&](const SizeEnv& values, auto holds) {
        return std::all_of(values.begin(), values.end(), [&](const auto& fact) {
            return holds(symbols.at(fact.first), fact.second);
        });
    };
    return all(facts.exact, [](int64_t value, int64_t known) { return value == known; }) &&
           all(facts.divisors,
               [](int64_t value, int64_t divisor) { return value % divisor == 0; }) &&
           all(facts.largest,
               [](int64_t value, int64_t most) { return value >= 0 && value <= most; });
}

double estimate(const Size& size, const SymbolFacts& facts) {
    if (size.is_constant()) return static_cast<double>(size.constant());
    SizeEnv env;
    if (!add_estimates(size, facts, env)) return estimate(largest(size), facts);
    return static_cast<double>(size.evaluate(env));
}

}  // namespace firn
