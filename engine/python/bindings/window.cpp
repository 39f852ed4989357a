// Window in Python: the loop, the mouse and the keys, shown tensors, plots.
#include "engine/python/bindings/window.h"

#include <structseq.h>

#include <cmath>

#include "engine/firn/at_line.h"
#include "engine/window/widgets.h"

namespace firn::python {

namespace {

constexpr std::pair<const char*, Key> kKeys[] = {{"Space", Key::Space},
                                                 {"Escape", Key::Escape},
                                                 {"Enter", Key::Enter},
                                                 {"Tab", Key::Tab},
                                                 {"Backspace", Key::Backspace},
                                                 {"Delete", Key::Delete},
                                                 {"Right", Key::Right},
                                                 {"Left", Key::Left},
                                                 {"Down", Key::Down},
                                                 {"Up", Key::Up},
                                                 {"PageUp", Key::PageUp},
                                                 {"PageDown", Key::PageDown},
                                                 {"Home", Key::Home},
                                                 {"End", Key::End},
                                                 {"F1", Key::F1},
                                                 {"F2", Key::F2},
                                                 {"F3", Key::F3},
                                                 {"F9", Key::F9},
                                                 {"F11", Key::F11},
                                                 {"Shift", Key::Shift},
                                                 {"Control", Key::Control}};

/// The key of a letter or digit, or of one of the names above.
Key key_of(const std::string& name) {
    if (name.size() == 1)
        return static_cast<Key>(std::toupper(static_cast<unsigned char>(name[0])));
    std::string known;
    for (const auto& [each, key] : kKeys) {
        if (name == each) return key;
        known += (known.empty() ? "" : ", ") + std::string(each);
    }
    throw UserError("there is no key '" + name + "'; keys are letters and digits, and " + known);
}

/// A function that saves. A firn.UserError of it is shown in the window, as C++'s is.
Callback<void()> saving(const py::object& save) {
    if (save.is_none()) return {};
    const std::shared_ptr<py::object> kept(new py::object(save), [](py::object* function) {
        const py::gil_scoped_acquire acquire;
        delete function;
    });
    return [kept] {
        const py::gil_scoped_acquire acquire;
        try {
            (*kept)();
        } catch (const py::error_already_set& error) {
            if (error.matches(py::module_::import("firn").attr("UserError")))
                throw UserError(py::str(error.value()).cast<std::string>());
            throw;
        }
    };
}

const char* text_of(WindowEnd end) {
    return end == WindowEnd::Open ? "open" : end == WindowEnd::Asks ? "asks" : "closed";
}

void bind_input(py::module_& m) {
    py::class_<MouseButton>(m, "MouseButton", "A mouse button in one frame.")
        .def_readonly("down", &MouseButton::down)
        .def_readonly("pressed", &MouseButton::pressed, "It went down since the last frame.")
        .def_readonly("released", &MouseButton::released, "It went up since the last frame.");
    py::class_<Mouse>(
        m, "Mouse",
        "The mouse in one frame, at row i and column j of the tensor that is shown. Over a drawing "
        "with limits of its own, j is x and i is y in its units.")
        .def_readonly("view", &Mouse::view, "Of several views, the one that it is over.")
        .def_readonly("i", &Mouse::i)
        .def_readonly("j", &Mouse::j)
        .def_readonly("di", &Mouse::di, "Movement since the last frame.")
        .def_readonly("dj", &Mouse::dj, "Movement since the last frame.")
        .def_readonly("inside", &Mouse::inside, "Over the tensor, and not over the panel.")
        .def_readonly("left", &Mouse::left)
        .def_readonly("right", &Mouse::right)
        .def_readonly("middle", &Mouse::middle)
        .def_readonly("wheel", &Mouse::wheel, "Steps since the last frame.");
    m.def(
        "stroke_of",
        [](const Mouse& mouse) {
            return std::tuple(mouse.i - mouse.di, mouse.j - mouse.dj, mouse.i, mouse.j);
        },
        py::arg("mouse"),
        "The line along which the mouse moved in this frame, as the four numbers i0, j0, i1, j1, "
        "for painting without gaps.");
}

void bind_state(py::class_<PythonWindow>& window) {
    window
        .def("open", &PythonWindow::open,
             "Ends a frame and begins the next: draws, takes input, keeps the rate. False when the "
             "window is closed or all frames are done.")
        .def("__iter__", [](py::object self) { return self; })
        .def(
            "__next__",
            [](PythonWindow& self) {
                if (!self.open()) throw py::stop_iteration();
                return self.get().frame();
            },
            "`for frame in window:` is a loop over `while window.open():`.")
        .def("__enter__", [](py::object self) { return self; })
        .def("__exit__", [](PythonWindow& self, const py::args&) { self.end(); })
        .def("close", [](const PythonWindow& self) { self.get().close(); })
        .def(
            "playing", [](const PythonWindow& self) { return self.get().playing(); },
            "Whether this frame advances: it is not paused, or one step was asked for.")
        .def(
            "advances", [](const PythonWindow& self) { return self.get().advances(); },
            "The same, for code that draws nothing in a pause.")
        .def(
            "reset", [](const PythonWindow& self) { return self.get().reset(); },
            "True once after R or the button: the program starts again.")
        .def(
            "mouse", [](const PythonWindow& self) { return self.get().mouse(); },
            "The mouse in this frame.")
        .def(
            "key_down",
            [](const PythonWindow& self, const std::string& key) {
                return self.get().key_down(key_of(key));
            },
            py::arg("key"), "Whether a key is down: a letter, a digit, or a name as \"Left\".")
        .def(
            "key_pressed",
            [](const PythonWindow& self, const std::string& key) {
                return self.get().key_pressed(key_of(key));
            },
            py::arg("key"), "Whether it went down since the last frame.")
        .def(
            "size", [](const PythonWindow& self) { return size_to_python(self.get().size()); },
            "Width and height of a frame in the units of the options.")
        .def(
            "pixels", [](const PythonWindow& self) { return size_to_python(self.get().pixels()); },
            "Width and height of a frame in pixels.")
        .def(
            "frame", [](const PythonWindow& self) { return self.get().frame(); },
            "The number of frames finished so far, without those of a pause.")
        .def(
            "gui", [](const PythonWindow& self) -> Gui& { return self.get().gui(); },
            py::return_value_policy::copy, "The panel.")
        .def("title", [](const PythonWindow& self) { return self.get().options().title; })
        .def(
            "camera", [](const PythonWindow& self, size_t view) { return self.get().camera(view); },
            py::arg("view") = 0, "The camera of a drawing in space, as the person has moved it.")
        .def("finish_reads",
             [](const PythonWindow& self) {
                 const Line line;
                 Window& window = self.get();
                 without_gil([&] { window.finish_reads(); });
             })
        .def("shows_panel", [](const PythonWindow& self) { return self.get().shows_panel(); })
        .def(
            "say", [](const PythonWindow& self, const std::string& text) { self.get().say(text); },
            py::arg("text"), "Shows a message in the window as long as it takes to read.")
        .def(
            "menu_by_right_click",
            [](const PythonWindow& self, bool opens) { self.get().menu_by_right_click(opens); },
            py::arg("opens"))
        .def(
            "unsaved",
            [](const PythonWindow& self, const std::string& what, const py::object& save) {
                self.get().unsaved(what, saving(save));
            },
            py::arg("what"), py::arg("save") = py::none(),
            "Says what ending the program now would lose, as \"120 steps\"; empty: nothing. The "
            "window then asks, and offers `save`.")
        .def("would_ask", [](const PythonWindow& self) { return self.get().would_ask(); })
        .def("request_end", [](const PythonWindow& self) { self.get().request_end(); })
        .def(
            "ending", [](const PythonWindow& self) { return text_of(self.get().ending()); },
            "\"open\", \"asks\" or \"closed\".")
        .def("lost_display", [](const PythonWindow& self) { return self.get().lost_display(); })
        .def(
            "kernel_times",
            [](const PythonWindow& self) {
                py::list out;
                for (const KernelTime& each : self.get().kernel_times())
                    out.append(py::make_tuple(each.name, each.milliseconds, each.dispatches));
                return out;
            },
            "Name, milliseconds and dispatches of the kernels, where they are measured.");
}

}  // namespace

PythonWindow::PythonWindow(const WindowOptions& options)
    : own_(without_gil([&] { return std::make_unique<Window>(options); })) {
    window_ = own_.get();
    own_->close_when([this] { return is_interrupted(); });
}

PythonWindow::~PythonWindow() { end(); }

Window& PythonWindow::get() const {
    if (!window_)
        throw UserError(
            "the window has ended: that of an App lives as long as app.run, another until its "
            "`with` ends");
    return *window_;
}

bool PythonWindow::open() {
    const Line line;
    Window& window = get();
    const bool is_open = without_gil([&] { return window.open(); });
    if (error_[0]) {
        PyErr_Restore(std::exchange(error_[0], nullptr), std::exchange(error_[1], nullptr),
                      std::exchange(error_[2], nullptr));
        throw py::error_already_set();
    }
    return is_open;
}

void PythonWindow::end() {
    window_ = nullptr;
    if (!own_) return;
    const std::unique_ptr<Window> ended = std::move(own_);
    ended->close_when({});
    const py::gil_scoped_release released;
    // NOLINTNEXTLINE: it ends here, where other threads of Python run
    const_cast<std::unique_ptr<Window>&>(ended).reset();
}

bool PythonWindow::is_interrupted() {
    const py::gil_scoped_acquire acquire;
    if (!error_[0] && PyErr_CheckSignals() != 0) PyErr_Fetch(&error_[0], &error_[1], &error_[2]);
    return error_[0] != nullptr;
}

WindowSize window_size_of(py::handle object) {
    py::detail::make_caster<std::pair<int, int>> sides;
    if (!sides.load(object, true))
        throw py::type_error("the size of a window is (width, height), and not " +
                             py::repr(object).cast<std::string>());
    const auto [width, height] = py::detail::cast_op<std::pair<int, int>>(sides);
    return {width, height};
}

py::object size_to_python(WindowSize size) {
    static PyTypeObject* type = [] {
        static PyStructSequence_Field fields[] = {
            {"width", nullptr}, {"height", nullptr}, {nullptr, nullptr}};
        static PyStructSequence_Desc desc = {"firn.WindowSize", "Width and height.", fields, 2};
        return PyStructSequence_NewType(&desc);
    }();
    PyObject* out = PyStructSequence_New(type);
    if (!out) throw py::error_already_set();
    PyStructSequence_SetItem(out, 0, PyLong_FromLong(size.width));
    PyStructSequence_SetItem(out, 1, PyLong_FromLong(size.height));
    return py::reinterpret_steal<py::object>(out);
}

Gui panel_of(py::handle owner) {
    if (py::isinstance<Gui>(owner)) return owner.cast<Gui>();
    if (py::isinstance<PythonWindow>(owner)) return owner.cast<PythonWindow&>().get().gui();
    if (PyObject_HasAttrString(owner.ptr(), "gui")) {
        const py::object panel = owner.attr("gui")();
        if (py::isinstance<Gui>(panel)) return panel.cast<Gui>();
    }
    throw py::type_error("a parameter belongs to an App, a Window or a Gui, and not to " +
                         py::repr(py::type::handle_of(owner).attr("__name__")).cast<std::string>());
}

void bind_windows(py::module_& m) {
    bind_input(m);
    const WindowOptions d;
    py::class_<PythonWindow> window(
        m, "Window",
        "A window that shows tensors from their own memory, with a panel. App.run opens one; "
        "without an App, `with firn.Window(title=\"wave\") as window:` is a window alone.");
    window.def(py::init([](const std::string& title, const py::object& size, float scale,
                           bool fullscreen, bool headless, int frames, double max_rate, bool vsync,
                           bool light, bool remembers_panel, bool gui_in_pictures, bool profile,
                           bool runs_minimised, double video_rate, bool inspect,
                           const std::string& screenshot_path, const std::string& keys) {
                   const Line line;
                   WindowOptions options;
                   options.title = title;
                   options.size = window_size_of(size);
                   options.scale = scale;
                   options.fullscreen = fullscreen;
                   options.headless = headless;
                   options.frames = frames;
                   options.max_rate = max_rate;
                   options.vsync = vsync;
                   options.light = light;
                   options.remembers_panel = remembers_panel;
                   options.gui_in_pictures = gui_in_pictures;
                   options.profile = profile;
                   options.runs_minimised = runs_minimised;
                   options.video_rate = video_rate;
                   options.inspect = inspect;
                   options.screenshot_path = screenshot_path;
                   options.keys = keys;
                   return at_line(line.at, [&] { return std::make_unique<PythonWindow>(options); });
               }),
               py::arg("title") = d.title, py::kw_only(),
               py::arg("size") = py::make_tuple(d.size.width, d.size.height),
               py::arg("scale") = d.scale, py::arg("fullscreen") = d.fullscreen,
               py::arg("headless") = d.headless, py::arg("frames") = d.frames,
               py::arg("max_rate") = d.max_rate, py::arg("vsync") = d.vsync,
               py::arg("light") = d.light, py::arg("remembers_panel") = d.remembers_panel,
               py::arg("gui_in_pictures") = d.gui_in_pictures, py::arg("profile") = d.profile,
               py::arg("runs_minimised") = d.runs_minimised, py::arg("video_rate") = d.video_rate,
               py::arg("inspect") = d.inspect, py::arg("screenshot_path") = d.screenshot_path,
               py::arg("keys") = d.keys, "Opens a window.");
    bind_state(window);
    bind_showing(window);
}

}  // namespace firn::python
