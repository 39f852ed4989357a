// The data of a program, as LLVM IR.
#include "compiler/target/native/ahead/constants.h"

#include <cstddef>
#include <cstdio>
#include <vector>

namespace firn::ahead {
namespace {

std::string quoted(const char* bytes, size_t count) {
    std::string out = "c\"";
    for (size_t k = 0; k < count; ++k) {
        char digits[4];
        std::snprintf(digits, sizeof digits, "\\%02X", static_cast<unsigned char>(bytes[k]));
        out += digits;
    }
    return out + "\"";
}

}  // namespace

std::string bytes_constant(const std::string& name, const char* bytes, size_t count,
                           const std::string& more) {
    return name + " = internal constant [" + std::to_string(count) + " x i8] " +
           quoted(bytes, count) + more + "\n";
}

bool has_data(const Program& program, size_t buffer) {
    const BufferInfo& info = program.buffers[buffer];
    return info.role == BufferRole::Constant && info.bytes().constant() > 0;
}

std::string constants(const Program& program) {
    std::string out;
    for (size_t k = 0; k < program.buffers.size(); ++k) {
        if (!has_data(program, k)) continue;
        std::vector<std::byte> data = program.buffers[k].data;
        data.resize(static_cast<size_t>(program.buffers[k].bytes().constant()));
        out +=
            bytes_constant("@firn.constant_" + std::to_string(k),
                           reinterpret_cast<const char*>(data.data()), data.size(), ", align 64");
    }
    return out + "\n";
}

}  // namespace firn::ahead
