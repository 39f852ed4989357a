// The window as programs over tensors use it.
#pragma once
#include <vector>

#include "compiler/frontend/tensor.h"
#include "engine/window/view_window.h"

namespace firn {

class Drawing;

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
    /// [h, w] grey from 0 to 1, [h, w, 3] RGB, [h, w, 4] RGBA; computed where it is not yet.
    /// UserError where it is no picture.
    void show(const Tensor& x, const ShowOptions& options = {}, SourceLine line = here());
    /// [h, w] through a map; without a range the smallest and largest element of each frame are its
    /// ends.
    void show(const Tensor& x, Colormap map, ValueRange range = {}, SourceLine line = here());
    /// Points, lines and other shapes, over a picture or by themselves (engine/firn/drawing.h).
    void show(const Drawing& drawing, SourceLine line = here());
    /// Several beside one another, each with its own zoom or camera; `mouse.view` is the one that
    /// the mouse is over.
    ///     window.show_grid({{u, colormap::viridis}, {v, colormap::magma}});
    void show_grid(const std::vector<Drawing>& views, const SceneGrid& grid = {},
                   SourceLine line = here());
};

}  // namespace firn
