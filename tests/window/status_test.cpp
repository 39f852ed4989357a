// The messages of a window: their duration, their place, and the log of all of them.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/window/free_place.h"
#include "engine/window/gui_panel.h"
#include "engine/window/message_log.h"
#include "engine/window/widgets.h"
#include "tests/window/drawn_text.h"

namespace firn {
namespace {

TEST(MessageLog, AMessageStaysAsLongAsItTakesToRead) {
    MessageLog log;
    add_message(log, "saved wave-1.png", 100, "20:43:07");
    EXPECT_EQ(shown_messages(log, 104), std::vector<std::string>{"saved wave-1.png"});
    EXPECT_TRUE(shown_messages(log, 108).empty());
    const std::string longer(300, 'x');
    add_message(log, longer, 200, "20:44:47");
    EXPECT_EQ(shown_messages(log, 220).size(), 1u);
    EXPECT_TRUE(shown_messages(log, 230).empty());
}
TEST(MessageLog, SeveralAtOnceStayUntilEachCanHaveBeenRead) {
    MessageLog log;
    for (const char* name : {"a", "b", "c"})
        add_message(log, std::string(140, *name), 0, "20:43:07");
    EXPECT_EQ(shown_messages(log, 13).size(), 3u);
    EXPECT_EQ(shown_messages(log, 15).size(), 2u);
    EXPECT_EQ(shown_messages(log, 33).size(), 1u);
    EXPECT_EQ(shown_messages(log, 35).size(), 0u);
    // A flood holds nothing up for long.
    for (int k = 0; k < 1000; ++k)
        add_message(log, std::to_string(k) + std::string(100, 'x'), 100, "20:44:47");
    EXPECT_EQ(shown_messages(log, 165).size(), 0u);
}
TEST(MessageLog, WhatIsSaidAgainIsCounted) {
    MessageLog log;
    for (int k = 0; k < 3; ++k) add_message(log, "undo: dt", k, "20:43:07");
    EXPECT_EQ(log.all.size(), 1u);
    EXPECT_EQ(shown_messages(log, 5), std::vector<std::string>{"undo: dt (3 times)"});
    EXPECT_EQ(log_text(log), "20:43:07  undo: dt (3 times)\n");
}
TEST(MessageLog, KeepsWhatIsShownElsewhere) {
    MessageLog log;
    keep_message(log, "inspector: saved x.npy", "20:43:07");
    EXPECT_TRUE(shown_messages(log, 0).empty());
    EXPECT_EQ(log_text(log), "20:43:07  inspector: saved x.npy\n");
}
TEST(MessageLog, IsBoundedAndSaysSo) {
    MessageLog log;
    for (int k = 0; k < 503; ++k) add_message(log, std::to_string(k), k, "20:43:07");
    EXPECT_EQ(log.all.size(), MessageLog::kMost);
    const std::string text = log_text(log);
    EXPECT_EQ(text.find("the oldest 3 messages are left out: the log keeps 500\n20:43:07  3\n"),
              0u);
    EXPECT_NE(text.find("20:43:07  502\n"), std::string::npos);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 501);
    EXPECT_EQ(time_of_day().size(), 8u);
}

PlaceNeed need(float least, float most, float area) {
    return {least, most, [area](float width) { return area / width; }};
}

TEST(FreePlace, IsAsLowAndWideAsItCanBe) {
    const Rectangle window{0, 0, 300, 200};
    auto at = free_place(window, {}, need(50, 200, 4000));
    ASSERT_TRUE(at);
    EXPECT_EQ(at->x, 0);
    EXPECT_EQ(at->y, 180);
    EXPECT_EQ(at->width, 200);
    at = free_place(window, {{0, 0, 120, 200}}, need(50, 200, 4000));  // beside it
    ASSERT_TRUE(at);
    EXPECT_EQ(at->x, 120);
    EXPECT_EQ(at->width, 180);
    at = free_place(window, {{20, 0, 260, 150}}, need(50, 200, 4000));  // below it
    ASSERT_TRUE(at);
    EXPECT_EQ(at->x, 0);
    EXPECT_EQ(at->y, 180);
    at = free_place(window, {{0, 60, 300, 60}}, need(50, 200, 4000));  // below rather than above
    ASSERT_TRUE(at);
    EXPECT_EQ(at->y, 180);
    at = free_place(window, {{100, 0, 20, 200}}, need(50, 200, 4000));  // on the wider side
    ASSERT_TRUE(at);
    EXPECT_EQ(at->x, 120);
    EXPECT_FALSE(free_place(window, {{20, 0, 260, 190}}, need(50, 200, 4000)));
    EXPECT_FALSE(free_place(window, {{-10, -10, 400, 400}}, need(50, 200, 4000)));
    EXPECT_TRUE(free_place(window, {{400, 0, 100, 100}}, need(300, 400, 400)));
    const Rectangle largest = largest_free(window, {{100, 0, 50, 200}, {0, 190, 300, 10}});
    EXPECT_EQ(largest.x, 150);
    EXPECT_EQ(largest.height, 190);
    EXPECT_EQ(largest_free(window, {window}).width, 0);
}

/// A panel without a device, laid out over several frames as a window does.
class Status : public testing::Test {
  protected:
    Status() {
        for (int k = 0; k < 12; ++k)
            gui.parameter("number " + std::to_string(k), numbers[k], {.min = 0, .max = 1});
        gui.parameter("file", file, {});
    }
    const ImDrawData* lay_out(GuiPanel& panel, float width, float height, int frames = 8) {
        const ImDrawData* drawn = nullptr;
        for (int frame = 0; frame < frames; ++frame) {
            actions = {};
            if (!state.hidden) {
                panel.begin_input(gui, state, width, height, actions);
                panel.end_input(gui, input, state, actions);
            }
            state.width = width, state.height = height;
            drawn = panel.draw(gui, state, actions);
        }
        return drawn;
    }
    std::vector<Rectangle> places(const std::string& name) const {
        std::vector<Rectangle> out;
        for (const PanelPart& part : actions.places)
            if (part.name == name) out.push_back(part.rectangle);
        return out;
    }
    Rectangle place(const std::string& name) const {
        const std::vector<Rectangle> all = places(name);
        return all.empty() ? Rectangle{} : all.back();
    }
    static bool is_within(const Rectangle& at, float width, float height) {
        return at.width > 0 && at.height > 0 && at.x >= 0 && at.y >= 0 &&
               at.x + at.width <= width && at.y + at.height <= height;
    }

