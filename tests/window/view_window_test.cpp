// Headless frames of known tensors, pixel by pixel; validation must stay silent.
#include "engine/window/view_window.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <limits>

#include "engine/runtime/vulkan_executor.h"
#include "engine/window/widgets.h"
#include "tests/gpu/device_fixture.h"

namespace firn {
namespace {

using Pixel = std::array<int, 3>;

Pixel pixel(const Picture& picture, int x, int y) {
    const uint8_t* at =
        &picture.rgba[4 * (static_cast<size_t>(y) * static_cast<size_t>(picture.width) +
                           static_cast<size_t>(x))];
    return {at[0], at[1], at[2]};
}

class ViewWindowTest : public DeviceTest {
  protected:
    void SetUp() override {
        DeviceTest::SetUp();
        if (device) executor = std::make_shared<VulkanExecutor>(device);
    }
    void TearDown() override {
        executor.reset();
        DeviceTest::TearDown();
    }

    template <class T>
    BufferView view(const std::vector<T>& values, std::vector<int64_t> shape, DType dtype = f32) {
        auto memory = executor->allocate(values.size() * sizeof(T) + 16, "view");
        executor->write(*memory, 0, std::as_bytes(std::span(values)));
        return {memory, 0, dtype, std::move(shape)};
    }
    Picture picture_of(const BufferView& shown, const ShowOptions& options = {},
                       WindowSize size = {4, 4}) {
        ViewWindow window(executor, {.size = size, .headless = true});
        EXPECT_TRUE(window.open());
        window.show(shown, options);
        return window.picture();
    }
    std::string refusal(const BufferView& shown) {
        try {
            picture_of(shown);
        } catch (const UserError& error) {
            return error.what();
        }
        return "shown";
    }

