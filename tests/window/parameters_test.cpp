// The parameter registry: setting by text, ranges, messages, presets.
#include "engine/window/parameters.h"

#include <gtest/gtest.h>

#include <functional>

#include "compiler/program/error.h"

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
        parameters.add({"dt", "time step", &dt, 0, 0.5});
        parameters.add({"steps", "", &steps, 1, 8});
        parameters.add({.name = "walls", .variable = &walls});
        parameters.add({.name = "view", .variable = ChoiceVariable{&view, {"dye", "speed"}}});
        parameters.add({.name = "title", .variable = &title});
    }
    float dt = 0.1f;
    int steps = 2, view = 0;
    bool walls = false;
    std::string title = "a";
    Parameters parameters;
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
              "parameter dt: cannot be set to '0.6', which is outside its range; it takes a number "
              "in [0, 0.5]");
    EXPECT_EQ(dt, 0.1f);
}
TEST_F(ParametersTest, TrailingTextIsNoNumber) {
    EXPECT_NE(message_of([&] { parameters.set("steps", "3x"); }).find("which is not such a number"),
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
              }).find("outside its range"),
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
    EXPECT_NE(
        message_of([&] { parameters.check_all_known(); }).find("parameter lost: there is none"),
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
    std::string text = preset_text(parameters);
    parameters.reset();
    apply_preset(parameters, text, "test");
    EXPECT_EQ(dt, 0.3f);
    EXPECT_EQ(title, "\"quoted\"");
}
TEST_F(ParametersTest, PresetWritesShortNumbers) {
    EXPECT_NE(preset_text(parameters).find("\"dt\": 0.1,"), std::string::npos);
}
TEST_F(ParametersTest, APresetWithABadValueChangesNothing) {
    EXPECT_NE(message_of([&] {
                  apply_preset(parameters, R"({"dt": 0.2, "steps": 99})", "p.json");
              }).find("preset p.json: parameter steps"),
              std::string::npos);
    EXPECT_EQ(dt, 0.1f);
}
TEST_F(ParametersTest, APresetWaitsForParametersThatComeLater) {
    apply_preset(parameters, R"({"late": 4, "dt": 0.2})", "p.json");
    EXPECT_EQ(dt, 0.2f);
    int late = 1;
    parameters.add({.name = "late", .help = "", .variable = &late});
    EXPECT_EQ(late, 4);
    parameters.check_all_known();
}
TEST_F(ParametersTest, APresetWithABadValueLeavesNothingWaiting) {
    EXPECT_NE(
        message_of([&] { apply_preset(parameters, R"({"late": 4, "steps": 99})", "p.json"); }), "");
    parameters.check_all_known();
}
TEST_F(ParametersTest, APresetThatIsNoJsonIsRefused) {
    EXPECT_NE(message_of([&] { apply_preset(parameters, "dt = 1", "p.json"); }).find("not JSON"),
              std::string::npos);
}

}  // namespace
}  // namespace firn
