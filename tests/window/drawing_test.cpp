// Shapes from memory, pixel by pixel, headless and in a real window; validation must stay silent.
#include <cmath>
#include <limits>

#include "engine/window/camera.h"
#include "engine/window/placement.h"
#include "tests/window/drawing_fixture.h"
#include "tests/window/window_fixture.h"

namespace firn {
namespace {

class DrawingTest : public ShapesTest {
  protected:
    /// 40 x 40 pixels; without limits a pixel is 0.025.
    Picture drawn(const DrawScene& scene, float scale = 1) {
        return ShapesTest::drawn({scene},
                                 {.size = {int(40 / scale), int(40 / scale)}, .scale = scale});
    }
    Picture drawn(const DrawLayer& layer) { return drawn(DrawScene{.layers = {layer}}); }
    std::string refusal(const DrawLayer& layer) {
        try {
            drawn(layer);
        } catch (const UserError& error) {
            return error.what();
        }
        return "drawn";
    }
    DrawLayer points(const Numbers& values, int64_t dimensions = 2) {
        DrawLayer layer;
        layer.places = view(values, {int64_t(values.size()) / dimensions, dimensions});
        layer.colour = {1, 0, 0, 1};
        layer.size = 8;
        return layer;
    }
    DrawLayer lines(const Numbers& values, std::vector<int64_t> shape) {
        DrawLayer layer = points(values);
        layer.shape = DrawShape::Lines;
        layer.places.shape = std::move(shape);
        layer.size = 4;
        return layer;
    }
    /// Looks along -z; at distance 1 the frame is 2 units high.
    static DrawCamera straight() {
        return {.distance = 1, .yaw = 0, .pitch = 0, .field_of_view = 1.5707963f};
    }
};

TEST_F(DrawingTest, APointIsADiscOfItsDiameterAtItsPlace) {
    Picture p = drawn(points({0.25f, 0.75f}));  // x to the right, y up
    EXPECT_EQ(pixel_of(p, 10, 10), kRed);
    EXPECT_EQ(pixel_of(p, 7, 10), kRed);
    EXPECT_EQ(pixel_of(p, 4, 10), kBack);
    EXPECT_EQ(pixel_of(p, 10, 15), kBack);
    EXPECT_EQ(pixel_of(p, 13, 13), kBack);  // the corner of the square around it
    EXPECT_EQ(pixel_of(p, 10, 30), kBack);
}
TEST_F(DrawingTest, SizesAreOfTheScreensUnits) {
    Picture p = drawn(DrawScene{.layers = {points({0.5f, 0.5f})}}, 2);
    EXPECT_EQ(pixel_of(p, 14, 20), kRed);
    EXPECT_EQ(pixel_of(p, 11, 20), kBack);
}
TEST_F(DrawingTest, ASmallPointIsAsBrightAsItsArea) {
    DrawLayer layer = points({0.5125f, 0.5125f});  // the middle of a pixel
    layer.size = 0.5f;
    Picture p = drawn(layer);
    int sum = 0;
    for (int y = 17; y < 24; ++y)
        for (int x = 17; x < 24; ++x) sum += pixel_of(p, x, y)[0] - kBack[0];
    EXPECT_NEAR(sum, 255 * 0.196, 25);
}
TEST_F(DrawingTest, EveryPointHasItsOwnColourAndSize) {
    DrawLayer layer = points({0.25f, 0.5f, 0.75f, 0.5f});
    layer.colours = view({0, 1, 0, 1, 1, 1, 1, 0}, {2, 4});
    layer.sizes = view({16, 8}, {2});
    Picture p = drawn(layer);
    EXPECT_EQ(pixel_of(p, 10, 13), kGreen);
    EXPECT_EQ(pixel_of(p, 30, 20), kBack);  // its alpha is 0
}
TEST_F(DrawingTest, UnitsAndLimitsAreThoseOfTheDrawing) {
    DrawScene scene{.layers = {points({0, 5})}, .limits = DrawLimits{-10, 10, -10, 10}};
    scene.layers[0].in_units = true;
    scene.layers[0].size = 4;  // a radius of 8 pixels
    Picture p = drawn(scene);
    EXPECT_EQ(pixel_of(p, 20, 3), kRed);
    EXPECT_EQ(pixel_of(p, 20, 16), kRed);
    EXPECT_EQ(pixel_of(p, 20, 20), kBack);
}
TEST_F(DrawingTest, APictureIsBeneathAndGivesItsCoordinates) {
    DrawScene scene{.picture = view({1, 1, 1, 1}, {2, 2}), .layers = {points({1.5f, 0.5f})}};
    Picture p = drawn(scene);
    EXPECT_EQ(pixel_of(p, 30, 10), kRed);  // column 1, row 0
    EXPECT_EQ(pixel_of(p, 10, 30), kWhite);
}
TEST_F(DrawingTest, LinesHaveWidthRoundEndsAndAColourForEach) {
    DrawLayer layer = lines({0.25f, 0.5f, 0.75f, 0.5f}, {1, 2, 2});
    layer.colours = view({1, 0, 0, 0, 1, 0}, {1, 2, 3});
    Picture p = drawn(layer);
    EXPECT_GT(pixel_of(p, 11, 20)[0], 230);
    EXPECT_GT(pixel_of(p, 29, 20)[1], 230);
    EXPECT_NEAR(pixel_of(p, 20, 20)[0], 128, 10);
    EXPECT_EQ(pixel_of(p, 20, 16), kBack);
    EXPECT_EQ(pixel_of(p, 6, 20), kBack);
    EXPECT_NE(pixel_of(p, 8, 20), kBack);  // half the width beyond its end
}
TEST_F(DrawingTest, APathJoinsItsPointsAndNanInterruptsIt) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    DrawLayer layer = points({0.1f, 0.9f, 0.1f, 0.1f, 0.9f, 0.1f, nan, 0, 0.9f, 0.9f});
    layer.shape = DrawShape::Path;
    layer.size = 4;
    Picture p = drawn(layer);
    EXPECT_EQ(pixel_of(p, 4, 20), kRed);
    EXPECT_EQ(pixel_of(p, 20, 35), kRed);
    EXPECT_EQ(pixel_of(p, 35, 20), kBack);
}
TEST_F(DrawingTest, AnArrowHasAHeadWhereItsVectorEnds) {
    DrawLayer layer = points({0.1f, 0.5f});
    layer.shape = DrawShape::Arrows;
    layer.vectors = view({0.4f, 0}, {1, 2});
    layer.stretch = 2;
    layer.size = 3;
    Picture p = drawn(layer);
    EXPECT_EQ(pixel_of(p, 10, 20), kRed);
    EXPECT_EQ(pixel_of(p, 10, 23), kBack);
    EXPECT_EQ(pixel_of(p, 26, 23), kRed);  // the head is wider
    EXPECT_EQ(pixel_of(p, 37, 20), kBack);
}
TEST_F(DrawingTest, TrianglesHaveAColourForEveryCorner) {
    DrawLayer layer = lines({0, 0, 1, 0, 0, 1}, {1, 3, 2});
    layer.shape = DrawShape::Triangles;
    layer.colours = view({1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 3, 3});
    Picture p = drawn(layer);
    EXPECT_GT(pixel_of(p, 1, 38)[0], 230);
    EXPECT_GT(pixel_of(p, 37, 39)[1], 230);
    EXPECT_GT(pixel_of(p, 0, 2)[2], 230);
    EXPECT_EQ(pixel_of(p, 30, 8), kBack);
}
TEST_F(DrawingTest, AdditiveShapesSum) {
    DrawLayer layer = points({0.5f, 0.5f, 0.5f, 0.5f});
    layer.colour = {0.2f, 0, 0, 1};
    layer.additive = true;
    EXPECT_NEAR(pixel_of(drawn(layer), 20, 20)[0], kBack[0] + 102, 2);
}
TEST_F(DrawingTest, InSpaceWhatIsNearerHidesWhatIsBehindInAnyOrder) {
    for (const bool red_first : {true, false}) {
        DrawLayer near = points({0, 0, 0}, 3), far = points({0, 0, -1}, 3);
        far.colour = {0, 1, 0, 1};
        far.size = 20;
        DrawScene scene{.camera = straight()};
        scene.layers = red_first ? std::vector{near, far} : std::vector{far, near};
        Picture p = drawn(scene);
        EXPECT_EQ(pixel_of(p, 20, 20), kRed);
        EXPECT_EQ(pixel_of(p, 12, 20), kGreen);
        EXPECT_EQ(pixel_of(p, 2, 20), kBack);
    }
}
TEST_F(DrawingTest, InSpaceSizesInUnitsShrinkWithDistance) {
    DrawLayer layer = points({0, 0.5f, 0, 0, -1, -1}, 3);
    layer.in_units = true;
    layer.size = 0.25f;
    Picture p = drawn(DrawScene{.layers = {layer}, .camera = straight()});
    EXPECT_EQ(pixel_of(p, 20, 10), kRed);  // 20 pixels are 1 at this distance
    EXPECT_EQ(pixel_of(p, 20, 6), kRed);
    EXPECT_EQ(pixel_of(p, 20, 30), kRed);  // 10 at twice of it
    EXPECT_EQ(pixel_of(p, 20, 26), kBack);
}
TEST_F(DrawingTest, BallsMeetWhereTheirSurfacesDo) {
    // The smaller one is nearer by its middle, and inside the larger one.
    DrawLayer layer = points({0, 0, -1, 0, 0, -0.9f}, 3);
    layer.colours = view({0, 1, 0, 1, 0, 0}, {2, 3});
    layer.sizes = view({0.8f, 0.3f}, {2});
    layer.in_units = layer.lit = true;
    Picture p = drawn(DrawScene{.layers = {layer}, .camera = straight()});
    EXPECT_GT(pixel_of(p, 20, 20)[1], pixel_of(p, 20, 20)[0]);
    layer.lit = false;
    p = drawn(DrawScene{.layers = {layer}, .camera = straight()});
    EXPECT_EQ(pixel_of(p, 20, 20), kRed);
}
TEST_F(DrawingTest, LitBallsAreBrighterTowardsTheLight) {
    DrawLayer layer = points({0, 0, 0}, 3);
    layer.in_units = layer.lit = true;
    layer.size = 0.8f;
    Picture p = drawn(DrawScene{.layers = {layer}, .camera = straight()});
    EXPECT_GT(pixel_of(p, 15, 11)[0], pixel_of(p, 25, 29)[0] + 60);
}
TEST_F(DrawingTest, WhatIsBehindTheCameraIsCutOff) {
    DrawLayer layer = lines({0, 0.5f, 0, 0, 0.5f, 5, 0, -0.5f, 3, 0, -0.5f, 5}, {2, 2, 3});
    Picture p = drawn(DrawScene{.layers = {layer}, .camera = straight()});
    EXPECT_EQ(pixel_of(p, 20, 10), kRed);
    EXPECT_EQ(pixel_of(p, 20, 3), kRed);  // it goes on up to the camera, and over it
    EXPECT_EQ(pixel_of(p, 20, 14), kBack);
    EXPECT_EQ(pixel_of(p, 20, 30), kBack);
}
TEST_F(DrawingTest, WhatIsNotFiniteIsLeftOutAndTheRestIsDrawn) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float inf = std::numeric_limits<float>::infinity();
    Picture p = drawn(points({nan, 0.5f, 0.5f, -inf, 0.5f, 0.5f}));
    EXPECT_EQ(pixel_of(p, 20, 20), kRed);
    for (int k = 0; k < 40; ++k) EXPECT_EQ(pixel_of(p, k, 5), kBack);
    DrawLayer triangle = lines({0, 0, 1, 0, nan, 1}, {1, 3, 2});
    triangle.shape = DrawShape::Triangles;
    EXPECT_EQ(pixel_of(drawn(triangle), 10, 30), kBack);
}
TEST_F(DrawingTest, NothingAndOnePointOfAPathDrawNothing) {
    DrawLayer none = points({});
    none.places = {{}, 0, f32, {0, 2}};
    EXPECT_EQ(pixel_of(drawn(none), 20, 20), kBack);
    DrawLayer one = points({0.5f, 0.5f});
    one.shape = DrawShape::Path;
    EXPECT_EQ(pixel_of(drawn(one), 20, 20), kBack);
}
TEST_F(DrawingTest, WhatDoesNotFitIsRefusedWithWhatWould) {
    DrawLayer layer = points({0, 0, 0, 0}, 4);
    EXPECT_EQ(refusal(layer), "draw points: places are a tensor f32[1, 4]; give [n, 2] or [n, 3]");
    layer = points({0, 0, 0, 0});
    layer.colours = view({1, 1, 1}, {1, 3});
    EXPECT_EQ(refusal(layer), "draw points: colours are a tensor f32[1, 3]; give [2, 3] or [2, 4]");
    layer.colours = {};
    layer.sizes = view({1}, {1});
    EXPECT_EQ(refusal(layer), "draw points: sizes are a tensor f32[1]; give [2]");
    layer.sizes = {};
    layer.places.dtype = i32;
    EXPECT_NE(refusal(layer).find("give x.as(f32)"), std::string::npos);
    layer = points({0, 0});
    layer.shape = DrawShape::Arrows;
    layer.vectors = view({0, 0, 0}, {1, 3});
    EXPECT_NE(refusal(layer).find("give [1, 2], as places"), std::string::npos);
    DrawScene flat{.layers = {points({0, 0})}, .limits = DrawLimits{0, 0, 0, 1}};
    EXPECT_THROW(drawn(flat), UserError);
    DrawScene blind{.layers = {points({0, 0, 0}, 3)}, .camera = {.distance = 0}};
    EXPECT_THROW(drawn(blind), UserError);
}

