// Relocations of object files, and the loader as a program for 64-bit ARM, which QEMU runs.
#include "compiler/host/relocations.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

#include "compiler/base/whole_file.h"
#include "tests/machines.h"

namespace firn {
namespace {

/// The instruction that a relocation of aarch64 makes of `instruction` at `place`; nothing where
/// the number does not fit.
std::optional<uint32_t> relocated(uint32_t type, uint32_t instruction, uint64_t place,
                                  uint64_t target) {
    const Relocation* relocation = object_machine(EM_AARCH64)->find(type);
    EXPECT_TRUE(relocation) << type;
    if (!relocation) return std::nullopt;
    EXPECT_EQ(relocation->bytes(), 4u);
    std::byte bytes[4];
    std::memcpy(bytes, &instruction, sizeof bytes);
    if (!apply(*relocation, bytes, place, target)) return std::nullopt;
    std::memcpy(&instruction, bytes, sizeof bytes);
    return instruction;
}

// The instructions are those that an assembler writes.
TEST(Relocations, CallsReach128MiB) {
    constexpr uint32_t kCall = 0x94000000;
    EXPECT_EQ(relocated(R_AARCH64_CALL26, kCall, 0x1000, 0x2000), 0x94000400u);
    EXPECT_EQ(relocated(R_AARCH64_CALL26, kCall | 0x3ffffff, 0x2000, 0x1000), 0x97fffc00u);
    constexpr uint64_t kMost = uint64_t{1} << 27, kHere = kMost * 4;
    EXPECT_EQ(relocated(R_AARCH64_CALL26, kCall, kHere, kHere + kMost - 4), 0x95ffffffu);
    EXPECT_EQ(relocated(R_AARCH64_CALL26, kCall, kHere, kHere - kMost), 0x96000000u);
    EXPECT_EQ(relocated(R_AARCH64_CALL26, kCall, kHere, kHere + kMost), std::nullopt);
    EXPECT_EQ(relocated(R_AARCH64_CALL26, kCall, kHere, kHere - kMost - 4), std::nullopt);
    EXPECT_EQ(relocated(R_AARCH64_CALL26, kCall, kHere, kHere + 2), std::nullopt);
    EXPECT_EQ(relocated(R_AARCH64_JUMP26, 0x14000000, 0x1000, 0x2000), 0x14000400u);
}

TEST(Relocations, AddressesArePagesAndTheRest) {
    constexpr uint32_t kPage = 0x90000000, kAdd = 0x91000000;
    const auto page = [](uint64_t place, uint64_t target) {
        return relocated(R_AARCH64_ADR_PREL_PG_HI21, kPage, place, target);
    };
    EXPECT_EQ(page(0x400124, 0x403fff), 0xf0000000u);
    EXPECT_EQ(page(0x400ffc, 0x404000), 0x90000020u);
    EXPECT_EQ(page(0x400000, 0x3ff000), 0xf0ffffe0u);
    constexpr uint64_t kMost = uint64_t{1} << 32;
    EXPECT_EQ(page(kMost, 2 * kMost - 1), 0xf07fffe0u);
    EXPECT_EQ(page(kMost, 2 * kMost), std::nullopt);
    EXPECT_EQ(page(kMost, 0), 0x90800000u);
    EXPECT_EQ(page(kMost + 4096, 0), std::nullopt);
    EXPECT_EQ(relocated(R_AARCH64_ADD_ABS_LO12_NC, kAdd | 0x3ffc00, 0x1000, 0x12abc), 0x912af000u);
    EXPECT_EQ(relocated(R_AARCH64_ADR_PREL_LO21, 0x10000000, 0x1000, 0x1005), 0x30000020u);
    EXPECT_EQ(relocated(R_AARCH64_ADR_GOT_PAGE, kPage, 0x1000, 0x5000), 0x90000020u);
}

TEST(Relocations, LoadsCountInTheirUnits) {
    const std::tuple<uint32_t, uint32_t, uint64_t, uint32_t> loads[] = {
        {R_AARCH64_LDST8_ABS_LO12_NC, 0x39400000, 0x2abd, 0x396af400},
        {R_AARCH64_LDST16_ABS_LO12_NC, 0x79400000, 0x2abc, 0x79557800},
        {R_AARCH64_LDST32_ABS_LO12_NC, 0xb9400000, 0x2abc, 0xb94abc00},
        {R_AARCH64_LDST64_ABS_LO12_NC, 0xf9400000, 0x2ab8, 0xf9455c00},
        {R_AARCH64_LDST128_ABS_LO12_NC, 0x3dc00000, 0x2ab0, 0x3dc2ac00},
        {R_AARCH64_LD64_GOT_LO12_NC, 0xf9400000, 0x2ab8, 0xf9455c00},
    };
    for (const auto& [type, load, target, expected] : loads) {
        EXPECT_EQ(relocated(type, load, 0x1000, target), expected) << type;
        if (type == R_AARCH64_LDST8_ABS_LO12_NC) continue;
        EXPECT_EQ(relocated(type, load, 0x1000, target + 1), std::nullopt) << type;
    }
}

TEST(Relocations, WordsHaveTheirRanges) {
    for (const auto& [machine, narrow, wide] :
         {std::tuple{EM_AARCH64, 261u, 257u},  // PREL32, ABS64
          std::tuple{EM_X86_64, 2u, 1u}}) {    // PC32, 64
        const ObjectMachine& of = *object_machine(static_cast<uint16_t>(machine));
        std::byte bytes[8] = {};
        constexpr uint64_t kHere = uint64_t{1} << 40, kMost = uint64_t{1} << 31;
        EXPECT_TRUE(apply(*of.find(narrow), bytes, kHere, kHere + kMost - 1));
        EXPECT_FALSE(apply(*of.find(narrow), bytes, kHere, kHere + kMost));
        EXPECT_TRUE(apply(*of.find(narrow), bytes, kHere, kHere - kMost));
        EXPECT_FALSE(apply(*of.find(narrow), bytes, kHere, kHere - kMost - 1));
        EXPECT_TRUE(apply(*of.find(wide), bytes, kHere, 0x123456789abcdef0));
        uint64_t word = 0;
        std::memcpy(&word, bytes, sizeof word);
        EXPECT_EQ(word, 0x123456789abcdef0u);
        EXPECT_EQ(of.find(wide)->bytes(), 8u);
        EXPECT_EQ(of.find(1u << 30), nullptr);
    }
    EXPECT_EQ(object_machine(EM_PPC64), nullptr);
}

constexpr const char* kCode = R"(
#include <string.h>
float fmodf(float, float);
static const int squares[] = {0, 1, 4, 9, 16, 25, 36, 49};
static int calls;
int counter = 5;
int square(int x) { return squares[x & 7]; }
int cube(int x) { return x * x * x; }
int (*const functions[])(int) = {square, cube};
int apply(int which, int x) { ++calls; return functions[which](x) + ++counter; }
int call_count(void) { return calls; }
float rest(float x, float y) { return fmodf(x, y) + 1; }
void copy(void* to, const void* from, unsigned long n) { memcpy(to, from, n); }
static double wides[5] = {1, 2, 3, 4.5, 5};
static unsigned char bytes[5] = {9, 8, 7, 6, 5};
static short halves[5] = {90, 80, 70, 60, 50};
double wide(int k) { wides[3] += 1; return wides[3] + wides[k]; }
int byte(int k) { bytes[3]++; return bytes[3] + bytes[k]; }
int half(int k) { halves[2]++; return halves[2] + halves[k]; }
)";

/// Loads object files, and says what their functions give.
constexpr const char* kLoaderProgram = R"(
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>
#include "compiler/base/error.h"
#include "compiler/host/object_file.h"
template <class F>
F* of(const firn::ObjectFile& object, const char* name) { return reinterpret_cast<F*>(object.symbol(name)); }
int main(int, char** files) {
    for (++files; *files; ++files) {
        std::ifstream in(*files, std::ios::binary);
        const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
        try {
            const firn::ObjectFile object({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, "a test");
            const int first = of<int(int, int)>(object, "apply")(0, 5), second = of<int(int, int)>(object, "apply")(1, 5);
            char copied[8] = {};
            of<void(void*, const void*, unsigned long)>(object, "copy")(copied, "text", 5);
            std::printf("%d %d %d %d %g %s", first, second, *static_cast<int*>(object.symbol("counter")),
                        of<int()>(object, "call_count")(), of<float(float, float)>(object, "rest")(7.5f, 2.0f), copied);
            std::printf(" %g %d %d\n", of<double(int)>(object, "wide")(3), of<int(int)>(object, "byte")(3),
                        of<int(int)>(object, "half")(2));
        } catch (const firn::UserError& error) {
            std::puts(error.what());
        }
    }
}
)";

TEST(Relocations, CodeForArmIsLoadedThere) {
    if (const std::string why = why_no_machine(kArmMachine); !why.empty()) GTEST_SKIP() << why;
    const std::string folder =
        testing::TempDir() + "firn_relocations_" + std::to_string(getpid()) + "/";
    std::filesystem::create_directories(folder);
    write_whole_file(folder + "loader.cpp", {kLoaderProgram});
    write_whole_file(folder + "code.c", {kCode});
    const Outcome built = run(std::string(kArmMachine.cxx) + " -std=c++20 -I . -x c++ " + folder +
                              "loader.cpp compiler/host/object_file.cpp "
                              "compiler/host/relocations.cpp -o " +
                              folder + "loader");
    ASSERT_EQ(built.status, 0) << built.output;
    const char* const options[] = {"-O2 -fPIC",         "-O0 -fPIC",
                                   "-O2 -fno-pic",      "-O2 -fvisibility=hidden -fPIC",
                                   "-O2 -mcmodel=tiny", "-O2 -fno-pic -mcmodel=large"};
    std::string files, expected;
    for (const char* each : options) {
        const std::string file = folder + std::to_string(files.size()) + ".o";
        const Outcome made =
            run(kArmMachine.compiler + (" -fno-stack-protector " + std::string(each)) + " -c " +
                folder + "code.c -o " + file);
        ASSERT_EQ(made.status, 0) << made.output;
        files += " " + file;
        expected += "31 132 7 2 2.5 text 11 14 142\n";
    }
    write_whole_file(folder + "threads.c", {"_Thread_local int x;\nint* f(void) { return &x; }"});
    ASSERT_EQ(
        run(kArmMachine.compiler + (" -fPIC -c " + folder) + "threads.c -o " + folder + "threads.o")
            .status,
        0);
    const Outcome outcome = run(std::string(kArmMachine.runner) + " " + folder + "loader" + files +
                                " " + folder + "threads.o /bin/true");
    std::filesystem::remove_all(folder);
    EXPECT_EQ(outcome.output.substr(0, expected.size()), expected);
    EXPECT_NE(outcome.output.find("it has variables of threads"), std::string::npos)
        << outcome.output;
}

}  // namespace
}  // namespace firn
