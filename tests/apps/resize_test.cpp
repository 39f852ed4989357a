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
    /// Where the demo says that its picture is, as `X Y WIDTH HEIGHT`, after `commands` of xdotool
    /// on its window: `expected` as soon as it says that, else the last that it has said.
    static std::string view_after(const std::string& demo, const std::string& commands,
                                  const std::string& expected) {
        by_hand(demo, "search --sync --name '^" + demo + "\\$' " + commands);
        const std::string command =
            "timeout 20 " FIRN_BIN_DIR "/" + demo + " --size 320x180 --print-widgets 2>&1";
        FILE* pipe = popen(command.c_str(), "r");
        char line[256];
        std::string last;
        while (std::fgets(line, sizeof line, pipe)) {
            const std::string text = line;
            if (text.starts_with("widget view 0 ")) last = text.substr(0, text.find('\n'));
            if (last != expected) continue;
            const std::string end =
                "xdotool search --name '^" + demo + "$' key --window %1 Escape > /dev/null 2>&1";
            if (std::system(end.c_str()) != 0) break;
            while (std::fgets(line, sizeof line, pipe)) continue;
        }
        pclose(pipe);
        drop_hand("Escape");
        return last;
    }
    static void expect_view(const std::string& demo, const std::string& commands,
                            const std::string& expected) {
        EXPECT_EQ(view_after(demo, commands, expected), expected) << demo << ": " << commands;
    }
};

TEST_F(Resize, RenderersFollowTheWindow) {
    VirtualDisplay display;
    ASSERT_TRUE(display.works());
    for (const std::string demo : {"mandelbrot", "n_body", "path_tracer"})
        expect_view(demo, "sleep 0.5 windowsize %1 300 300", "widget view 0 0 300 300");
}

TEST_F(Resize, SimulationsKeepTheirGridUntilAReset) {
    VirtualDisplay display;
    ASSERT_TRUE(display.works());
    for (const std::string demo : {"wave", "life"}) {
        expect_view(demo, "sleep 0.5 windowsize %1 320 300", "widget view 0 60 320 180");
        expect_view(demo, "sleep 0.5 windowsize %1 320 300 sleep 0.5 key --window %1 r",
                    "widget view 0 0 320 300");
    }
}

TEST_F(Resize, OnADisplayOfScaleTwoAWindowHasTwiceThePixels) {
    VirtualDisplay display;
    ASSERT_TRUE(display.works());
    ASSERT_EQ(std::system("xprop -root -f RESOURCE_MANAGER 8s -set RESOURCE_MANAGER "
                          "'Xft.dpi: 192'"),
              0);
    expect_view("wave", "sleep 0", "widget view 0 0 640 360");
}

}  // namespace
}  // namespace firn
