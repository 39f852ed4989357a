// LLVM's text to object code: the object, its errors, its cache, and the levels of processors.
#include <dlfcn.h>
#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "compiler/base/disk_cache.h"
#include "compiler/base/error.h"
#include "compiler/target/native/llvm.h"
#include "compiler/target/native/llvm_library.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

// Adds pairs of vectors: as many as `n` says.
constexpr const char* kAdd = R"(
define void @add(ptr noalias %to, ptr noalias %a, ptr noalias %b, i64 %n) nounwind {
begin:
  %none = icmp eq i64 %n, 0
  br i1 %none, label %end, label %next
next:
  %k = phi i64 [ 0, %begin ], [ %k1, %next ]
  %pa = getelementptr <16 x float>, ptr %a, i64 %k
  %pb = getelementptr <16 x float>, ptr %b, i64 %k
  %pt = getelementptr <16 x float>, ptr %to, i64 %k
  %x = load <16 x float>, ptr %pa, align 4
  %y = load <16 x float>, ptr %pb, align 4
  %z = fadd <16 x float> %x, %y
  store <16 x float> %z, ptr %pt, align 4
  %k1 = add i64 %k, 1
  %goes_on = icmp ult i64 %k1, %n
  br i1 %goes_on, label %next, label %end
end:
  ret void
}
)";

std::string object_of(const std::vector<uint32_t>& words) {
    return std::string(reinterpret_cast<const char*>(words.data() + 1), words.at(0));
}

std::string error_of(const std::string& ir) {
    try {
        compile_native(ir, "broken", host_processor());
    } catch (const InternalError& error) {
        return error.what();
    }
    return "";
}

void expect_parts(const std::string& message, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
        EXPECT_NE(message.find(part), std::string::npos) << part << " is not in:\n" << message;
}

class NativeLlvm : public testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = why_no_llvm(); !why.empty()) GTEST_SKIP() << why;
        folder_ = fs::temp_directory_path() / ("firn_native_llvm_test_" + std::to_string(getpid()));
        fs::remove_all(folder_);
        fs::create_directory(folder_);
        options_.cache_directory = (folder_ / "cache").string();
    }
    void TearDown() override {
        if (!folder_.empty()) fs::remove_all(folder_);
    }
    /// The file of the only entry of the cache.
    fs::path entry() const {
        for (const auto& file : fs::directory_iterator(options_.cache_directory))
            return file.path();
        return {};
    }
    size_t entries() const {
        if (!fs::exists(options_.cache_directory)) return 0;
        return std::distance(fs::directory_iterator(options_.cache_directory), {});
    }
    /// Links an object to a library, and opens it.
    void* opened(const std::vector<uint32_t>& words) const {
        const std::string object = (folder_ / "kernel.o").string();
        const std::string library = (folder_ / "kernel.so").string();
        std::ofstream(object, std::ios::binary) << object_of(words);
        const std::string link = "c++ -shared -o '" + library + "' '" + object + "'";
        EXPECT_EQ(std::system(link.c_str()), 0) << link;
        void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
        EXPECT_TRUE(handle) << dlerror();
        return handle;
    }

    fs::path folder_;
    NativeOptions options_;
};

TEST_F(NativeLlvm, AnObjectIsOfThisProcessorAndItsWordsBeginWithItsLength) {
    const std::vector<uint32_t> words = compile_native(kAdd, "add", host_processor());
    ASSERT_EQ(words.size(), 1 + (words[0] + 3) / 4);
    const std::string object = object_of(words);
    Elf64_Ehdr header;
    ASSERT_GE(object.size(), sizeof header);
    std::memcpy(&header, object.data(), sizeof header);
    EXPECT_EQ(std::memcmp(header.e_ident, ELFMAG, SELFMAG), 0);
    EXPECT_EQ(header.e_type, ET_REL);
    EXPECT_EQ(header.e_machine, EM_X86_64);
}

TEST_F(NativeLlvm, CodeOfEveryLevelRuns) {
    for (const char* level : {"", "sse2", "sse4", "avx2", "avx512"}) {
        setenv("FIRN_CPU", level, 1);
        NativeProcessor processor;
        try {
            processor = host_processor();
        } catch (const UserError&) {
            continue;  // this processor has no such level
        }
        void* library = opened(compile_native(kAdd, "add", processor));
        ASSERT_TRUE(library);
        auto* add =
            reinterpret_cast<void (*)(float*, float*, float*, int64_t)>(dlsym(library, "add"));
        ASSERT_TRUE(add);
        float a[48], b[48], sum[48] = {};
        for (int k = 0; k < 48; ++k) a[k] = static_cast<float>(k), b[k] = 0.5f;
        add(sum, a, b, 3);
        for (int k = 0; k < 48; ++k) EXPECT_EQ(sum[k], static_cast<float>(k) + 0.5f) << level;
        dlclose(library);
    }
    unsetenv("FIRN_CPU");
}

TEST_F(NativeLlvm, TheNameIsNoPartOfTheObject) {
    EXPECT_EQ(compile_native(kAdd, "one", host_processor()),
              compile_native(kAdd, "another", host_processor()));
}

