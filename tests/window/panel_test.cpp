// A person's work with parameters in the panel: undo, fine drags, resets, presets, folding; and the
// sheet of keys.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "engine/window/free_place.h"
#include "tests/window/window_fixture.h"

namespace firn {
namespace {

std::string middle_of(const Rectangle& rectangle) {
    return at(rectangle.x + rectangle.width / 2, rectangle.y + rectangle.height / 2);
}
std::string click_on(const Rectangle& rectangle) {
    return middle_of(rectangle) + "sleep 0.1 mousedown 1 sleep 0.05 mouseup 1";
}
/// Returns the place of a part of a window with print_widgets, as it was last printed.
Rectangle place_of(const std::string& said, const std::string& name) {
    const size_t begin = said.rfind("widget " + name + " ");
    Rectangle out;
    if (begin != std::string::npos)
        std::sscanf(said.c_str() + begin + name.size() + 8, "%f %f %f %f", &out.x, &out.y,
                    &out.width, &out.height);
    return out;
}

TEST_F(RealWindow, ChangesAreFineUndoneAndReset) {
    float dt = 0.25f;
    ViewWindow window(executor, options("undo"));
    window.gui().parameter("dt", dt, {.min = 0, .max = 2, .soft_max = 1});
    settle(window);
    const Rectangle slider = window.gui().find("dt")->rectangle;
    const auto grab = [&](float share) { return slider.x + slider.width * share; };
    const float y = slider.y + slider.height / 2;
    by_hand("undo", "windowfocus \\$id " + at(grab(0.25f), y) + "sleep 0.1 mousedown 1 sleep 0.1 " +
                        at(grab(0.75f), y) + "sleep 0.1 mouseup 1");
    EXPECT_TRUE(frames_until(window, [&] { return std::abs(dt - 0.75f) < 0.03f; })) << dt;
    const float dragged = dt;
    by_hand("undo", "sleep 0.1 key ctrl+z");
    EXPECT_TRUE(frames_until(window, [&] { return dt == 0.25f; })) << dt;
    by_hand("undo", "key ctrl+shift+z");
    EXPECT_TRUE(frames_until(window, [&] { return dt == dragged; })) << dt;
    // With Shift a drag of half the slider is a twentieth.
    by_hand("undo", at(grab(0.75f), y) +
                        "sleep 0.1 mousedown 1 sleep 0.1 keydown shift sleep 0.1 " +
                        at(grab(0.25f), y) + "sleep 0.1 mouseup 1 keyup shift");
    EXPECT_TRUE(frames_until(window, [&] { return std::abs(dt - (dragged - 0.05f)) < 0.01f; }))
        << dt;
    // The first line of what the right button opens.
    by_hand("undo", at(grab(0.5f), y) + "mousedown 3 sleep 0.1 mouseup 3 sleep 0.1 " +
                        at(grab(0.5f) + 25, y + 18) + "sleep 0.1 mousedown 1 sleep 0.05 mouseup 1");
    EXPECT_TRUE(frames_until(window, [&] { return dt == 0.25f; })) << dt;
    settle(window);
    EXPECT_TRUE(window.gui().changed("dt"));
    // A typed value may lie beyond the slider, but not beyond the limit.
    for (auto [typed, taken] : {std::pair{"1.5", 1.5f}, {"9", 2.0f}}) {
        by_hand("undo", at(grab(0.5f), y) +
                            "keydown ctrl sleep 0.1 click 1 sleep 0.1 keyup ctrl "
                            "key ctrl+a type " +
                            std::string(typed));
        EXPECT_TRUE(frames_until(window, [&] { return dt == taken; })) << dt;
        by_hand("undo", "key Return");
        settle(window, 6);
        EXPECT_EQ(dt, taken);
    }
}

TEST_F(RealWindow, PresetsAreWrittenReadAndRefused) {
    float dt = 0.25f;
    int steps = 3;
    WindowOptions wanted = options("presets");
    wanted.print_widgets = true;
    wanted.size = {640, 480};
    const std::string path = testing::TempDir() + "/firn_panel_preset.json";
    std::filesystem::remove(path);
    ViewWindow window(executor, wanted);
    window.gui().parameter("dt", dt, {.min = 0, .max = 1, .group = "Time"});
    window.gui().parameter("steps", steps, {.min = 1, .max = 9});
    window.gui().widgets().preset_path = path;
    std::string said;
    const auto wait_for = [&](const std::string& name) {
        testing::internal::CaptureStdout();
        bool found = false;
        frames_until(window, [&] {
            said += testing::internal::GetCapturedStdout();
            found = place_of(said, name).width > 0 && window.frame() > 5;
            testing::internal::CaptureStdout();
            return found;
        });
        testing::internal::GetCapturedStdout();
        ASSERT_TRUE(found) << name << " is not in:\n" << said;
    };
    wait_for("presets");
    const Rectangle defaults = place_of(said, "defaults");
    by_hand("presets", click_on(place_of(said, "presets")));
    wait_for("save preset");
    const Rectangle write = place_of(said, "save preset"), read = place_of(said, "load preset");
    by_hand("presets", click_on(write));
    EXPECT_TRUE(frames_until(window, [&] { return std::filesystem::exists(path); }));
    steps = 5;
    by_hand("presets", click_on(read));
    EXPECT_TRUE(frames_until(window, [&] { return steps == 3; }));
    std::ofstream(path) << R"({"steps": 7, "tempo": 1})";
    by_hand("presets", click_on(read));
    settle(window, 20);
    EXPECT_EQ(steps, 3) << "tempo is unknown";
    std::ofstream(path) << R"({"steps": 8})";
    by_hand("presets", click_on(read));
    EXPECT_TRUE(frames_until(window, [&] { return steps == 8; }));
    // A copied text can be pasted into the field of a file's name.
    const Rectangle field = place_of(said, "preset file");
    by_hand("presets", "windowfocus \\$id " + click_on(place_of(said, "copy command")) +
                           " sleep 0.1 " + click_on(field) + " sleep 0.1 key ctrl+a key ctrl+v");
    EXPECT_TRUE(frames_until(window, [&] {
        return window.gui().widgets().preset_path == "presets --set steps=8";
    })) << window.gui().widgets().preset_path;
    by_hand("presets", click_on(defaults));
    EXPECT_TRUE(frames_until(window, [&] { return steps == 3; }));
    // The header of the group is above its only line.
    const Rectangle line = window.gui().find("dt")->rectangle;
    by_hand("presets", at(line.x, line.y - 14) + "sleep 0.1 mousedown 1 sleep 0.1 mouseup 1");
    EXPECT_TRUE(
        frames_until(window, [&] { return window.gui().find("dt")->rectangle.width == 0; }));
    std::filesystem::remove(path);
}

TEST_F(RealWindow, WhatIsSaidIsReadBesideThePanelAndInTheLog) {
    float dt = 0.25f;
    std::string note;
    WindowOptions wanted = options("said");
    wanted.print_widgets = true;
    wanted.size = {640, 360};
    ViewWindow window(executor, wanted);
    window.gui().parameter("dt", dt, {.min = 0, .max = 1});
    std::string said;
    const auto wait_for = [&](const std::string& name) {
        said.clear();
        testing::internal::CaptureStdout();
        const bool found = frames_until(window, [&] {
            said += testing::internal::GetCapturedStdout();
            testing::internal::CaptureStdout();
            return place_of(said, name).width > 0;
        });
        testing::internal::GetCapturedStdout();
        EXPECT_TRUE(found) << name << " is not in:\n" << said;
        return place_of(said, name);
    };
    wait_for("panel");
    window.say("99 was not taken");
    window.say("saved said.json");
    Rectangle message = wait_for("messages");
    EXPECT_FALSE(overlaps(message, place_of(said, "panel")));
    by_hand("said",
            "windowfocus \\$id " + at(message.x + 10, message.y + 10) + "sleep 0.1 keydown ctrl");
    const Rectangle value = wait_for("value");
    message = place_of(said, "messages");
    EXPECT_FALSE(overlaps(value, message));
    EXPECT_FALSE(overlaps(value, place_of(said, "panel")));
    // The same without the panel.
    by_hand("said", "keyup ctrl sleep 0.1 key h");
    EXPECT_TRUE(frames_until(window, [&] { return !window.shows_panel(); }));
    settle(window);
    window.say("saved said-1.png");
    wait_for("messages");
    // The log brings the panel back, and has all of it.
    by_hand("said", "key F3");
    const Rectangle copy = wait_for("copy log");
    EXPECT_TRUE(window.shows_panel());
    window.gui().parameter("note", note);
    settle(window);
    const Rectangle field = window.gui().find("note")->rectangle;
    by_hand("said", click_on(copy) + " sleep 0.2 " + click_on(field) +
                        " sleep 0.2 key ctrl+a key ctrl+v key Return");
    EXPECT_TRUE(frames_until(window, [&] {
        return note.find("saved said-1.png") != std::string::npos;
    })) << note;
    EXPECT_LT(note.find("99 was not taken"), note.find("saved said.json"));
    by_hand("said", at(500, 20) + "sleep 0.1 mousedown 1 sleep 0.05 mouseup 1 sleep 0.1 key F3");
    said.clear();
    settle(window, 20);
}

TEST_F(RealWindow, WhereTheMouseIsOnNanTheValueSaysWhyItIsMagenta) {
    const std::vector<float> values{0.5f, 0.5f, 0.5f, NAN};
    auto memory = executor->allocate(values.size() * 4, "values");
    executor->write(*memory, 0, std::as_bytes(std::span(values)));
    gradient = {memory, 0, f32, {1, 4}};  // 160 pixels each
    WindowOptions wanted = options("nan");
    wanted.print_widgets = true;
    ViewWindow window(executor, wanted);
    settle(window);
    const auto width_at = [&](float x, float least) {
        std::string said;
        testing::internal::CaptureStdout();
        by_hand("nan", "windowfocus \\$id keydown ctrl " + at(x, 160));
        const bool found = frames_until(window, [&] {
            said += testing::internal::GetCapturedStdout();
            testing::internal::CaptureStdout();
            return place_of(said, "value").width > least;
        });
        testing::internal::GetCapturedStdout();
        EXPECT_TRUE(found) << "no value is " << least << " wide:\n" << said;
        return place_of(said, "value").width;
    };
    const float number = width_at(400, 0);
    // "[0, 3] = nan" alone is about as wide as "[0, 2] = 0.5".
    EXPECT_GT(width_at(560, 2 * number), 2 * number);
    by_hand("nan", "keyup ctrl");
    await_hand();
}

TEST_F(RealWindow, AQuestionMarkShowsTheKeysAndF11LeavesTheWholeScreen) {
    WindowOptions wanted = options("keys");
    wanted.gui_in_pictures = wanted.fullscreen = true;
    wanted.vsync = false;
    ViewWindow window(executor, wanted);
    EXPECT_TRUE(frames_until(window, [&] { return window.pixels() == WindowSize{1000, 800}; }));
    // The sum is taken beside the panel, where nothing else changes.
    const auto beside = [&] {
        const Picture picture = window.picture({1000, 800});
        int64_t sum = 0;
        for (size_t i = 0; i < 800; ++i)
            for (size_t j = 500; j < 1000; ++j) sum += picture.rgba[4 * (1000 * i + j)];
        return sum;
    };
    settle(window);
    const auto before = beside();
    by_hand("keys", "windowfocus \\$id sleep 0.1 key question");
    const auto looked = [&] { return window.frame() % 5 == 0 && beside() != before; };
    EXPECT_TRUE(frames_until(window, looked));
    by_hand("keys", "key Escape sleep 0.2 key F11");
    EXPECT_TRUE(frames_until(window, [&] { return window.pixels() == WindowSize{640, 320}; }));
}

TEST_F(RealWindow, AFileThatIsRefusedStaysInItsFieldToBeMended) {
    std::string file;
    ViewWindow window(executor, options("files"));
    window.gui().bind("picture", {ParamVariable::Kind::File, &file}, {});
    settle(window);
    const Widget& widget = *window.gui().find("picture");
    by_hand("files",
            "windowfocus \\$id " + click_on(widget.rectangle) + " sleep 0.1 type /dev/nul");
    const auto is_typed = [&](const std::string& text) {
        return frames_until(window, [&] { return widget.typed.text == text; });
    };
    EXPECT_TRUE(is_typed("/dev/nul"));
    by_hand("files", "key Return");
    EXPECT_TRUE(frames_until(window, [&] { return !widget.typed.refused.empty(); }));
    EXPECT_EQ(widget.typed.text, "/dev/nul");
    EXPECT_EQ(file, "");
    by_hand("files", click_on(widget.rectangle) + " sleep 0.1 key End sleep 0.1 type l");
    EXPECT_TRUE(is_typed("/dev/null"));
    by_hand("files", "key Return");
    EXPECT_TRUE(frames_until(window, [&] { return file == "/dev/null"; })) << file;
    settle(window);
    EXPECT_EQ(widget.typed.text, std::nullopt);
    EXPECT_EQ(widget.typed.refused, "");
}

TEST_F(RealWindow, AFileIsTakenWhenItsFieldIsLeft) {
    std::string file;
    ViewWindow window(executor, options("left"));
    window.gui().bind("picture", {ParamVariable::Kind::File, &file}, {});
    settle(window);
    const Widget& widget = *window.gui().find("picture");
    by_hand("left",
            "windowfocus \\$id " + click_on(widget.rectangle) + " sleep 0.1 type /dev/null");
    EXPECT_TRUE(frames_until(window, [&] { return widget.typed.text == "/dev/null"; }));
    EXPECT_EQ(file, "");
    by_hand("left", at(600, 300) + "sleep 0.1 mousedown 1 sleep 0.05 mouseup 1");
    EXPECT_TRUE(frames_until(window, [&] { return file == "/dev/null"; })) << file;
}

TEST_F(RealWindow, EachComponentOfAVectorIsASliderOfItsOwn) {
    float values[3] = {0.5f, 0.5f, 0.5f};
    ViewWindow window(executor, options("vector"));
    window.gui().bind("light", {ParamVariable::Kind::Vector, values, 3}, {.min = 0, .max = 1});
    settle(window);
    const Rectangle all = window.gui().find("light")->rectangle;
    const float third = all.width / 3, y = all.y + all.height / 2;
    by_hand("vector", "windowfocus \\$id " + at(all.x + 1.9f * third, y) +
                          "sleep 0.1 mousedown 1 sleep 0.1 mouseup 1");
    EXPECT_TRUE(frames_until(window, [&] { return values[1] > 0.75f; })) << values[1];
    EXPECT_EQ(values[0], 0.5f);
    EXPECT_EQ(values[2], 0.5f);
}

TEST_F(RealWindow, InASmallWindowThePanelIsNarrow) {
    float dt = 0.25f;
    const auto width = [&](WindowSize size) {
        ViewWindow window(executor, {.title = "narrow", .size = size, .frames = 100000});
        window.gui().parameter("a rather long name of a parameter", dt, {.min = 0, .max = 1});
        settle(window);
        const Rectangle field = window.gui().find("a rather long name of a parameter")->rectangle;
        EXPECT_GT(field.width, 40);
        return field.x + field.width;
    };
    EXPECT_LT(width({320, 240}), 180);
    EXPECT_GT(width({900, 240}), 250);
}

TEST_F(RealWindow, TheNumbersOfAPlotAreSavedAsCsv) {
    WindowOptions wanted = options("csv");
    wanted.print_widgets = true;
    const std::string path = "csv-the-loss-1.csv";
    std::filesystem::remove(path);
    ViewWindow window(executor, wanted);
    for (float value : {3, 2, 1}) window.gui().plot("the loss", value);
    settle(window);
    const Rectangle plot = window.gui().find("the loss")->rectangle;
    std::string said;
    testing::internal::CaptureStdout();
    by_hand("csv", middle_of(plot) + "sleep 0.1 mousedown 3 sleep 0.05 mouseup 3");
    EXPECT_TRUE(frames_until(window, [&] {
        said += testing::internal::GetCapturedStdout();
        testing::internal::CaptureStdout();
        return place_of(said, "save the loss").width > 0;
    }));
    settle(window);
    said += testing::internal::GetCapturedStdout();
    by_hand("csv", click_on(place_of(said, "save the loss")));
    EXPECT_TRUE(frames_until(window, [&] { return std::filesystem::exists(path); }));
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(text, "x,value\n0,3\n1,2\n2,1\n");
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace firn
