// The sources are formatted by .clang-format.
#include <gtest/gtest.h>

#include <string>

#include "tests/tree/shell.h"

namespace firn {
namespace {

TEST(Format, SourcesAreAsClangFormatLeavesThem) {
    // Versions differ in details: the one of Debian 12 counts.
    if (run("clang-format --version").output.find("version 14.") == std::string::npos)
        GTEST_SKIP() << "clang-format 14 is not installed";
    const std::string list = "find compiler engine apps tests \\( -name '*.cpp' -o -name '*.h' \\)";
    ASSERT_NE(run(list).output.find("tests/tree/format_test.cpp"), std::string::npos);
    EXPECT_EQ(run(list + " | xargs -n 50 clang-format --dry-run -Werror 2>&1 | grep error:").output,
              "")
        << "run clang-format -i on these files";
}

}  // namespace
}  // namespace firn
