// What windows show in Python: tensors through colour maps, drawings, plots, pictures of frames.
#include "engine/firn/at_line.h"
#include "engine/python/bindings/window.h"

namespace firn::python {

namespace {

constexpr std::pair<const char*, Colormap> kMaps[] = {
    {"grey", Colormap::Grey},         {"viridis", Colormap::Viridis}, {"magma", Colormap::Magma},
    {"inferno", Colormap::Inferno},   {"plasma", Colormap::Plasma},   {"turbo", Colormap::Turbo},
    {"coolwarm", Colormap::Coolwarm}, {"icefire", Colormap::Icefire}};

/// The name of an enumeration's member, or a string as it is.
std::string name_of(py::handle object, const char* what) {
    if (PyUnicode_Check(object.ptr())) return object.cast<std::string>();
    if (PyObject_HasAttrString(object.ptr(), "name"))
        return py::str(object.attr("name")).cast<std::string>();
    throw py::type_error(
        std::string(what) + ", not " +
        py::repr(py::type::handle_of(object).attr("__name__")).cast<std::string>());
}

HeatMapOptions heat_map_options(const py::object& colormap, const py::object& range,
                                const std::string& unit, const std::string& group,
                                const std::string& help) {
    HeatMapOptions out;
    out.colormap = colormap_of(colormap).value_or(out.colormap);
    if (!range.is_none()) out.range = range_of(range);
    out.unit = unit;
    out.group = group;
    out.help = help;
    return out;
}

/// A dict of names and values as lines.
std::vector<PlotTensor> plot_lines(const py::dict& values, SourceLine line) {
    std::vector<PlotTensor> out;
    for (const auto& [name, value] : values)
        out.push_back({py::str(name).cast<std::string>(), shown_tensor(value, line)});
    return out;
}

py::object array_of(const std::vector<float>& values) {
    const py::object array = py::module_::import("array").attr("array")("f");
    array.attr("frombytes")(
        py::bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
    return array;
}

/// A function of Python to which C++ hands numbers on.
Callback<void(const std::vector<float>&)> taking_numbers(const py::function& take) {
    const std::shared_ptr<py::function> kept(new py::function(take), [](py::function* function) {
        const py::gil_scoped_acquire acquire;
        delete function;
    });
    return [kept](const std::vector<float>& values) {
        const py::gil_scoped_acquire acquire;
        (*kept)(array_of(values));
    };
}

/// Calls f with the window, the line of Python on errors, and without the GIL.
template <class F>
auto in_window(const PythonWindow& window, const F& f) {
    const Line line;
    Window& at = window.get();
    return without_gil([&] { return f(at, line.at); });
}

}  // namespace

std::optional<Colormap> colormap_of(py::handle object) {
    if (object.is_none()) return std::nullopt;
    std::string name = name_of(object, "a colour map is one of firn.colormap, or its name");
    std::string known;
    for (char& each : name)
        each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
    for (const auto& [each, map] : kMaps) {
        if (name == each) return map;
        known += (known.empty() ? "" : ", ") + std::string(each);
    }
    throw UserError("there is no colour map '" + name + "'; there are " + known);
}

ValueRange range_of(py::handle object) {
    if (object.is_none()) return kUnstatedRange;
    if (PyUnicode_Check(object.ptr()) && object.cast<std::string>() == "auto") return {};
    py::detail::make_caster<std::pair<float, float>> ends;
    if (!ends.load(object, true))
        throw py::type_error("a range is (low, high), \"auto\" or None; not " +
                             py::repr(object).cast<std::string>());
    const auto [low, high] = py::detail::cast_op<std::pair<float, float>>(ends);
    return {low, high};
}

Tensor shown_tensor(py::handle object, SourceLine line) {
    const Tensor x = operand_of(object, line, "what is shown").tensor();
    const DType dtype = x.dtype(line);
    return dtype.bytes() == 8 || dtype.is_bool() ? x.as(f32, line) : x;
}

ShowOptions show_options(const py::object& colormap, const py::object& range, bool smooth,
                         float opacity, bool colour_bar, const std::string& label) {
    ShowOptions out;
    out.colormap = colormap_of(colormap);
    out.range = range_of(range);
    out.smooth = smooth;
    out.opacity = opacity;
    out.colour_bar = colour_bar;
    out.label = label;
    return out;
}

void bind_showing(py::class_<PythonWindow>& window) {
    window
        .def(
            "show",
            [](const PythonWindow& self, const py::object& x, const py::object& colormap,
               const py::object& range, bool smooth, float opacity, bool colour_bar,
               const std::string& label) {
                const Line line;
                Window& window = self.get();
                if (py::isinstance<Drawing>(x)) {
                    const Drawing& drawing = x.cast<const Drawing&>();
                    return without_gil([&] { window.show(drawing, line.at); });
                }
                const ShowOptions options =
                    show_options(colormap, range, smooth, opacity, colour_bar, label);
                const Tensor shown = shown_tensor(x, line.at);
                without_gil([&] { window.show(shown, options, line.at); });
            },
            py::arg("x"), py::arg("colormap") = py::none(), py::arg("range") = py::none(),
            py::kw_only(), py::arg("smooth") = true, py::arg("opacity") = 1.0f,
            py::arg("colour_bar") = false, py::arg("label") = "",
            "Shows a tensor or an array: [h, w] as grey from 0 to 1 or through a map, [h, w, 3] as "
            "RGB, [h, w, 4] as RGBA; or a Drawing. `range` is (low, high) or \"auto\"; with a map "
            "and without a range it is the smallest to the largest finite element.")
        .def(
            "show_grid",
            [](const PythonWindow& self, const py::iterable& views, int columns) {
                const Line line;
                Window& window = self.get();
                std::vector<Drawing> all;
                for (const py::handle& view : views) {
                    if (py::isinstance<Drawing>(view)) {
                        all.push_back(view.cast<const Drawing&>());
                    } else if (py::isinstance<py::tuple>(view)) {  // (u, colormap)
                        const auto parts = py::reinterpret_borrow<py::tuple>(view);
                        if (parts.size() != 2)
                            throw py::type_error(
                                "a view of show_grid is a Drawing, a tensor, or a tensor and its "
                                "colour map");
                        ShowOptions options;
                        options.colormap = colormap_of(parts[1]);
                        all.emplace_back(shown_tensor(parts[0], line.at), options);
                    } else {
                        all.emplace_back(shown_tensor(view, line.at));
                    }
                }
                without_gil([&] { window.show_grid(all, {columns}, line.at); });
            },
            py::arg("views"), py::arg("columns") = 0,
            "Shows several views beside one another, each with its own zoom or camera: Drawings, "
            "tensors, or pairs of a tensor and a colour map.")
        .def(
            "plot",
            [](const PythonWindow& self, const std::string& name, const py::object& x, bool log,
               int length, const std::string& unit, const std::string& group,
               const std::string& help, double x_first, double x_step) {
                const Line line;
                Window& window = self.get();
                const PlotOptions options =
                    plot_options(log, length, unit, group, help, x_first, x_step);
                if (py::isinstance<py::dict>(x)) {
                    const std::vector<PlotTensor> lines = plot_lines(x.cast<py::dict>(), line.at);
                    return without_gil([&] { window.plot(name, lines, options, line.at); });
                }
                const Tensor shown = shown_tensor(x, line.at);
                without_gil([&] { window.plot(name, shown, options, line.at); });
            },
            py::arg("name"), py::arg("x"), py::kw_only(), py::arg("log") = false,
            py::arg("length") = PlotOptions().length, py::arg("unit") = "", py::arg("group") = "",
            py::arg("help") = "", py::arg("x_first") = 0.0, py::arg("x_step") = 1.0,
            "Plots a tensor in the panel, without a wait: a number is appended to its line, [n] is "
            "the whole line; a dict of names and tensors has a line for each.")
        .def(
            "histogram",
            [](const PythonWindow& self, const std::string& name, const py::object& x, int bins,
               const py::object& range, bool log, const std::string& group,
               const std::string& help) {
                const Line line;
                Window& window = self.get();
                HistogramPlotOptions options;
                options.bins = bins;
                if (!range.is_none()) options.range = range_of(range);
                options.log = log;
                options.group = group;
                options.help = help;
                const Tensor shown = shown_tensor(x, line.at);
                without_gil([&] { window.histogram(name, shown, options, line.at); });
            },
            py::arg("name"), py::arg("x"), py::kw_only(),
            py::arg("bins") = HistogramPlotOptions().bins, py::arg("range") = py::none(),
            py::arg("log") = false, py::arg("group") = "", py::arg("help") = "",
            "Plots how often each value occurs in a tensor; the device counts.")
        .def(
            "heat_map",
            [](const PythonWindow& self, const std::string& name, const py::object& x,
               const py::object& colormap, const py::object& range, const std::string& unit,
               const std::string& group, const std::string& help) {
                const Line line;
                Window& window = self.get();
                const HeatMapOptions options = heat_map_options(colormap, range, unit, group, help);
                const Tensor shown = shown_tensor(x, line.at);
                without_gil([&] { window.heat_map(name, shown, options, line.at); });
            },
            py::arg("name"), py::arg("x"), py::arg("colormap") = py::none(),
            py::arg("range") = py::none(), py::kw_only(), py::arg("unit") = "",
            py::arg("group") = "", py::arg("help") = "",
            "Shows [h, w] as a small picture in the panel.")
        .def(
            "read_later",
            [](const PythonWindow& self, const py::object& x, const py::function& take) {
                const Line line;
                Window& window = self.get();
                const Tensor shown = shown_tensor(x, line.at);
                auto callback = taking_numbers(take);
                without_gil([&] { window.read_later(shown, std::move(callback), line.at); });
            },
            py::arg("x"), py::arg("take"),
            "Hands the elements, row by row as an array.array of floats, to `take` when the device "
            "has computed them, without a wait; `take` is called by a later open().")
        .def(
            "picture",
            [](const PythonWindow& self, const py::object& size) {
                return in_window(self, [&, wanted = size.is_none() ? std::optional<WindowSize>()
                                                                   : window_size_of(size)](
                                           Window& window, SourceLine line) {
                    return at_line(
                        line, [&] { return wanted ? window.picture(*wanted) : window.picture(); });
                });
            },
            py::arg("size") = py::none(), "The frame as a Picture, as it is or in another size.")
        .def(
            "save",
            [](const PythonWindow& self, const py::object& path) {
                const std::string to =
                    py::module_::import("os").attr("fspath")(path).cast<std::string>();
                in_window(self, [&](Window& window, SourceLine line) {
                    at_line(line, [&] { window.save(to); });
                });
            },
            py::arg("path"), "Writes the frame as a .png or .jpg.");
}

}  // namespace firn::python