TEST(DrawCamera, DraggingTurnsItAboutItsTargetAndFlyingAboutItself) {
    DrawCamera orbit{.distance = 2, .yaw = 0, .pitch = 0}, fly = orbit;
    fly.fly = true;
    move_camera(orbit, {.turn_right = 1.5707963f});
    EXPECT_EQ(orbit.target, (std::array<float, 3>{0, 0, 0}));
    move_camera(fly, {.turn_right = 1.5707963f});
    EXPECT_NEAR(fly.target[0], -2, 1e-5);  // it is still at (0, 0, 2)
    EXPECT_NEAR(fly.target[2], 2, 1e-5);
}
TEST(DrawCamera, KeepsWhatIsDraggedUnderTheMouse) {
    DrawCamera camera{.distance = 1, .yaw = 0, .pitch = 0, .field_of_view = 1.5707963f};
    move_camera(camera, {.shift_right = 0.5f});  // the frame is 2 high
    EXPECT_NEAR(camera.target[0], -1, 1e-6);
}

TEST(FlatZoom, KeepsWhatIsUnderTheMouseThere) {
    DrawScene scene{.limits = DrawLimits{0, 8, 0, 4}};
    scene.layers.emplace_back().places.shape = {1, 2};
    const Rectangle frame{0, 0, 800, 400};
    FlatZoom zoom;
    const auto x_at = [&](float part) {
        const DrawPlacement at = placement_of(scene, frame, zoom);
        return at.left + part * (at.right - at.left);
    };
    zoom_about(zoom, 0.75f, 0.5f, 5);
    EXPECT_GT(zoom.scale, 1.5f);
    EXPECT_NEAR(x_at(0.75f), 6, 1e-4);
    pan(zoom, 0.1f, 0);
    EXPECT_NEAR(x_at(0.85f), 6, 1e-4);
    zoom_about(zoom, 0, 0, -50);
    EXPECT_EQ(zoom, FlatZoom{});
}
TEST(FlatZoom, ShowsNothingBeyondTheRim) {
    FlatZoom zoom;
    zoom_about(zoom, 0.5f, 0.5f, 5);
    pan(zoom, 100, -100);
    EXPECT_FLOAT_EQ(zoom.x, 0.5f / zoom.scale);
    EXPECT_FLOAT_EQ(zoom.y, 1 - 0.5f / zoom.scale);
    zoom_about(zoom, 0.5f, 0.5f, 1e6f);
    EXPECT_EQ(zoom.scale, FlatZoom::kMost);
}

