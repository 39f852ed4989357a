// A line of the user's program: what nodes carry, and what every message ends with.
#pragma once
#include <string>

namespace firn {

struct SourceLine {
    const char* file = "";
    int line = 0;
    friend bool operator==(const SourceLine&, const SourceLine&) = default;
};

/// `scene.cpp:41`, the file without its folders.
std::string text(const SourceLine& line);

/// As a default argument: the line of the call.
constexpr SourceLine here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
}

}  // namespace firn
