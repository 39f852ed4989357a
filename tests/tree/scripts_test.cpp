// The scripts that a newcomer calls: their help, their refusals, and that a set-up machine is left
// alone.
#include <gtest/gtest.h>

#include <string>

#include "tests/tree/shell.h"

namespace firn {
namespace {

TEST(Scripts, EachExplainsItself) {
    for (const char* script :
         {"apps/run", "apps/setup", "tests/run", "tests/bench/run", "tests/bench/glsl_snapshot",
          "tests/bench/sweep", "tests/bench/sweep_passes", "tests/bisect", "tests/swiftshader",
          "tests/gpu/run", "tests/races", ".ci/run"}) {
        Outcome outcome = run(std::string(script) + " --help");
        EXPECT_EQ(outcome.status, 0) << script;
        EXPECT_NE(outcome.output.find(std::string("usage: ") + script), std::string::npos)
            << outcome.output;
    }
}

TEST(Scripts, RunListsTheDemos) {
    EXPECT_NE(run("apps/run --help").output.find("\n  wave "), std::string::npos);
}

TEST(Scripts, RunRefusesAnUnknownDemoAndNamesThoseThereAre) {
    Outcome outcome = run("apps/run snow");
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.output.find("there is no demo 'snow'"), std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find("\n  wave "), std::string::npos) << outcome.output;
}

TEST(Scripts, RunBuildsEveryDemo) {
    if (!run("apps/setup --list").output.empty()) GTEST_SKIP() << "packages are missing here";
    // A cmake that only says how it was called.
    const std::string fake = FIRN_BINARY_DIR "/fake_cmake";
    run("mkdir -p '" + fake + "' && printf '#!/bin/sh\\nexit 7\\n' > '" + fake +
        "/cmake' && chmod +x '" + fake + "/cmake'");
    for (const char* demo : {"wave", "fluid", "path_tracer", "n_body", "mandelbrot", "buddhabrot",
                             "reaction_diffusion", "life", "particles", "filters"}) {
        const Outcome outcome = run("PATH='" + fake + "':/usr/bin:/bin apps/run " + demo);
        EXPECT_EQ(outcome.status, 7) << demo << ": " << outcome.output;
    }
}

TEST(Scripts, SetupRefusesAnUnknownOption) {
    Outcome outcome = run("apps/setup --everything");
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.output.find("unknown option '--everything'"), std::string::npos)
        << outcome.output;
}

TEST(Scripts, SetupDoesNothingWhereNothingIsMissing) {
    if (!run("apps/setup --list --tests").output.empty())
        GTEST_SKIP() << "packages are missing here";
    Outcome outcome = run("PATH=/usr/bin:/bin apps/setup --tests");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.output, "");
}

}  // namespace
}  // namespace firn
