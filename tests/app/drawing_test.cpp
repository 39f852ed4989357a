// Drawings of tensors: what they take, and that they show it, by a window without a screen.
#include "engine/firn/drawing.h"

#include <firn/firn.h>
#include <gtest/gtest.h>

#include "compiler/program/error.h"

namespace firn {
namespace {

class Drawings : public testing::Test {
  protected:
    /// 40 x 40 pixels as bytes.
    static std::vector<uint8_t> seen(const Drawing& drawing) {
        Window window({.size = {40, 40}, .headless = true});
        EXPECT_TRUE(window.open());
        window.show(drawing);
        return window.picture().rgba;
    }
    static std::string refusal(const Drawing& drawing) {
        try {
            seen(drawing);
        } catch (const UserError& error) {
            return error.what();
        }
        return "drawn";
    }
    static Tensor places() { return tensor({0.25f, 0.5f, 0.75f, 0.5f}, {2, 2}); }
    std::vector<uint8_t> plain = seen(Drawing().points(places(), {.size = 8}));
    std::vector<uint8_t> nothing = seen(Drawing());
};

TEST_F(Drawings, ShowsWhatIsOnlyComputedForIt) {
    EXPECT_NE(plain, nothing);
    EXPECT_EQ(seen(Drawing().points(places() * 2.0f - places(), {.size = 8})), plain);
}
TEST_F(Drawings, TakesVectorsGridsAndOtherTypes) {
    const vec2 v(tensor({0.25f, 0.75f}), tensor({0.5f, 0.5f}));
    EXPECT_EQ(seen(Drawing().points(v, {.size = 8})), plain);
    const DrawNumber sizes = full({1, 2}, 8);  // integers
    EXPECT_EQ(seen(Drawing().points(reshape(places(), {1, 2, 2}), {.size = sizes})), plain);
    EXPECT_EQ(seen(Drawing().points(places().as(f16), {.size = 8})), plain);
}
TEST_F(Drawings, TakesOneColourOrOneForEach) {
    const std::vector<uint8_t> one = seen(Drawing().points(places(), {.colour = {1, 0, 0}}));
    const Tensor each = tensor({1.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f}, {2, 3});
    EXPECT_EQ(seen(Drawing().points(places(), {.colour = each})), one);
    const vec3 reds(ones({2}), zeros({2}), zeros({2}));
    EXPECT_EQ(seen(Drawing().points(places(), {.colour = reds})), one);
    App app({.name = "drawings", .help = "A program."});
    Param<Colour> red{app, "red", {1, 0, 0}};
    EXPECT_EQ(seen(Drawing().points(places(), {.colour = red})), one);
}
TEST_F(Drawings, OfAnInterpretersSessionAreTheSame) {
    SessionScope scope{Session::interpreter()};
    EXPECT_EQ(seen(Drawing().points(places(), {.size = 8})), plain);
}
TEST_F(Drawings, ThatDoNotFitAreRefusedWithTheirLine) {
    const std::string message = refusal(Drawing().points(zeros({4, 5})));
    EXPECT_NE(message.find("draw points: places are a tensor f32[4, 5]"), std::string::npos);
    EXPECT_NE(message.find("drawing_test.cpp:"), std::string::npos) << message;
}
TEST_F(Drawings, WithoutElementsShowNothing) {
    EXPECT_EQ(seen(Drawing().points(zeros({0, 2}))), nothing);
    EXPECT_EQ(seen(Drawing().path(zeros({1, 2}))), nothing);
}

}  // namespace
}  // namespace firn
