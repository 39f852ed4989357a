// Params as values: on the host, in tensor code, and as arguments of compiled functions.
#include <firn/firn.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/base/error.h"
#include "engine/window/widgets.h"

namespace firn {
namespace {

enum class View : uint8_t { Dye, Speed };

class Params : public testing::Test {
  protected:
    std::string message_of(const Callback<void()>& action) {
        try {
            action();
        } catch (const UserError& error) {
            return error.what();
        }
        return "no error";
    }
    std::string text(const std::string& name) {
        return text_of(*app.gui().parameters().find(name));
    }
    void set(const std::string& name, const std::string& value) {
        app.gui().parameters().set(name, value);
    }
    App app{{.name = "params", .help = "A program."}};
    SessionScope scope{Session::interpreter()};
};

TEST_F(Params, ReadAsTheirValues) {
    Param<float> dt{app, "dt", 0.25f, {.min = 0, .max = 1}};
    Param<int> steps{app, "steps", 4};
    Param<bool> on{app, "on", true};
    Param<std::string> title{app, "title", "ink"};
    Param<Angle> turn{app, "turn", 0.5f};
    Param<View> view{app, "view", View::Speed, {"dye", "speed"}};
    Param<OneOf> rule{app, "rule", 1, {"life", "maze"}};
    const float v = dt;
    EXPECT_EQ(v, 0.25f);
    EXPECT_EQ(dt * 2.0f, 0.5f);
    EXPECT_LT(dt, 0.3f);
    EXPECT_EQ(steps + 1, 5);
    EXPECT_TRUE(on);
    EXPECT_EQ(std::string(title), "ink");
    EXPECT_EQ(turn + 0.5f, 1.0f);
    EXPECT_EQ(view, View::Speed);
    EXPECT_EQ(rule, 1);
    set("view", "dye");
    EXPECT_EQ(view, View::Dye);
    EXPECT_TRUE(view.changed());
    EXPECT_FALSE(view.changed());
}
TEST_F(Params, AreNumbersOfTensorCode) {
    Param<float> scale{app, "scale", 2.0f};
    Param<int> at{app, "at", 1};
    const Tensor x = arange(3).as(f32);
    EXPECT_EQ((x * scale + at).to_vector<float>(), (std::vector<float>{1, 3, 5}));
    EXPECT_EQ((scale - x).to_vector<float>(), (std::vector<float>{2, 1, 0}));
    EXPECT_EQ(x(at).item<float>(), 1.0f);
    EXPECT_EQ(min(x, at).to_vector<float>(), (std::vector<float>{0, 1, 1}));
    const Tensor scalar = scale;
    EXPECT_EQ(scalar.dtype(), f32);
    Tensor y = x;
    y *= scale;
    EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0, 2, 4}));
}
TEST_F(Params, AreArgumentsThatCompileNothing) {
    Param<float> dt{app, "dt", 0.5f};
    Param<vec3> wind{app, "wind", {1, 2, 3}};
    auto step = compile([](Tensor x, Tensor dt) { return x + dt; }, {f32("n"), f32()});
    auto length =
        compile([](vec3 v, Tensor x) { return x * dot(v, v); }, {f32(), f32(), f32(), f32("n")});
    const Tensor x = ones({4});
    EXPECT_EQ(step(x, dt).to_vector<float>()[0], 1.5f);
    step.finish_compiling();
    const size_t programs = step.variant_count();
    set("dt", "0.75");
    EXPECT_EQ(step(x, dt).to_vector<float>()[0], 1.75f);
    EXPECT_EQ(step.variant_count(), programs);
    EXPECT_EQ(length(wind, x).to_vector<float>()[0], 14.0f);
    const vec3 twice = vec3(wind) * 2.0f;
    EXPECT_EQ(twice.z.item<float>(), 6.0f);
    EXPECT_EQ(wind[1], 2.0f);
}
TEST_F(Params, AreWrittenByTheProgramWithinTheirLimits) {
    Param<float> zoom{app, "zoom", 1.0f, {.min = 0, .max = 4}};
    Param<Colour> tint{app, "tint", {1, 0.5f, 0}};
    zoom += 2.5f;
    EXPECT_EQ(zoom, 3.5f);
    EXPECT_FALSE(zoom.changed());
    zoom = 9.0f;
    EXPECT_EQ(zoom, 4.0f);
    zoom -= 100.0f;
    EXPECT_EQ(text("zoom"), "0");
    tint = {0, 0, 1};
    EXPECT_EQ(text("tint"), "0,0,1");
}
TEST_F(Params, ComponentsStayWithinTheLimits) {
    Param<vec2> place{app, "place", {0, 0}, {.min = -1, .max = 1}};
    Param<vec4> low{app, "low", {1, 2, 3, 4}, {.min = 1}};
    Param<Colour> tint{app, "tint", {0, 0, 0}, {.min = 0, .max = 0.5}};
    place = {5, -7};
    EXPECT_EQ(place.value(), (std::array<float, 2>{1, -1}));
    place = {0.25f, 2};
    EXPECT_EQ(place.value(), (std::array<float, 2>{0.25f, 1}));
    low = {0, -1, 100, 1};
    EXPECT_EQ(low.value(), (std::array<float, 4>{1, 1, 100, 1}));
    tint = {2, -1, 0.25f};
    EXPECT_EQ(tint.value(), (std::array<float, 3>{0.5f, 0, 0.25f}));
    set("place", text("place"));  // what the panel and a preset take
}
TEST_F(Params, CopiesAreTheSameAndOutliveTheScope) {
    Param<float> dt{app, "dt", 0.5f};
    Param<float> copy = dt;
    copy = 0.75f;
    EXPECT_EQ(dt, 0.75f);
    { Param<float> gone{app, "gone", 2.0f}; }
    set("gone", "3");
    EXPECT_EQ(text("gone"), "3");
    Param<float> anew{app, "gone", 4.0f};  // its name is free again
    set("gone", "5");
    EXPECT_EQ(anew, 5.0f);
}
TEST_F(Params, OfOneNameAreOne) {
    Param<float> dt{app, "dt", 0.5f};
    EXPECT_NE(message_of([&] {
                  Param<float> again(app, "dt", 0.25f);
              }).find("parameter dt: there is one of this name already"),
              std::string::npos);
    Param<Button> splash{app, "splash"};
    EXPECT_NE(message_of([&] {
                  Param<float> clash(app, "splash", 0.25f);
              }).find("two different widgets are named 'splash'"),
              std::string::npos);
    EXPECT_EQ(app.gui().parameters()->all().size(), 1u);
}
TEST_F(Params, AButtonIsPressedOnce) {
    Param<Button> splash{app, "splash", {.label = "Splash!"}};
    EXPECT_FALSE(splash.pressed());
    app.gui().widgets().get(Widget::Kind::Button, "splash").presses = 1;
    EXPECT_TRUE(splash.pressed());
    EXPECT_FALSE(splash.pressed());
    EXPECT_TRUE(app.gui().parameters()->all().empty());
}
TEST_F(Params, OutsideTheirLimitsAreRefused) {
    EXPECT_NE(
        message_of([&] { Param<float> dt(app, "dt", 2.0f, {.max = 1}); })
            .find("parameter dt: cannot be set to '2', which is above the maximum; it takes a "
                  "number of at most 1"),
        std::string::npos);
    EXPECT_EQ(app.gui().find("dt"), nullptr);  // nor is there a line of the panel
    Param<float> dt{app, "dt", 0.5f, {.max = 1, .unit = "m2/s"}};  // the name is still free
    EXPECT_NE(message_of([&] { set("dt", "3"); }).find("a number of at most 1 m2/s"),
              std::string::npos);
}
TEST_F(Params, BindVariablesOfStructs) {
    struct Settings {
        float dt = 0.1f;
        int view = 0;
    } settings;
    Gui& gui = app.gui();
    EXPECT_FALSE(gui.parameter("dt", settings.dt, {.min = 0, .max = 1}));
    gui.parameter("view", settings.view, {"dye", "speed"}, {.group = "Picture"});
    set("view", "speed");
    EXPECT_EQ(settings.view, 1);
    EXPECT_TRUE(gui.changed("view"));
}

}  // namespace
}  // namespace firn
