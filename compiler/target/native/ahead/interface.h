// The C interface of a program: the struct that a call takes, and what the function returns.
#pragma once
#include <string>
#include <vector>

#include "compiler/program/program.h"
#include "compiler/target/native/ahead/ahead.h"

namespace firn::ahead {

/// A member of the struct.
struct Field {
    std::string name;
    std::string c_type;   // `const float *`
    std::string ir_type;  // `ptr`
    std::string comment;
};

/// An error code that the function returns, and its text. 0 is no error.
struct Code {
    std::string name;  // without the function's
    std::string text;
};

/// The fixed codes, from 1 on; those of guards come next, then those of loops that never end.
enum : int { kMissing = 1, kBadSize = 2, kTooLarge = 3, kFirstGuard = 4 };

struct Interface {
    std::string function;
    std::vector<std::string> symbols;  // of sizes; symbol k is field k
    std::vector<Field> fields;
    /// Their fields; the first results are the program's data sizes, which may be null.
    std::vector<size_t> arguments, results;
    size_t padded = 0;        // the field that says that arrays have padding
    std::vector<Code> codes;  // code k is codes[k - 1]
    int guard(size_t k) const { return kFirstGuard + static_cast<int>(k); }
    /// Returns the code of a loop's text.
    int never_ended(const std::string& text) const;
};

/// Throws UserError where a name is none of C, or is there twice.
Interface make_interface(const Program& program, const AheadNames& names);

/// The text of the header.
std::string header_text(const Program& program, const Interface& interface,
                        const NativeProcessor& processor);

}  // namespace firn::ahead