    Gui gui;
    float numbers[12] = {};
    std::string file = "cat.png";
    RawInput input;
    PanelState state{.title = "fluid", .device = "llvmpipe (LLVM 15.0.6, 256 bits)"};
    PanelActions actions;
};

struct Size {
    float width, height;
};
constexpr Size kSizes[] = {{320, 200}, {480, 240}, {640, 360}, {640, 480}, {1280, 720}, {200, 900}};
struct At {
    const char* name;
    float x, y;
};
constexpr At kPlaces[] = {{"left", 12, 12},           {"right", 5000, 12}, {"middle", 85, 12},
                          {"middle of 640", 200, 12}, {"below", 12, 150},  {"corner", 5000, 5000}};
const std::vector<std::string> kSaid = {
    "99 was not taken: it is above the maximum, 2; it is 2", "saved fluid.json",
    "preset presets/a_rather_long_name_of_a_preset.json: parameter 'tempo': there is none of that "
    "name; there are dt, viscosity, vorticity, steps, view"};

TEST_F(Status, WhatIsSaidLiesBesideThePanelAtEverySize) {
    for (const Size& size : kSizes)
        for (const At& at : kPlaces)
            for (size_t count = 1; count <= kSaid.size(); ++count)
                for (const char* value : {"", "[12, 345] = -0.123456 0.789012 3.45678e-05 1"}) {
                    GuiPanel panel(1, false, nullptr);
                    panel.set_layout({.x = at.x, .y = at.y});
                    state.messages.clear();
                    state.hint.clear();
                    lay_out(panel, size.width, size.height);
                    state.messages.assign(kSaid.begin(), kSaid.begin() + int(count));
                    state.hint = value;
                    input.x = size.width * 0.9f, input.y = size.height * 0.9f;
                    lay_out(panel, size.width, size.height);
                    const std::string where = std::string(at.name) + " at " +
                                              std::to_string(int(size.width)) + ", " +
                                              std::to_string(count) + " messages " + value;
                    const Rectangle said = place("messages"), own = place("panel");
                    EXPECT_TRUE(is_within(said, size.width, size.height)) << where;
                    EXPECT_FALSE(overlaps(said, own)) << where;
                    if (state.hint.empty()) continue;
                    const Rectangle under = place("value");
                    EXPECT_TRUE(is_within(under, size.width, size.height)) << where;
                    EXPECT_FALSE(overlaps(under, own)) << where;
                    EXPECT_FALSE(overlaps(under, said)) << where;
                    EXPECT_FALSE(overlaps(under, {input.x - 4, input.y - 4, 8, 8})) << where;
                }
}
TEST_F(Status, ThePanelComesBackWhenAllIsRead) {
    GuiPanel panel(1, false, nullptr);
    panel.set_layout({.x = 85, .y = 40});
    lay_out(panel, 320, 200);
    const Rectangle before = place("panel");
    state.messages = kSaid;
    lay_out(panel, 320, 200);
    EXPECT_LT(place("panel").height, before.height);
    EXPECT_LT(place("panel").y, before.y);
    state.messages.clear();
    lay_out(panel, 320, 200);
    EXPECT_EQ(place("panel").height, before.height);
    EXPECT_EQ(place("panel").x, before.x);
    EXPECT_EQ(place("panel").y, before.y);
    EXPECT_TRUE(places("messages").empty());
}
TEST_F(Status, NothingMovesWhereThereIsRoomBesideThePanel) {
    GuiPanel panel(1, false, nullptr);
    lay_out(panel, 640, 360);
    const Rectangle before = place("panel");
    state.messages = kSaid;
    state.hint = "[1, 2] = 3";
    lay_out(panel, 640, 360);
    EXPECT_EQ(place("panel").height, before.height);
    EXPECT_EQ(place("panel").x, before.x);
    for (const char* box : {"messages", "value"}) {
        const Rectangle at = place(box);
        input.x = at.x + at.width / 2, input.y = at.y + at.height / 2;
        lay_out(panel, 640, 360, 2);
        EXPECT_FALSE(panel.wants_mouse()) << "clicks go by " << box;
    }
    const Rectangle own = place("panel");
    input.x = own.x + own.width / 2, input.y = own.y + own.height / 2;
    lay_out(panel, 640, 360, 2);
    EXPECT_TRUE(panel.wants_mouse());
}
TEST_F(Status, IsSaidWithoutThePanelToo) {
    for (const Size& size : kSizes) {
        GuiPanel panel(1, false, nullptr);
        lay_out(panel, size.width, size.height);
        state.hidden = true;
        state.messages = kSaid;
        lay_out(panel, size.width, size.height);
        EXPECT_TRUE(is_within(place("messages"), size.width, size.height)) << size.width;
        EXPECT_TRUE(places("panel").empty());
        state.hidden = false;
    }
}
TEST_F(Status, WorkShowsHowFarItIsBelowWhatIsSaid) {
    GuiPanel panel(1, false, nullptr);
    state.messages = {"saved fluid-1.png"};
    lay_out(panel, 640, 360);
    const float before = place("messages").height;
    state.work = "compiling kernels, 3 of 12";
    state.share = 0.25;
    lay_out(panel, 640, 360);
    const float with_bar = place("messages").height;
    EXPECT_GT(with_bar, before + 15);
    EXPECT_FALSE(overlaps(place("messages"), place("panel")));
    state.share = -1;  // the progress is unknown, and no bar is drawn
    lay_out(panel, 640, 360);
    EXPECT_GT(place("messages").height, before + 15);
    EXPECT_LT(place("messages").height, with_bar - 3);
}
TEST_F(Status, WhatIsCutSaysThatTheLogHasMoreAndTheNewestIsKept) {
    GuiPanel panel(1, false, nullptr);
    const ImFontAtlas* atlas = nullptr;
    panel.draw_beside([&](float, PanelActions&) { atlas = ImGui::GetIO().Fonts; });
    const auto said = [&] {
        const ImDrawData* drawn = lay_out(panel, 320, 200);
        return drawn_text(*drawn, *atlas, place("messages"));
    };
    state.messages = {"saved fluid.json"};
    EXPECT_EQ(said(), "saved fluid.json\n");
    std::string longer = "begin";
    for (int k = 0; k < 100; ++k) longer += " more";
    state.messages = {longer + " end"};
    std::string text = said();
    EXPECT_EQ(text.find("begin more"), 0u) << text;
    EXPECT_NE(text.find("more ?\nF3 lists all messages\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("end"), std::string::npos) << text;
    state.messages = {"first " + longer, "second " + longer, "third"};
    text = said();
    EXPECT_EQ(text, "third\nF3 lists all messages\n");
}
TEST_F(Status, AVeryLongMessageIsCutAndTheLogHasAllOfIt) {
    MessageLog log;
    std::string error = "kernel blur:";
    for (int k = 0; k < 400; ++k) error += " 'colour' : undeclared identifier";
    add_message(log, error, 0, "20:43:07");
    state.log = &log;
    state.messages = shown_messages(log, 1);
    for (const Size& size : kSizes) {
        GuiPanel panel(1, false, nullptr);
        state.log_open = false;
        lay_out(panel, size.width, size.height);
        EXPECT_TRUE(is_within(place("messages"), size.width, size.height)) << size.width;
        EXPECT_FALSE(overlaps(place("messages"), place("panel"))) << size.width;
        state.log_open = true;
        lay_out(panel, size.width, size.height);
        EXPECT_TRUE(is_within(place("log"), size.width, size.height)) << size.width;
        EXPECT_GT(place("log text").height, 500) << "as high as its text";
        EXPECT_FALSE(overlaps(place("messages"), place("log"))) << size.width;
        if (size.width < 1280) continue;
        EXPECT_FALSE(overlaps(place("log"), place("panel"))) << "there is room beside it";
    }
}

}  // namespace
}  // namespace firn
