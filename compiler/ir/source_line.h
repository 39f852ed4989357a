// A line of the user's program, which nodes carry, and with which every message ends.
#pragma once
#include <string>
#include <vector>

namespace firn {

struct SourceLine {
    const char* file = "";
    int line = 0;
    friend bool operator==(const SourceLine&, const SourceLine&) = default;
};

/// `scene.cpp:41`, the file without its folders.
std::string text(const SourceLine& line);

/// The first of those that a node keeps; none where it keeps none.
inline SourceLine first_line(const std::vector<SourceLine>& lines) {
    return lines.empty() ? SourceLine{} : lines[0];
}
/// The same behind a message: ` (scene.cpp:41)`, or nothing.
std::string in_brackets(const std::vector<SourceLine>& lines);

/// The line of the call, as a default argument.
constexpr SourceLine here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
}

}  // namespace firn
