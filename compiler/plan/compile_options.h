// The options and the results of a call of the compiler.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/compile_progress.h"
#include "compiler/base/stop.h"
#include "compiler/mapping/kernel_passes.h"
#include "compiler/program/compile_trace.h"
#include "compiler/program/pass_info.h"
#include "compiler/program/size_env.h"
#include "compiler/schedule/cut_weights.h"
#include "compiler/target/emission.h"

namespace firn {

struct ProgramSource;  // program_source.h

/// Milliseconds of the stages of one compile, as the compiling thread counts them: others on the
/// machine do not matter. `build`: by the clock, on all cores.
struct CompileTimes {
    double passes = 0, schedule = 0, lower = 0, map = 0, emit = 0, plan = 0, build = 0;
};

struct CompileOptions {
    std::string name = "program";
    /// Assumptions of this variant about the symbols; checked at the call. Empty: none.
    SymbolFacts facts;
    /// Tells by argument whether the caller donates its memory, so that results may be written over
    /// it. Empty: none.
    std::vector<bool> donated;
    Emission emission = Emission::Binary;
    EmitOptions emit;
    std::string cache_directory;  // where built kernels and tuned mappings are kept between runs;
                                  // empty: nowhere
    /// Winners of tuning: mappings by KernelInfo::tuning_key, cuts by cuts_key(); looked up before
    /// the directory. Null: none.
    const std::map<std::string, std::string>* tuned = nullptr;
    /// The weights that choose cuts. Empty: those that tuning found, else the profile's.
    std::optional<CutWeights> cuts;
    bool validate =
#ifdef NDEBUG
        false;
#else
        true;  // check every built kernel that no cache has
#endif
    bool verify =
#ifdef NDEBUG
        false;
#else
        true;  // every kernel after every pass, see KernelPassOptions
#endif
    SkippedPasses skipped;  // rows of the tables of passes that are left out
    bool reuse = false;     // a program from disk will do, which lacks its kernels' code
    bool all_cores = true;  // for building kernels; false: this thread alone
    CompileWatch watch;     // told how many kernels are built, with all cores only
    const std::atomic<bool>* stop =
        nullptr;                          // if it becomes true, the compile ends early by Stopped
    std::string excess_log;               // a file for append_excess(); empty: none
    CompileTimes* times = nullptr;        // receives the time of each stage
    std::shared_ptr<CompileTrace> trace;  // receives the result of each pass; texts take their time
    std::shared_ptr<const ProgramSource> source;  // the source that the program keeps
};

/// The options of the passes over each kernel.
inline KernelPassOptions kernel_options(const CompileOptions& options) {
    return {.verify = options.verify, .skipped = options.skipped, .seen = nullptr};
}

inline void check_stop(const CompileOptions& options) { check_stop(options.stop); }

}  // namespace firn
