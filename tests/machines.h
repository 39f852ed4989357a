// The processors for which tests build programs in C, and how they run here.
#pragma once
#include <ostream>
#include <string>

#include "tests/tree/shell.h"

namespace firn {

/// Programs are built by `compiler`, and run by `runner` where it is not empty.
struct Machine {
    const char* name;       // of tests
    const char* processor;  // as save_native takes it; empty: that of this process
    const char* compiler;   // of C
    const char* cxx;        // of C++
    const char* symbols;    // lists the symbols of objects
    const char* runner;
};

/// As GoogleTest shows it.
inline void PrintTo(const Machine& machine, std::ostream* out) { *out << machine.name; }

/// This machine, and others that Debian's cross compilers and QEMU stand for. Programs for others
/// are linked statically, so that they need no libraries of their system. Of 64-bit ARM it is a
/// processor of the first version, ARMv8.0.
inline constexpr Machine kThisMachine{"here", "", "cc", "c++", "nm", ""};
inline constexpr Machine kArmMachine{"aarch64",
                                     "aarch64+neon",
                                     "aarch64-linux-gnu-gcc -static",
                                     "aarch64-linux-gnu-g++ -static",
                                     "aarch64-linux-gnu-nm",
                                     "qemu-aarch64 -cpu cortex-a53"};

/// Returns which tool is missing to build and run programs for a machine; empty: none is.
inline std::string why_no_machine(const Machine& machine) {
    for (const std::string command :
         {machine.compiler, machine.cxx, machine.symbols, machine.runner}) {
        const std::string tool = command.substr(0, command.find(' '));
        if (!tool.empty() && run("command -v " + tool).status != 0)
            return "programs for this processor cannot be built and run here: there is no " + tool +
                   "; apps/setup --tests installs it";
    }
    return "";
}

}  // namespace firn
