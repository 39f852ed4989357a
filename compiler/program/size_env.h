// What symbols stand for: values, other sizes, and what may be assumed of them.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "compiler/program/size.h"

namespace firn {

/// Values of the symbols at a call. Loop inductions of host steps and i32 scalar arguments are
/// symbols too.
struct SizeEnv : std::map<std::string, int64_t> {
    using map::map;
};

/// Sizes that take the place of symbols.
struct SizeMap : std::map<std::string, Size> {
    using map::map;
};

/// What a variant of a program assumes of its symbols.
struct SymbolFacts {
    SizeEnv divisors;  // the value is a multiple of this
    SizeEnv largest;   // the value is in [0, this]
    /// Tensors of symbolic sizes are as small as the fastest form of binding takes
    /// (Program::assumed says which). Else what `largest` leaves possible decides.
    bool bindable = true;
};

/// Estimated value of a size: a symbol counts as half of the most that it can be, or as 1024.
double estimate(const Size& size, const SymbolFacts& facts = {});

}  // namespace firn
