// The values of symbols, other sizes in their place, and assumptions about them.
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

/// The assumptions of a program's variant about its symbols.
struct SymbolFacts {
    SizeEnv exact;     // the value; such a symbol has no other fact
    SizeEnv divisors;  // the value is a multiple of this
    SizeEnv largest;   // the value is in [0, this]
    /// Tensors of symbolic sizes are as small as the fastest form of binding takes
    /// (Program::assumed says which). Otherwise their bounds in `largest` decide.
    bool bindable = true;
};
/// Nothing is assumed of values.
bool assumes_nothing(const SymbolFacts& facts);
/// The facts as a key: "c==3 n%64 n<=256 large".
std::string text(const SymbolFacts& facts);
/// Returns whether the values satisfy the assumptions.
bool hold(const SymbolFacts& facts, const SizeEnv& symbols);

/// Estimated value of a size: a symbol counts as half of the most that it can be, or as 1024.
double estimate(const Size& size, const SymbolFacts& facts = {});

}  // namespace firn
