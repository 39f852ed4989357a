// Plots of the panel: their axes, what they keep, and that their lines are seen.
#include "engine/window/plot.h"

#include <cmath>
#include <limits>

#include "engine/window/widgets.h"
#include "tests/gpu/device_fixture.h"
#include "tests/window/window_fixture.h"

namespace firn {
namespace {

Plot line_of(const std::vector<float>& values, bool log = false) {
    Plot plot;
    plot.options.log = log;
    for (float value : values) append(plot, "", value);
    return plot;
}

TEST(Plot, KeepsTheLastValues) {
    Plot plot;
    plot.options.length = 3;
    for (float value : {1, 2, 3, 4, 5}) append(plot, "a", value);
    append(plot, "b", 7);
    ASSERT_EQ(plot.series.size(), 2u);
    EXPECT_EQ(plot.series[0].values, (std::vector<float>{3, 4, 5}));
    EXPECT_EQ(plot.series[1].values, (std::vector<float>{7}));
}
TEST(Plot, AnAxisHoldsAllThatIsFinite) {
    const float inf = std::numeric_limits<float>::infinity();
    const PlotAxis axis = axis_of(line_of({3, NAN, -1, inf}));
    EXPECT_GT(axis.place(-1), 0);
    EXPECT_LT(axis.place(-1), 0.1);
    EXPECT_GT(axis.place(3), 0.9);
    EXPECT_LT(axis.place(3), 1);
}
TEST(Plot, AValueThatDoesNotChangeLiesInTheMiddle) {
    for (float value : {0.0f, 5.0f, -2e20f, 1e-12f})
        EXPECT_NEAR(axis_of(line_of({value, value})).place(double(value)), 0.5, 1e-6) << value;
    EXPECT_LT(axis_of(line_of({})).low, axis_of(line_of({})).high);
    EXPECT_LT(axis_of(line_of({NAN})).low, axis_of(line_of({NAN})).high);
}
TEST(Plot, BarsStandOnZero) {
    Plot plot = line_of({2, 4});
    plot.kind = PlotKind::Bars;
    EXPECT_EQ(axis_of(plot).place(0), 0);
    plot = line_of({-2, -4});
    plot.kind = PlotKind::Bars;
    EXPECT_EQ(axis_of(plot).place(0), 1);
}
TEST(Plot, TicksAreRound) {
    EXPECT_EQ(round_ticks({0.13, 0.98}, 4), (std::vector<double>{0.5}));
    EXPECT_EQ(round_ticks({-1, 9}, 5), (std::vector<double>{0, 2, 4, 6, 8}));
    EXPECT_EQ(round_ticks({-3, 3, true}, 7),
              (std::vector<double>{1e-3, 1e-2, 1e-1, 1, 1e1, 1e2, 1e3}));
    EXPECT_LE(round_ticks({-30, 3, true}, 3).size(), 4u);
    EXPECT_EQ(round_ticks({0.1, 0.7, true}, 4), (std::vector<double>{2, 5}));  // 1.26 to 5.01
    EXPECT_EQ(round_ticks({-0.7, 0.8, true}, 4), (std::vector<double>{0.2, 0.5, 1, 2, 5}));
    EXPECT_EQ(round_ticks({0.5, 0.65, true}, 4), (std::vector<double>{3.5, 4}));  // 3.16 to 4.47
}
TEST(Plot, LabelsThatWouldLieOverOthersAreLeftOut) {
    EXPECT_EQ(labels_apart({60, 50, 45, 20}, 12), (std::vector<size_t>{0, 2, 3}));
    EXPECT_EQ(labels_apart({60, 48}, 12), (std::vector<size_t>{0, 1}));
    EXPECT_EQ(labels_apart({}, 12), std::vector<size_t>{});
}
TEST(Plot, ALogarithmicAxisHasNoPlaceForWhatIsNotAboveZero) {
    const PlotAxis axis = axis_of(line_of({1, 100, 0, -3}, true));
    EXPECT_NEAR(axis.place(10), 0.5, 1e-9);
    EXPECT_TRUE(std::isnan(axis.place(0)));
    EXPECT_TRUE(std::isnan(axis.place(-3)));
}
TEST(Plot, SaysWhereAValueStands) {
    Plot plot = line_of({1, 2, 3});
    EXPECT_EQ(x_text(plot, 0), "0, step -2");
    EXPECT_EQ(x_text(plot, 2), "2, the last");
    plot.kind = PlotKind::Lines;
    EXPECT_EQ(x_text(plot, 2), "2");
    plot.options.x_first = -1, plot.options.x_step = 0.5;
    EXPECT_EQ(x_text(plot, 1), "-0.5");
    plot.kind = PlotKind::Bars;
    EXPECT_EQ(x_text(plot, 1), "-0.5 to 0");
}
TEST(Plot, AHistoryIsNumberedFromItsFirstValueThoughItIsGone) {
    Plot plot;
    plot.options.length = 3;
    for (float value : {1, 2, 3, 4, 5}) append(plot, "", value);
    EXPECT_EQ(x_text(plot, 0), "2, step -2");
    EXPECT_EQ(x_axis_of(plot).low, 2);
    EXPECT_EQ(x_axis_of(plot).high, 4);
    Plot many;
    for (int k = 0; k < 10'010; ++k) append(many, "", float(k));
    EXPECT_EQ(many.series[0].values.size(), 10'000u);
    EXPECT_EQ(x_axis_of(many).low, 10);
}
TEST(Plot, ALineOfFewerValuesStandsWhereTheOtherOneWas) {
    Plot plot;
    for (int k = 0; k < 10; ++k) {
        append(plot, "train", float(k));
        if (k % 5 == 4) append(plot, "test", float(k));
    }
    EXPECT_EQ(plot.series[1].numbers, (std::vector<int64_t>{4, 9}));
    EXPECT_EQ(csv_text(plot).substr(0, 40), "x,train,test\n0,0,\n1,1,\n2,2,\n3,3,\n4,4,4\n5");
}
TEST(Plot, AsCsvItHasALineForEachPlace) {
    Gui gui;
    gui.lines("x", {{"a, b", {1, NAN}}, {"", {0.1f, 2, 3}}}, {.x_first = 1, .x_step = 0.5});
    EXPECT_EQ(csv_text(gui.find("x")->plot),
              "x,\"a, b\",value\n1,1,0.100000001\n1.5,nan,2\n2,,3\n");
}
TEST(Plot, NanHasNoSign) {
    const Plot plot = line_of({-NAN, 1});
    EXPECT_NE(csv_text(plot).find("0,nan\n"), std::string::npos) << csv_text(plot);
}
TEST(Plot, TheWheelComesNearerAndNothingBeyondTheEndsIsSeen) {
    const PlotAxis all{0, 100};
    PlotZoom zoom;
    EXPECT_EQ(zoom.seen(all).high, 100);
    zoom.near(all, 0.25, 3, 2);
    const PlotAxis seen = zoom.seen(all);
    EXPECT_LT(seen.high - seen.low, 60);
    EXPECT_NEAR(seen.place(25), 0.25, 1e-9);  // what was under the mouse stays there
    zoom.shift(all, -10);
    EXPECT_EQ(zoom.seen(all).low, 0);
    EXPECT_NEAR(zoom.seen(all).high, seen.high - seen.low, 1e-9);  // as much is seen as before
    for (int k = 0; k < 100; ++k) zoom.near(all, 0.5, 1, 2);
    EXPECT_NEAR(zoom.seen(all).high - zoom.seen(all).low, 2, 1e-9);
    for (int k = 0; k < 100; ++k) zoom.near(all, 0.5, -1, 2);
    EXPECT_EQ(zoom.seen(all).high, 100);
}
TEST(Plot, AZoomAtTheEndGoesAlongWithNewValues) {
    PlotAxis all{0, 100};
    PlotZoom zoom;
    zoom.near(all, 1, 5, 2);  // about the newest value
    const double width = zoom.high - zoom.low;
    all.high = 110;
    zoom.go_along(all);
    EXPECT_EQ(zoom.seen(all).high, 110);
    EXPECT_NEAR(zoom.seen(all).low, 110 - width, 1e-9);
    // Elsewhere it stays, and again at the end it goes along.
    zoom.shift(all, -0.5);
    const PlotAxis before = zoom.seen(all);
    all.high = 120;
    zoom.go_along(all);
    EXPECT_EQ(zoom.seen(all).low, before.low);
    EXPECT_EQ(zoom.seen(all).high, before.high);
    zoom.shift(all, 10);
    all.high = 130;
    zoom.go_along(all);
    EXPECT_EQ(zoom.seen(all).high, 130);
    // A zoom that shows all keeps showing all.
    zoom = {};
    all.high = 140;
    zoom.go_along(all);
    EXPECT_EQ(zoom.seen(all).low, 0);
    EXPECT_EQ(zoom.seen(all).high, 140);
}
TEST(Plot, UpwardsAnAxisHoldsWhatIsSeen) {
    const Plot plot = line_of({1000, 1, 2, 3});
    EXPECT_GT(axis_of(plot).high, 1000);
    EXPECT_LT(axis_of(plot, {1, 3}).high, 10);
}
TEST(Plot, WholeLinesReplaceThoseBefore) {
    Gui gui;
    gui.lines("x", {{"a", {1, 2}}, {"b", {3}}});
    gui.lines("x", {{"b", {4, 5, 6}}});
    const Plot& plot = gui.find("x")->plot;
    ASSERT_EQ(plot.series.size(), 1u);
    EXPECT_EQ(plot.series[0].values, (std::vector<float>{4, 5, 6}));
    gui.plot("x", 7);  // and a history begins anew
    EXPECT_EQ(plot.series.size(), 1u);
    EXPECT_EQ(plot.series[0].values, (std::vector<float>{7}));
}

class PlotPicture : public DeviceTest {
  protected:
    /// Pixels of a panel with one plot that are near a colour.
    int pixels(const std::function<void(Gui&)>& plot, std::array<int, 3> colour,
               bool light = false) {
        ViewWindow window(
            std::make_shared<VulkanExecutor>(device),
            {.size = {500, 400}, .headless = true, .light = light, .gui_in_pictures = true});
        EXPECT_TRUE(window.open());
        plot(window.gui());
        for (int settle = 0; settle < 2; ++settle) window.picture();
        const Picture picture = window.picture();
        int count = 0;
        for (size_t k = 0; k < picture.rgba.size(); k += 4) {
            int apart = 0;
            for (size_t c = 0; c < 3; ++c)
                apart = std::max(apart, std::abs(picture.rgba[k + c] - colour[c]));
            count += apart < 40;
        }
        return count;
    }
    const std::array<int, 3> kFirst{86, 180, 233}, kSecond{230, 159, 0};
};

TEST_F(PlotPicture, EverySeriesHasItsColour) {
    const auto plot = [](Gui& gui) {
        for (int k = 0; k < 50; ++k)
            gui.plot("energy", {{"up", float(k)}, {"down", float(50 - k)}});
    };
    EXPECT_GT(pixels(plot, kFirst), 100);
    EXPECT_GT(pixels(plot, kSecond), 100);
}
TEST_F(PlotPicture, OfALightPanelIsDarkOnLight) {
    const auto plot = [](Gui& gui) {
        for (int k = 0; k < 50; ++k) gui.plot("energy", {{"up", float(k)}});
    };
    const std::array<int, 3> panel{236, 238, 240}, line{0, 114, 178};
    EXPECT_GT(pixels(plot, panel, true), 10000);
    EXPECT_GT(pixels(plot, line, true), 100);
    EXPECT_LT(pixels(plot, panel, false), 1000);
}
TEST_F(PlotPicture, NanLeavesAGap) {
    const auto plot = [](float middle) {
        return [=](Gui& gui) {
            for (int k = 0; k < 60; ++k) gui.plot("x", k > 9 && k < 50 ? middle : float(k) / 600);
        };
    };
    EXPECT_LT(pixels(plot(NAN), kFirst), pixels(plot(0.05f), kFirst) / 2);
}
TEST_F(PlotPicture, OfManyValuesEveryColumnIsCovered) {
    const auto zigzag = [](size_t count) {
        std::vector<float> values;
        for (size_t k = 0; k < count; ++k) values.push_back(float(k % 2));
        return [=](Gui& gui) { gui.lines("x", {{"", values}}); };
    };
    const auto flat = [](Gui& gui) { gui.bars("x", {1, 1, 1, 1}); };
    // A curve from its smallest to its largest value is as full as bars, which leave gaps.
    for (size_t count : {600, 1024, 20000})
        EXPECT_GT(pixels(zigzag(count), kFirst), pixels(flat, kFirst)) << count;
    // With 4 pixels for each value it is not, and its lines are whole.
    EXPECT_LT(pixels(zigzag(60), kFirst), pixels(flat, kFirst) * 3 / 4);
    EXPECT_GT(pixels(zigzag(60), kFirst), pixels(flat, kFirst) / 4);
}
TEST_F(PlotPicture, BarsFillWhatTheyCount) {
    const auto bars = [](float height) {
        return [=](Gui& gui) { gui.bars("counts", {height, 8, height, height}); };
    };
    EXPECT_GT(pixels(bars(6), kFirst), 2 * pixels(bars(1), kFirst));
}

}  // namespace
}  // namespace firn
