// What symbols stand for: values, other sizes, and what may be assumed of them.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "compiler/program/size.h"

namespace firn {

/// Values of the symbols at a call. Loop inductions of host steps and i32 scalar arguments are symbols too.
struct SizeEnv : std::map<std::string, int64_t> {
    using map::map;
};

/// Sizes that take the place of symbols.
struct SizeMap : std::map<std::string, Size> {
    using map::map;
};

/// What a variant of a program assumes of its symbols.
struct SymbolFacts {
    SizeEnv divisors;   // the value is a multiple of this
    SizeEnv largest;    // the value is in [0, this]
};

}  // namespace firn
