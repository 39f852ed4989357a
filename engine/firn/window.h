// Window: shows tensors, drawings and plots.
#pragma once
#include <string>
#include <vector>

#include "compiler/algorithms/stroke.h"
#include "compiler/frontend/tensor.h"
#include "engine/window/view_window.h"

namespace firn {

class Drawing;

/// A line of a plot: one number, or all of its values.
struct PlotTensor {
    std::string name;
    Tensor value;
};
/// Options of Window::histogram.
struct HistogramPlotOptions {
    int bins = 32;
    ValueRange range;  ///< of the counted values; equal ends: from the smallest to the largest
                       ///< finite value
    bool log = false;  ///< a logarithmic axis of counts
    std::string group, help;
};

/// A window of the current session; see ViewWindow for the loop, the panel, mouse and
/// keys.
///
///     Window window({.title = "wave", .size = {1280, 720}});
///     while (window.open()) window.show(u, colormap::viridis);
///
/// A session without a Vulkan device (native code of the processor, an interpreter) gets one that
/// draws, to which each tensor that is shown is copied once. Headless, the host draws pictures of
/// tensors, and only shapes, colour bars, captions and the panel in a picture need a driver.
class Window : public ViewWindow {
  public:
    /// Opens the window. Throws UserError (no display, a size that is not positive), DeviceError
    /// (no device, or one that cannot present).
    explicit Window(const WindowOptions& options = {});

    using ViewWindow::show;
    /// Shows a tensor: [h, w] as grey from 0 to 1, or through the map that the options name; [h, w,
    /// 3] as RGB, [h, w, 4] as RGBA. A lazy tensor is computed first. UserError for other shapes.
    void show(const Tensor& x, const ShowOptions& options = {}, SourceLine line = here());
    /// Shows [h, w] through a map. Without a range its ends are the smallest and largest finite
    /// element of each frame, as in every other form (ShowOptions).
    void show(const Tensor& x, Colormap map, ValueRange range = kUnstatedRange,
              SourceLine line = here());
    /// The same with a colour bar and more: `window.show(u, colormap::viridis,
    /// {.colour_bar = true, .label = "speed, m/s"})`.
    void show(const Tensor& x, Colormap map, const MapOptions& options, SourceLine line = here());
    /// Shows points, lines and other shapes, over a picture or by themselves
    /// (engine/firn/drawing.h).
    void show(const Drawing& drawing, SourceLine line = here());
    /// Shows several drawings beside one another, each with its own zoom or camera; `mouse.view` is
    /// the one under the mouse.
    ///     window.show_grid({{u, colormap::viridis}, {v, colormap::magma}});
    void show_grid(const std::vector<Drawing>& views, const SceneGrid& grid = {},
                   SourceLine line = here());

    /// Plots a tensor in the panel. No frame waits for it: a value appears when the device has
    /// computed it, a frame or two later. The last value has arrived when the loop ends.
    ///
    ///     window.plot("loss", loss);
    ///     window.plot("energy", {{"kinetic", kinetic}, {"potential", potential}});
    ///     window.plot("spectrum", abs(spectrum), {.log = true});
    ///
    /// A number (rank 0) is appended to its line in every frame that advances; [n] is the whole
    /// line, drawn by 1024 extremes if it is longer. UserError for other ranks.
    /// @{
    void plot(const std::string& name, const Tensor& x, const PlotOptions& options = {},
              SourceLine line = here());
    void plot(const std::string& name, const std::vector<PlotTensor>& lines,
              const PlotOptions& options = {}, SourceLine line = here());
    /// @}
    /// Plots how often each value occurs in a tensor of any shape, without values that are not
    /// finite. The device counts, and only while the panel is visible.
    void histogram(const std::string& name, const Tensor& x,
                   const HistogramPlotOptions& options = {}, SourceLine line = here());
    /// Shows [h, w] as a small picture in the panel, of means if it has more than 48 rows or
    /// columns. UserError for other ranks.
    void heat_map(const std::string& name, const Tensor& x, const HeatMapOptions& options = {},
                  SourceLine line = here());
    using ViewWindow::read_later;
    /// The same with the elements of a tensor, row by row.
    void read_later(const Tensor& x, Callback<void(const std::vector<float>&)> take,
                    SourceLine line = here());

  private:
    /// Returns the view itself, or a copy in the memory of the window's session if it is another's.
    BufferView on_device(BufferView view);
    BufferView view_of(const Tensor& x, SourceLine line);
};

/// Returns the line along which the mouse moved in this frame, for painting without gaps:
///
///     Tensor near = squared_distance(i + 0.5f, j + 0.5f, stroke_of(window.mouse())) < r * r;
///
/// A stroke is four numbers, so compiled functions take it as an argument: `paint(u,
/// stroke_of(window.mouse()))`, where `paint` is compiled from a function of a Tensor and a
/// BrushStroke, with a signature of `f32()` for each number.
///
/// Example: after `Mouse mouse; mouse.i = 4; mouse.di = 4; mouse.j = 3;`
/// `squared_distance(Tensor(0.0f), Tensor(0.0f), stroke_of(mouse))` is `9`.
BrushStroke stroke_of(const Mouse& mouse);

}  // namespace firn
