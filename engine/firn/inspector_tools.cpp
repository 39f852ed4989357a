// Joins the inspector to the compiler.
#include "engine/firn/inspector_tools.h"

#include <sstream>

#include "compiler/base/error.h"
#include "compiler/driver/explain.h"
#include "compiler/driver/trace.h"
#include "compiler/files/stored_tensor.h"
#include "compiler/target/glsl/spirv.h"
#include "engine/firn/frame_numbers.h"

namespace firn {
namespace {

/// `NAME:12: error: what` of the shader compiler's text as `12: what`.
std::string error_lines(const std::string& text, const std::string& name) {
    std::istringstream in(text);
    std::string out;
    for (std::string line; std::getline(in, line);) {
        const std::string begin = name + ":", middle = ": error: ";
        const size_t at = line.find(middle);
        if (line.rfind(begin, 0) != 0 || at == std::string::npos) continue;
        out += line.substr(begin.size(), at - begin.size()) + ": " +
               line.substr(at + middle.size()) + "\n";
    }
    return out.empty() ? "0: " + text : out;
}

std::vector<uint32_t> compile_edited(const std::string& glsl, const std::string& name) {
    try {
        std::vector<uint32_t> spirv = with_indices_held(glsl_to_spirv(glsl, name), name);
        validate_spirv(spirv, name);
        return spirv;
    } catch (const InternalError& error) {
        throw UserError(error_lines(error.what(), name));
    }
}

std::vector<KernelWork> counts_of(const Program& program, const SizeEnv& env) {
    std::vector<KernelWork> out;
    for (const KernelReport& report : kernel_reports(program, env))
        out.push_back({report.ranges, report.dispatches, report.operations, report.bytes_read,
                       report.bytes_written, report.predicted_ms});
    return out;
}

}  // namespace

InspectorTools inspector_tools() {
    return {compile_edited, [](const std::vector<uint32_t>& spirv) { return spirv_text(spirv); },
            trace_of, counts_of,
            [](const std::string& path, DType dtype, const std::vector<int64_t>& shape,
               std::vector<std::byte> bytes) {
                write_npy(path, stored_from_memory("tensor", dtype, shape, std::move(bytes)));
            }};
}

}  // namespace firn
