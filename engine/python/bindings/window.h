// Windows in Python: what App, Window, Param and Drawing share; internal.
#pragma once
#include <memory>

#include "engine/firn/drawing.h"
#include "engine/python/bindings/convert.h"
#include "engine/window/picture.h"

namespace firn::python {

/// A window that Python opened, or that an App lends for the time of its run.
class PythonWindow {
  public:
    explicit PythonWindow(const WindowOptions& options);
    explicit PythonWindow(Window& lent) : window_(&lent) {}
    ~PythonWindow();
    PythonWindow(const PythonWindow&) = delete;
    PythonWindow& operator=(const PythonWindow&) = delete;

    /// Throws UserError where it has ended.
    Window& get() const;
    /// Window::open(). Ctrl-C in a window without an App is a KeyboardInterrupt.
    bool open();
    /// Closes a window that Python opened, and forgets a lent one.
    void end();

  private:
    /// Asks Python for signals, for windows that no App ends by its own.
    bool is_interrupted();
    Window* window_ = nullptr;
    std::unique_ptr<Window> own_;
    PyObject* error_[3] = {};  // that a handler of signals raised
};

/// A colour map of its name, or of anything with one; None: nothing.
std::optional<Colormap> colormap_of(py::handle object);
/// None: the rule of ShowOptions; "auto": by the values; else two numbers.
ValueRange range_of(py::handle object);
/// A size of (width, height).
WindowSize window_size_of(py::handle object);
/// A tuple with the names width and height.
py::object size_to_python(WindowSize size);
/// The panel of an App, a Window or a Gui. Throws TypeError for anything else.
Gui panel_of(py::handle owner);
/// A tensor of what can be shown; 64 bits, which frames cannot read, and bools become f32.
Tensor shown_tensor(py::handle object, SourceLine line);

/// The options of a shown tensor, as arguments of Python have them.
ShowOptions show_options(const py::object& colormap, const py::object& range, bool smooth,
                         float opacity, bool colour_bar, const std::string& label);

PlotOptions plot_options(bool log, int length, const std::string& unit, const std::string& group,
                         const std::string& help, double x_first, double x_step);

void bind_app(py::module_& m);
void bind_panels(py::module_& m);
void bind_showing(py::class_<PythonWindow>& window);
void bind_params(py::module_& m);
void bind_windows(py::module_& m);
void bind_drawings(py::module_& m);
void bind_pictures(py::module_& m);

}  // namespace firn::python
