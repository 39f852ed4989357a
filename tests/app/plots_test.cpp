// Plots of tensors: what they take, and what comes back of it, by windows without a screen.
#include <firn/firn.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/base/error.h"
#include "engine/window/widgets.h"

namespace firn {
namespace {

class Plots : public testing::Test {
  protected:
    static WindowOptions options(int frames = 0) {
        return {.size = {320, 400}, .headless = true, .frames = frames, .gui_in_pictures = true};
    }
    const Plot& plot(const char* name = "x") { return window.gui().find(name)->plot; }
    const HeatMap& map() { return window.gui().find("x")->heat_map; }
    template <class F>
    std::string refusal(const F& f) {
        try {
            f();
        } catch (const UserError& error) {
            return error.what();
        }
        return "plotted";
    }
    Window window{options()};
};

TEST_F(Plots, NumbersAreAppendedFrameByFrame) {
    Window counted(options(12));
    Tensor x = 0.0f;
    auto next = compile([](Tensor x) { return x + 1; }, {f32()});
    while (counted.open()) {
        x = next(x);
        counted.plot("x", x);
        counted.plot("both", {{"twice", 2 * x}, {"minus", -x}}, {.length = 3});
    }
    const Plot& one = counted.gui().find("x")->plot;
    std::vector<float> expected;
    for (int k = 1; k <= 12; ++k) expected.push_back(float(k));
    ASSERT_EQ(one.series.size(), 1u);
    EXPECT_EQ(one.series[0].values, expected);
    const Plot& both = counted.gui().find("both")->plot;
    ASSERT_EQ(both.series.size(), 2u);
    EXPECT_EQ(both.series[0].name, "twice");
    EXPECT_EQ(both.series[0].values, (std::vector<float>{20, 22, 24}));
    EXPECT_EQ(both.series[1].values, (std::vector<float>{-10, -11, -12}));
}
TEST_F(Plots, WidgetsStandInTheOrderInWhichTheyWereAskedFor) {
    EXPECT_TRUE(window.open());
    window.plot("x", Tensor(1.0f));
    window.histogram("h", zeros({3}));
    window.gui().text("t", "");
    EXPECT_EQ(window.gui().widgets().all.at(0).name, "x");
    EXPECT_EQ(window.gui().widgets().all.at(1).name, "h");
}
TEST_F(Plots, ALineIsShownWhole) {
    window.plot("x", arange(5) * arange(5));
    window.finish_reads();
    EXPECT_EQ(plot().kind, PlotKind::Lines);
    EXPECT_EQ(plot().series.at(0).values, (std::vector<float>{0, 1, 4, 9, 16}));
    window.plot("x", zeros({0}));
    window.finish_reads();
    EXPECT_TRUE(plot().series.at(0).values.empty());
}
TEST_F(Plots, OfALongLineTheExtremesAreSeen) {
    const int n = 100'003;
    Tensor x = sin(arange(n).as(f32) * 1e-4f);
    x(77'777) = 5.0f;
    x(99'999) = NAN;
    window.plot("x", x, {.x_first = 2, .x_step = 0.5});
    window.finish_reads();
    const std::vector<float>& shown = plot().series.at(0).values;
    EXPECT_LE(shown.size(), 1024u);
    EXPECT_GT(shown.size(), 500u);
    const auto at = std::max_element(shown.begin(), shown.end()) - shown.begin();
    EXPECT_EQ(shown[size_t(at)], 5);
    const PlotOptions& axis = plot().options;
    EXPECT_NEAR(axis.x_first + double(at) * axis.x_step, 2 + 0.5 * 77'777, 0.5 * 200);
    for (float value : shown) EXPECT_TRUE(std::isfinite(value));
}
TEST_F(Plots, AHistogramCountsWhatIsFinite) {
    const Tensor x = tensor({0.0f, 1.0f, 4.0f, 3.9f, NAN, INFINITY, -INFINITY, 1.5f}, {2, 4});
    window.histogram("x", x, {.bins = 4});
    window.finish_reads();
    EXPECT_EQ(plot().series.at(0).values, (std::vector<float>{1, 2, 0, 2}));
    EXPECT_EQ(plot().options.x_first, 0);
    EXPECT_EQ(plot().options.x_step, 1);
    window.histogram("x", x, {.bins = 2, .range = {1, 3}});
    window.finish_reads();
    EXPECT_EQ(plot().series.at(0).values, (std::vector<float>{2, 0}));
    EXPECT_EQ(plot().options.x_first, 1);
}
TEST_F(Plots, EqualValuesAreCountedInTheMiddle) {
    window.histogram("x", full({10}, 3), {.bins = 3});
    window.finish_reads();
    EXPECT_EQ(plot().series.at(0).values, (std::vector<float>{0, 10, 0}));
}
TEST_F(Plots, AHeatMapIsTheTensorOrItsMeans) {
    window.heat_map("x", tensor({1, 2, 3, 4, 5, 6}, {2, 3}));
    window.finish_reads();
    EXPECT_EQ(map().rows, 2);
    EXPECT_EQ(map().values, (std::vector<float>{1, 2, 3, 4, 5, 6}));
    Tensor rows = index(zeros({96, 10}), 0).as(f32);
    window.heat_map("x", rows);
    window.finish_reads();
    ASSERT_EQ(map().rows, 48);
    EXPECT_EQ(map().columns, 10);
    EXPECT_EQ(map().all_rows, 96);
    EXPECT_EQ(map().values[10 * 3], 6.5f);
    window.heat_map("x", zeros({0, 4}));
    window.finish_reads();
    EXPECT_TRUE(map().values.empty());
}
TEST_F(Plots, WhatIsNoneIsRefusedWithItsLine) {
    EXPECT_NE(
        refusal([&] {
            window.plot("x", zeros({2, 2}));
        })
            .find("plot 'x': a tensor f32 of rank 2 is no line; give a number (rank 0), which "
                  "is appended, or a line (rank 1) (plots_test.cpp:"),
        std::string::npos)
        << refusal([&] {
               window.plot("x", zeros({2, 2}));
           });
    EXPECT_NE(refusal([&] {
                  window.plot("x", {{"a", zeros({2})}, {"b", Tensor(1.0f)}});
              }).find("beside others of another rank"),
              std::string::npos);
    EXPECT_NE(refusal([&] { window.heat_map("x", zeros({2})); }).find("give [height, width]"),
              std::string::npos);
    EXPECT_NE(refusal([&] { window.histogram("x", zeros({2}), {.bins = 0}); }).find("0 bins"),
              std::string::npos);
    EXPECT_EQ(window.gui().find("x"), nullptr);
}
TEST_F(Plots, HiddenPlotsAreNotComputed) {
    Window hidden({.headless = true});
    hidden.histogram("x", zeros({4}));
    hidden.finish_reads();
    EXPECT_TRUE(hidden.gui().find("x")->plot.series.at(0).values.empty());
}
TEST_F(Plots, APictureShowsTheValuesOfItsFrame) {
    const auto picture = [](bool full) {
        Window window(options());
        EXPECT_TRUE(window.open());
        if (full)
            window.plot("x", sin(arange(100).as(f32)));
        else
            window.gui().lines("x", {});
        return window.picture().rgba;
    };
    EXPECT_NE(picture(true), picture(false));
    EXPECT_EQ(picture(true), picture(true));
}
TEST_F(Plots, ValuesComeLaterInOrder) {
    std::vector<std::vector<float>> read;
    for (int k = 0; k < 3; ++k)
        window.read_later(arange(k) + k, [&](const std::vector<float>& x) { read.push_back(x); });
    EXPECT_TRUE(read.empty());
    window.finish_reads();
    EXPECT_EQ(read, (std::vector<std::vector<float>>{{}, {1}, {2, 3}}));
}

}  // namespace
}  // namespace firn
