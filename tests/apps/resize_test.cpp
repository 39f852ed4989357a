// What demos do when their window gets another size, and on a display of another scale.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/window/display.h"

namespace firn {
namespace {

class Resize : public testing::Test {
  protected:
    void SetUp() override {
        if (std::system("command -v Xvfb xdotool xprop > /dev/null") != 0)
            GTEST_SKIP() << "needs Xvfb, xdotool and xprop";
        if (std::system(FIRN_BIN_DIR "/wave --list-devices > /dev/null 2>&1") != 0)
            GTEST_SKIP() << "no Vulkan driver";
    }
    /// Where the demo last said that its picture was, as `X Y WIDTH HEIGHT`, after `commands` of
    /// xdotool on its window.
    static std::string view_after(const std::string& demo, const std::string& commands) {
        by_hand(demo, "search --sync --name '^" + demo + "\\$' " + commands);
        const std::string command = "timeout 60 " FIRN_BIN_DIR "/" + demo +
                                    " --size 320x180 --print-widgets 2>&1 | grep '^widget view 0 '";
        FILE* pipe = popen(command.c_str(), "r");
        char line[256];
        std::string last;
        while (std::fgets(line, sizeof line, pipe)) last = line;
        pclose(pipe);
        drop_hand("Escape");
        return last.substr(0, last.find('\n'));
    }
};
/// Until the last of it is drawn, and then the end.
const std::string kEnd = "sleep 3 key --window %1 Escape";

TEST_F(Resize, RenderersFollowTheWindow) {
    VirtualDisplay display;
    ASSERT_TRUE(display.works());
    for (const std::string demo : {"mandelbrot", "n_body", "path_tracer"})
        EXPECT_EQ(view_after(demo, "sleep 1 windowsize %1 300 300 " + kEnd),
                  "widget view 0 0 300 300")
            << demo;
}

TEST_F(Resize, SimulationsKeepTheirGridUntilAReset) {
    VirtualDisplay display;
    ASSERT_TRUE(display.works());
    for (const std::string demo : {"wave", "life"}) {
        EXPECT_EQ(view_after(demo, "sleep 1 windowsize %1 320 300 " + kEnd),
                  "widget view 0 60 320 180")
            << demo;
        EXPECT_EQ(
            view_after(demo, "sleep 1 windowsize %1 320 300 sleep 1 key --window %1 r " + kEnd),
            "widget view 0 0 320 300")
            << demo;
    }
}

TEST_F(Resize, OnADisplayOfScaleTwoAWindowHasTwiceThePixels) {
    VirtualDisplay display;
    ASSERT_TRUE(display.works());
    ASSERT_EQ(std::system("xprop -root -f RESOURCE_MANAGER 8s -set RESOURCE_MANAGER "
                          "'Xft.dpi: 192'"),
              0);
    EXPECT_EQ(view_after("wave", kEnd), "widget view 0 0 640 360");
}

}  // namespace
}  // namespace firn
