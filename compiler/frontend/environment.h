// Every environment variable that Firn reads, in one table with its help; internal.
#pragma once
#include <optional>
#include <string>

namespace firn {

struct EnvironmentVariable {
    const char* name;
    const char* values;
    const char* help;
};

inline constexpr EnvironmentVariable kEnvironment[] = {
    {"FIRN_HELP", "1 | 2", "print this table; 2: and the passes of the compiler"},
    {"FIRN_DEBUG", "1..5",
     "print to stderr: 1 kernels, work and times, 2 their texts, 3 the graph before and after the "
     "passes, "
     "4 graphs and kernels after every pass, and every verdict, 5 times and the rules that fired"},
    {"FIRN_DUMP_DIR", "folder",
     "write graphs and kernels after every pass, texts of kernels and explain of every compiled "
     "program there"},
    {"FIRN_EXECUTOR", "device | native | interpret | oracle",
     "run on a Vulkan device, as native code of the processor, by the kernel interpreter, or "
     "node by node on the host; without it, on a GPU or, where there is none, as native code"},
    {"FIRN_THREADS", "1..1024",
     "threads that run kernels of machine code; by default as many as the process may use cores: "
     "where a container gets less time than that, say how many"},
    {"FIRN_MPI_SECONDS", "seconds",
     "how long a process waits for the others before it ends all; 300 without it"},
    {"FIRN_VALIDATION", "1", "turn the Vulkan validation layers on"},
    {"FIRN_CHECK", "1",
     "verify the promises of unique and permutation stores and of unchecked reads, and each access "
     "of native code against its memory, and warn of indices such as -1"},
    {"FIRN_FIND_NAN", "1", "name the operation that first makes a nan, and the element"},
    {"FIRN_MAX_STEPS", "number",
     "iterations of a while_ without max_steps before it is an error (1000000)"},
    {"FIRN_SPECIALISE", "0",
     "compile no programs for single sizes: few programs serve all sizes of a function"},
    {"FIRN_EXCESS", "file",
     "append a line for every compile: how many kernels there are, how many were cut because they "
     "took far more operations than their values need, and how many are exempt from that; and the "
     "worst ratio of operations among the kernels that stayed, were cut and are exempt; programs "
     "from the cache are not compiled"},
    {"FIRN_SKIP", "pass,pass", "leave passes of the compiler out, to find one with a fault"},
    {"FIRN_STOP_AFTER", "pass", "leave out all optional passes after this one"},
    {"FIRN_NO_CACHE", "1",
     "neither read nor write the caches on disk: compiled programs and kernels, pipelines, rates, "
     "tuned mappings (kept below 512 MiB in `~/.cache/firn`)"},
    {"FIRN_DEVICE", "number or part of a name | cpu",
     "choose the Vulkan device; cpu: native code of the processor (see `--list-devices`); a list "
     "`cpu,0` for programs that use several"},
    {"FIRN_CPU", "sse2 | sse4 | avx2 | avx512",
     "make native code for a lower level of processors than this one has"},
    {"FIRN_FILL_MEMORY", "1",
     "fill new memory of the device with nan, which makes elements that no kernel wrote visible"},
    {"FIRN_LIMITS", "least", "use no more of the device than Vulkan 1.2 guarantees"},
    {"FIRN_RATES", "reference",
     "compile for the rates of the device's class, the same on every machine, and measure none"},
};

/// Value of one of the variables in the table; nothing where it is unset or empty. A name that is
/// not in the table is an InternalError.
std::optional<std::string> environment(const char* name);
/// The same as a number; UserError where it is not one.
int environment_number(const char* name, int otherwise);
/// The table as text, one variable a line.
std::string environment_help();

}  // namespace firn
