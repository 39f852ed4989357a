// GLSL to SPIR-V, its errors, and the cache of compiled modules.
#include "compiler/target/glsl/spirv.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <thread>

#include "compiler/base/disk_cache.h"
#include "compiler/base/error.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kShader = R"(#version 450
layout(local_size_x = 8) in;
layout(set = 0, binding = 0) buffer B { float b[]; };
void main() { b[gl_GlobalInvocationID.x] *= 2.0; }
)";

/// A cache directory that ends with the test.
class SpirvCache : public testing::Test {
  protected:
    SpirvCache() {
        directory_ = fs::temp_directory_path() / ("firn_spirv_test_" + std::to_string(getpid()));
        fs::remove_all(directory_);
        options_.cache_directory = directory_.string();
    }
    ~SpirvCache() override {
        std::error_code error;
        fs::permissions(directory_, fs::perms::owner_all, error);
        fs::remove_all(directory_, error);
    }
    fs::path entry() const {
        for (const auto& file : fs::directory_iterator(directory_)) return file.path();
        return {};
    }
    int entries() const {
        if (!fs::exists(directory_)) return 0;
        return static_cast<int>(std::distance(fs::directory_iterator(directory_), {}));
    }
    void overwrite(std::streamoff position, char value) {
        std::fstream file(entry(), std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(position);
        file.put(value);
    }

    fs::path directory_;
    SpirvOptions options_;
};

TEST(Spirv, AModuleIsValid) {
    EXPECT_NO_THROW(validate_spirv(glsl_to_spirv(kShader, "double"), "double"));
}

/// No driver here may have a matrix unit to run it on.
TEST(Spirv, TheProbeOfMatrixUnitsIsValid) {
    std::ifstream file(std::string(FIRN_SOURCE_DIR) + "/shaders/matrix_unit.comp");
    ASSERT_TRUE(file);
    const std::string glsl((std::istreambuf_iterator<char>(file)), {});
    EXPECT_NO_THROW(validate_spirv(glsl_to_spirv(glsl, "matrix_unit.comp"), "matrix_unit.comp"));
}

TEST(Spirv, TheTargetIsVulkan12) { EXPECT_EQ(glsl_to_spirv(kShader, "double")[1], 0x00010500u); }

TEST(Spirv, Vulkan13GivesSpirv16) {
    EXPECT_EQ(glsl_to_spirv(kShader, "double", {.vulkan_minor = 3})[1], 0x00010600u);
}

TEST(Spirv, AnUnknownTargetIsAnError) {
    EXPECT_THROW(glsl_to_spirv(kShader, "double", {.vulkan_minor = 9}), InternalError);
}

TEST(Spirv, AnErrorShowsTheMessageAndTheNumberedSource) {
    try {
        glsl_to_spirv("#version 450\nvoid main() { oops; }\n", "broken");
        FAIL() << "no error";
    } catch (const InternalError& error) {
        std::string message = error.what();
        EXPECT_NE(message.find("kernel 'broken' does not compile"), std::string::npos) << message;
        EXPECT_NE(message.find("broken:2: error: 'oops'"), std::string::npos) << message;
        EXPECT_NE(message.find("    2  void main() { oops; }"), std::string::npos) << message;
    }
}

TEST(Spirv, ADamagedModuleIsNotValid) {
    std::vector<uint32_t> spirv = glsl_to_spirv(kShader, "double");
    spirv.resize(spirv.size() / 2);
    EXPECT_THROW(validate_spirv(spirv, "double"), InternalError);
}

TEST(Spirv, ThreadsCompileAtOnce) {
    std::vector<std::vector<uint32_t>> modules(4);
    std::vector<std::thread> threads;
    for (auto& module : modules)
        threads.emplace_back([&module] { module = glsl_to_spirv(kShader, "double"); });
    for (auto& thread : threads) thread.join();
    for (const auto& module : modules) EXPECT_EQ(module, glsl_to_spirv(kShader, "double"));
}

TEST(Spirv, TextShowsTheEntryPoint) {
    EXPECT_NE(spirv_text(glsl_to_spirv(kShader, "double")).find("OpEntryPoint GLCompute"),
              std::string::npos);
}

TEST_F(SpirvCache, ASecondCompileReadsTheFirst) {
    auto spirv = glsl_to_spirv(kShader, "double", options_);
    ASSERT_EQ(entries(), 1);
    auto written = fs::last_write_time(entry());
    EXPECT_EQ(glsl_to_spirv(kShader, "another name", options_), spirv);
    EXPECT_EQ(fs::last_write_time(entry()), written);
}

TEST_F(SpirvCache, OptionsArePartOfTheKey) {
    glsl_to_spirv(kShader, "double", options_);
    options_.optimize = true;
    glsl_to_spirv(kShader, "double", options_);
    EXPECT_EQ(entries(), 2);
    options_.validate = true;
    glsl_to_spirv(kShader, "double", options_);
    EXPECT_EQ(entries(), 3);
}

/// Valid GLSL whose SPIR-V adds floats as integers.
constexpr const char* kNotValid = R"(#version 460
#extension GL_EXT_spirv_intrinsics : require
layout(local_size_x = 64) in;
layout(binding = 0) buffer Data { float data[]; };
spirv_instruction(id = 128) float added(float a, float b);
void main() { data[gl_GlobalInvocationID.x] = added(data[0], data[1]); }
)";

TEST_F(SpirvCache, AModuleIsCheckedBeforeItIsStored) {
    options_.validate = true;
    EXPECT_THROW(glsl_to_spirv(kNotValid, "added", options_), InternalError);
    EXPECT_EQ(entries(), 0);
    options_.validate = false;
    EXPECT_NO_THROW(glsl_to_spirv(kNotValid, "added", options_));
    EXPECT_EQ(entries(), 1);
}

