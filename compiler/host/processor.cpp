// The processor that native code is made for, by its own instruction that tells its features.
#include "compiler/host/processor.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <span>

#include "compiler/base/error.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace firn {
namespace {

/// Levels of x86-64 processors as its psABI defines them, and the words of FIRN_CPU for them.
struct Level {
    const char* word;
    const char* cpu;
    const char* features;  // those that the level before it lacks
    int vector_bits;
};

// LLVM takes 256 bits on level 4 where it chooses a width itself, unless that is turned off.
constexpr Level kLevels[] = {
    {"sse2", "x86-64", "+cmov,+cx8,+fxsr,+mmx,+sse,+sse2", 128},
    {"sse4", "x86-64-v2", "+cx16,+popcnt,+sahf,+sse3,+ssse3,+sse4.1,+sse4.2", 128},
    {"avx2", "x86-64-v3", "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave", 256},
    {"avx512", "x86-64-v4",
     "+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl,+evex512,-prefer-256-bit", 512},
};

#if defined(__x86_64__)

/// Registers of the instruction cpuid; zeros where the processor has no such leaf.
struct Cpuid {
    uint32_t a = 0, b = 0, c = 0, d = 0;
    explicit Cpuid(uint32_t leaf) { __get_cpuid_count(leaf, 0, &a, &b, &c, &d); }
};

bool has(uint32_t bits, uint32_t wanted) { return (bits & wanted) == wanted; }

/// The number of levels that this processor has.
int host_levels() {
    const Cpuid basic(1), extended(0x80000001), structured(7);
    constexpr uint32_t kLahf = 1u << 0, kLzcnt = 1u << 5, kXsaveKept = 1u << 27;
    if (!has(basic.c,
             bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT | bit_CMPXCHG16B) ||
        !has(extended.c, kLahf))
        return 1;
    // The operating system says which registers it keeps when it switches threads.
    uint32_t kept = 0;
    if (has(basic.c, kXsaveKept)) {
        uint32_t upper = 0;
        asm volatile("xgetbv" : "=a"(kept), "=d"(upper) : "c"(0));
    }
    constexpr uint32_t kKeepsAvx = 0x6, kKeepsAvx512 = 0xe6;
    if (!has(kept, kKeepsAvx) || !has(basic.c, bit_AVX | bit_F16C | bit_FMA | bit_MOVBE) ||
        !has(structured.b, bit_AVX2 | bit_BMI | bit_BMI2) || !has(extended.c, kLzcnt))
        return 2;
    if (!has(kept, kKeepsAvx512) ||
        !has(structured.b, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL))
        return 3;
    return 4;
}

#else

int host_levels() { return 0; }

#endif

NativeProcessor processor_of(std::span<const Level> levels) {
    NativeProcessor processor;
    for (const Level& level : levels) {
        processor.cpu = level.cpu;
        processor.features += (processor.features.empty() ? "" : ",") + std::string(level.features);
        processor.vector_bits = level.vector_bits;
    }
    return processor;
}

}  // namespace

NativeProcessor processor_of_levels(int levels, const std::string& wanted) {
    const auto there = std::span(kLevels).first(static_cast<size_t>(levels));
    if (wanted.empty() || there.empty()) return processor_of(there);
    std::string words;
    for (size_t k = 0; k < there.size(); ++k) {
        if (wanted == there[k].word) return processor_of(there.first(k + 1));
        words += (k == 0 ? "" : ", ") + std::string(there[k].word);
    }
    for (const Level& level : kLevels)
        if (wanted == level.word)
            throw UserError("FIRN_CPU=" + wanted +
                            " asks for more than this processor has; it has " + words);
    throw UserError("FIRN_CPU=" + wanted +
                    " is no level of processors that Firn knows; this processor has " + words);
}

NativeProcessor host_processor() {
    const char* wanted = std::getenv("FIRN_CPU");
    return processor_of_levels(host_levels(), wanted ? wanted : "");
}

NativeProcessor processor_named(const std::string& name, const std::string& what) {
    if (name.empty())
        if (NativeProcessor host = host_processor(); !host.cpu.empty()) return host;
    const auto all = std::span(kLevels);
    std::string names;
    for (size_t k = 0; k < all.size(); ++k) {
        if (name == all[k].cpu || name == all[k].word) return processor_of(all.first(k + 1));
        names += (k == 0 ? "" : ", ") + std::string(all[k].cpu) + " (" + all[k].word + ")";
    }
    throw UserError(what + ": " +
                    (name.empty() ? "this processor is none" : "'" + name + "' is no processor") +
                    " that native code is made for; there are " + names);
}

bool runs_code_of(const std::string& made_for, const std::string& processor) {
    const auto level = [](const std::string& cpu) {
        return std::find_if(std::begin(kLevels), std::end(kLevels),
                            [&](const Level& each) { return cpu == each.cpu; });
    };
    if (made_for == processor) return true;
    return level(processor) != std::end(kLevels) && level(made_for) < level(processor);
}

DeviceProfile profile_of(const NativeProcessor& processor) {
    DeviceProfile profile = native_profile(static_cast<uint32_t>(processor.vector_bits));
    profile.name = "native code for " + processor.cpu;
    profile.processor = processor.cpu;
    return profile;
}

}  // namespace firn
