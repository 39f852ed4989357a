// The README against the sources: what it shows, lists and promises is what exists.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "compiler/frontend/environment.h"

namespace firn {
namespace {

const std::filesystem::path kSourceRoot = FIRN_SOURCE_DIR;

std::string read(const std::filesystem::path& path) {
    std::ifstream in(path);
    EXPECT_TRUE(in) << path;
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

bool has_sources(const std::filesystem::path& folder) {
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".cpp" || entry.path().extension() == ".h") return true;
    return false;
}

TEST(Readme, ShowsTheSourceOfWave) {
    std::string readme = read(kSourceRoot / "README.md");
    size_t begin = readme.find("```cpp\n");
    ASSERT_NE(begin, std::string::npos);
    begin += 7;
    EXPECT_EQ(readme.substr(begin, readme.find("```", begin) - begin),
              read(kSourceRoot / "apps/wave/wave.cpp"));
}

TEST(Readme, IsShort) {
    const std::string readme = read(kSourceRoot / "README.md");
    EXPECT_LE(std::count(readme.begin(), readme.end(), '\n'), 160)
        << "pages beside the code say what else there is";
}

TEST(Pages, ListEveryEnvironmentVariable) {
    std::string readme = read(kSourceRoot / "compiler/speed.md");
    for (const EnvironmentVariable& variable : kEnvironment) {
        std::string values = variable.values;
        for (size_t bar = values.find('|'); bar != std::string::npos;
             bar = values.find('|', bar + 2))
            values.insert(bar, "\\");
        std::string row =
            "| `" + std::string(variable.name) + "` | " + values + " | " + variable.help + " |";
        EXPECT_NE(readme.find(row), std::string::npos) << row;
    }
}

TEST(Readme, ListsEveryDemo) {
    std::string readme = read(kSourceRoot / "README.md");
    for (const auto& entry : std::filesystem::directory_iterator(kSourceRoot / "apps")) {
        const std::string name = entry.path().filename().string();
        bool demo = entry.is_directory()
                        ? name != "common" && name != "tool" && has_sources(entry.path())
                        : entry.path().extension() == ".cpp";
        std::string row = "| `apps/run " + entry.path().stem().string() + "` |";
        EXPECT_TRUE(!demo || readme.find(row) != std::string::npos) << row;
    }
}

TEST(Readme, EveryFolderOfCompilerAndEngineSaysWhatItIs) {
    for (const char* part : {"compiler", "engine"})
        for (const auto& entry : std::filesystem::recursive_directory_iterator(kSourceRoot / part))
            if (entry.is_directory() && has_sources(entry.path())) {
                EXPECT_TRUE(std::filesystem::exists(entry.path() / "README.md")) << entry.path();
            }
}

}  // namespace
}  // namespace firn
