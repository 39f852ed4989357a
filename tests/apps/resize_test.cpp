// The demos when their window gets another size, and on a display of another scale.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/window/display.h"

namespace firn {
namespace {

class Resize : public testing::Test {
  protected:
    void SetUp() override {
        if (std::system("command -v Xvfb xdotool xprop > /dev/null") != 0)
            GTEST_SKIP() << "needs Xvfb, xdotool and xprop";
        if (std::system(FIRN_BIN_DIR "/wave --list-devices | grep -q '^0  '") != 0)
            GTEST_SKIP() << "no Vulkan driver";
    }
    /// The actions of xdotool when the demo says that its picture is at `view`, as `X Y WIDTH
    /// HEIGHT`; `%1` is the window.
    struct Step {
        std::string view, commands;
    };
    /// The steps come one after the other; at the last one the demo is ended.
    static void expect_views(const std::string& demo, std::vector<Step> steps) {
        steps.back().commands = "windowfocus %1 && xdotool key Escape";
        const std::string command =
            "timeout 200 " FIRN_BIN_DIR "/" + demo + " --size 320x180 --print-widgets 2>&1";
        FILE* pipe = popen(command.c_str(), "r");
        char line[256];
        std::string last;
        size_t at = 0;
        while (std::fgets(line, sizeof line, pipe)) {
            const std::string text = line;
            if (text.starts_with("widget view ")) last = text.substr(12, text.find('\n') - 12);
            if (at == steps.size() || last != steps[at].view) continue;
            const std::string does = "xdotool search --name '^" + demo + "$' " +
                                     steps[at++].commands + " > /dev/null 2>&1";
            if (std::system(does.c_str()) != 0) break;
        }
        EXPECT_EQ(pclose(pipe), 0) << demo << " does not end by Escape";
        EXPECT_EQ(at, steps.size()) << demo << ": the view is at " << last;
        EXPECT_FALSE(holds_a_key()) << "the next window would get the key";
    }
};

TEST_F(Resize, RenderersFollowTheWindow) {
    VirtualDisplay display;
    ASSERT_TRUE(display.works());
    for (const std::string demo : {"mandelbrot", "n_body", "path_tracer"})
        expect_views(demo, {{"0 0 320 180", "windowsize %1 300 300"}, {"0 0 300 300", ""}});
}

TEST_F(Resize, SimulationsKeepTheirGridUntilAReset) {
    VirtualDisplay display;
    ASSERT_TRUE(display.works());
    for (const std::string demo : {"wave", "life"})
        expect_views(demo, {{"0 0 320 180", "windowsize %1 320 300"},
                            {"0 60 320 180", "windowfocus %1 && xdotool key r"},
                            {"0 0 320 300", ""}});
}

TEST_F(Resize, OnADisplayOfScaleTwoAWindowHasTwiceThePixels) {
    VirtualDisplay display;
    ASSERT_TRUE(display.works());
    ASSERT_EQ(std::system("xprop -root -f RESOURCE_MANAGER 8s -set RESOURCE_MANAGER "
                          "'Xft.dpi: 192'"),
              0);
    expect_views("wave", {{"0 0 640 360", ""}});
}

}  // namespace
}  // namespace firn
