// Files with programs for several devices and sizes, run by native code.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/cpu_session.h"
#include "compiler/host/native_executor.h"
#include "compiler/program/make_call.h"
#include "engine/firn/saved_programs.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

class SavedVariants : public testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = why_no_cpu_session(); !why.empty()) GTEST_SKIP() << why;
        path_ = testing::TempDir() + "firn_variants_" +
                testing::UnitTest::GetInstance()->current_test_info()->name() + ".firn";
    }
    void TearDown() override {
        unsetenv("FIRN_CPU");
        std::filesystem::remove(path_);
    }

    /// Writes what `y = 2 x + 3` of n numbers runs.
    void save(const SaveOptions& options) const {
        SessionScope scope(cpu_session());
        const Tensor captured = arange(4).as(f32);
        auto twice = compile([&](Tensor x) { return 2.0f * x + captured(3); }, {f32("n")});
        save_program(path_, twice, options, zeros({256}));
    }

    /// The program of the file that serves n numbers on this processor, without the compiler; its
    /// results are checked.
    std::shared_ptr<const Program> served(int64_t n) {
        const SavedProgram saved = read_program(path_);
        const auto executor = open_native_executor();
        const std::vector<std::vector<int64_t>> shapes{{n}};
        auto program = program_for(saved, *executor, shapes, saved.scalars);
        std::vector<float> x(static_cast<size_t>(n) + 4, 0.5f), y(static_cast<size_t>(n));
        auto memory = executor->allocate(4 * x.size(), "x");
        executor->write(*memory, 0, std::as_bytes(std::span(x)));
        const Call call = make_call(*executor, *program, {memory}, shapes, saved.scalars);
        executor->run(program, call);
        executor->read(*call.results[0], 0, std::as_writable_bytes(std::span(y)));
        EXPECT_EQ(y, std::vector<float>(y.size(), 4.0f));
        sized_ = std::any_of(saved.variants.begin(), saved.variants.end(), [&](const auto& each) {
            return each.program == program && each.facts.exact.contains("n");
        });
        return program;
    }

    std::string path_;
    bool sized_ = false;  // the program that served last is for the sizes of the call alone
};

TEST_F(SavedVariants, FilesOfNativeSessionsRunThere) {
    save({});
    EXPECT_EQ(read_program(path_).variants.size(), 5u);  // sizes: 2, multiples: 2, Vulkan
    for (int64_t n : {256, 1, 1000}) {
        const auto program = served(n);
        EXPECT_EQ(program->profile.device_class, DeviceClass::Native) << n;
        EXPECT_EQ(sized_, n == 256) << n;
    }
}

TEST_F(SavedVariants, SizesAreThoseOfTheOptions) {
    save({.devices = {"cpu"}, .sizes = {{{"n", 64}}, {{"n", 100}}}});
    for (int64_t n : {64, 100, 256}) {
        served(n);
        EXPECT_EQ(sized_, n != 256) << n;
    }
    save({.devices = {"cpu"}, .sizes = {{}}});
    EXPECT_TRUE(read_program(path_).variants.empty());
}

TEST_F(SavedVariants, TheHighestLevelOfTheProcessorServes) {
    save({.devices = {"x86-64", "x86-64-v4", "x86-64-v3"}, .sizes = {{}}});
    const std::pair<const char*, const char*> rows[] = {
        {"sse2", "x86-64"}, {"sse4", "x86-64"}, {"avx2", "x86-64-v3"}, {"avx512", "x86-64-v4"}};
    for (const auto& [level, processor] : rows) {
        setenv("FIRN_CPU", level, 1);
        try {
            cpu_session();
        } catch (const UserError&) {
            continue;  // this processor lacks the level
        }
        EXPECT_EQ(served(1000)->profile.processor, processor) << level;
    }
}

TEST_F(SavedVariants, AFileWithoutThisDeviceSaysWhatItIsFor) {
    save({.devices = {"vulkan"}});
    expect_parts(user_error([&] { served(256); }),
                 {"has no form that runs on 'native code for", "save it for this device too"});
    setenv("FIRN_CPU", "sse2", 1);
    save({.devices = {"x86-64-v3"}});
    expect_parts(user_error([&] { served(256); }),
                 {"is native code for x86-64-v3 and this session runs native code for x86-64"});
}

TEST_F(SavedVariants, OptionsThatNameNothingAreRefused) {
    expect_parts(user_error([&] { save({.devices = {"z80"}}); }),
                 {"save_program", "'z80' is no processor", "x86-64-v3"});
    expect_parts(user_error([&] { save({.sizes = {{{"m", 4}}}}); }), {"size 'm'", "it declares n"});
    expect_parts(user_error([&] { save({.sizes = {{{"n", 0}}}}); }), {"size 'n'", "is 0"});
}

}  // namespace
}  // namespace firn
