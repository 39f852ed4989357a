// Records what every pass made of a program that exists already.
#include "compiler/driver/trace.h"

#include <algorithm>

#include "compiler/driver/compile.h"
#include "compiler/driver/program_source.h"
#include "compiler/ir/substitute.h"
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/error.h"

namespace firn {
namespace {

/// Returns the text of a kernel without its first line, which holds its name: kernels have names
/// only after their program is planned.
std::string behind_name(const std::string& text) { return text.substr(text.find('\n')); }

}  // namespace

CompileTrace trace_of(const Program& program) {
    if (!program.source)
        throw UserError("program '" + program.name +
                        "' was saved without what it was compiled from, so its passes cannot be "
                        "run again; compile it in this process");
    const ProgramSource& source = *program.source;
    std::map<std::string, std::string> tuned;
    for (const KernelInfo& kernel : program.kernels)
        if (kernel.tuned) tuned[kernel.tuning_key] = kernel.mapping;
    CompileOptions options;
    options.name = program.name;
    options.facts = source.facts, options.donated = source.donated;
    options.skipped = source.skipped;
    options.tuned = &tuned;
    options.cuts = parse_cut_weights(program.cuts).value_or(CutWeights{});
    options.spirv = false;
    options.trace = std::make_shared<CompileTrace>();
    NodeTable table;
    compile_graph(table, copied_graph(table, source.graph), program.profile, options);
    CompileTrace out = std::move(*options.trace);
    for (const KernelInfo& kernel : program.kernels) {
        const auto traced = std::find_if(
            out.kernels.begin(), out.kernels.end(),
            [&](const CompileTrace::Kernel& each) { return each.name == kernel.name; });
        if (traced == out.kernels.end() || !kernel.code) continue;
        const std::string text = print(*kernel.code);
        if (traced->passes.empty() || behind_name(traced->passes.back().text) != behind_name(text))
            traced->passes.push_back({.name = "emitted", .text = text});
    }
    return out;
}

}  // namespace firn