class DrawingWindow : public RealWindow {
  protected:
    /// Frames of one point in space until `done`.
    bool drawn_until(ViewWindow& window, const std::function<bool()>& done) {
        DrawScene scene;
        DrawLayer& layer = scene.layers.emplace_back();
        layer.places = in_memory(*executor, {0, 0, 0, 0.5f, 0, 0}, {2, 3});
        layer.size = 9;
        for (Deadline deadline; !done() && !deadline.is_over() && window.open();)
            window.show_scene(scene);
        return done();
    }
    void frames_of(ViewWindow& window, int frames) {
        const int last = window.frame() + frames;
        drawn_until(window, [&] { return window.frame() >= last; });
    }
};

TEST_F(DrawingWindow, TheCameraTurnsWhileTimeStandsStill) {
    ViewWindow window(executor, options("orbit"));
    ASSERT_TRUE(drawn_until(window, [&] { return window.frame() > 3; }));
    const DrawCamera before = window.camera();
    const std::vector<uint8_t> seen = window.picture().rgba;
    by_hand("orbit", "windowfocus \\$id sleep 0.1 key space sleep 0.2 " + at(400, 200) +
                         "mousedown 1 sleep 0.1 " + at(460, 180) + "sleep 0.1 mouseup 1 click 4");
    const int paused_at = window.frame();
    window.close_when([&] { return window.camera().distance < before.distance; });
    while (window.open()) {
    }
    EXPECT_LE(window.frame(), paused_at + 40);
    EXPECT_NE(window.camera().yaw, before.yaw);
    EXPECT_NE(window.camera().pitch, before.pitch);
    EXPECT_LT(window.camera().distance, before.distance);
    EXPECT_NE(window.picture().rgba, seen);
}
TEST_F(DrawingWindow, ADragTurnsTheCameraAsFarWhileKernelsCompile) {
    ViewWindow window(executor, options("turns"));
    ASSERT_TRUE(drawn_until(window, [&] { return window.frame() > 3; }));
    std::string drag = "windowfocus \\$id " + at(400, 200) + "sleep 0.1 mousedown 1 sleep 0.1 ";
    for (int x = 410; x <= 460; x += 10) drag += at(static_cast<float>(x), 200) + "sleep 0.05 ";
    drag += "mouseup 1";
    const float first = window.camera().yaw;
    by_hand("turns", drag);
    ASSERT_TRUE(drawn_until(window, [&] { return hand_is_done(); }));
    frames_of(window, 3);
    const float turned = window.camera().yaw - first;
    ASSERT_NE(turned, 0);
    by_hand("turns", drag);
    for (Deadline deadline; !hand_is_done() && !deadline.is_over();)
        executor->compile_watch()({"slow", 0, 1});
    frames_of(window, 3);
    EXPECT_NEAR(window.camera().yaw - first, 2 * turned, 1e-4);
}
TEST_F(DrawingWindow, HomePutsTheCameraBack) {
    ViewWindow window(executor, options("home"));
    ASSERT_TRUE(drawn_until(window, [&] { return window.frame() > 3; }));
    const DrawCamera before = window.camera();
    by_hand("home", "windowfocus \\$id sleep 0.1 " + at(400, 200) + "click 4");
    ASSERT_TRUE(drawn_until(window, [&] { return window.camera().distance < before.distance; }));
    by_hand("home", "key Home");
    EXPECT_TRUE(drawn_until(window, [&] { return window.camera() == before; }));
}
TEST_F(DrawingWindow, MovesOfTheViewAreUndoneOneByOneWithParameters) {
    float dt = 0.25f;
    ViewWindow window(executor, options("moves"));
    window.gui().parameter("dt", dt, {.min = 0, .max = 1});
    ASSERT_TRUE(drawn_until(window, [&] { return window.frame() > 3; }));
    const DrawCamera first = window.camera();
    const auto comes_to = [&](const char* keys, const std::function<bool()>& done) {
        by_hand("moves", std::string("key ") + keys);
        return drawn_until(window, done);
    };
    // A drag by several motions, then a parameter, then the wheel.
    by_hand("moves", "windowfocus \\$id sleep 0.1 " + at(400, 200) + "mousedown 1 sleep 0.1 " +
                         at(430, 200) + "sleep 0.1 " + at(460, 180) + "sleep 0.1 mouseup 1");
    ASSERT_TRUE(drawn_until(
        window, [&] { return window.camera().pitch != first.pitch && !window.mouse().left.down; }));
    const DrawCamera dragged = window.camera();
    const Rectangle slider = window.gui().find("dt")->rectangle;
    by_hand("moves", at(slider.x + slider.width * 0.75f, slider.y + slider.height / 2) +
                         "sleep 0.1 mousedown 1 sleep 0.1 mouseup 1");
    ASSERT_TRUE(drawn_until(window, [&] { return dt > 0.7f; }));
    const float slid = dt;
    by_hand("moves", "sleep 0.1 " + at(400, 200) + "click 4 click 4 click 4");
    ASSERT_TRUE(drawn_until(window, [&] {
        return hand_is_done() && window.camera().distance < first.distance * 0.75f;
    }));
    frames_of(window, 5);
    const DrawCamera near = window.camera();
    EXPECT_TRUE(comes_to("ctrl+z", [&] { return window.camera() == dragged; }));
    EXPECT_EQ(dt, slid);
    EXPECT_TRUE(comes_to("ctrl+z", [&] { return dt == 0.25f; }));
    EXPECT_TRUE(comes_to("ctrl+z", [&] { return window.camera() == first; }));
    EXPECT_TRUE(comes_to("ctrl+shift+z", [&] { return window.camera() == dragged; }));
    EXPECT_TRUE(comes_to("ctrl+shift+z", [&] { return dt == slid; }));
    EXPECT_TRUE(comes_to("ctrl+shift+z", [&] { return window.camera() == near; }));
    // Home is a move like another.
    EXPECT_TRUE(comes_to("Home", [&] { return window.camera() == first; }));
    EXPECT_TRUE(comes_to("ctrl+z", [&] { return window.camera() == near; }));
}