TEST_F(NativeLlvm, ThreadsCompileAtOnce) {
    std::vector<std::vector<uint32_t>> objects(4);
    std::vector<std::thread> threads;
    for (auto& object : objects)
        threads.emplace_back([&] { object = compile_native(kAdd, "add", host_processor()); });
    for (auto& thread : threads) thread.join();
    for (const auto& object : objects)
        EXPECT_EQ(object, compile_native(kAdd, "add", host_processor()));
}

TEST_F(NativeLlvm, AnErrorOfTheTextShowsLlvmsMessageAndTheNumberedText) {
    expect_parts(error_of("define i32 @f() {\n  ret i32 %x\n}\n"),
                 {"LLVM IR of kernel 'broken' does not compile:\nkernel:2:11: error: ",
                  "    2    ret i32 %x\n"});
}

TEST_F(NativeLlvm, AFaultThatTheVerifierFindsIsAnError) {
    expect_parts(error_of("define void @f(i1 %c) {\n  br i1 %c, label %a, label %b\na:\n  %x = add "
                          "i32 1, 2\n  br label %b\nb:\n  %y = add i32 %x, 1\n  ret void\n}\n"),
                 {"'broken'", "Instruction does not dominate all uses"});
}

TEST_F(NativeLlvm, AnUnknownIntrinsicIsAnErrorThoughItIsValid) {
    expect_parts(error_of("declare float @llvm.frobnicate.f32(float)\n"
                          "define float @f(float %x) {\n  %y = call float "
                          "@llvm.frobnicate.f32(float %x)\n  ret float %y\n}\n"),
                 {"'broken'", "there is no intrinsic llvm.frobnicate.f32"});
}

/// LLVM would end the process.
TEST_F(NativeLlvm, AFatalErrorIsAnErrorAndLlvmStaysOfUse) {
    const std::string fatal =
        "declare i32 @llvm.ppc.popcntb.i32.i32(i32)\n"
        "define i32 @f(i32 %x) {\n  %y = call i32 @llvm.ppc.popcntb.i32.i32(i32 %x)\n"
        "  ret i32 %y\n}\n";
    expect_parts(error_of(fatal), {"'broken'", "Cannot select", "popcntb"});
    expect_parts(error_of(fatal), {"'broken'", "Cannot select", "popcntb"});
    EXPECT_NO_THROW(compile_native(kAdd, "add", host_processor()));
}

/// LLVM reports this to the handler of diagnostics, and then makes an object all the same.
TEST_F(NativeLlvm, AnErrorOfTheBackEndIsAnError) {
    expect_parts(error_of("define i32 @f() {\n  %x = call i32 asm \"oops\", \"=r\"()\n"
                          "  ret i32 %x\n}\n"),
                 {"'broken'"});
}

TEST_F(NativeLlvm, ASecondCompileReadsTheFirst) {
    const auto words = compile_native(kAdd, "add", host_processor(), options_);
    ASSERT_EQ(entries(), 1u);
    // Other bytes in the entry show which of the two gives the words.
    const std::string name = entry().stem();
    auto kept = cache_load(options_.cache_directory, "native", name);
    ASSERT_TRUE(kept);
    kept->back() ^= std::byte{1};
    cache_store(options_.cache_directory, "native", name, *kept);
    EXPECT_NE(compile_native(kAdd, "another name", host_processor(), options_), words);
    EXPECT_EQ(entries(), 1u);
}