TEST_F(SpirvCache, AStoredModuleIsNotCheckedAgain) {
    options_.validate = true;
    std::vector<uint32_t> spirv = glsl_to_spirv(kShader, "double", options_);
    const std::string name = entry().stem();
    auto kept = cache_load(directory_.string(), "spirv", name);
    ASSERT_TRUE(kept);
    spirv.back() = 0;  // instead of OpFunctionEnd
    std::memcpy(kept->data() + kept->size() - 4, &spirv.back(), 4);
    cache_store(directory_.string(), "spirv", name, *kept);
    EXPECT_EQ(glsl_to_spirv(kShader, "double", options_), spirv);
    EXPECT_THROW(validate_spirv(spirv, "double"), InternalError);
}

TEST_F(SpirvCache, NoDirectoryMeansNoFiles) {
    glsl_to_spirv(kShader, "double");
    EXPECT_EQ(entries(), 0);
}

TEST_F(SpirvCache, ADamagedEntryIsReplaced) {
    auto spirv = glsl_to_spirv(kShader, "double", options_);
    overwrite(60, '\x7f');
    ASSERT_FALSE(cache_load(directory_.string(), "spirv", entry().stem()));
    EXPECT_EQ(glsl_to_spirv(kShader, "double", options_), spirv);
    EXPECT_TRUE(cache_load(directory_.string(), "spirv", entry().stem()));
}

TEST_F(SpirvCache, AModuleOfAnotherSourceIsReplacedThoughItsEntryIsWhole) {
    glsl_to_spirv(kShader, "double", options_);
    const std::string other = std::string(kShader) + "// another one\nint f() { return 3; }\n";
    const fs::path aside = directory_.string() + "_aside";
    fs::rename(entry(), aside);
    glsl_to_spirv(other, "double", options_);
    const fs::path taken = entry();
    fs::rename(aside, taken);
    ASSERT_TRUE(cache_load(directory_.string(), "spirv", taken.stem()));
    EXPECT_EQ(glsl_to_spirv(other, "double", options_), glsl_to_spirv(other, "double"));
}

TEST_F(SpirvCache, WordsWithoutTheirSourceAreReplacedThoughTheirEntryIsWhole) {
    const auto spirv = glsl_to_spirv(kShader, "double", options_);
    const std::string name = entry().stem();
    std::vector<uint32_t> wrong = spirv;
    for (size_t at = 5; at < wrong.size(); ++at) wrong[at] = 1u << 16;  // OpNop
    cache_store(directory_.string(), "spirv", name, std::as_bytes(std::span(wrong)));
    EXPECT_EQ(glsl_to_spirv(kShader, "double", options_), spirv);
    const auto kept = cache_load(directory_.string(), "spirv", name);
    ASSERT_TRUE(kept);
    ASSERT_GT(kept->size(), 4 * spirv.size());
    EXPECT_EQ(
        std::memcmp(kept->data() + kept->size() - 4 * spirv.size(), spirv.data(), 4 * spirv.size()),
        0);
}

TEST_F(SpirvCache, AnEntryCutShortIsReplaced) {
    auto spirv = glsl_to_spirv(kShader, "double", options_);
    fs::resize_file(entry(), fs::file_size(entry()) - 4);
    EXPECT_EQ(glsl_to_spirv(kShader, "double", options_), spirv);
    EXPECT_TRUE(cache_load(directory_.string(), "spirv", entry().stem()));
}

TEST_F(SpirvCache, AnEntryOfAnotherKindIsForeign) {
    cache_store(directory_.string(), "pipelines", "name", std::vector<std::byte>(8));
    fs::rename(directory_ / "name.pipelines", directory_ / "name.spirv");
    EXPECT_FALSE(cache_load(directory_.string(), "spirv", "name"));
}

TEST_F(SpirvCache, AnEntryOfAnotherVersionIsForeign) {
    glsl_to_spirv(kShader, "double", options_);
    overwrite(7, '\x63');
    EXPECT_FALSE(cache_load(directory_.string(), "spirv", entry().stem()));
}

TEST_F(SpirvCache, AnEmptyEntryIsForeign) {
    auto spirv = glsl_to_spirv(kShader, "double", options_);
    fs::resize_file(entry(), 0);
    EXPECT_EQ(glsl_to_spirv(kShader, "double", options_), spirv);
}

TEST_F(SpirvCache, ADirectoryThatCannotBeMadeOnlyLosesSpeed) {
    std::ofstream(directory_) << "a file where the directory should be";
    EXPECT_EQ(glsl_to_spirv(kShader, "double", options_), glsl_to_spirv(kShader, "double"));
}

TEST_F(SpirvCache, NothingHalfWrittenStays) {
    glsl_to_spirv(kShader, "double", options_);
    for (const auto& file : fs::directory_iterator(directory_))
        EXPECT_EQ(file.path().extension(), ".spirv");
}

TEST(CacheDirectory, NoCacheTurnsItOff) {
    setenv("FIRN_NO_CACHE", "1", 1);
    EXPECT_EQ(default_cache_directory(), "");
    unsetenv("FIRN_NO_CACHE");
}

TEST(CacheDirectory, FollowsXdg) {
    setenv("XDG_CACHE_HOME", "/somewhere", 1);
    EXPECT_EQ(default_cache_directory(), "/somewhere/firn");
    unsetenv("XDG_CACHE_HOME");
}

TEST(CacheDirectory, NamesAreHashesOfAllTheText) {
    EXPECT_EQ(cache_hash("a").size(), 32u);
    EXPECT_NE(cache_hash("a"), cache_hash("b"));
    EXPECT_EQ(cache_hash("a"), cache_hash("a"));
}

}  // namespace
}  // namespace firn
