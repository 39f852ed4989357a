// The compiler's output as text for the programs of benchmarks and for random ones. Runs nothing.
#pragma once
#include <firn/firn.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace firn {

/// A program that is recorded in the current session, which `record` also gets as an argument.
struct RecordedProgram {
    std::string name;
    std::function<void(const Session&)> record;
};

/// The cases of firn_bench and of firn_bench_gradients (gradient_CASE).
std::vector<RecordedProgram> bench_programs();
/// The random program of a seed (program_SEED); none if the reference cannot run it.
std::optional<RecordedProgram> random_program(uint64_t seed);

struct ProgramText {
    std::string code;       // of all kernels, in the target's language
    std::string explained;  // see explain()
};
/// Compiles a program for a device that it does not need: what the program would read from one is
/// zeros. An error is part of the code. Builds the kernels, too, if `builds`: this takes longer,
/// and finds errors in the text.
ProgramText text_of(const RecordedProgram& program, const DeviceProfile& profile,
                    bool builds = true);

}  // namespace firn
