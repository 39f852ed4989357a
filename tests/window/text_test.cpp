// Text in drawings, pixel by pixel; validation must stay silent.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/window/drawing_fixture.h"

namespace firn {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

class TextTest : public ShapesTest {
  protected:
    Picture drawn(const DrawScene& scene, float scale = 1) {
        return ShapesTest::drawn({scene}, {.size = {200, 100}, .scale = scale});
    }
    /// Pixels of a window of 200 x 100 are its units, y down.
    Picture drawn(const DrawLayer& layer, float scale = 1) {
        return drawn(DrawScene{.layers = {layer}, .limits = DrawLimits{0, 200, 100, 0}}, scale);
    }
    DrawLayer label(const std::string& text, const std::vector<float>& place = {100, 50}) {
        DrawLayer layer;
        layer.shape = DrawShape::Text;
        layer.places = view(place, {1, int64_t(place.size())});
        layer.size = 20;
        layer.text.labels = {text};
        return layer;
    }
    DrawLayer number(float value, int decimals = -1) {
        DrawLayer layer = label("");
        layer.shape = DrawShape::Numbers;
        layer.values = view({value}, {1});
        layer.text.decimals = decimals;
        return layer;
    }
    std::string refusal(const DrawLayer& layer) {
        try {
            drawn(layer);
        } catch (const UserError& error) {
            return error.what();
        }
        return "drawn";
    }
};

TEST_F(TextTest, ALabelLiesAroundItsPlace) {
    const Box box = bright_box(drawn(label("HHH")));
    EXPECT_NEAR(box.left + box.right, 199, 4);
    EXPECT_NEAR(box.top + box.bottom, 99, 4);
    EXPECT_NEAR(box.height(), 0.6 * 20, 2);  // a capital letter of a line of 20 pixels
    EXPECT_GT(box.width(), 2 * box.height());
}
TEST_F(TextTest, AlignAndShiftMoveIt) {
    DrawLayer layer = label("HHH");
    layer.text.align = {0, 0.5f};
    layer.text.shift = {7, 0};
    Box box = bright_box(drawn(layer));
    EXPECT_NEAR(box.left, 109, 2);
    layer.text.align = {1, 1};
    layer.text.shift = {0, -10};
    box = bright_box(drawn(layer));
    EXPECT_NEAR(box.right, 98, 2);
    EXPECT_LT(box.bottom, 40);
    EXPECT_GT(box.bottom, 28);
}
TEST_F(TextTest, LinesAreBelowOneAnotherAndAccentsAndGreekAreThere) {
    const Box one = bright_box(drawn(label("HH"))), two = bright_box(drawn(label("HH\nHH")));
    EXPECT_EQ(two.count, 2 * one.count);
    EXPECT_EQ(two.height() - one.height(), 20);
    EXPECT_GT(bright_box(drawn(label("é"))).count, bright_box(drawn(label("e"))).count);
    EXPECT_NE(drawn(label("α")).rgba, drawn(label("?")).rgba);
}
TEST_F(TextTest, SizesAreOfTheScreensUnits) {
    const Box one = bright_box(drawn(label("H"))), two = bright_box(drawn(label("H"), 2));
    EXPECT_NEAR(two.height(), 2 * one.height(), 2);
    EXPECT_GT(two.top, 60);  // the middle of 400 x 200 pixels
}
TEST_F(TextTest, LargerThanAnAtlasItIsStretched) {
    DrawLayer layer = label("H");
    layer.size = 96;
    const int height = bright_box(drawn(layer)).height();
    layer.size = 136;
    EXPECT_NEAR(bright_box(drawn(layer)).height(), height * 136 / 96.0, 2);
}
struct NumberText {
    float value;
    int decimals;
    const char* text;
};
const NumberText kNumberTexts[] = {{0, -1, "0"},
                                   {-0.0f, -1, "0"},
                                   {7, -1, "7"},
                                   {10, -1, "10"},
                                   {-2.5f, -1, "-2.5"},
                                   {0.1f, -1, "0.1"},
                                   {0.3f, -1, "0.3"},
                                   {3.14159265f, -1, "3.14159"},
                                   {99.99999f, -1, "100"},
                                   {123456, -1, "123456"},
                                   {9876543, -1, "9876543"},
                                   {1e7f, -1, "1e7"},
                                   {-1.25e10f, -1, "-1.25e10"},
                                   {0.00012f, -1, "0.00012"},
                                   {2e-9f, -1, "2e-9"},
                                   {3.4e38f, -1, "3.4e38"},
                                   {3.14159265f, 2, "3.14"},
                                   {2, 2, "2.00"},
                                   {-0.996f, 2, "-1.00"},
                                   {-0.001f, 2, "0.00"},
                                   {0.06f, 1, "0.1"},
                                   {1234.6f, 0, "1235"},
                                   {2e9f, 1, "2.0e9"},
                                   {NAN, -1, "nan"},
                                   {kInf, 3, "inf"},
                                   {-kInf, -1, "-inf"}};

TEST_F(TextTest, NumbersAreWrittenAsTextIs) {
    for (float align : {0.0f, 0.5f, 1.0f}) {
        Picture numbers, texts;
        for (Picture* picture : {&numbers, &texts}) {
            DrawScene scene{.limits = DrawLimits{0, 200, 26 * 20, 0}};
            for (const NumberText& each : kNumberTexts) {
                DrawLayer& layer = scene.layers.emplace_back(
                    picture == &texts ? label(each.text) : number(each.value, each.decimals));
                const float row = 20 * static_cast<float>(scene.layers.size()) - 10;
                layer.places = view({100, row}, {1, 2});
                layer.text.align[0] = align;
            }
            *picture = ShapesTest::drawn({scene}, {.size = {200, 26 * 20}});
        }
        for (size_t k = 0; k < std::size(kNumberTexts); ++k) {
            int apart = 0;
            for (size_t at = k * 200 * 20 * 4; at < (k + 1) * 200 * 20 * 4; ++at)
                apart = std::max(apart, std::abs(numbers.rgba[at] - texts.rgba[at]));
            EXPECT_LE(apart, 2) << kNumberTexts[k].text << " at " << align;
        }
    }
}
TEST_F(TextTest, EveryLabelHasItsColourAndItsPlaceAndOneThatIsNotFiniteIsLeftOut) {
    DrawLayer layer = label("H");
    layer.places = view({50, 50, 150, 50, NAN, 50}, {3, 2});
    layer.text.labels = {"H", "H", "H"};
    layer.colours = view({1, 0, 0, 0, 1, 0, 1, 0, 0}, {3, 3});
    const Picture p = drawn(layer);
    const Box red = bright_box(p);
    EXPECT_NEAR(red.left + red.right, 99, 4);  // the green one has no red
    layer.colours = view({1, 0, 0, 1, 0, 0, 1, 0, 0}, {3, 3});
    EXPECT_EQ(bright_box(drawn(layer)).count, 2 * red.count);
}
TEST_F(TextTest, AHaloKeepsItLegibleOnItsOwnColour) {
    DrawScene scene{.picture = view({1, 1, 1, 1}, {1, 4}), .layers = {label("H", {2, 0.5f})}};
    const auto darkest = [&] {
        const Picture p = drawn(scene);
        int least = 255;  // of the picture, around the middle
        for (int y = 40; y < 60; ++y)
            for (int x = 90; x < 110; ++x)
                least = std::min<int>(least, p.rgba[4 * static_cast<size_t>(y * 200 + x)]);
        return least;
    };
    EXPECT_LT(darkest(), 100);
    scene.layers[0].text.halo = false;
    EXPECT_EQ(darkest(), 255);
}
TEST_F(TextTest, InSpaceShapesHideItUnlessItIsOnTop) {
    DrawLayer ball;  // between the camera and the label
    ball.places = view({0, 0, 0}, {1, 3});
    ball.colour = {0, 0, 0, 1};
    ball.size = 90;
    for (const bool text_first : {true, false}) {
        DrawScene scene;
        scene.camera = {.distance = 2, .yaw = 0, .pitch = 0};
        DrawLayer text = label("H", {0, 0, -1});
        const auto seen = [&](bool on_top) {
            text.text.on_top = on_top;
            scene.layers = text_first ? std::vector{text, ball} : std::vector{ball, text};
            return bright_box(drawn(scene)).count;
        };
        EXPECT_GT(seen(true), 20);
        EXPECT_EQ(seen(false), 0);
        text.places = view({0, 0, 1}, {1, 3});  // before the ball
        EXPECT_GT(seen(false), 20);
        text.places = view({0, 0, 3}, {1, 3});  // behind the camera
        EXPECT_EQ(seen(true), 0);
    }
}
TEST_F(TextTest, WhatDoesNotFitIsRefusedWithWhatWould) {
    DrawLayer layer = label("a");
    layer.text.labels = {"a", "b"};
    EXPECT_EQ(refusal(layer), "draw text: 2 labels for 1 places; give one for each");
    layer = label("a");
    layer.size = 0;
    EXPECT_NE(refusal(layer).find("give a size above 0"), std::string::npos);
    layer = number(1, 7);
    EXPECT_NE(refusal(layer).find("give 6 at the most"), std::string::npos);
    layer.values = view({1, 2}, {2});
    EXPECT_EQ(refusal(layer), "draw numbers: values are a tensor f32[2]; give [1]");
    layer = label("a");
    layer.sizes = view({1}, {1});
    EXPECT_NE(refusal(layer).find("give one number for all"), std::string::npos);
}

}  // namespace
}  // namespace firn
