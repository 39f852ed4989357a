// The limits of the 32-bit indices of kernels.
#include "compiler/program/index_limits.h"

#include "compiler/base/error.h"
#include "compiler/program/size_env.h"

namespace firn {

int32_t index_value(const Size& size, const SizeEnv& env, std::string_view what) {
    const int64_t value = size.evaluate(env);
    if (value >= INT32_MIN && value <= INT32_MAX) return static_cast<int32_t>(value);
    std::string sizes;
    for (const std::string& symbol : size.symbols())
        if (const auto known = env.find(symbol); known != env.end())
            sizes +=
                (sizes.empty() ? " with " : ", ") + symbol + " = " + std::to_string(known->second);
    const std::string symbolic = size.is_constant() ? "" : size.text() + " is ";
    throw UserError(std::string(what) + ": size " + symbolic + std::to_string(value) + sizes +
                    ", and kernels count with 32 bits (to " + std::to_string(kMostIndices) +
                    "); use smaller dimensions, or do it in parts");
}

}  // namespace firn
