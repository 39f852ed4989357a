// Plots as a person reads and moves them on the panel: numbers along x, the wheel, a double click.
#include <algorithm>
#include <sstream>

#include "tests/window/panel_fixture.h"

namespace firn {
namespace {

class PlotPanel : public PanelFixture {
  protected:
    PlotPanel() {
        height = 480;
        std::vector<float> values;
        for (int k = 0; k <= 100; ++k) values.push_back(float(k % 7));
        gui.lines("wave", {{"", values}});
        settle();
    }
    Rectangle plot() const { return gui.find("wave")->rectangle; }
    /// Returns the numbers along x, which stand in the last line of text's height of the item.
    std::vector<double> numbers_below() {
        frame(move_events(width - 5, 5));  // away from it: no value is shown
        settle();
        Rectangle below = plot();
        below.y += 64, below.height -= 64;  // the plot itself is 64 pixels high
        below.x -= 2, below.width += 4;
        std::istringstream text(text_in(below));
        std::vector<double> out;
        for (double number = 0; text >> number;) out.push_back(number);
        return out;
    }
    float middle_x() const { return plot().x + plot().width / 2; }
    float inside_y() const { return plot().y + 30; }
};

TEST_F(PlotPanel, HaveRoundNumbersAlongX) {
    const std::vector<double> numbers = numbers_below();
    ASSERT_GE(numbers.size(), 2u) << text();
    EXPECT_EQ(numbers.front(), 0);
    EXPECT_EQ(numbers.back(), 100);
    for (size_t k = 1; k < numbers.size(); ++k)
        EXPECT_EQ(numbers[k] - numbers[k - 1], numbers[1] - numbers[0]);
}
TEST_F(PlotPanel, TheWheelZoomsAboutTheMouseAndADoubleClickShowsAll) {
    const std::vector<double> all = numbers_below();
    for (int k = 0; k < 8; ++k) frame(wheel_events(middle_x(), inside_y(), 1));
    const std::vector<double> nearer = numbers_below();
    ASSERT_FALSE(nearer.empty());
    EXPECT_GT(nearer.front(), 20);
    EXPECT_LT(nearer.back(), 80);
    frame(wheel_events(middle_x(), inside_y(), -1));
    EXPECT_NE(numbers_below(), all) << "one step back is not all of them";
    frame(click_events(middle_x(), inside_y()));
    EXPECT_NE(numbers_below(), all) << "a single click changes nothing";
    for (int k = 0; k < 100; ++k) frame();  // what follows is no part of that click
    frame(click_events(middle_x(), inside_y()) + click_events(middle_x(), inside_y()));
    EXPECT_EQ(numbers_below(), all);
}
TEST_F(PlotPanel, TheWheelOutsideThePlotMovesNothing) {
    const std::vector<double> all = numbers_below();
    frame(wheel_events(plot().x - 30, inside_y(), 3));
    EXPECT_EQ(numbers_below(), all);
}

}  // namespace
}  // namespace firn
