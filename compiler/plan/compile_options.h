// What a caller of the compiler may ask for, and what it is told.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/mapping/passes.h"
#include "compiler/program/compile_progress.h"
#include "compiler/program/compile_trace.h"
#include "compiler/program/size_env.h"
#include "compiler/program/stop.h"
#include "compiler/schedule/cut_weights.h"

namespace firn {

struct ProgramSource;  // program_source.h

/// Milliseconds of the stages of one compile, as the compiling thread counts them: others on the
/// machine do not matter. `spirv`: by the clock, on all cores.
struct CompileTimes {
    double passes = 0, schedule = 0, lower = 0, map = 0, emit = 0, plan = 0, spirv = 0;
};

struct CompileOptions {
    std::string name = "program";
    /// What this variant assumes of the symbols; checked at the call. Empty: nothing.
    SymbolFacts facts;
    /// By argument: the caller gives its memory away, so that results may be written over it.
    /// Empty: none.
    std::vector<bool> donated;
    bool spirv = true;  // false: stop at GLSL
    std::string
        cache_directory;  // where SPIR-V and tuned mappings are kept between runs; empty: nowhere
    /// What tuning found: mappings by KernelInfo::tuning_key, cuts by cuts_key(); asked before the
    /// directory. Null: none.
    const std::map<std::string, std::string>* tuned = nullptr;
    /// How cuts are chosen. Empty: as tuning found, else as the profile says.
    std::optional<CutWeights> cuts;
    bool validate =
#ifdef NDEBUG
        false;
#else
        true;  // run spirv-val on every module
#endif
    bool verify =
#ifdef NDEBUG
        false;
#else
        true;  // every kernel after every pass, see KernelPassOptions
#endif
    KernelSteps steps;
    bool all_cores = true;  // for SPIR-V; false: this thread alone
    CompileWatch watch;     // told how many kernels have their SPIR-V, with all cores only
    const std::atomic<bool>* stop =
        nullptr;                          // where it turns true, the compile ends early by Stopped
    CompileTimes* times = nullptr;        // receives what each stage took
    std::shared_ptr<CompileTrace> trace;  // receives what each pass made; texts take their time
    std::shared_ptr<const ProgramSource> source;  // what the program keeps of where it comes from
};

inline void check_stop(const CompileOptions& options) { check_stop(options.stop); }

}  // namespace firn
