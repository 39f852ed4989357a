// The reference of the public headers can be made, and every comment finds its place.
#include <gtest/gtest.h>

#include <string>

#include "tests/tree/shell.h"

namespace firn {
namespace {

TEST(Reference, IsMadeWithoutAWarning) {
    if (run("command -v doxygen").status != 0) GTEST_SKIP() << "doxygen is not installed";
    const std::string folder = ::testing::TempDir() + "firn_reference";
    const Outcome made = run("apps/reference '" + folder + "'");
    EXPECT_EQ(made.status, 0) << made.output;
    // A function of each header that users include.
    for (const char* name : {"eigh", "median_filter", "cross_entropy", "save_image"})
        EXPECT_EQ(run("grep -rqw --include='*_8h.html' " + std::string(name) + " '" + folder + "'")
                      .status,
                  0)
            << name << " is not in the reference";
}

}  // namespace
}  // namespace firn
