// The header of a program in an object file.
#include <algorithm>
#include <cctype>

#include "compiler/target/native/ahead/interface.h"

namespace firn::ahead {
namespace {

/// Text of users in a comment, on one line.
std::string in_comment(std::string text) {
    for (char& c : text)
        if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = ' ';
    for (size_t at = 0; (at = text.find("*/", at)) != std::string::npos;)
        text.replace(at, 2, "* /");
    for (size_t at = 0; (at = text.find("/*", at)) != std::string::npos;)
        text.replace(at, 2, "/ *");
    return text;
}

constexpr const char* kHost = R"(#ifndef FIRN_HOST
#define FIRN_HOST
/* What the program that calls may offer; all of it may be 0. */
typedef struct firn_host {
    void *context; /* given to parallel_for */
    /* Calls part(data, first, last) for parts of [0, count) that together are all of it, on any threads, and
       returns when all of them have returned. Their stacks have 8 MB, as those of Linux. */
    void (*parallel_for)(void *context, int64_t count, void (*part)(void *data, int64_t first, int64_t last),
                         void *data);
    int64_t cache_bytes; /* of the largest cache: results that exceed it may be written past it; 0: not known */
} firn_host;
#endif
)";

}  // namespace

std::string header_text(const Program& program, const Interface& interface,
                        const NativeProcessor& processor) {
    const std::string& f = interface.function;
    std::string guard = f;
    for (char& c : guard) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    guard = "FIRN_" + guard + "_H";
    std::string out = "/* " + in_comment(program.name) + ", compiled by Firn for " +
                      processor.name +
                      " processors. Link the object beside this file, and -lm. */\n";
    out += "#ifndef " + guard + "\n#define " + guard +
           "\n#include <stddef.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" "
           "{\n#endif\n\n";
    out += kHost;
    out +=
        "\n/* One call. Arrays are row-major without gaps, with the strides given in elements, and "
        "aligned\n"
        "   as C aligns their elements; 64 bytes are best. No result overlaps another array. A "
        "result's padding,\n"
        "   where there is some, may be written; without padding, an array whose bytes are no "
        "multiple of 16 is\n"
        "   copied to or from the workspace. An array without elements may be null. */\n";
    out += "typedef struct " + f + "_call {\n";
    for (const Field& field : interface.fields)
        out += "    " + field.c_type + field.name + "; /* " + in_comment(field.comment) + " */\n";
    out += "} " + f + "_call;\n\n/* What the function returns. */\nenum {\n    " + f + "_ok = 0";
    for (size_t k = 0; k < interface.codes.size(); ++k)
        out += ",\n    " + f + "_" + interface.codes[k].name + " = " + std::to_string(k + 1) +
               " /* " + in_comment(interface.codes[k].text) + " */";
    out += "\n};\n\n";
    out +=
        "/* The bytes of the workspace for the sizes of this call; SIZE_MAX where they are "
        "refused. */\n"
        "size_t " +
        f + "_workspace_bytes(const " + f +
        "_call *call);\n\n"
        "/* Runs it. The workspace may be anywhere and hold anything; each call at a time has its "
        "own.\n"
        "   host may be null: all work is then done on this thread. After an error the results are "
        "undefined. */\n"
        "int " +
        f + "(const " + f +
        "_call *call, void *workspace, const firn_host *host);\n\n"
        "/* The text of what it returned. */\n"
        "const char *" +
        f +
        "_message(int code);\n\n"
        "#ifdef __cplusplus\n}\n#endif\n#endif\n";
    return out;
}

}  // namespace firn::ahead
