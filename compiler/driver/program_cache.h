// Compiled programs that are kept on disk between runs, so that a second start compiles nothing.
#pragma once
#include <memory>

#include "compiler/driver/program_source.h"
#include "compiler/plan/compile_options.h"
#include "compiler/program/program.h"

namespace firn {

/// Names the sources that this compiler was built from: other sources may make other programs.
const char* compiler_fingerprint();

/// Compiles `source` as compile_graph() does, or returns the program that an earlier run of this
/// compiler made of the same graph for the same device, options and tuned mappings. A program from
/// disk lacks the code of its kernels (see with_code()), and its excess work was logged
/// by the run that compiled it. Nothing is read or kept where the options do not allow it
/// (CompileOptions::reuse), name no directory, build no kernels, or ask for a trace or times, which
/// only a compile has. Programs that compile within milliseconds are not kept, nor those with tuned
/// cuts: the key of the cuts is that of a program without them.
std::shared_ptr<const Program> compile_source(const std::shared_ptr<ProgramSource>& source,
                                              const DeviceProfile& profile, CompileOptions options);

/// Compiles a program again from its source as it was compiled: with its cuts, its tuned mappings
/// and without the passes that were left out. `trace`, unless null, receives what each pass made.
/// Throws UserError where the program has no source.
std::shared_ptr<const Program> compile_again(const Program& program, Emission emission,
                                             std::shared_ptr<CompileTrace> trace = nullptr);

/// Returns the program, compiled again if it came from disk: with the code of its kernels, which
/// tuning starts from.
std::shared_ptr<const Program> with_code(std::shared_ptr<const Program> program);

}  // namespace firn
