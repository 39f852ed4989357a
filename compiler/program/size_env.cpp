// What symbols are taken for where only the call knows them.
#include "compiler/program/size_env.h"

#include <algorithm>

namespace firn {
namespace {

constexpr int64_t kSymbolEstimate = 1024;

}  // namespace

double estimate(const Size& size, const SymbolFacts& facts) {
    if (size.is_constant()) return static_cast<double>(size.constant());
    SizeEnv env;
    if (!data_symbols(size).empty()) return estimate(largest(size), facts);
    for (const std::string& s : size.symbols()) {
        const auto known = facts.largest.find(s);
        const auto divisor = facts.divisors.find(s);
        env[s] = std::max(known == facts.largest.end() ? kSymbolEstimate : known->second / 2,
                          divisor == facts.divisors.end() ? 1 : divisor->second);
    }
    return static_cast<double>(size.evaluate(env));
}

}  // namespace firn
