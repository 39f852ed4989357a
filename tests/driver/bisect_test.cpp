// The script that finds the pass which changes a result.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "compiler/driver/pass_list.h"
#include "tests/tree/shell.h"

namespace firn {
namespace {

/// A program that prints the list of passes as FIRN_HELP=2 does, and 4, or 5 if `fault` runs.
std::string faulty_program(const std::string& fault) {
    const std::string path = ::testing::TempDir() + "faulty_program";
    std::ofstream out(path);
    out << "#!/bin/bash\n"
           "if [[ ${FIRN_HELP:-} == 2 ]]; then cat >&2 <<'TEXT'\n"
        << passes_text()
        << "TEXT\nfi\n"
           "[[ ,${FIRN_SKIP:-}, == *,"
        << fault << ",* ]] && echo 4 || echo 5\n";
    out.close();
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
}
TEST(Bisect, FindsThePassThatChangesAResult) {
    const SkippedPasses some{"assume_sizes", "nested_choices:2", "fuse_loops", "share_dispatches"};
    for (const ListedPass& pass : listed_passes()) {
        if (!some.contains(pass.label)) continue;
        const Outcome outcome = run("tests/bisect '" + faulty_program(pass.label) + "'");
        EXPECT_EQ(outcome.status, 1) << outcome.output;
        for (const std::string& part :
             {"changes with the pass " + pass.label + " (compiler/" + pass.info.file + ".cpp)",
              "FIRN_SKIP=" + pass.label + " gives the first result again", std::string("> 5")})
            EXPECT_NE(outcome.output.find(part), std::string::npos) << outcome.output;
    }
    const Outcome outcome = run("tests/bisect '" + faulty_program("no_pass") + "'");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.output.find("no pass changes the result"), std::string::npos);
    EXPECT_NE(run("tests/bisect /bin/true").output.find("compiles nothing"), std::string::npos);
}

}  // namespace
}  // namespace firn
