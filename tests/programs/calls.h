// The calls of a program, and their expected results.
#pragma once
#include "tests/programs/arrays.h"

namespace firn::programs {

enum class Way : uint8_t {
    Lazy,      // without compile
    Frames,    // without compile, three times; results become arguments where they fit
    Compiled,  // for the sizes of the call
    Symbolic,  // sizes as symbols; called with others, and with the first again
    Donated,   // compiled, arguments given away; then every second of them, with other data
    Repeated,  // compiled, called with other data, and with the first again
    Fed,  // compiled, called three times; arguments that results take the place of are given away
    Jit   // jit, called with other sizes, and with the first again
};
constexpr uint64_t kWays = 8;
const char* name(Way way);

/// A call, with the reference's results.
struct Call {
    Sizes sizes;
    std::vector<Array> arguments, outputs;
    std::vector<int>
        fed;  // of each argument: the result of the call before that it is; -1: it is new
    std::vector<bool> given;  // of each argument: it is given away
};

/// Returns as many calls as the reference can make; throws Unsuitable or Endless if that is none.
std::vector<Call> calls_of(const Program& program, Way way);

}  // namespace firn::programs
