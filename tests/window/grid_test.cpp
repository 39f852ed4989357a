// Several views in a window, pictures over shapes, colour bars and captions.
#include <cmath>
#include <limits>

#include "engine/window/frame_painter.h"
#include "engine/window/placement.h"
#include "tests/window/drawing_fixture.h"
#include "tests/window/window_fixture.h"

namespace firn {
namespace {

TEST(SceneGrid, CellsLieRowByRowAndFillTheFrame) {
    const Rectangle all{0, 0, 301, 200};
    for (size_t count : {1, 2, 3, 4, 7}) {
        const std::vector<Rectangle> cells = cells_of(count, {}, all, 1);
        ASSERT_EQ(cells.size(), count);
        EXPECT_EQ(cells[0].x, 0);
        float right = 0;
        for (const Rectangle& cell : cells) {
            right = std::max(right, cell.x + cell.width);
            EXPECT_EQ(cell.width, std::round(cell.width));
            EXPECT_EQ(cell.y, std::round(cell.y));
        }
        EXPECT_EQ(right, 301);
        EXPECT_EQ(cells.back().y + cells.back().height, 200);
    }
    const std::vector<Rectangle> column = cells_of(3, {.columns = 1}, all, 1);
    EXPECT_EQ(column[2].width, 301);
    EXPECT_GT(column[1].y, column[0].y + column[0].height);
    EXPECT_EQ(cells_of(2, {}, all, 1)[1].y, 0) << "beside one another";
    EXPECT_EQ(cells_of(2, {.columns = 9}, all, 1)[1].x + cells_of(2, {}, all, 1)[1].width, 301);
}

class GridTest : public ShapesTest {
  protected:
    DrawScene picture(const Numbers& values, std::vector<int64_t> shape,
                      const ShowOptions& options = {}) {
        DrawScene scene;
        scene.picture = view(values, std::move(shape));
        scene.options = options;
        return scene;
    }
    /// A white disc of 40 pixels at (x, y) of what is shown.
    DrawLayer disc(float x, float y) {
        DrawLayer layer;
        layer.places = view({x, y}, {1, 2});
        layer.size = 40;
        return layer;
    }
    std::string refusal(const DrawScene& scene) {
        try {
            drawn({scene}, {.size = {40, 40}});
        } catch (const UserError& error) {
            return error.what();
        }
        return "drawn";
    }
};

TEST_F(GridTest, EachViewHasItsOwnPictureRangeAndShapes) {
    const ShowOptions automatic{.range = {0, 0}};
    DrawScene left = picture({0, 1}, {1, 2}, automatic),
              right = picture({0, 10}, {1, 2}, automatic);
    left.options.smooth = right.options.smooth = false;
    right.layers = {disc(0.5f, 0.5f)};
    const Picture p = drawn({left, right}, {.size = {206, 100}});
    EXPECT_EQ(pixel_of(p, 75, 50), kWhite);  // both have the largest of their own
    EXPECT_EQ(pixel_of(p, 181, 50), kWhite);
    EXPECT_EQ(pixel_of(p, 25, 50), (Pixel{0, 0, 0}));
    EXPECT_EQ(pixel_of(p, 131, 50), kWhite);  // the disc is in its view alone
    EXPECT_EQ(pixel_of(p, 103, 50), kBack);
    const Picture below = drawn({left, right}, {.size = {100, 206}}, {.columns = 1});
    EXPECT_EQ(pixel_of(below, 75, 50), kWhite);
    EXPECT_EQ(pixel_of(below, 75, 156), kWhite);
}
TEST_F(GridTest, ViewsInSpaceHaveTheirOwnDepth) {
    std::vector<DrawScene> scenes(2);
    for (DrawScene& scene : scenes) {
        scene.camera = {.distance = 1, .yaw = 0, .pitch = 0};
        DrawLayer near = disc(0, 0), far = disc(0, 0);
        near.places = view({0, 0, 0.2f}, {1, 3}), far.places = view({0, 0, -1}, {1, 3});
        near.colour = {1, 0, 0, 1};
        scene.layers = {near, far};
    }
    const Picture p = drawn(scenes, {.size = {206, 100}});
    EXPECT_EQ(pixel_of(p, 50, 50), kRed);
    EXPECT_EQ(pixel_of(p, 156, 50), kRed);
}
TEST_F(GridTest, AnOverlayIsOverTheShapesAsMuchAsItSays) {
    DrawScene scene;
    scene.overlay = view({0, 0, 0, 0}, {2, 2});  // black
    scene.layers = {disc(1, 1)};                 // by its columns and rows
    const auto middle = [&] { return pixel_of(drawn({scene}, {.size = {100, 100}}), 50, 50)[0]; };
    EXPECT_EQ(middle(), 0);
    scene.overlay_options.opacity = 0.25f;
    EXPECT_NEAR(middle(), 191, 1);
    scene.overlay_options.opacity = 1;
    scene.overlay = view({0, 0, 0, 0.5f}, {1, 1, 4});
    scene.layers = {disc(0.5f, 0.5f)};
    EXPECT_NEAR(middle(), 127, 1);
    scene.picture = view({1}, {1, 1});
    scene.options.opacity = 0.5f;
    scene.layers.clear();
    scene.overlay = {};
    EXPECT_NEAR(middle(), (255 + kBack[0]) / 2, 1);
}
TEST_F(GridTest, ACaptionIsBelowWhatItNames) {
    DrawScene scene = picture({0}, {1, 1});
    scene.caption = "HHHH";
    const Picture p = drawn({scene}, {.size = {100, 124}});
    const Box box = bright_box(p);
    EXPECT_GE(box.top, 100);
    EXPECT_NEAR(box.left + box.right, 99, 4);
    EXPECT_EQ(pixel_of(p, 50, 50), (Pixel{0, 0, 0}));
}

struct BarCase {
    ValueRange range;
    std::vector<const char*> ticks;  // from below
};

TEST_F(GridTest, AColourBarHasRoundTicksWhereTheirColoursAre) {
    // The picture is 300 x 300, the bar from row 26 to row 292.
    for (const BarCase& c : std::vector<BarCase>{
             {{0, 1}, {"0", "0.2", "0.4", "0.6", "0.8", "1"}},
             {{-4, 7}, {"-4", "-2", "0", "2", "4", "6"}},
             {{1, 0}, {"1", "0.8", "0.6", "0.4", "0.2", "0"}},
             {{2e-9f, 5e-9f}, {"2e-9", "2.5e-9", "3e-9", "3.5e-9", "4e-9", "4.5e-9", "5e-9"}},
             {{0, 3e7f}, {"0", "5000000", "1e7", "1.5e7", "2e7", "2.5e7", "3e7"}}}) {
        DrawScene scene = picture({0}, {1, 1}, {.colormap = Colormap::Viridis, .range = c.range});
        scene.options.colour_bar = true;
        const Picture p = drawn({scene}, {.size = {396, 300}});
        EXPECT_GT(pixel_of(p, 318, 28)[0], 240) << "the last colour is yellow";
        EXPECT_LT(pixel_of(p, 318, 289)[1], 20) << "the first one is purple";
        size_t seen = 0;
        for (int y = 299; y >= 0; --y) {
            if (pixel_of(p, 328, y)[0] < 100 || pixel_of(p, 328, y + 1 < 300 ? y + 1 : y)[0] >= 100)
                continue;  // no tick, or the row above one
            ASSERT_LT(seen, c.ticks.size());
            const double value = std::atof(c.ticks[seen]);
            const double low = double(c.range.low), high = double(c.range.high);
            EXPECT_NEAR(y, 292 - 266 * (value - low) / (high - low), 1.5) << c.ticks[seen];
            const Box number = bright_box(p, {334, float(y) - 8, 60, 14});
            DrawScene text{.limits = DrawLimits{0, 100, 100, 0}};
            DrawLayer& label = text.layers.emplace_back(disc(10, 50));
            label.shape = DrawShape::Text;
            label.text = {.labels = {c.ticks[seen]}, .align = {0, 0.5f}};
            label.size = 15;
            label.colour = {0.82f, 0.85f, 0.9f, 1};
            const Box expected = bright_box(drawn({text}, {.size = {100, 100}}));
            EXPECT_EQ(number.width(), expected.width()) << c.ticks[seen];
            EXPECT_EQ(number.count, expected.count) << c.ticks[seen];
            ++seen;
        }
        EXPECT_EQ(seen, c.ticks.size());
    }
}
TEST_F(GridTest, AColourBarKnowsARangeThatOnlyTheDeviceKnows) {
    for (const Colormap map : {Colormap::Magma, Colormap::Icefire}) {
        DrawScene given = picture({-1, 3}, {1, 2}, {.colormap = map, .range = {-1, 3}});
        if (map == Colormap::Icefire) given.options.range = {-3, 3};  // about 0
        given.options.colour_bar = true;
        given.options.label = "m/s";
        DrawScene found = given;
        found.options.range = {0, 0};
        EXPECT_TRUE(drawn({given}, {.size = {396, 150}}).rgba ==
                    drawn({found}, {.size = {396, 150}}).rgba);
        found.options.label = "";
        EXPECT_FALSE(drawn({given}, {.size = {396, 150}}).rgba ==
                     drawn({found}, {.size = {396, 150}}).rgba);
    }
}
TEST_F(GridTest, ViewsBesideOneWithAColourBarAreAsLargeAsIt) {
    DrawScene plain = picture(Numbers(100, 1), {10, 10}), other = plain;
    const auto frames = [&](int width, int height, const SceneGrid& grid) {
        Frame frame;
        frame.views = {{plain, {}, {}}, {other, {}, {}}, {plain, {}, {}}};
        frame.grid = grid;
        std::vector<Rectangle> out;
        for (size_t k = 0; k < 3; ++k)
            out.push_back(
                placement_of(frame, k,
                             {static_cast<uint32_t>(width), static_cast<uint32_t>(height)})
                    .area);
        return out;
    };
    const auto expect_equal = [&](const std::string& what) {
        for (const auto& [width, height, columns] :
             {std::array{900, 300, 3}, {320, 200, 2}, {300, 900, 1}, {1280, 720, 0}, {90, 60, 3}}) {
            const std::vector<Rectangle> at = frames(width, height, {columns});
            for (const size_t k : {1, 2}) {
                EXPECT_NEAR(at[k].width, at[0].width, 1) << what << " at " << width;
                EXPECT_NEAR(at[k].height, at[0].height, 1) << what << " at " << width;
            }
        }
    };
    other.options.colour_bar = true;
    expect_equal("a colour bar");
    EXPECT_LT(frames(900, 300, {3})[0].width, 250) << "it has its room";
    other.caption = "with a caption";
    expect_equal("a caption");
    other.axes = DrawAxes{"x", "y"};
    expect_equal("axes");
    // The mouse and the pictures know the same places.
    const Picture p = drawn({plain, other, plain}, {.size = {900, 300}}, {3});
    for (const Rectangle& at : frames(900, 300, {3})) {
        const int y = int(at.y + at.height / 2);
        EXPECT_EQ(pixel_of(p, int(at.x) + 1, y), kWhite);
        EXPECT_EQ(pixel_of(p, int(at.x + at.width) - 2, y), kWhite);
        EXPECT_EQ(pixel_of(p, int(at.x + at.width) + 2, y), kBack);
    }
}
TEST_F(GridTest, ADrawingHasTheColourBarThatItAsksFor) {
    DrawScene scene{.limits = DrawLimits{0, 1, 0, 1}};
    scene.layers = {disc(0.5f, 0.5f)};
    scene.colour_bar = ColourBar{Colormap::Viridis, {0, 1}, ""};
    const Picture p = drawn({scene}, {.size = {396, 300}});
    EXPECT_GT(pixel_of(p, 318, 28)[0], 240);
    EXPECT_EQ(pixel_of(p, 150, 150), kWhite);
}
TEST_F(GridTest, WhatCannotBeShownIsRefused) {
    DrawScene scene = picture({0, 0, 0}, {1, 1, 3}, {.colour_bar = true});
    EXPECT_NE(refusal(scene).find("show one channel"), std::string::npos);
    scene.options = {.opacity = std::numeric_limits<float>::quiet_NaN()};
    EXPECT_NE(refusal(scene).find("is not from 0 (transparent) to 1"), std::string::npos);
    scene.options = {};
    scene.colour_bar = ColourBar{Colormap::Viridis, {1, 1}, ""};
    EXPECT_NE(refusal(scene).find("give finite ends that differ"), std::string::npos);
}

class GridWindow : public RealWindow {
  protected:
    bool shown_until(ViewWindow& window, const std::function<bool()>& done) {
        DrawScene flat, space;
        flat.picture = gradient;
        DrawLayer& layer = space.layers.emplace_back();
        layer.places = in_memory(*executor, {0, 0, 0, 0.5f, 0, 0}, {2, 3});
        layer.size = 9;
        for (Deadline deadline; !done() && !deadline.is_over() && window.open();)
            window.show_scenes({flat, space, flat}, {.columns = 3});
        return done();
    }
};

TEST_F(GridWindow, EachViewHasItsOwnMouseZoomAndCamera) {
    WindowOptions wanted = options("grid");
    wanted.size = {900, 300};
    ViewWindow window(executor, wanted);
    ASSERT_TRUE(shown_until(window, [&] { return window.frame() > 3; }));
    const auto red_at = [&](int x) { return pixel_of(window.picture(), x, 150)[0]; };
    const DrawCamera before = window.camera(1);
    const int left = red_at(250), right = red_at(850);
    EXPECT_NEAR(left, right, 4);  // the same picture
    by_hand("grid", "windowfocus \\$id sleep 0.1 " + at(870, 150));
    EXPECT_TRUE(shown_until(window, [&] { return window.mouse().view == 2; }));
    EXPECT_NEAR(window.mouse().j, 80 * (870 - 604) / 296.0f, 1.5f);
    by_hand("grid",
            at(880, 150) + "keydown ctrl sleep 0.1 click 4 click 4 click 4 sleep 0.1 keyup ctrl");
    EXPECT_TRUE(shown_until(window, [&] { return red_at(850) > right + 5; }));
    EXPECT_EQ(red_at(250), left);
    // A drag that begins in space turns that view's camera, wherever it goes.
    by_hand("grid", at(500, 150) + "sleep 0.1 mousedown 1 sleep 0.1 " + at(700, 170) +
                        "sleep 0.2 mouseup 1");
    EXPECT_TRUE(shown_until(
        window, [&] { return window.camera(1).yaw != before.yaw && window.mouse().left.down; }));
    EXPECT_EQ(window.mouse().view, 1);
    EXPECT_TRUE(shown_until(window, [&] { return !window.mouse().left.down; }));
    by_hand("grid", at(860, 150) + "sleep 0.1 key Home");
    EXPECT_TRUE(shown_until(window, [&] { return red_at(850) == right; }));
    EXPECT_NE(window.camera(1).yaw, before.yaw) << "Home is for the view under the mouse";
}

}  // namespace
}  // namespace firn
