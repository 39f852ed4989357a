// The sources are formatted by .clang-format.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace firn {
namespace {

std::string output_of(const std::string& command) {
    FILE* pipe = popen(("cd '" FIRN_SOURCE_DIR "' && " + command + " 2>&1").c_str(), "r");
    if (!pipe) return "";
    std::string out;
    std::array<char, 4096> part;
    while (size_t count = fread(part.data(), 1, part.size(), pipe)) out.append(part.data(), count);
    pclose(pipe);
    return out;
}

TEST(Format, SourcesAreAsClangFormatLeavesThem) {
    // Versions differ in details: the one of Debian 12 counts.
    if (output_of("clang-format --version").find("version 14.") == std::string::npos)
        GTEST_SKIP() << "clang-format 14 is not installed";
    const std::string list = "find compiler engine apps tests \\( -name '*.cpp' -o -name '*.h' \\)";
    ASSERT_NE(output_of(list).find("tests/tree/format_test.cpp"), std::string::npos);
    EXPECT_EQ(output_of(list + " | xargs -n 50 clang-format --dry-run -Werror | grep error:"), "")
        << "run clang-format -i on these files";
}

}  // namespace
}  // namespace firn