TEST_F(NativeLlvm, ADamagedEntryIsReplaced) {
    const auto words = compile_native(kAdd, "add", host_processor(), options_);
    {
        std::fstream file(entry(), std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(-8, std::ios::end);
        file.put('\x7f');
    }
    const std::string name = entry().stem();
    ASSERT_FALSE(cache_load(options_.cache_directory, "native", name));
    EXPECT_EQ(compile_native(kAdd, "add", host_processor(), options_), words);
    EXPECT_TRUE(cache_load(options_.cache_directory, "native", name));
}

TEST_F(NativeLlvm, AnObjectOfAnotherProcessorIsNotTaken) {
    const NativeProcessor host = host_processor();
    NativeProcessor other = host;
    other.cpu = "x86-64";
    NativeProcessor fewer = host;
    fewer.features = "+sse2";
    compile_native(kAdd, "add", host, options_);
    compile_native(kAdd, "add", other, options_);
    compile_native(kAdd, "add", fewer, options_);
    EXPECT_EQ(entries(), host.cpu == "x86-64" ? 2u : 3u);
}

TEST_F(NativeLlvm, TheLibraryTellsItsVersionAndIsToldFromOthersWithoutIt) {
    EXPECT_EQ(llvm_version().rfind("LLVM ", 0), 0u);
    EXPECT_FALSE(native_compiler_version().empty());
}

TEST_F(NativeLlvm, LoadingOnAnotherThreadEnds) {
    { const std::jthread loading = begin_loading_llvm(host_processor()); }
    EXPECT_NO_THROW(compile_native(kAdd, "add", host_processor()));
}

TEST(NativeLlvmLibrary, AMissingOneIsNamedWithItsPackage) {
    const char* const names[] = {"libfirn_none.so.19", "libfirn_none.so"};
    EXPECT_EQ(llvm_file(names), "");
    const LlvmLibrary none = open_llvm(names);
    EXPECT_EQ(none.version, "");
    const std::vector<std::string> parts{"libfirn_none.so.19", "apt-get install libllvm19",
                                         "the Vulkan driver of the CPU"};
    expect_parts(none.why_not, parts);
    try {
        compile_native(kAdd, "add", host_processor(), {.library = &none});
        FAIL() << "it compiles without a library";
    } catch (const UserError& error) {
        expect_parts(error.what(), parts);
    }
}

TEST(NativeLlvmLibrary, AnotherLibraryOfThatNameIsRefused) {
    const char* const names[] = {"libm.so.6"};
    expect_parts(open_llvm(names).why_not, {"has no function LLVMGetVersion", "libllvm19"});
}

TEST(NativeProcessor, ALowerLevelIsTaken) {
    setenv("FIRN_CPU", "sse2", 1);
    const NativeProcessor lowest = host_processor();
    unsetenv("FIRN_CPU");
    const NativeProcessor host = host_processor();
    if (host.cpu.empty()) GTEST_SKIP() << "this is no x86-64 processor";
    EXPECT_EQ(lowest.cpu, "x86-64");
    EXPECT_EQ(lowest.vectors.bits, 128);
    EXPECT_GE(host.vectors.bits, lowest.vectors.bits);
    // The features of a level are those of the levels below it, and more.
    EXPECT_EQ(host.features.rfind(lowest.features, 0), 0u);
}

std::string error_of_levels(int levels, const std::string& wanted) {
    try {
        processor_of_levels(levels, wanted);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

TEST(NativeProcessor, LevelsAreLlvms) {
    const std::vector<std::string> names{"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
    const std::vector<std::string> words{"sse2", "sse4", "avx2", "avx512"};
    const std::vector<int> bits{128, 128, 256, 512};
    for (size_t k = 0; k < names.size(); ++k) {
        EXPECT_EQ(processor_of_levels(4, words[k]).cpu, names[k]);
        const NativeProcessor highest = processor_of_levels(static_cast<int>(k) + 1, "");
        EXPECT_EQ(highest.cpu, names[k]);
        EXPECT_EQ(highest.vectors.bits, bits[k]);
    }
}

TEST(NativeProcessor, OthersHaveNamesAlone) {
    for (const char* name : {"aarch64+neon", "aarch64", "neon"}) {
        const NativeProcessor arm = processor_named(name, "a test");
        EXPECT_EQ(arm.name, "aarch64+neon");
        EXPECT_EQ(arm.architecture, Architecture::Aarch64);
        EXPECT_EQ(arm.vectors.registers, 32);
    }
    expect_parts(error_of_levels(4, "neon"), {"FIRN_CPU=neon is no level"});
    for (const NativeProcessor& each : native_processors())
        EXPECT_EQ(&processor_of(profile_of_processor(each)), &each) << each.name;
}

TEST_F(NativeLlvm, AnObjectMayBeOfAnotherArchitecture) {
    const std::string object =
        object_of(compile_native(kAdd, "add", processor_named("aarch64+neon", "a test"), options_));
    Elf64_Ehdr header;
    ASSERT_GE(object.size(), sizeof header);
    std::memcpy(&header, object.data(), sizeof header);
    EXPECT_EQ(header.e_machine, EM_AARCH64);
    compile_native(kAdd, "add", host_processor(), options_);
    EXPECT_EQ(entries(), 2u);
}

TEST_F(NativeLlvm, ALibraryWithoutAnArchitectureIsNamed) {
    LlvmLibrary half = open_llvm(llvm_names());
    half.architectures = {host_processor().architecture};
    try {
        compile_native(kAdd, "add", processor_named("aarch64+neon", "a test"), {.library = &half});
        FAIL() << "it compiles";
    } catch (const UserError& error) {
        expect_parts(error.what(), {"LLVM 19", "makes no code for aarch64+neon processors"});
    }
}

TEST(NativeProcessor, AnotherArchitectureHasNoLevel) {
    const NativeProcessor other = processor_of_levels(0, "avx2");
    EXPECT_EQ(other.cpu, "");
    try {
        compile_native(kAdd, "add", other);
        FAIL() << "it compiles";
    } catch (const UserError& error) {
        expect_parts(error.what(), {"x86-64 and 64-bit ARM processors alone"});
    }
}

TEST(NativeProcessor, AnUnknownLevelIsAnErrorThatListsThem) {
    expect_parts(error_of_levels(2, "abacus"),
                 {"FIRN_CPU=abacus is no level", "this processor has sse2, sse4"});
}

TEST(NativeProcessor, ALevelThatThisOneLacksIsAnErrorThatListsThem) {
    expect_parts(error_of_levels(3, "avx512"),
                 {"FIRN_CPU=avx512 asks for more", "it has sse2, sse4, avx2"});
}

}  // namespace
}  // namespace firn
