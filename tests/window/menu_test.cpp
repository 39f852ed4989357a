// The menu that a right click on a picture opens, and the files that it writes.
#include <filesystem>
#include <utility>

#include "engine/window/picture.h"
#include "engine/window/placement.h"
#include "tests/window/window_fixture.h"

namespace firn {
namespace {

class PictureMenu : public RealWindow {
  protected:
    void SetUp() override {
        RealWindow::SetUp();
        before = std::filesystem::current_path();
        const auto folder = std::filesystem::path(testing::TempDir()) / "firn_picture_menu";
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
        std::filesystem::current_path(folder);  // files are written where the program runs
    }
    void TearDown() override {
        std::filesystem::current_path(before);
        RealWindow::TearDown();
    }
    static WindowOptions wanted(const std::string& title) {
        WindowOptions wanted = options(title);
        wanted.print_widgets = true;
        return wanted;
    }
    /// The place of an item of the menu as the window prints it, once the menu is open and has its
    /// place.
    Rectangle item(ViewWindow& window, const std::string& name, int frames = 100000) {
        Rectangle place;
        int last = window.frame() + frames;
        bool found = false;
        testing::internal::CaptureStdout();
        frames_until(window, [&] {
            const std::string said = testing::internal::GetCapturedStdout();
            testing::internal::CaptureStdout();
            const size_t at = said.rfind("widget " + name + " ");
            if (at != std::string::npos) {
                std::sscanf(said.c_str() + at + name.size() + 8, "%f %f %f %f", &place.x, &place.y,
                            &place.width, &place.height);
                if (!std::exchange(found, true)) last = window.frame() + 5;
            }
            return window.frame() > last;
        });
        testing::internal::GetCapturedStdout();
        return place;
    }
    static std::string click(const Rectangle& at_item) {
        return at(at_item.x + at_item.width / 2, at_item.y + at_item.height / 2) +
               "sleep 0.1 mousedown 1 sleep 0.05 mouseup 1";
    }
    const std::string right_click = "sleep 0.1 mousedown 3 sleep 0.05 mouseup 3";
    std::filesystem::path before;
};

TEST_F(PictureMenu, SavesThePictureAsItIsShownAndItsNumbers) {
    ViewWindow window(executor, wanted("menu"));
    std::string written;
    window.set_tensor_writer([&](const BufferView& view, const std::string& path) {
        written = path + " " + shape_text(view.shape);
    });
    settle(window);
    by_hand("menu", at(500, 160) + right_click);
    by_hand("menu", click(item(window, "save as .png")));
    EXPECT_TRUE(frames_until(window, [] { return std::filesystem::exists("menu-picture-1.png"); }));
    const Picture saved = read_picture("menu-picture-1.png");
    EXPECT_EQ(saved.width, 80);
    EXPECT_EQ(saved.height, 40);
    EXPECT_NEAR(saved.rgba[4 * 79], 255, 1);
    EXPECT_NEAR(saved.rgba[4 * 40], 255 * 40 / 79, 1);
    by_hand("menu", at(500, 160) + right_click);
    by_hand("menu", click(item(window, "save as .npy")));
    EXPECT_TRUE(frames_until(window, [&] { return written == "menu-picture-2.npy [40, 80]"; }))
        << written;
    EXPECT_FALSE(window.mouse().left.down);
}
TEST_F(PictureMenu, IsOpenedByControlWhereTheProgramWantsTheRightButton) {
    ViewWindow window(executor, wanted("own"));
    window.menu_by_right_click(false);
    settle(window);
    bool pressed = false;
    by_hand("own", "windowfocus \\$id " + at(500, 160) + right_click);
    EXPECT_TRUE(frames_until(window, [&] { return pressed |= window.mouse().right.pressed; }));
    EXPECT_EQ(item(window, "save as .png", 20).width, 0);
    by_hand("own", at(500, 160) + "keydown ctrl " + right_click + " sleep 0.1 keyup ctrl");
    EXPECT_GT(item(window, "save as .png").width, 0);
}
TEST_F(PictureMenu, IsNotOpenedByADrag) {
    ViewWindow window(executor, wanted("drag"));
    settle(window);
    bool released = false;
    by_hand("drag", at(450, 160) + "sleep 0.1 mousedown 3 sleep 0.1 " + at(500, 160) +
                        "sleep 0.1 mouseup 3");
    EXPECT_TRUE(frames_until(window, [&] { return released |= window.mouse().right.released; }));
    EXPECT_EQ(item(window, "save as .png", 20).width, 0);
}

}  // namespace
}  // namespace firn
