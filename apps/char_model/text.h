// A text as numbers.
#pragma once
#include <firn/firn.h>

#include <string>
#include <vector>

namespace firn::char_model {

/// A text, of which every different byte is a character.
struct Text {
    std::vector<int> codes;      // of the characters, in order: bytes
    Tensor train, test;          // numbers of characters, i32 [n]: the test is the last tenth
    std::vector<int> beginning;  // the first `context` of the test
};
/// UserError: a file that cannot be read, or with fewer than 20 times `context` bytes, or with one
/// character alone.
Text read_text(const std::string& path, int context);

}  // namespace firn::char_model
