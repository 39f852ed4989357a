// The layout that a panel keeps between runs: its place, and folded headers.
#include <filesystem>
#include <fstream>

#include "compiler/base/error.h"
#include "engine/window/panel_layout.h"
#include "tests/window/window_fixture.h"

namespace firn {
namespace {

TEST(PanelLayouts, ComeBackAsWritten) {
    const std::string path = testing::TempDir() + "/firn_layout/sub/one.json";
    std::filesystem::remove_all(testing::TempDir() + "/firn_layout");
    EXPECT_EQ(read_panel_layout(path), PanelLayout{});
    const PanelLayout layout{100.5f, 7, true, {{"Time", false}, {"presets", true}}};
    write_panel_layout(path, layout);
    EXPECT_EQ(read_panel_layout(path), layout);
    for (const char* damaged :
         {"", "{", "[]", R"({"panel": {"x": "left"}})",
          R"({"panel": {"x": 1e99, "y": 0, "collapsed": false, "open": {}}})"}) {
        std::ofstream(path) << damaged;
        EXPECT_EQ(read_panel_layout(path), PanelLayout{}) << damaged;
    }
    EXPECT_THROW(write_panel_layout("/proc/none/a.json", layout), UserError);
}

class RememberedPanel : public RealWindow {
  protected:
    void SetUp() override {
        RealWindow::SetUp();
        if (IsSkipped()) return;
        std::filesystem::remove_all(file("").parent_path());
    }
    static std::filesystem::path file(const std::string& title) { return panel_layout_path(title); }
    static WindowOptions wanted(const std::string& title) {
        WindowOptions wanted = options(title);
        wanted.frames = 0;  // until it is closed
        return wanted;
    }
    /// A slider in a group that folds.
    Rectangle slider(ViewWindow& window, float& dt, int frames = 8) {
        window.gui().parameter("dt", dt, {.min = 0, .max = 1, .group = "Time"});
        settle(window, frames);
        return window.gui().find("dt")->rectangle;
    }
    /// Drags the panel by its title and waits until it is there.
    void drag(ViewWindow& window, const std::string& title) {
        const float before = window.gui().find("dt")->rectangle.x;
        by_hand(title, at(60, 24) + "sleep 0.1 mousedown 1 sleep 0.1 " + at(100, 34) +
                           "sleep 0.1 " + at(210, 54) + "sleep 0.1 mouseup 1");
        EXPECT_TRUE(frames_until(window, [&] {
            return window.gui().find("dt")->rectangle.x == before + 150 &&
                   !window.mouse().left.down;
        })) << window.gui().find("dt")->rectangle.x - before;
        settle(window);
    }
    float dt = 0.5f;
};

TEST_F(RememberedPanel, IsWhereItWasLeftAndFoldedAsItWas) {
    Rectangle first;
    {
        ViewWindow window(executor, wanted("kept"));
        first = slider(window, dt);
        drag(window, "kept");
    }
    ASSERT_TRUE(std::filesystem::exists(file("kept")));
    {
        ViewWindow window(executor, wanted("kept"));
        const Rectangle second = slider(window, dt);
        EXPECT_EQ(second.x, first.x + 150);
        EXPECT_EQ(second.y, first.y + 30);
        by_hand("kept", at(second.x, second.y - 20) + "sleep 0.1 mousedown 1 sleep 0.1 mouseup 1");
        EXPECT_TRUE(
            frames_until(window, [&] { return window.gui().find("dt")->rectangle.width == 0; }));
        settle(window);
    }
    ViewWindow window(executor, wanted("kept"));
    EXPECT_EQ(slider(window, dt).width, 0);  // folded
}
TEST_F(RememberedPanel, IsNotWhereNobodyWantsItOrFramesAreCounted) {
    for (const char* which : {"unwanted", "counted"}) {
        WindowOptions options = wanted(which);
        options.remembers_panel = std::string(which) != "unwanted";
        if (options.remembers_panel) options.frames = 100000;
        ViewWindow window(executor, options);
        slider(window, dt);
        drag(window, which);
    }
    EXPECT_FALSE(std::filesystem::exists(file("unwanted").parent_path()));
    // And what was remembered is not read.
    write_panel_layout(file("counted").string(), {300, 100, false, {}});
    WindowOptions counted = wanted("counted");
    counted.frames = 100000;
    ViewWindow window(executor, counted);
    EXPECT_LT(slider(window, dt).x, 150);
}
TEST_F(RememberedPanel, IsNeverWrittenHeadless) {
    WindowOptions headless = wanted("headless");
    headless.headless = true;
    write_panel_layout(file("headless").string(), {300, 100, false, {}});
    const auto before = std::filesystem::last_write_time(file("headless"));
    {
        headless.gui_in_pictures = true;
        ViewWindow window(executor, headless);
        slider(window, dt);
        window.picture();
        EXPECT_LT(window.gui().find("dt")->rectangle.x, 150);  // and not read
    }
    EXPECT_EQ(std::filesystem::last_write_time(file("headless")), before);
}

}  // namespace
}  // namespace firn
