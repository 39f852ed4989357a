// The parameter registry: setting by text, ranges, messages, presets.
#include "engine/parameters/parameters.h"

#include <gtest/gtest.h>

#include <functional>

#include "compiler/base/error.h"

namespace firn {
namespace {

std::string message_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}

struct ParametersTest : testing::Test {
    ParametersTest() {
        Parameter angle{.name = "angle", .variable = &turn, .low = -3.2, .high = 3.2};
        angle.look = ParameterLook::Angle;
        Parameter tint{.name = "tint", .variable = VectorVariable{colour, 3}, .low = 0, .high = 1};
        tint.look = ParameterLook::Colour;
        Parameter file{.name = "file", .variable = &path};
        file.look = ParameterLook::File;
        for (const Parameter& each : {angle, tint, file}) more.add(each);
        more.add({.name = "wind", .variable = VectorVariable{wind, 2}});
        more.add({.name = "size", .variable = &dt, .low = 0});
        parameters.add({"dt", "time step", &dt, 0, 0.5});
        parameters.add({"steps", "", &steps, 1, 8});
        parameters.add({.name = "walls", .variable = &walls});
        parameters.add({.name = "view", .variable = ChoiceVariable{&view, {"dye", "speed"}}});
        parameters.add({.name = "title", .variable = &title});
    }
    float dt = 0.1f;
    int steps = 2, view = 0;
    bool walls = false;
    std::string title = "a", path;
    float turn = 0.4f, colour[3] = {1, 0.5f, 0.25f}, wind[2] = {1, -2};
    Parameters parameters, more;
};

TEST_F(ParametersTest, SetWritesAFloat) {
    parameters.set("dt", "0.25");
    EXPECT_EQ(dt, 0.25f);
}
TEST_F(ParametersTest, SetWritesAnInt) {
    parameters.set("steps", "8");
    EXPECT_EQ(steps, 8);
}
TEST_F(ParametersTest, SetWritesABool) {
    parameters.set("walls", "on");
    EXPECT_TRUE(walls);
}
TEST_F(ParametersTest, SetWritesAChoiceByName) {
    parameters.set("view", "speed");
    EXPECT_EQ(view, 1);
}
TEST_F(ParametersTest, SetWritesText) {
    parameters.set("title", "b c");
    EXPECT_EQ(title, "b c");
}
TEST_F(ParametersTest, OutsideTheRangeNamesValueAndRange) {
    EXPECT_EQ(message_of([&] { parameters.set("dt", "0.6"); }),
              "parameter dt: cannot be set to '0.6', which is above the maximum; it takes a number "
              "in [0, 0.5]");
    EXPECT_EQ(dt, 0.1f);
}
TEST_F(ParametersTest, TrailingTextIsNoNumber) {
    EXPECT_NE(
        message_of([&] { parameters.set("steps", "3x"); }).find("which is not a whole number"),
        std::string::npos);
}
TEST_F(ParametersTest, NanIsRefused) {
    EXPECT_NE(message_of([&] { parameters.set("dt", "nan"); }).find("not finite"),
              std::string::npos);
}
TEST_F(ParametersTest, UnknownChoiceListsThem) {
    EXPECT_NE(message_of([&] { parameters.set("view", "ink"); }).find("one of dye, speed"),
              std::string::npos);
}
TEST_F(ParametersTest, UnknownNameListsThoseThereAre) {
    EXPECT_NE(message_of([&] {
                  parameters.set("speed", "1");
              }).find("this program has dt, steps, walls, view, title"),
              std::string::npos);
}
TEST_F(ParametersTest, AddedAgainItFollowsTheNewVariable) {
    float other = 0.2f;
    parameters.add({"dt", "", &other, 0, 0.5});
    parameters.set("dt", "0.3");
    EXPECT_EQ(other, 0.3f);
    EXPECT_EQ(dt, 0.1f);
}
TEST_F(ParametersTest, AddedAgainAsAnotherKindIsRefused) {
    EXPECT_NE(message_of([&] {
                  parameters.add({"dt", "", &steps, 0, 3});
              }).find("different kinds"),
              std::string::npos);
}
TEST_F(ParametersTest, StartingOutsideItsRangeIsRefused) {
    float value = 3;
    EXPECT_NE(message_of([&] {
                  parameters.add({"x", "", &value, 0, 1});
              }).find("above the maximum"),
              std::string::npos);
}
TEST_F(ParametersTest, AValueSetBeforehandArrivesWhenAdded) {
    float late = 0;
    parameters.set_when_added("late", "0.75");
    parameters.add({"late", "", &late, 0, 1});
    EXPECT_EQ(late, 0.75f);
}
TEST_F(ParametersTest, AValueForNobodyIsReported) {
    parameters.set_when_added("lost", "1");
    EXPECT_NE(message_of([&] {
                  parameters.check_all_known();
              }).find("parameter lost: there is no such parameter"),
              std::string::npos);
}
TEST_F(ParametersTest, ResetGivesTheFirstValues) {
    parameters.set("dt", "0.4");
    parameters.set("view", "speed");
    parameters.reset();
    EXPECT_EQ(dt, 0.1f);
    EXPECT_EQ(view, 0);
}
TEST_F(ParametersTest, PresetIsReadBackToTheSameValues) {
    parameters.set("dt", "0.3");
    parameters.set("title", "\"quoted\"");
    std::string text = preset_text(parameters, "wave");
    parameters.reset();
    apply_preset(parameters, text, "test", "wave");
    EXPECT_EQ(dt, 0.3f);
    EXPECT_EQ(title, "\"quoted\"");
}
TEST_F(ParametersTest, PresetWritesShortNumbers) {
    EXPECT_NE(preset_text(parameters, "wave").find("\"dt\": 0.1,"), std::string::npos);
}
TEST_F(ParametersTest, APresetWithABadValueChangesNothing) {
    EXPECT_NE(message_of([&] {
                  apply_preset(parameters, R"({"dt": 0.2, "steps": 99})", "p.json", "wave");
              }).find("preset p.json: parameter steps"),
              std::string::npos);
    EXPECT_EQ(dt, 0.1f);
}
TEST_F(ParametersTest, APresetWaitsForParametersThatComeLater) {
    apply_preset(parameters, R"({"late": 4, "dt": 0.2})", "p.json", "wave");
    EXPECT_EQ(dt, 0.2f);
    int late = 1;
    parameters.add({.name = "late", .help = "", .variable = &late});
    EXPECT_EQ(late, 4);
    parameters.check_all_known();
}
TEST_F(ParametersTest, APresetWithABadValueLeavesNothingWaiting) {
    EXPECT_NE(message_of([&] {
                  apply_preset(parameters, R"({"late": 4, "steps": 99})", "p.json", "wave");
              }),
              "");
    parameters.check_all_known();
}
TEST_F(ParametersTest, APresetOfAnotherProgramIsNamed) {
    const std::string text = preset_text(parameters, "fluid");
    EXPECT_EQ(message_of([&] { apply_preset(parameters, text, "p.json", "wave"); }),
              "preset p.json: is one of the program \"fluid\", and this is \"wave\"; name one that "
              "this program has saved");
    apply_preset(parameters, text, "p.json", "fluid");
}
TEST_F(ParametersTest, APresetOfALaterVersionIsRefused) {
    EXPECT_NE(message_of([&] {
                  apply_preset(parameters, R"({"firn_preset": 2, "parameters": {}})", "p.json",
                               "wave");
              }).find("preset p.json: is of version 2, and this program reads up to 1"),
              std::string::npos);
}
TEST_F(ParametersTest, AnUnknownNameOfAPresetIsNamed) {
    const auto apply = [&](bool may_come_later) {
        return message_of([&] {
            apply_preset(parameters, R"({"dt": 0.2, "tempo": 4})", "p.json", "wave",
                         may_come_later);
        });
    };
    EXPECT_NE(apply(false).find("preset p.json: parameter tempo: there is no such parameter"),
              std::string::npos);
    EXPECT_EQ(dt, 0.1f);
    EXPECT_EQ(apply(true), "no error");
    EXPECT_NE(message_of([&] { parameters.check_all_known(); }).find("preset p.json: parameter"),
              std::string::npos);
}
TEST_F(ParametersTest, APresetThatIsNoJsonIsRefused) {
    EXPECT_NE(
        message_of([&] { apply_preset(parameters, "dt = 1", "p.json", "wave"); }).find("not JSON"),
        std::string::npos);
}

TEST_F(ParametersTest, AnglesAreDegreesForPeople) {
    more.set("angle", "90");
    EXPECT_FLOAT_EQ(turn, 1.5707963f);
    EXPECT_EQ(text_of(*more.find("angle")), "90");
    EXPECT_EQ(describe(*more.find("angle")), "degrees in [-183.3465, 183.3465]");
    for (float value : {0.1f, -1.2345678f, 3.1f}) {
        turn = value;
        more.set("angle", text_of(*more.find("angle")));
        EXPECT_EQ(turn, value);
    }
    EXPECT_NE(message_of([&] { more.set("angle", "200"); }).find("above the maximum"),
              std::string::npos);
}
TEST_F(ParametersTest, ColoursAreHexOrNumbers) {
    more.set("tint", "#00ff80");
    EXPECT_EQ(colour[1], 1.0f);
    EXPECT_NEAR(colour[2], 0.502f, 1e-3);
    more.set("tint", "0.25, 0,1");
    EXPECT_EQ(text_of(*more.find("tint")), "0.25,0,1");
    for (const char* text : {"#00ff8", "#00ff8g", "#00ff8000", "1,2,0", "1,1", "1,1,1,1", "red"})
        EXPECT_NE(message_of([&] { more.set("tint", text); }).find("a colour such as #ff8000"),
                  std::string::npos)
            << text;
    EXPECT_EQ(colour[0], 0.25f);
}
TEST_F(ParametersTest, VectorsAreReadBackFromPresets) {
    more.set("wind", "0.1,3e10");
    const std::string text = preset_text(more, "wave");
    EXPECT_NE(text.find("0.1,"), std::string::npos) << text;
    more.reset();
    EXPECT_EQ(wind[1], -2);
    apply_preset(more, text, "p.json", "wave");
    EXPECT_EQ(wind[0], 0.1f);
    EXPECT_EQ(wind[1], 3e10f);
}
TEST_F(ParametersTest, AFileMustBeThere) {
    EXPECT_NE(message_of([&] { more.set("file", "/no/such"); }).find("there is no such file"),
              std::string::npos);
    more.set("file", "/proc/version");
    EXPECT_EQ(path, "/proc/version");
    more.set("file", "");
}
TEST_F(ParametersTest, ARangeMayHaveOneEnd) {
    EXPECT_EQ(describe(*more.find("size")), "a number of at least 0");
    more.set("size", "1e30");
    EXPECT_NE(message_of([&] { more.set("size", "-1"); }).find("below the minimum"),
              std::string::npos);
}
TEST_F(ParametersTest, ASliderGoesNoFurtherThanTheRange) {
    Parameter far{.name = "far", .variable = &dt, .low = 0, .high = 1};
    far.soft_low = 0, far.soft_high = 2;
    EXPECT_NE(message_of([&] { more.add(far); }).find("soft limits are outside of its range"),
              std::string::npos);
    far.low = 2, far.soft_high = 0;
    EXPECT_NE(message_of([&] { more.add(far); }).find("swap them"), std::string::npos);
}
TEST_F(ParametersTest, WhatIsSetFromOutsideIsTouchedOnce) {
    EXPECT_FALSE(parameters.take_touched("dt"));
    parameters.set("dt", "0.2");
    EXPECT_TRUE(parameters.take_touched("dt"));
    EXPECT_FALSE(parameters.take_touched("dt"));
}
TEST_F(ParametersTest, TheCommandLineHasWhatDiffers) {
    EXPECT_EQ(command_line_of(parameters, "wave"), "wave");
    parameters.set("dt", "0.25");
    parameters.set("title", "it's here");
    EXPECT_EQ(command_line_of(parameters, "wave"),
              "wave --set dt=0.25 --set 'title=it'\\''s here'");
}

}  // namespace
}  // namespace firn
