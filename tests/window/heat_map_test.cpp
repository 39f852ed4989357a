// Heat maps of the panel: their colours are those of frames, and all of their squares are drawn.
#include "engine/window/heat_map.h"

#include <cmath>

#include "engine/window/colour_map.h"
#include "tests/window/drawing_fixture.h"

namespace firn {
namespace {

HeatMap map_of(int rows, int columns, const Numbers& values, const HeatMapOptions& options = {}) {
    HeatMap map;
    map.rows = rows, map.columns = columns;
    map.values = values;
    map.options = options;
    return map;
}

TEST(HeatMaps, TheRangeIsThatOfWhatIsFinite) {
    const ValueRange range = shown_range(map_of(1, 4, {3, NAN, -1, INFINITY}));
    EXPECT_EQ(range.low, -1);
    EXPECT_EQ(range.high, 3);
    const ValueRange about = shown_range(map_of(1, 2, {3, -1}, {.colormap = colormap::coolwarm}));
    EXPECT_EQ(about.low, -3);
    EXPECT_EQ(about.high, 3);
    for (float value : {0.0f, 7.0f, -1e20f}) {
        const ValueRange same = shown_range(map_of(1, 2, {value, value}));
        EXPECT_NEAR(double((value - same.low) / (same.high - same.low)), 0.5, 1e-5) << value;
    }
    EXPECT_LT(shown_range(map_of(1, 1, {NAN})).low, shown_range(map_of(1, 1, {NAN})).high);
}
TEST(HeatMaps, ASquareSaysWhichElementItIs) {
    HeatMap map = map_of(2, 2, {1, 2, 3, 0.25f}, {.unit = "K"});
    EXPECT_EQ(square_text(map, 1, 1), "[1, 1] = 0.25 K");
    map.all_rows = 200, map.all_columns = 2;
    EXPECT_EQ(square_text(map, 1, 0), "[100, 0] block mean 3 K");
}
TEST(HeatMaps, HaveTheProportionOfTheirTensor) {
    HeatMap map = map_of(48, 48, Numbers(48 * 48, 1));
    map.all_rows = 100, map.all_columns = 400;
    EXPECT_EQ(heat_map_size(map, 200, 180, 10), (std::pair{200.0f, 50.0f}));
    map.all_rows = 400, map.all_columns = 100;
    EXPECT_EQ(heat_map_size(map, 200, 180, 10), (std::pair{45.0f, 180.0f}));
    map.all_rows = 1, map.all_columns = 10000;  // and can be seen
    EXPECT_EQ(heat_map_size(map, 200, 180, 10), (std::pair{200.0f, 10.0f}));
}
TEST(HeatMaps, NanIsSaidWithoutASignAndWithItsColour) {
    const HeatMap map = map_of(1, 1, {-NAN});
    EXPECT_EQ(square_text(map, 0, 0), "[0, 0] = nan, which is shown in magenta");
}
TEST(HeatMaps, ValuesThatAreNoPictureAreRefused) {
    Gui gui;
    EXPECT_EQ(message_of([&] {
                  gui.heat_map("w", map_of(2, 3, {1, 2}));
              }),
              "heat_map 'w': 2 rows of 3 take 6 values, and it has 2; give one for each");
}

class HeatMapPicture : public ShapesTest {
  protected:
    /// Returns a picture of a panel with them, as high as it needs.
    Picture panel_with(int count, const HeatMap& map) {
        ViewWindow window(executor,
                          {.size = {500, 300 * count}, .headless = true, .gui_in_pictures = true});
        EXPECT_TRUE(window.open());
        for (int k = 0; k < count; ++k) window.gui().heat_map("map " + std::to_string(k), map);
        return window.picture();
    }
    static int near(const Picture& picture, const Pixel& colour) {
        int count = 0;
        for (int y = 0; y < picture.height; ++y)
            for (int x = 0; x < picture.width; ++x) {
                const Pixel pixel = pixel_of(picture, x, y);
                int apart = 0;
                for (size_t c = 0; c < 3; ++c)
                    apart = std::max(apart, std::abs(pixel[c] - colour[c]));
                count += apart < 4;
            }
        return count;
    }
};

TEST_F(HeatMapPicture, ColoursAreThoseOfFrames) {
    Numbers ramp;
    for (int k = 0; k < 64; ++k) ramp.push_back(float(k) / 63);
    for (Colormap map :
         {colormap::grey, colormap::viridis, colormap::magma, colormap::inferno, colormap::turbo,
          colormap::coolwarm, colormap::icefire, colormap::plasma}) {
        DrawScene scene;
        scene.picture = view(ramp, {1, 64});
        scene.options = {.colormap = map, .range = {0, 1}, .smooth = false};
        const Picture picture = drawn({scene}, {.size = {64, 1}});
        for (int k = 0; k < 64; ++k) {
            const std::array<float, 3> ours = mapped_colour(map, ramp[size_t(k)]);
            const Pixel theirs = pixel_of(picture, k, 0);
            for (size_t c = 0; c < 3; ++c)
                EXPECT_NEAR(double(ours[c]) * 255, theirs[c], 1.5)
                    << "map " << int(map) << " at " << k;
        }
    }
}
TEST_F(HeatMapPicture, ManySquaresAreAllDrawn) {
    // More vertices than 16 bits count.
    const HeatMap map = map_of(48, 48, Numbers(48 * 48, 1), {.range = {0, 1}});
    const auto [red, green, blue] = mapped_colour(colormap::viridis, 1);
    const Pixel yellow{int(red * 255), int(green * 255), int(blue * 255)};
    const int one = near(panel_with(1, map), yellow);
    EXPECT_GT(one, 120 * 120);
    EXPECT_NEAR(near(panel_with(9, map), yellow), 9 * one, 9 * one / 50);
}
TEST_F(HeatMapPicture, NanIsMagenta) {
    const Picture picture = panel_with(1, map_of(2, 2, {0, 1, NAN, NAN}));
    EXPECT_GT(near(picture, {230, 0, 230}), 120 * 60);
}

}  // namespace
}  // namespace firn
