// Records the result of every pass for a program that exists already.
#include "compiler/driver/trace.h"

#include <algorithm>

#include "compiler/base/error.h"
#include "compiler/driver/program_cache.h"
#include "compiler/kernel/kernel_code.h"

namespace firn {
namespace {

/// Returns the text of a kernel without its first line, which holds its name: kernels have names
/// only after their program is planned.
std::string behind_name(const std::string& text) { return text.substr(text.find('\n')); }

}  // namespace

CompileTrace trace_of(const Program& program) {
    const auto trace = std::make_shared<CompileTrace>();
    const std::shared_ptr<const Program> again = compile_again(program, Emission::Nothing, trace);
    CompileTrace out = std::move(*trace);
    for (size_t k = 0; k < program.kernels.size(); ++k) {
        const KernelInfo& kernel = program.kernels[k];
        const auto traced = std::find_if(
            out.kernels.begin(), out.kernels.end(),
            [&](const CompileTrace::Kernel& each) { return each.name == kernel.name; });
        const KernelCode* const code =
            kernel.code ? kernel.code.get() : again->kernels.at(k).code.get();
        if (traced == out.kernels.end()) continue;
        const std::string text = print(*code);
        if (traced->passes.empty() || behind_name(traced->passes.back().text) != behind_name(text))
            traced->passes.push_back({.name = "emitted", .text = text});
    }
    return out;
}

}  // namespace firn
