// The processor that native code is made for, and what it can do.
#pragma once
#include <string>

#include "compiler/program/device_profile.h"

namespace firn {

struct NativeProcessor {
    std::string cpu;        // LLVM's name of its level: x86-64, x86-64-v2, x86-64-v3 or x86-64-v4
    std::string features;   // the level's features once more, as LLVM takes them: `+avx2,+fma`
    int vector_bits = 128;  // the width of its vector registers: 128, 256 or 512
};

/// The processor that this process runs on: the highest level all of whose features the processor
/// has and the operating system keeps; asks no library. FIRN_CPU (sse2, sse4, avx2 or avx512) takes
/// a lower level; a name that is unknown, or a level that this processor lacks, is a UserError that
/// lists the levels there are. On processors other than x86-64 `cpu` is empty.
NativeProcessor host_processor();

/// The same for a processor that has the lowest `levels` of the four levels, where FIRN_CPU is
/// `wanted`.
NativeProcessor processor_of_levels(int levels, const std::string& wanted);

/// The processor of this name, whether or not this process runs on such a one: `x86-64-v3`, or
/// `avx2` as FIRN_CPU calls it. Empty: host_processor(). UserError that lists the names for any
/// other, and for the empty one where this processor is none of them; `what` begins it.
NativeProcessor processor_named(const std::string& name, const std::string& what);

/// Returns whether a processor runs the code that was made for another: it is of the same kind, and
/// of the same level or a higher one. Both by their names, as NativeProcessor::cpu.
bool runs_code_of(const std::string& made_for, const std::string& processor);

/// The profile of a device that runs native code for this processor.
DeviceProfile profile_of(const NativeProcessor& processor);

}  // namespace firn
