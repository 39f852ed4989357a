// Commands of the source tree, run by the shell.
#pragma once
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace firn {

struct Outcome {
    int status = -1;
    std::string output;  // stdout and stderr
};

/// Runs a command of the source tree by the shell.
inline Outcome run(const std::string& command) {
    Outcome outcome;
    FILE* pipe = popen(("cd '" FIRN_SOURCE_DIR "' && " + command + " 2>&1").c_str(), "r");
    if (!pipe) return outcome;
    std::array<char, 4096> part;
    while (size_t count = fread(part.data(), 1, part.size(), pipe))
        outcome.output.append(part.data(), count);
    int status = pclose(pipe);
    if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
    return outcome;
}

}  // namespace firn
