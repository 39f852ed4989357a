// Drawings of tensors: what they take, and that they show it, by a window without a screen.
#include "engine/firn/drawing.h"

#include <firn/files.h>
#include <firn/firn.h>
#include <firn/shading.h>
#include <gtest/gtest.h>

#include "compiler/base/error.h"
#include "engine/firn/frame_numbers.h"

namespace firn {
namespace {

class Drawings : public testing::Test {
  protected:
    /// Pixels of a square as bytes.
    static std::vector<uint8_t> seen(const Drawing& drawing, int side = 40) {
        Window window({.size = {side, side}, .headless = true});
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
TEST_F(Drawings, HaveAxesAndCountDownwardsWhereTheyAreAsked) {
    const auto at = [](float y) {
        return Drawing().points(tensor({0.5f, y}, {1, 2}), {.size = 8});
    };
    EXPECT_NE(seen(at(0.25f).axes(), 300), seen(at(0.25f), 300));
    EXPECT_EQ(seen(at(0.25f).axes()), seen(at(0.25f))) << "which is too small for them";
    EXPECT_NE(seen(at(0.25f)), seen(at(0.75f)));
    EXPECT_EQ(seen(at(0.25f).y_down()), seen(at(0.75f)));
    EXPECT_EQ(seen(at(0.25f).y_down(false)), seen(at(0.25f)));
}

TEST_F(Drawings, OfANamedMapTakesItsOptions) {
    const Tensor x = reshape(arange(1600).as(f32), {40, 40});
    const ShowOptions wanted{
        .colormap = colormap::viridis, .range = {}, .colour_bar = true, .label = "m"};
    const MapOptions options{.colour_bar = true, .label = "m"};
    const auto shown = [&](const auto& show) {
        Window window({.size = {300, 200}, .headless = true});
        EXPECT_TRUE(window.open());
        show(window);
        return window.picture().rgba;
    };
    const auto expected = shown([&](Window& w) { w.show(x, wanted); });
    EXPECT_EQ(shown([&](Window& w) { w.show(x, colormap::viridis, options); }), expected);
    EXPECT_EQ(
        shown([&](Window& w) { w.show(x, colormap::viridis, {.colour_bar = true, .label = "m"}); }),
        expected);
    EXPECT_EQ(
        shown([&](Window& w) {
            w.show(Drawing().picture(x, colormap::viridis, {.colour_bar = true, .label = "m"}));
        }),
        expected);
    EXPECT_EQ(shown([&](Window& w) {
                  w.show_grid({{x, colormap::viridis, {.colour_bar = true, .label = "m"}}});
              }),
              expected);
    // A range in its place is still one.
    EXPECT_EQ(shown([&](Window& w) {
                  w.show(x, colormap::viridis, {0, 9});
              }),
              shown([&](Window& w) {
                  w.show(x, colormap::viridis, {.range = {{0, 9}}});
              }));
}
TEST_F(Drawings, HaveOneContrastInEveryForm) {
    auto wave = compile([](Tensor u) { return 3.0f + 2.0f * u; }, {f32("n", "m")});
    const Tensor x = wave(reshape(arange(1600).as(f32), {40, 40}));
    const auto shown = [&](const auto& show) {
        Window window({.size = {80, 80}, .headless = true});
        EXPECT_TRUE(window.open());
        show(window);
        return window.picture().rgba;
    };
    const ShowOptions named{.colormap = colormap::magma};
    const auto expected = shown([&](Window& w) {
        w.show(x, {.colormap = colormap::magma, .range = {3, 2 * 1599 + 3}});
    });
    EXPECT_EQ(shown([&](Window& w) { w.show(x, colormap::magma); }), expected);
    EXPECT_EQ(shown([&](Window& w) { w.show(x, named); }), expected);
    EXPECT_EQ(shown([&](Window& w) { w.show(x, colormap::magma, {.smooth = true}); }), expected);
    EXPECT_EQ(shown([&](Window& w) { w.show(Drawing(x, named)); }), expected);
    EXPECT_EQ(shown([&](Window& w) { w.show(Drawing().picture(x, named)); }), expected);
    EXPECT_EQ(shown([&](Window& w) { w.show(Drawing().picture(x, colormap::magma)); }), expected);
    EXPECT_EQ(shown([&](Window& w) { w.show(Drawing().overlay(x, named)); }), expected);
    EXPECT_EQ(shown([&](Window& w) { w.show_grid({{x, colormap::magma}}); }), expected);
    EXPECT_EQ(shown([&](Window& w) { w.show_grid({{x, named}}); }), expected);
    // A stated range is used unchanged.
    const auto stated = shown([&](Window& w) { w.show(x, colormap::magma, {0, 1}); });
    EXPECT_NE(stated, expected);
    EXPECT_EQ(shown([&](Window& w) {
                  w.show(x, {.colormap = colormap::magma, .range = {0, 1}});
              }),
              stated);
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
TEST_F(Drawings, TakeTextAtPlacesFromTensorsAndTheHost) {
    const Tensor place = tensor({0.5f, 0.25f}, {1, 2});
    const std::vector<uint8_t> label = seen(Drawing().text(place, {"7"}));
    EXPECT_NE(label, nothing);
    EXPECT_EQ(seen(Drawing().text({0.5f, 0.25f}, "7")), label);
    EXPECT_EQ(seen(Drawing().numbers(place, full({1}, 7))), label);
    const Tensor values = tensor({1.0f, 2.0f}, {2});
    const std::vector<uint8_t> two = seen(Drawing().numbers(places(), values));
    EXPECT_EQ(seen(Drawing().numbers(reshape(places(), {1, 2, 2}), reshape(values, {1, 2}))), two);
    EXPECT_EQ(seen(Drawing().text(places(), {"1", "2"})), two);
    EXPECT_EQ(refusal(Drawing().text(places(), {"1"})).find("draw text: 1 labels for 2 places"), 0);
}
TEST_F(Drawings, ArePicturesWithWhatLiesOverAndBesideThem) {
    const Tensor x = tensor({0.0f, 1.0f, 1.0f, 0.0f}, {2, 2});
    const ShowOptions halves{.colormap = colormap::magma, .opacity = 0.5f};
    EXPECT_EQ(seen(Drawing(x, halves)), seen(Drawing().overlay(x, halves)));
    EXPECT_NE(seen(Drawing(x, halves)), seen(Drawing(x, colormap::magma)));
    Window window({.size = {300, 150}, .headless = true});
    const auto shown = [&](const std::vector<Drawing>& views) {
        EXPECT_TRUE(window.open());
        window.show_grid(views);
        return window.picture().rgba;
    };
    const std::vector<uint8_t> two = shown({{x, colormap::magma}, Drawing().points(places())});
    EXPECT_NE(two, shown({{x, colormap::magma}, {x, colormap::viridis}}));
    EXPECT_NE(two, shown({{x, colormap::magma}, Drawing().points(places()).caption("points")}));
    const Drawing bar = Drawing().points(places()).colour_bar(colormap::turbo, {0, 1}, "m");
    EXPECT_NE(shown({bar}), shown({Drawing().points(places())}));
    EXPECT_NE(shown({}), shown({x}));
    EXPECT_NE(refusal(Drawing(zeros({2, 2, 3}), {.colour_bar = true})).find("show one channel"),
              std::string::npos);
}
TEST_F(Drawings, SaveTheNumbersOfTheirPictures) {
    Window window({.size = {40, 40}, .headless = true});
    EXPECT_TRUE(window.open());
    window.show(tensor({0.5f, -2.0f, 7.0f}, {1, 3}), colormap::magma);
    const std::string path = testing::TempDir() + "/firn_picture_numbers";
    write_view(path + ".npy", window, window.shown());
    EXPECT_EQ(load_npy(path + ".npy").to_vector<float>(), (std::vector<float>{0.5f, -2, 7}));
    write_view(path + ".exr", window, window.shown());
    const Tensor light = load_image(path + ".exr", {.linear = true});
    EXPECT_EQ(light(0, 2, 1).item<float>(), 7);
}
TEST_F(Drawings, OfAnInterpretersSessionAreTheSame) {
    const std::vector<uint8_t> two = seen(Drawing().numbers(places(), full({2}, 3)));
    SessionScope scope{Session::interpreter()};
    EXPECT_EQ(seen(Drawing().points(places(), {.size = 8})), plain);
    EXPECT_EQ(seen(Drawing().numbers(places(), full({2}, 3))), two);
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

TEST(Maps, AreThoseOfTheTensorFunctions) {
    const Tensor t = reshape(arange(32).as(f32), {1, 32}) / 31.0f;
    const auto bytes = [](const auto& show) {
        Window window({.size = {32, 1}, .headless = true});
        EXPECT_TRUE(window.open());
        show(window);
        return window.picture().rgba;
    };
    const std::pair<Colormap, vec3> maps[] = {{colormap::viridis, viridis(t)},
                                              {colormap::magma, magma(t)},
                                              {colormap::inferno, inferno(t)},
                                              {colormap::plasma, plasma(t)},
                                              {colormap::turbo, turbo(t)}};
    for (const auto& [map, colours] : maps) {
        const auto one = bytes([&](Window& window) { window.show(t, map, {0, 1}); });
        const auto other = bytes([&](Window& window) { window.show(stack(colours)); });
        for (size_t k = 0; k < one.size(); ++k)
            EXPECT_NEAR(one[k], other[k], 1) << int(map) << ", " << k / 4;
    }
}

}  // namespace
}  // namespace firn
