// A program as an object file and a C header: native code that needs nothing of Firn to run.
#pragma once
#include <string>
#include <vector>

#include "compiler/host/processor.h"
#include "compiler/program/saved_program.h"

namespace firn {

/// The names in the C interface.
struct AheadNames {
    std::string function;                // the function, and the beginning of all other names
    std::vector<std::string> arguments;  // by argument; empty or missing: its own name
    std::vector<std::string> results;    // by result; empty or missing: `result_0`
};

struct AheadFiles {
    std::string object;  // the bytes of an ELF object
    std::string header;  // the text of a header for C99 and C++
};

/// Compiles a program whose kernels are LLVM IR for `processor`. The object's symbols are the
/// functions that the header declares; it calls functions of C alone (memcpy, fmod, exp). It serves
/// every size that the program serves. The sizes of `saved` decide which temporaries share memory.
/// Throws UserError where a name is none of C, and where there is no LLVM.
AheadFiles compile_ahead(const SavedProgram& saved, const AheadNames& names,
                         const NativeProcessor& processor);

}  // namespace firn
