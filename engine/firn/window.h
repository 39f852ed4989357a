// The window as programs over tensors use it.
#pragma once
#include <string>
#include <vector>

#include "compiler/algorithms/stroke.h"
#include "compiler/frontend/tensor.h"
#include "engine/window/view_window.h"

namespace firn {

class Drawing;

/// A line of a plot: a number, or all of its values.
struct PlotTensor {
    std::string name;
    Tensor value;
};
/// How a histogram is drawn.
struct HistogramPlotOptions {
    int bins = 32;
    ValueRange range;  ///< of what is counted; equal: from the smallest to the largest finite value
    bool log = false;  ///< a logarithmic axis of counts
    std::string group, help;
};

/// A window on the current session's device; see ViewWindow for the loop, the panel, mouse and
/// keys.
///
///     Window window({.title = "wave", .size = {1280, 720}});
///     while (window.open()) window.show(u, colormap::viridis);
///
/// A session without a device (an interpreter) gets one for the window; tensors are then copied to
/// it.
class Window : public ViewWindow {
  public:
    /// Opens it. Throws UserError (no display, a size that is not positive), DeviceError (no
    /// device, or one that cannot present).
    explicit Window(const WindowOptions& options = {});

    using ViewWindow::show;
    /// [h, w] grey from 0 to 1, or through the map that the options name; [h, w, 3] RGB, [h, w, 4]
    /// RGBA; computed where it is not yet. UserError where it is no picture.
    void show(const Tensor& x, const ShowOptions& options = {}, SourceLine line = here());
    /// [h, w] through a map; without a range the smallest and largest finite element of each frame
    /// are its ends, as in every other form (ShowOptions).
    void show(const Tensor& x, Colormap map, ValueRange range = kUnstatedRange,
              SourceLine line = here());
    /// The same with a colour bar and more: `window.show(u, colormap::viridis,
    /// {.colour_bar = true, .label = "speed, m/s"})`.
    void show(const Tensor& x, Colormap map, const MapOptions& options, SourceLine line = here());
    /// Points, lines and other shapes, over a picture or by themselves (engine/firn/drawing.h).
    void show(const Drawing& drawing, SourceLine line = here());
    /// Several beside one another, each with its own zoom or camera; `mouse.view` is the one that
    /// the mouse is over.
    ///     window.show_grid({{u, colormap::viridis}, {v, colormap::magma}});
    void show_grid(const std::vector<Drawing>& views, const SceneGrid& grid = {},
                   SourceLine line = here());

    /// Plots in the panel, fed where the tensors are: no frame waits for them, and each shows when
    /// the device has got there, a frame or two later. The last one is there when the loop ends.
    ///
    ///     window.plot("loss", loss);
    ///     window.plot("energy", {{"kinetic", kinetic}, {"potential", potential}});
    ///     window.plot("spectrum", abs(spectrum), {.log = true});
    ///
    /// A number (rank 0) is appended to its line in every frame that advances; [n] is the whole
    /// line, of which 1024 extremes are drawn where it is longer. UserError for other ranks.
    /// @{
    void plot(const std::string& name, const Tensor& x, const PlotOptions& options = {},
              SourceLine line = here());
    void plot(const std::string& name, const std::vector<PlotTensor>& lines,
              const PlotOptions& options = {}, SourceLine line = here());
    /// @}
    /// How often which value is met, of any shape; what is not finite is left out. Counted on the
    /// device, and only where the panel is seen.
    void histogram(const std::string& name, const Tensor& x,
                   const HistogramPlotOptions& options = {}, SourceLine line = here());
    /// [h, w] as a small picture of the panel, of means where it has more than 48 rows or columns.
    /// UserError for other ranks.
    void heat_map(const std::string& name, const Tensor& x, const HeatMapOptions& options = {},
                  SourceLine line = here());
    using ViewWindow::read_later;
    /// The same with the elements of a tensor, row by row.
    void read_later(const Tensor& x, Callback<void(const std::vector<float>&)> take,
                    SourceLine line = here());

  private:
    /// The view itself, or a copy where its memory is not the window's device's.
    BufferView on_device(BufferView view);
    BufferView view_of(const Tensor& x, SourceLine line);
};

/// Along which the mouse went in this frame, so that what it paints has no gaps:
///
///     Tensor near = squared_distance(i + 0.5f, j + 0.5f, stroke_of(window.mouse())) < r * r;
///
/// Its four numbers are arguments of compiled functions: `paint(u, stroke_of(window.mouse()))`
/// where `paint` is made of a function of a Tensor and a BrushStroke, with a signature of `f32()`
/// for each of them.
///
/// Example: after `Mouse mouse; mouse.i = 4; mouse.di = 4; mouse.j = 3;`
/// `squared_distance(Tensor(0.0f), Tensor(0.0f), stroke_of(mouse))` is `9`.
BrushStroke stroke_of(const Mouse& mouse);

}  // namespace firn
