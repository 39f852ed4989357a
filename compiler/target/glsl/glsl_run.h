// The state of one run of emit_glsl(), over which the functions that write its text work.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"
#include "compiler/target/glsl/node_uses.h"

namespace firn {

struct GlslRun {
    GlslRun(const KernelCode& code, const DeviceProfile& profile);
    GlslRun(const GlslRun&) = delete;
    GlslRun& operator=(const GlslRun&) = delete;

    // The kernel, and its target.
    const KernelCode& code;
    const DeviceProfile& profile;
    NodeUses uses;
    std::array<uint32_t, 3> launched;  // see launched_group()
    std::set<NodeId> apart;            // loops that stand in a loop of one iteration

    // The texts so far.
    ByNode<std::string> text;                     // each node's text in a use
    std::map<NodeId, std::vector<NodeId>> loads;  // loads in inlined nodes that have no use yet
    std::ostringstream body;                      // of main

    // Declarations that the body needs.
    std::set<std::string> functions;  // of math_library()
    bool loop_attributes = false;
    bool float_atomics = false, wide_atomics = false;
};

/// Begins a line of main's body; indents of four spaces.
std::ostream& line(GlslRun& run, int indent);

/// The functions of math_library() that `expression` calls.
void note_functions(GlslRun& run, const std::string& expression);

}  // namespace firn
