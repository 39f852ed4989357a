// Plots of tensors in a real window: they fill while it runs, and stand while it does not.
#include "compiler/language.h"
#include "engine/firn/window.h"
#include "tests/window/window_fixture.h"

namespace firn {
namespace {

class PlotWindow : public RealWindow {
  protected:
    /// Frames of a program that draws on in a pause, until `done`, at most 20 seconds of Deadline.
    template <class F>
    bool run_until(Window& window, const F& done) {
        for (Deadline deadline; !done() && !deadline.is_over() && window.open();) {
            if (window.playing()) ++x;
            window.plot("x", Tensor(x));
            window.plot("wave", sin(arange(200).as(f32) * 0.1f + x * 0.1f));
            window.histogram("places", sin(arange(5000).as(f32) + x), {.bins = 40});
            const Tensor i = index(zeros({30, 40}), 0).as(f32),
                         j = index(zeros({30, 40}), 1).as(f32);
            window.heat_map("filter", sin(0.3f * i) * cos(0.2f * j + 0.1f * x));
            window.show(gradient);
        }
        return done();
    }
    size_t count(Window& window) {
        const Widget* widget = window.gui().find("x");
        return widget && !widget->plot.series.empty() ? widget->plot.series[0].values.size() : 0;
    }
    float x = 0;
};

TEST_F(PlotWindow, FillsWhileTimeGoesOn) {
    const Session session{SharedPtr<Executor>(std::shared_ptr<Executor>(executor))};
    const SessionScope scope(session);
    WindowOptions wanted = options("plots");
    wanted.size = {640, 640};
    wanted.gui_in_pictures = true;
    Window window(wanted);
    EXPECT_TRUE(run_until(window, [&] { return count(window) >= 20; }));
    window.save(testing::TempDir() + "plots.png");  // for people
    const std::vector<float>& values = window.gui().find("x")->plot.series[0].values;
    for (size_t k = 0; k < values.size(); ++k) EXPECT_EQ(values[k], float(k + 1));
    // A pause draws on where the mouse moves, and time stands still.
    by_hand("plots", "windowfocus \\$id key space");
    EXPECT_TRUE(run_until(window, [&] { return !window.advances(); }));
    window.finish_reads();
    const size_t before = count(window);
    by_hand("plots", at(300, 300) + "sleep 0.1 " + at(320, 300) + "sleep 0.1 " + at(340, 300));
    int drawn = 0;  // few: all moves may come within one frame
    EXPECT_TRUE(run_until(window, [&] { return ++drawn > 3; }));
    window.finish_reads();
    EXPECT_EQ(count(window), before);
    by_hand("plots", "windowfocus \\$id key space");
    EXPECT_TRUE(run_until(window, [&] { return count(window) > before + 5; }));
}

TEST_F(PlotWindow, NobodySeesAHiddenPanel) {
    const Session session{SharedPtr<Executor>(std::shared_ptr<Executor>(executor))};
    const SessionScope scope(session);
    Window window(options("hidden"));
    EXPECT_TRUE(run_until(window, [&] { return count(window) > 3; }));
    EXPECT_TRUE(window.shows_panel());
    by_hand("hidden", "windowfocus \\$id key h");
    EXPECT_TRUE(run_until(window, [&] { return !window.shows_panel(); }));
    by_hand("hidden", "windowfocus \\$id key h");
    EXPECT_TRUE(run_until(window, [&] { return window.shows_panel(); }));
}

}  // namespace
}  // namespace firn
