// The state of one run of emit_glsl(), over which the functions that write its text work.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/codegen/node_uses.h"
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

struct GlslRun {
    GlslRun(const KernelCode& code, const DeviceProfile& profile);
    GlslRun(const GlslRun&) = delete;
    GlslRun& operator=(const GlslRun&) = delete;

    // What is written, and for whom.
    const KernelCode& code;
    const DeviceProfile& profile;
    NodeUses uses;
    std::array<uint32_t, 3> launched;  // see launched_group()
    std::set<int> apart;               // loops that stand in a loop of one iteration

    // How it is written.
    std::vector<std::string> text;          // each node, where it is used
    std::map<int, std::vector<int>> loads;  // inlined nodes of the open region that nobody has
                                            // asked for yet: what they load
    std::ostringstream body;                // of main

    // What the body needs declared.
    std::set<std::string> functions;  // of math_library()
    bool loop_attributes = false;
    bool float_atomics = false, wide_atomics = false;
};

/// Begins a line of main's body; indents of four spaces.
std::ostream& line(GlslRun& run, int indent);

/// The functions of math_library() that `expression` calls.
void note_functions(GlslRun& run, const std::string& expression);

}  // namespace firn
