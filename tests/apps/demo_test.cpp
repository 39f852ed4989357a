// A demo whose program makes its parameters itself.
#include "apps/common/demo.h"

#include <gtest/gtest.h>

namespace firn {
namespace {

/// The status of a headless demo with a slider made in its program, and the value it got.
std::pair<int, int> run_demo(std::vector<std::string> arguments) {
    int late = 1;
    Demo demo({.name = "late", .help = "A demo.", .size = {8, 8}, .headless_frames = 2});
    arguments.insert(arguments.begin(), {"late", "--headless"});
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    int status = demo.run(static_cast<int>(argv.size()), argv.data(), [&](Window& window) {
        while (window.open()) window.gui().slider("steps", late, 0, 10);
    });
    return {status, late};
}
#define NEEDS_DRIVER() \
    if (run_demo({"--list-devices"}).first != 0) GTEST_SKIP() << "no Vulkan driver"

TEST(Demo, SetsParametersThatItsProgramMakes) {
    NEEDS_DRIVER();
    EXPECT_EQ(run_demo({"--set", "steps=7"}), (std::pair{0, 7}));
}
TEST(Demo, RefusesWhatNobodyMade) {
    NEEDS_DRIVER();
    EXPECT_EQ(run_demo({"--set", "stepps=7"}).first, 2);
}

}  // namespace
}  // namespace firn
