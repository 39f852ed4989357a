// Loading object files: what code needs, and files that are damaged.
#include "compiler/host/object_file.h"

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "compiler/base/error.h"
#include "tests/host/compiled.h"
#include "tests/program/program_builder.h"

namespace firn {
namespace {

using namespace test;

const char* const kSource = R"(
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
float rest(float x, float y) { return fmodf(x, y); }
void copy(void* to, const void* from, unsigned long n) { memcpy(to, from, n); }
)";

template <class Function>
Function* function_of(const ObjectFile& object, const char* name) {
    return reinterpret_cast<Function*>(object.symbol(name));
}

void check_all(const ObjectFile& object) {
    auto* apply = function_of<int(int, int)>(object, "apply");
    ASSERT_TRUE(apply);
    EXPECT_EQ(apply(0, 5), 25 + 6);
    EXPECT_EQ(apply(1, 5), 125 + 7);
    EXPECT_EQ(*static_cast<int*>(object.symbol("counter")), 7);
    EXPECT_EQ(function_of<int()>(object, "call_count")(), 2);
    EXPECT_EQ(function_of<float(float, float)>(object, "rest")(7.5f, 2.0f), 1.5f);
    char copied[64] = {}, text[64] = "memory that is copied";
    function_of<void(void*, const void*, unsigned long)>(object, "copy")(copied, text, 64);
    EXPECT_STREQ(copied, text);
    EXPECT_EQ(object.symbol("squares"), nullptr) << "a name of the file alone";
    EXPECT_EQ(object.symbol("none"), nullptr);
}

TEST(ObjectFile, RunsCodeWithTablesVariablesAndCalls) {
    const auto code = compile_c(kSource);
    FIRN_SKIP_WITHOUT_COMPILER(code);
    check_all(ObjectFile(*code, "a test"));
}
TEST(ObjectFile, RunsCodeOfTheLargeModel) {
    const auto code = compile_c(kSource, "-fno-pic -mcmodel=large");
    FIRN_SKIP_WITHOUT_COMPILER(code);
    check_all(ObjectFile(*code, "a test"));
}
TEST(ObjectFile, TwoOfOneFileShareNoVariables) {
    const auto code = compile_c(kSource);
    FIRN_SKIP_WITHOUT_COMPILER(code);
    const ObjectFile a(*code, "a test"), b(*code, "a test");
    function_of<int(int, int)>(a, "apply")(0, 0);
    EXPECT_EQ(function_of<int()>(a, "call_count")(), 1);
    EXPECT_EQ(function_of<int()>(b, "call_count")(), 0);
}
TEST(ObjectFile, CodeOfOnePlaceIsRefused) {
    const auto code = compile_c(kSource, "-fno-pic -fno-pie -mcmodel=small");
    FIRN_SKIP_WITHOUT_COMPILER(code);
    EXPECT_NE(message<UserError>([&] {
                  ObjectFile(*code, "a test");
              }).find("a test: its machine code cannot be loaded: it has a relocation of type 1"),
              std::string::npos);
}
TEST(ObjectFile, UnknownFunctionIsNamed) {
    const auto code = compile_c("double sin(double);\ndouble f(double x) { return sin(x) + 1; }");
    FIRN_SKIP_WITHOUT_COMPILER(code);
    EXPECT_NE(message<UserError>([&] { ObjectFile(*code, "a test"); }).find("it needs 'sin'"),
              std::string::npos);
}
TEST(ObjectFile, VariablesOfThreadsAreRefused) {
    const auto code = compile_c("_Thread_local int x;\nint* f(void) { return &x; }");
    FIRN_SKIP_WITHOUT_COMPILER(code);
    EXPECT_THROW(ObjectFile(*code, "a test"), UserError);
}
TEST(ObjectFile, OtherProcessorsAreNamed) {
    auto code = compile_c(kSource);
    FIRN_SKIP_WITHOUT_COMPILER(code);
    const Elf64_Half other = EM_PPC64;
    std::memcpy(code->data() + offsetof(Elf64_Ehdr, e_machine), &other, sizeof other);
    EXPECT_NE(message<UserError>([&] {
                  ObjectFile(*code, "a test");
              }).find("for the processor machine 21"),
              std::string::npos);
}
TEST(ObjectFile, OtherBytesAreRefused) {
    EXPECT_THROW(ObjectFile({}, "a test"), UserError);
    const std::vector<std::byte> zeros(4096);
    EXPECT_THROW(ObjectFile(zeros, "a test"), UserError);
}

/// Loads it, or refuses it; the code is never run.
void load_or_refuse(std::span<const std::byte> file) {
    try {
        const ObjectFile object(file, "a test");
        (void)object.symbol("apply");
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find("a test: "), std::string::npos);
    }
}

TEST(ObjectFile, TruncatedFilesAreRefused) {
    const auto code = compile_c(kSource);
    FIRN_SKIP_WITHOUT_COMPILER(code);
    // The table of sections stands at the end.
    for (size_t bytes = 0; bytes < code->size(); ++bytes) {
        // Of its own size, so that a read behind it is one behind an allocation.
        const std::vector<std::byte> part(code->begin(),
                                          code->begin() + static_cast<ptrdiff_t>(bytes));
        EXPECT_THROW(ObjectFile(part, "a test"), UserError) << bytes;
    }
}
TEST(ObjectFile, DamagedFilesAreRefusedOrLoaded) {
    const auto code = compile_c(kSource);
    FIRN_SKIP_WITHOUT_COMPILER(code);
    std::mt19937 random(1);
    // All that is not code has flipped bits and extreme values in turn.
    for (size_t at = 0; at < code->size(); ++at)
        for (const unsigned value : {0u, 0xffu, 0x7fu, 0x80u, unsigned(random() % 256)}) {
            std::vector<std::byte> damaged = *code;
            damaged[at] = std::byte(value);
            load_or_refuse(damaged);
        }
    for (int k = 0; k < 3000; ++k) {
        std::vector<std::byte> damaged = *code;
        for (unsigned flips = 1 + random() % 8; flips > 0; --flips)
            damaged[random() % damaged.size()] ^= std::byte(1u << random() % 8);
        load_or_refuse(damaged);
    }
}

}  // namespace
}  // namespace firn
