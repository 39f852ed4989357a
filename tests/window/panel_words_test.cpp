// The words that a person reads on the panel, its menus and its sheet of keys.
#include "tests/window/panel_fixture.h"

namespace firn {
namespace {

class PanelWords : public PanelFixture {
  protected:
    void expect_read(const std::string& words) const {
        EXPECT_NE(text().find(words), std::string::npos) << words << " is not in:\n" << text();
    }
    Rectangle place(const std::string& name) const {
        for (const PanelPart& part : actions.places)
            if (part.name == name) return part.rectangle;
        ADD_FAILURE() << name << " is not there";
        return {};
    }
    void click(const std::string& name, int button = 0) {
        const Rectangle at = place(name);
        frame(click_events(at.x + at.width / 2, at.y + at.height / 2, button));
        settle();
    }
};

TEST_F(PanelWords, AreThoseOfTheField) {
    float dt = 0.1f;
    height = 600;
    gui.parameter("dt", dt, {.min = 0, .max = 1});
    state.title = "wave", state.can_record = true;
    settle();
    for (const char* word : {"pause", "step", "reset", "save", "video", "defaults", "presets"})
        expect_read(word);
    click("presets");
    expect_read("save load\n");
    expect_read("copy as command line");
    click("video", 1);
    expect_read("frames per second of a video");
    state.recording = "recording, 3 frames";
    frame(move_events(width - 5, 5));
    settle();
    expect_read("stop");
    state.keys_open = true;
    settle();
    expect_read("undo a change of a parameter or view");
    expect_read("redo it");
}
TEST_F(PanelWords, OfAPicturesMenuSayWhyNanIsMagenta) {
    state.opens_menu = true;
    state.menu_title = "picture", state.menu_endings = {".png", ".npy"};
    state.menu_value = "[0, 1] = nan";
    input.x = 400, input.y = 100;
    frame(move_events(400, 100));
    state.opens_menu = false;
    settle();
    expect_read("[0, 1] = nan, which is shown in magenta");
    expect_read("save as .npy");
    expect_read("show all messages");
}

}  // namespace
}  // namespace firn