    std::shared_ptr<VulkanExecutor> executor;
};

TEST_F(ViewWindowTest, ASlidersNumberIsInThePartThatItsKnobLeavesFree) {
    for (const float value : {0.1f, 0.9f}) {
        ViewWindow window(executor,
                          {.size = {400, 300}, .headless = true, .gui_in_pictures = true});
        float x = value;
        EXPECT_TRUE(window.open());
        window.gui().parameter("x", x, {.min = 0, .max = 1});
        window.picture();
        const Picture picture = window.picture();
        const Rectangle at = window.gui().find("x")->rectangle;
        int ink[2] = {};  // of the text, in each half
        for (int row = int(at.y); row < int(at.y + at.height); ++row)
            for (int k = 0; k < int(at.width); ++k)
                ink[k > int(at.width) / 2] += pixel(picture, int(at.x) + k, row)[0] > 180;
        const bool right = value < 0.5f;
        EXPECT_GT(ink[right], 15) << value;
        EXPECT_EQ(ink[!right], 0) << value;
    }
}

TEST_F(ViewWindowTest, GreyIsShownElementByPixel) {
    Picture picture = picture_of(view<float>({0, 0.2f, 0.4f, 1}, {2, 2}), {}, {2, 2});
    EXPECT_EQ(pixel(picture, 0, 0), (Pixel{0, 0, 0}));
    EXPECT_EQ(pixel(picture, 1, 0), (Pixel{51, 51, 51}));
    EXPECT_EQ(pixel(picture, 0, 1), (Pixel{102, 102, 102}));
    EXPECT_EQ(pixel(picture, 1, 1), (Pixel{255, 255, 255}));
}
TEST_F(ViewWindowTest, ThreeChannelsAreRedGreenBlue) {
    Picture picture = picture_of(view<float>({1, 0.2f, 0}, {1, 1, 3}), {}, {1, 1});
    EXPECT_EQ(pixel(picture, 0, 0), (Pixel{255, 51, 0}));
}
TEST_F(ViewWindowTest, FullAlphaHidesTheBackground) {
    Picture picture = picture_of(view<float>({1, 1, 0, 1}, {1, 1, 4}), {}, {1, 1});
    EXPECT_EQ(pixel(picture, 0, 0), (Pixel{255, 255, 0}));
}
TEST_F(ViewWindowTest, BytesCountInStepsOf255) {
    Picture picture = picture_of(view<uint8_t>({10, 20, 30}, {1, 1, 3}, u8), {}, {1, 1});
    EXPECT_EQ(pixel(picture, 0, 0), (Pixel{10, 20, 30}));
}
TEST_F(ViewWindowTest, ShortsCountInStepsOf65535) {
    Picture picture = picture_of(view<uint16_t>({0, 65535, 51 * 257}, {1, 1, 3}, u16), {}, {1, 1});
    EXPECT_EQ(pixel(picture, 0, 0), (Pixel{0, 255, 51}));
}
TEST_F(ViewWindowTest, WholeNumbersAreTheirValues) {
    EXPECT_EQ(pixel(picture_of(view<int32_t>({-1, 1}, {1, 2}, i32), {}, {2, 1}), 1, 0)[0], 255);
    EXPECT_EQ(pixel(picture_of(view<int32_t>({-1, 1}, {1, 2}, i32), {}, {2, 1}), 0, 0)[0], 0);
    EXPECT_EQ(pixel(picture_of(view<uint32_t>({0xffffffffu}, {1, 1}, u32), {}, {1, 1}), 0, 0)[0],
              255);
    EXPECT_EQ(pixel(picture_of(view<int8_t>({0, -5, 1}, {1, 3}, i8), {}, {3, 1}), 1, 0)[0], 0);
    EXPECT_EQ(pixel(picture_of(view<int8_t>({0, -5, 1}, {1, 3}, i8), {}, {3, 1}), 2, 0)[0], 255);
    Picture shorts = picture_of(view<int16_t>({0, 1, -5}, {1, 3}, i16), {}, {3, 1});
    EXPECT_EQ(pixel(shorts, 1, 0)[0], 255);
    EXPECT_EQ(pixel(shorts, 2, 0)[0], 0);
}
TEST_F(ViewWindowTest, HalvesAndTruthsAreShown) {
    // 0.2 and 1 as f16.
    Picture halves = picture_of(view<uint16_t>({0x3266, 0x3c00}, {1, 2}, f16), {}, {2, 1});
    EXPECT_EQ(pixel(halves, 0, 0)[0], 51);
    EXPECT_EQ(pixel(halves, 1, 0)[0], 255);
    // 0.2 (0.19921875) and 1 as bf16.
    Picture brains = picture_of(view<uint16_t>({0x3e4c, 0x3f80}, {1, 2}, bf16), {}, {2, 1});
    EXPECT_EQ(pixel(brains, 0, 0)[0], 51);
    EXPECT_EQ(pixel(brains, 1, 0)[0], 255);
    Picture truths = picture_of(view<uint32_t>({0, 1}, {1, 2}, boolean), {}, {2, 1});
    EXPECT_EQ(pixel(truths, 0, 0)[0], 0);
    EXPECT_EQ(pixel(truths, 1, 0)[0], 255);
}
TEST_F(ViewWindowTest, AnAutomaticRangeKnowsTheType) {
    Picture picture =
        picture_of(view<uint8_t>({10, 30, 20, 30}, {1, 4}, u8), {.range = {}}, {4, 1});
    EXPECT_EQ(pixel(picture, 0, 0)[0], 0);
    EXPECT_EQ(pixel(picture, 1, 0)[0], 255);
    EXPECT_NEAR(pixel(picture, 2, 0)[0], 128, 1);
}
TEST_F(ViewWindowTest, WhatIsShownMayChangeFromFrameToFrame) {
    ViewWindow window(executor, {.size = {2, 1}, .headless = true});
    BufferView grey = view<float>({0.2f, 1}, {1, 2});
    window.show(grey);
    EXPECT_EQ(pixel(window.picture(), 0, 0), (Pixel{51, 51, 51}));
    window.show(view<float>({1, 0, 0, 0, 1, 0}, {1, 2, 3}));
    EXPECT_EQ(pixel(window.picture(), 1, 0), (Pixel{0, 255, 0}));
    window.show(grey, {.range = {}});
    EXPECT_EQ(pixel(window.picture(), 0, 0), (Pixel{0, 0, 0}));
    window.show(grey);
    EXPECT_EQ(pixel(window.picture(), 0, 0), (Pixel{51, 51, 51}));
}
TEST_F(ViewWindowTest, AViewMayStartInsideItsBuffer) {
    BufferView inside = view<float>({0, 0, 0, 0.2f}, {1, 1});
    inside.offset = 12;
    EXPECT_EQ(pixel(picture_of(inside, {}, {1, 1}), 0, 0), (Pixel{51, 51, 51}));
}
TEST_F(ViewWindowTest, ARangeIsMappedToTheEndsOfTheMap) {
    Picture picture = picture_of(view<float>({-2, 2}, {1, 2}), {.range = {-2, 2}}, {2, 1});
    EXPECT_EQ(pixel(picture, 0, 0), (Pixel{0, 0, 0}));
    EXPECT_EQ(pixel(picture, 1, 0), (Pixel{255, 255, 255}));
}
TEST_F(ViewWindowTest, AnAutomaticRangeIsThatOfTheFiniteElements) {
    float infinity = std::numeric_limits<float>::infinity();
    Picture picture = picture_of(view<float>({-7, 3, infinity, -2}, {1, 4}), {.range = {}}, {4, 1});
    EXPECT_EQ(pixel(picture, 0, 0), (Pixel{0, 0, 0}));
    EXPECT_EQ(pixel(picture, 1, 0), (Pixel{255, 255, 255}));
    EXPECT_NEAR(pixel(picture, 3, 0)[0], 128, 1);
}
TEST_F(ViewWindowTest, AnAutomaticRangeOfManyGroupsSeesEveryElement) {
    std::vector<float> values(100 * 300, 1.0f);
    values[29999] = -1;
    Picture picture = picture_of(view(values, {100, 300}), {.range = {}}, {300, 100});
    EXPECT_EQ(pixel(picture, 299, 99), (Pixel{0, 0, 0}));
    EXPECT_EQ(pixel(picture, 298, 99), (Pixel{255, 255, 255}));
}
TEST_F(ViewWindowTest, ViridisGoesFromPurpleToYellow) {
    Picture picture =
        picture_of(view<float>({0, 1}, {1, 2}), {.colormap = colormap::viridis}, {2, 1});
    Pixel first = pixel(picture, 0, 0), last = pixel(picture, 1, 0);
    EXPECT_NEAR(first[0], 68, 6);
    EXPECT_NEAR(first[2], 84, 6);
    EXPECT_NEAR(last[0], 253, 6);
    EXPECT_NEAR(last[1], 231, 6);
}
TEST_F(ViewWindowTest, ADivergingMapHasZeroInItsMiddle) {
    Picture picture = picture_of(view<float>({0, 3, -1}, {1, 3}),
                                 {.colormap = colormap::coolwarm, .range = {}}, {3, 1});
    EXPECT_EQ(pixel(picture, 0, 0), (Pixel{242, 242, 242}));
}
TEST_F(ViewWindowTest, TheContrastOfANamedMapIsThatOfItsData) {
    const BufferView values = view<float>({4, 6, 8}, {1, 3});
    const auto shown = [&](const ShowOptions& options) {
        return picture_of(values, options, {3, 1}).rgba;
    };
    for (const Colormap map : {colormap::grey, colormap::magma, colormap::coolwarm}) {
        const ValueRange data = map == colormap::coolwarm ? ValueRange{-8, 8} : ValueRange{4, 8};
        EXPECT_EQ(shown({.colormap = map}), shown({.colormap = map, .range = data}));
        EXPECT_EQ(shown({.colormap = map}), shown({.colormap = map, .range = {}}));
        EXPECT_EQ(shown({.colormap = map}), shown(show_options(map, {})));
        EXPECT_NE(shown({.colormap = map}), shown({.colormap = map, .range = {0, 1}}));
    }
    // Without a map, and for colours, the contrast is that of picture files.
    EXPECT_EQ(shown({}), shown({.range = {0, 1}}));
    EXPECT_EQ(shown({.range = {}}), shown({.colormap = colormap::grey}));
    const BufferView colours = view<float>({0.2f, 0.4f, 0.6f}, {1, 1, 3});
    for (const ShowOptions& options : {ShowOptions{}, ShowOptions{.colormap = colormap::magma}})
        EXPECT_EQ(pixel(picture_of(colours, options, {1, 1}), 0, 0), (Pixel{51, 102, 153}));
    const Pixel stretched = pixel(picture_of(colours, {.range = {}}, {1, 1}), 0, 0);
    EXPECT_EQ(stretched[0], 0);
    EXPECT_NEAR(stretched[1], 128, 1);
    EXPECT_EQ(stretched[2], 255);
}
TEST_F(ViewWindowTest, OddTensorsHaveAContrastToo) {
    const auto reds = [&](const BufferView& shown, const ShowOptions& options) {
        const int width = int(shown.shape[1]);
        const Picture picture = picture_of(shown, options, {width, 1});
        std::vector<int> out;
        for (int x = 0; x < width; ++x) out.push_back(pixel(picture, x, 0)[0]);
        return out;
    };
    const ShowOptions grey{.colormap = colormap::grey};
    using Reds = std::vector<int>;
    const float nan = NAN, infinity = std::numeric_limits<float>::infinity();
    const int magenta = 230;
    for (const float constant : {0.0f, 5.0f, -1e30f})
        EXPECT_EQ(reds(view<float>({constant, constant}, {1, 2}), grey), (Reds{128, 128}));
    EXPECT_EQ(reds(view<float>({7}, {1, 1}), grey), (Reds{128}));
    EXPECT_EQ(reds(view<float>({nan, nan}, {1, 2}), grey), (Reds{magenta, magenta}));
    EXPECT_EQ(reds(view<float>({infinity, -infinity}, {1, 2}), grey), (Reds{255, 0}));
    EXPECT_EQ(reds(view<float>({0, nan, 2, infinity, 1}, {1, 5}), grey),
              (Reds{0, magenta, 255, 255, 128}));
    EXPECT_EQ(reds(view<float>({-3e38f, 0, 3e38f}, {1, 3}), grey), (Reds{0, 128, 255}));
    EXPECT_EQ(reds(view<float>({0, 1e-40f}, {1, 2}), grey), (Reds{128, 128}));
    EXPECT_EQ(reds(view<uint32_t>({0, 1}, {1, 2}, boolean), grey), (Reds{0, 255}));
    EXPECT_EQ(reds(view<uint32_t>({1, 1}, {1, 2}, boolean), grey), (Reds{128, 128}));
    EXPECT_EQ(reds(view<uint8_t>({100, 110, 120, 0}, {1, 3}, u8), grey), (Reds{0, 128, 255}));
    EXPECT_EQ(reds(view<int32_t>({-40, 0, 40}, {1, 3}, i32), grey), (Reds{0, 128, 255}));
    EXPECT_NE(refusal(view<double>({0, 1}, {1, 2}, f64)).find("show x.as(f32)"), std::string::npos);
    EXPECT_NE(refusal(view<float>({}, {0, 2})).find("a size of zero"), std::string::npos);
}
TEST_F(ViewWindowTest, AnInfinityDoesNotMakeItsNeighboursUndefined) {
    const float infinity = std::numeric_limits<float>::infinity();
    for (const WindowSize size : {WindowSize{30, 10}, {3, 1}, {2, 1}}) {
        const Picture picture =
            picture_of(view<float>({0, infinity, 1}, {1, 3}), {.colormap = colormap::grey}, size);
        for (int x = 0; x < size.width; ++x) {
            const Pixel shown = pixel(picture, x, 0);
            EXPECT_EQ(shown[0], shown[1]) << "magenta at " << x << " of " << size.width;
        }
    }
}
TEST_F(ViewWindowTest, NanIsMagenta) {
    Picture picture = picture_of(view<float>({std::nanf("")}, {1, 1}), {}, {1, 1});
    EXPECT_EQ(pixel(picture, 0, 0), (Pixel{230, 0, 230}));
}
TEST_F(ViewWindowTest, AWideTensorHasBandsAboveAndBelow) {
    Picture picture = picture_of(view<float>({1, 1}, {1, 2}), {}, {8, 8});
    EXPECT_EQ(pixel(picture, 4, 4), (Pixel{255, 255, 255}));
    EXPECT_EQ(pixel(picture, 4, 1), (Pixel{14, 16, 20}));
    EXPECT_EQ(pixel(picture, 4, 6), (Pixel{14, 16, 20}));
}
TEST_F(ViewWindowTest, SquaresKeepTheirEdges) {
    Picture picture = picture_of(view<float>({0, 1}, {1, 2}), {.smooth = false}, {8, 4});
    EXPECT_EQ(pixel(picture, 3, 2), (Pixel{0, 0, 0}));
    EXPECT_EQ(pixel(picture, 4, 2), (Pixel{255, 255, 255}));
}
TEST_F(ViewWindowTest, SmoothBlendsNeighbours) {
    Picture picture = picture_of(view<float>({0, 1}, {1, 2}), {}, {8, 4});
    EXPECT_NEAR(pixel(picture, 3, 2)[0], 255 * 3 / 8, 2);
}
TEST_F(ViewWindowTest, SeveralElementsUnderAPixelAreAveraged) {
    Picture picture = picture_of(view<float>({0, 1, 1, 0, 0, 1, 1, 0}, {2, 4}), {}, {2, 1});
    EXPECT_NEAR(pixel(picture, 0, 0)[0], 128, 1);
}
TEST_F(ViewWindowTest, ThePanelIsDrawnWhereItIsAskedFor) {
    float dt = 0.1f;
    ViewWindow window(executor, {.size = {400, 300}, .headless = true, .gui_in_pictures = true});
    window.gui().slider("dt", dt, 0, 1);
    window.open();
    window.show(view<float>({1}, {1, 1}));
    window.picture();
    const Widget* widget = window.gui().find("dt");
    EXPECT_GT(widget->rectangle.width, 50);
    EXPECT_LT(widget->rectangle.y, 300);
}
TEST_F(ViewWindowTest, PicturesAreTheSameFromRunToRun) {
    BufferView shown = view<float>({0.1f, 0.9f, 0.3f, 0.5f}, {2, 2});
    EXPECT_EQ(picture_of(shown, {}, {64, 64}).rgba, picture_of(shown, {}, {64, 64}).rgba);
}
TEST_F(ViewWindowTest, OpenEndsAfterItsFrames) {
    ViewWindow window(executor, {.size = {4, 4}, .headless = true, .frames = 3});
    int frames = 0;
    while (window.open()) ++frames;
    EXPECT_EQ(frames, 3);
    EXPECT_EQ(window.frame(), 3);
}
TEST_F(ViewWindowTest, TwoWindowsLiveSideBySide) {
    ViewWindow first(executor, {.size = {2, 2}, .headless = true}),
        second(executor, {.size = {2, 2}, .headless = true});
    first.show(view<float>({0}, {1, 1}));
    second.show(view<float>({1}, {1, 1}));
    EXPECT_EQ(pixel(first.picture(), 0, 0), (Pixel{0, 0, 0}));
    EXPECT_EQ(pixel(second.picture(), 0, 0), (Pixel{255, 255, 255}));
}
TEST_F(ViewWindowTest, SaveWritesAPictureThatIsReadBack) {
    std::string path = testing::TempDir() + "/view_window_test.png";
    ViewWindow window(executor, {.size = {1, 1}, .headless = true});
    window.show(view<float>({1, 0.2f, 0}, {1, 1, 3}));
    window.save(path);
    EXPECT_EQ(pixel(read_picture(path), 0, 0), (Pixel{255, 51, 0}));
    std::filesystem::remove(path);
}
TEST_F(ViewWindowTest, AVectorIsNoPicture) {
    EXPECT_NE(refusal(view<float>({1, 2}, {2})).find("f32[2] is no picture"), std::string::npos);
}
TEST_F(ViewWindowTest, TwoChannelsAreRefused) {
    EXPECT_NE(refusal(view<float>({1, 2}, {1, 1, 2})).find("has 2 channels"), std::string::npos);
}
TEST_F(ViewWindowTest, ASizeOfZeroIsRefused) {
    EXPECT_NE(refusal(view<float>({}, {0, 4})).find("a size of zero"), std::string::npos);
}
TEST_F(ViewWindowTest, AWindowWithoutPixelsIsRefused) {
    EXPECT_THROW(ViewWindow(executor, {.size = {0, 4}, .headless = true}), UserError);
}
TEST_F(ViewWindowTest, AParameterThatNobodyAddsIsReportedAfterTheFirstFrame) {
    ViewWindow window(executor, {.size = {4, 4}, .headless = true});
    window.gui().parameters().set_when_added("lost", "1");
    window.open();
    EXPECT_THROW(window.open(), UserError);
}

}  // namespace
}  // namespace firn
