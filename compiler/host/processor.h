// The processors that native code is made for, and what each can do.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "compiler/program/device_profile.h"

namespace firn {

/// The instructions that a processor has.
enum class Architecture : uint8_t { X86_64, Aarch64 };

/// The estimate of reciprocals of square roots that native code begins with, see roots.h.
enum class RootEstimate : uint8_t { None, Avx, Avx512 };

/// The abilities of a processor's vectors that native code depends on.
struct VectorFacts {
    int bits = 128;      // the width of a register: a power of two from 128 on
    int registers = 16;  // so many there are
    /// It multiplies and adds in one operation, rounded once.
    bool fuses_products = false;
    /// It loads a vector under a mask by one instruction: elements of 4 or 8 bytes.
    bool loads_masked = false;
    /// It reads and writes the places of a vector by one instruction, which takes less time than
    /// one lane after the other: elements of 4 or 8 bytes.
    bool gathers = false;
    /// Stores that are told to go past its caches do, as long as a fence ends them. Others find
    /// out by themselves that whole lines are written.
    bool stores_past_caches = false;
    /// Its conversions of vectors of floats to integers saturate, and give 0 for nan.
    bool saturates = false;
    /// It converts a vector of floats to integers of 64 bits by one instruction.
    bool converts_wide = false;
    RootEstimate root_estimate = RootEstimate::None;
};

struct NativeProcessor {
    std::string name;  // as save_native takes it: x86-64 to x86-64-v4, aarch64+neon; empty: none
    Architecture architecture = Architecture::X86_64;
    std::string cpu;       // LLVM's name of it, or of its level
    std::string features;  // its features once more, as LLVM takes them: `+avx2,+fma`
    VectorFacts vectors;
};

/// All of them, in one table: the levels of x86-64 from the lowest on, then others.
std::span<const NativeProcessor> native_processors();

/// The processor that this process runs on: the highest level all of whose features the processor
/// has and the operating system keeps; asks no library. FIRN_CPU (sse2, sse4, avx2 or avx512) takes
/// a lower level; a name that is unknown, or a level that this processor lacks, is a UserError that
/// lists the levels there are. On 64-bit ARM there is one, `neon`; on other processors `name` and
/// `cpu` are empty.
NativeProcessor host_processor();

/// The same for one of x86-64 that has the lowest `levels` of the four levels, where FIRN_CPU is
/// `wanted`.
NativeProcessor processor_of_levels(int levels, const std::string& wanted);

/// The processor of this name, whether or not this process runs on such a one: `x86-64-v3`, or
/// `avx2` as FIRN_CPU calls it; `aarch64+neon`, or `aarch64` or `neon`. Empty: host_processor().
/// UserError that lists the names for any other, and for the empty one where this processor is none
/// of them; `what` begins it.
NativeProcessor processor_named(const std::string& name, const std::string& what);

/// Returns whether a processor runs the code that was made for another: it is of the same kind, and
/// of the same level or a higher one. Both by their names in the table.
bool runs_code_of(const std::string& made_for, const std::string& processor);

/// The device that a processor is to the compiler: native_profile() with its names. `driver` is
/// left to those who know the compiler.
DeviceProfile profile_of_processor(const NativeProcessor& processor);

/// The processor that code of this device is for. A profile that names none has the lowest level of
/// x86-64 whose vectors are as wide.
const NativeProcessor& processor_of(const DeviceProfile& profile);
/// Returns the abilities of its vectors.
const VectorFacts& vector_facts(const DeviceProfile& profile);

}  // namespace firn