TEST_F(DrawingWindow, WhatAProgramMakesOfADragIsUndoneToo) {
    float x = 1, zoom = 2;
    ViewWindow window(executor, options("own"));
    window.gui().parameter("x", x);
    window.gui().parameter("zoom", zoom);
    const auto until = [&](const std::function<bool()>& done) {
        for (Deadline deadline; !done() && !deadline.is_over() && window.open();) {
            if (window.mouse().left.down) x += 0.1f * window.mouse().dj;
            zoom += 0.25f * window.mouse().wheel;
            window.show(gradient);
        }
        return done();
    };
    until([&] { return window.frame() > 4; });
    by_hand("own", "windowfocus \\$id sleep 0.1 " + at(400, 200) + "mousedown 1 sleep 0.1 " +
                       at(430, 200) + "sleep 0.1 " + at(460, 180) + "sleep 0.1 mouseup 1");
    ASSERT_TRUE(until([&] { return x > 1.5f && !window.mouse().left.down; }));
    const float dragged = x;
    by_hand("own", "sleep 0.1 click 4 click 4 click 4");
    ASSERT_TRUE(until([&] { return zoom == 2.75f; }));
    by_hand("own", "key ctrl+z");
    EXPECT_TRUE(until([&] { return zoom == 2; }));
    EXPECT_EQ(x, dragged);
    by_hand("own", "key ctrl+z");
    EXPECT_TRUE(until([&] { return x == 1; }));
    by_hand("own", "key ctrl+shift+z");
    EXPECT_TRUE(until([&] { return x == dragged; }));
}

