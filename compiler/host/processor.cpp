// The table of processors, and the one that runs this, by its own instruction that tells features.
#include "compiler/host/processor.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/base/thread_sanitizer.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace firn {
namespace {

/// A row of the table. `features` of x86-64 are those that the level before it lacks.
struct Row {
    const char* name;
    const char* word;  // of FIRN_CPU
    const char* also;  // another name that save_native takes
    Architecture architecture;
    const char* cpu;
    const char* features;
    VectorFacts vectors;
};

constexpr VectorFacts kSse{.bits = 128, .registers = 16, .stores_past_caches = true};
constexpr VectorFacts kAvx2{.bits = 256,
                            .registers = 16,
                            .fuses_products = true,
                            .loads_masked = true,
                            .stores_past_caches = true,
                            .root_estimate = RootEstimate::Avx};
// On a Skylake server the instructions for places of vectors take 0.4 of the time of one lane after
// the other; with 256 bits 1.2 to 1.3 times as long.
constexpr VectorFacts kAvx512{.bits = 512,
                              .registers = 32,
                              .fuses_products = true,
                              .loads_masked = true,
                              .gathers = true,
                              .stores_past_caches = true,
                              .converts_wide = true,
                              .root_estimate = RootEstimate::Avx512};
// Neon's estimate of roots has 8 bits, of which three steps make an f32; none of its stores needs a
// word to go past the caches. Neither was measured.
constexpr VectorFacts kNeon{
    .bits = 128, .registers = 32, .fuses_products = true, .saturates = true};

// The levels of x86-64 are those of its psABI. LLVM takes 256 bits on level 4 where it chooses a
// width itself, unless that is turned off. Atomics of aarch64 are loops of its first version:
// others are functions of the C compiler's runtime.
constexpr Row kRows[] = {
    {"x86-64", "sse2", "", Architecture::X86_64, "x86-64", "+cmov,+cx8,+fxsr,+mmx,+sse,+sse2",
     kSse},
    {"x86-64-v2", "sse4", "", Architecture::X86_64, "x86-64-v2",
     "+cx16,+popcnt,+sahf,+sse3,+ssse3,+sse4.1,+sse4.2", kSse},
    {"x86-64-v3", "avx2", "", Architecture::X86_64, "x86-64-v3",
     "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave", kAvx2},
    {"x86-64-v4", "avx512", "", Architecture::X86_64, "x86-64-v4",
     "+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl,+evex512,-prefer-256-bit", kAvx512},
    {"aarch64+neon", "neon", "aarch64", Architecture::Aarch64, "generic",
     "+fp-armv8,+neon,-outline-atomics", kNeon},
};

constexpr size_t kLevels = 4;  // of x86-64: the first rows
static_assert(kRows[kLevels - 1].architecture == Architecture::X86_64 &&
              kRows[kLevels].architecture != Architecture::X86_64);

/// The levels that a processor has: rows of the table.
struct Levels {
    size_t first = 0, count = 0;
};

#if defined(__x86_64__)

/// Registers of the instruction cpuid; zeros where the processor has no such leaf.
struct Cpuid {
    uint32_t a = 0, b = 0, c = 0, d = 0;
    explicit Cpuid(uint32_t leaf) { __get_cpuid_count(leaf, 0, &a, &b, &c, &d); }
};

bool has(uint32_t bits, uint32_t wanted) { return (bits & wanted) == wanted; }

/// The number of levels that this processor has.
size_t count_levels() {
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

Levels host_levels() { return {0, count_levels()}; }

#elif defined(__aarch64__)

Levels host_levels() {
    constexpr unsigned long kNeonBit = 1u << 1;  // HWCAP_ASIMD
    return {kLevels, getauxval(AT_HWCAP) & kNeonBit ? 1u : 0u};
}

#else

Levels host_levels() { return {}; }

#endif

NativeProcessor processor_among(const Levels& there, const std::string& wanted) {
    if (there.count == 0) return {};
    const size_t end = there.first + there.count;
    if (wanted.empty()) return native_processors()[end - 1];
    std::string words;
    for (size_t k = there.first; k < end; ++k) {
        if (wanted == kRows[k].word) return native_processors()[k];
        words += (words.empty() ? "" : ", ") + std::string(kRows[k].word);
    }
    for (const Row& level : kRows)
        if (wanted == level.word && level.architecture == kRows[there.first].architecture)
            throw UserError("FIRN_CPU=" + wanted +
                            " asks for more than this processor has; it has " + words);
    throw UserError("FIRN_CPU=" + wanted +
                    " is no level of processors that Firn knows; this processor has " + words);
}

std::vector<NativeProcessor> made_processors() {
    std::vector<NativeProcessor> all;
    for (const Row& row : kRows) {
        const bool higher = !all.empty() && all.back().architecture == row.architecture;
        all.push_back({row.name, row.architecture, row.cpu,
                       (higher ? all.back().features + "," : "") + row.features, row.vectors});
    }
    return all;
}

}  // namespace

std::span<const NativeProcessor> native_processors() {
    static const std::vector<NativeProcessor> all = made_processors();
    return all;
}

NativeProcessor processor_of_levels(int levels, const std::string& wanted) {
    return processor_among({0, static_cast<size_t>(levels)}, wanted);
}

NativeProcessor host_processor() {
    const char* wanted = std::getenv("FIRN_CPU");
    Levels levels = host_levels();
    // The sanitizer does not see masked accesses, which the lowest level alone makes of single
    // ones.
    if (kFindsRaces) levels.count = std::min<size_t>(1, levels.count);
    return processor_among(levels, wanted ? wanted : "");
}

NativeProcessor processor_named(const std::string& name, const std::string& what) {
    if (name.empty())
        if (NativeProcessor host = host_processor(); !host.name.empty()) return host;
    std::string names;
    for (size_t k = 0; k < std::size(kRows); ++k) {
        const Row& row = kRows[k];
        const std::string also = row.also;
        if (!name.empty() && (name == row.name || name == row.word || name == also))
            return native_processors()[k];
        names += (k == 0 ? "" : ", ") + std::string(row.name) + " (" + also +
                 (also.empty() ? "" : ", ") + row.word + ")";
    }
    throw UserError(what + ": " +
                    (name.empty() ? "this processor is none" : "'" + name + "' is no processor") +
                    " that native code is made for; there are " + names);
}

bool runs_code_of(const std::string& made_for, const std::string& processor) {
    const std::span<const NativeProcessor> all = native_processors();
    const auto row = [&](const std::string& name) {
        return std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.name == name; });
    };
    const auto code = row(made_for), runs = row(processor);
    return made_for == processor || (code != all.end() && runs != all.end() && code < runs &&
                                     code->architecture == runs->architecture);
}

DeviceProfile profile_of_processor(const NativeProcessor& processor) {
    DeviceProfile profile = native_profile(static_cast<uint32_t>(processor.vectors.bits));
    profile.name = "native code for " + processor.name;
    profile.processor = processor.name;
    return profile;
}

const NativeProcessor& processor_of(const DeviceProfile& profile) {
    const std::span<const NativeProcessor> all = native_processors();
    const auto is_that = [&](const NativeProcessor& p) {
        return profile.processor.empty()
                   ? p.architecture == Architecture::X86_64 &&
                         p.vectors.bits == static_cast<int>(32 * profile.subgroup_size)
                   : p.name == profile.processor;
    };
    const auto found = std::find_if(all.begin(), all.end(), is_that);
    ensure(found != all.end(), "a device is no processor that native code is made for");
    return *found;
}

const VectorFacts& vector_facts(const DeviceProfile& profile) {
    return processor_of(profile).vectors;
}

}  // namespace firn
