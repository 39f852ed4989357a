# Writes OUTPUT, a C++ file that holds the bytes of FILE: the function named FUNCTION.
file(READ "${FILE}" bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)"
                     "\\1\n    " bytes "${bytes}")
file(WRITE "${OUTPUT}" "// Generated from ${FILE}.
#include \"engine/window/typeface.h\"

namespace firn {
namespace {

constexpr unsigned char kFile[] = {
    ${bytes}};

}  // namespace

std::span<const unsigned char> ${FUNCTION}() { return kFile; }

}  // namespace firn
")