TEST_F(DrawingWindow, ControlAndTheWheelComeNearerToAPicture) {
    ViewWindow window(executor, options("zoom"));
    settle(window);
    const auto middle = [&] { return pixel_of(window.picture(), 400, 160)[0]; };
    const int before = middle();
    by_hand("zoom",
            "windowfocus \\$id sleep 0.1 " + at(620, 160) +
                "keydown ctrl sleep 0.1 click 4 click 4 click 4 click 4 sleep 0.1 keyup ctrl");
    EXPECT_TRUE(frames_until(window, [&] { return hand_is_done() && middle() > before + 20; }));
    settle(window);
    EXPECT_EQ(window.mouse().wheel, 0);
    const int nearer = middle();
    by_hand("zoom", "key ctrl+z");
    EXPECT_TRUE(frames_until(window, [&] { return middle() == before; }));
    by_hand("zoom", "key ctrl+shift+z");
    EXPECT_TRUE(frames_until(window, [&] { return middle() == nearer; }));
    by_hand("zoom", "key Home");
    EXPECT_TRUE(frames_until(window, [&] { return middle() == before; }));
}

TEST_F(ShapesTest, AxesStandLeftOfTheDrawingAndBelow) {
    DrawScene scene;
    scene.picture = view(Numbers(100 * 100, 0), {100, 100});
    const Picture without = drawn({scene}, {.size = {300, 300}});
    EXPECT_EQ(bright_box(without).count, 0);
    scene.axes = DrawAxes{};
    const Picture with = drawn({scene}, {.size = {300, 300}});
    const Rectangle area = placement_of(scene, layout_of(scene, {0, 0, 300, 300}, 1).frame).area;
    EXPECT_GT(area.x, 40);
    EXPECT_LT(area.y + area.height, 290);
    // The axes themselves, and numbers beyond them.
    EXPECT_GT(bright_box(with, {area.x - 2, area.y, 4, area.height}).height(), area.height - 4);
    EXPECT_GT(bright_box(with, {area.x, area.y + area.height - 2, area.width, 4}).width(),
              area.width - 4);
    EXPECT_GT(bright_box(with, {0, area.y, area.x - 8, area.height}).count, 50);
    EXPECT_GT(bright_box(with, {area.x, area.y + area.height + 6, area.width, 20}).count, 50);
    // Words take place of their own.
    const DrawScene with_axes = scene;
    scene.axes = DrawAxes{"time, s", "height, m"};
    const SceneLayout words = layout_of(scene, {0, 0, 300, 300}, 1);
    EXPECT_GT(words.below, layout_of(with_axes, {0, 0, 300, 300}, 1).below);
    const Picture worded = drawn({scene}, {.size = {300, 300}});
    EXPECT_GT(bright_box(worded, {80, 0, 100, 18}).count, 50);
    const Rectangle seen = placement_of(scene, words.frame).area;
    EXPECT_GT(bright_box(worded, {seen.x, seen.y + seen.height + 24, seen.width, 24}).count, 50);
}
TEST_F(ShapesTest, NumbersOfAxesGoTheWayOfPlaces) {
    DrawScene scene{.limits = DrawLimits{0, 10'000, 0, 10'000}};
    scene.axes = DrawAxes{};
    const auto widths = [&] {  // of the number at the upper end, and of that at the lower one
        const Picture picture = drawn({scene}, {.size = {300, 300}});
        const Rectangle area =
            placement_of(scene, layout_of(scene, {0, 0, 300, 300}, 1).frame).area;
        const auto width = [&](float y) {
            return bright_box(picture, {0, y - 8, area.x - 8, 16}).width();
        };
        return std::pair{width(area.y), width(area.y + area.height)};
    };
    EXPECT_GT(widths().first, 2 * widths().second);
    scene.y_down = true;
    EXPECT_GT(widths().second, 2 * widths().first);
}
TEST_F(ShapesTest, AxesLeaveASmallCellToThePicture) {
    DrawScene scene;
    scene.picture = view(Numbers(4, 1), {2, 2});
    scene.axes = DrawAxes{};
    EXPECT_FALSE(layout_of(scene, {0, 0, 100, 60}, 1).has_axes);
    EXPECT_TRUE(layout_of(scene, {0, 0, 400, 300}, 1).has_axes);
}
TEST_F(ShapesTest, YIsDownWhereItIsAskedFor) {
    DrawScene scene;
    DrawLayer& points = scene.layers.emplace_back();
    points.places = view({0.5f, 0.25f}, {1, 2});
    points.size = 6;
    const auto height = [&] { return bright_box(drawn({scene}, {.size = {100, 100}})).top; };
    EXPECT_GT(height(), 60);
    scene.y_down = true;
    EXPECT_LT(height(), 40);
    scene.limits = DrawLimits{0, 1, 0, 1};
    EXPECT_LT(height(), 40);
}

}  // namespace
}  // namespace firn
