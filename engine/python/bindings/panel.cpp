// The panel in Python: texts, plots of the host's numbers, and all parameters.
#include "engine/firn/at_line.h"
#include "engine/python/bindings/window.h"

namespace firn::python {

namespace {

/// Numbers of a list or an array, on the host.
std::vector<float> floats_of(const py::object& values, SourceLine line) {
    const Tensor x = shown_tensor(values, line);
    return without_gil([&] { return x.to_vector<float>(line); });
}

}  // namespace

PlotOptions plot_options(bool log, int length, const std::string& unit, const std::string& group,
                         const std::string& help, double x_first, double x_step) {
    PlotOptions out;
    out.log = log;
    out.length = length;
    out.unit = unit;
    out.group = group;
    out.help = help;
    out.x_first = x_first;
    out.x_step = x_step;
    return out;
}

void bind_panels(py::module_& m) {
    py::class_<Gui>(m, "Gui", "The panel of an App or a window.")
        .def(
            "text",
            [](Gui& self, const std::string& name, const std::string& value) {
                self.text(name, value);
            },
            py::arg("name"), py::arg("value"),
            "Shows a line with a name and a text that may change from frame to frame.")
        .def(
            "plot",
            [](Gui& self, const std::string& name, const py::object& values, bool log, int length,
               const std::string& unit, const std::string& group, const std::string& help) {
                const PlotOptions options = plot_options(log, length, unit, group, help, 0, 1);
                if (!py::isinstance<py::dict>(values))
                    return self.plot(name, values.cast<float>(), options);
                std::vector<PlotValue> all;
                for (const auto& [each, value] : values.cast<py::dict>())
                    all.push_back({py::str(each).cast<std::string>(), value.cast<float>()});
                self.plot(name, all, options);
            },
            py::arg("name"), py::arg("values"), py::kw_only(), py::arg("log") = false,
            py::arg("length") = PlotOptions().length, py::arg("unit") = "", py::arg("group") = "",
            py::arg("help") = "",
            "Appends a number of the host to a plot, or a dict of names and numbers to its lines.")
        .def(
            "lines",
            [](Gui& self, const std::string& name, const py::dict& lines, bool log,
               const std::string& unit, const std::string& group, const std::string& help,
               double x_first, double x_step) {
                const Line line;
                std::vector<PlotLine> all;
                for (const auto& [each, values] : lines)
                    all.push_back({py::str(each).cast<std::string>(),
                                   floats_of(py::reinterpret_borrow<py::object>(values), line.at)});
                self.lines(name, all, plot_options(log, 0, unit, group, help, x_first, x_step));
            },
            py::arg("name"), py::arg("lines"), py::kw_only(), py::arg("log") = false,
            py::arg("unit") = "", py::arg("group") = "", py::arg("help") = "",
            py::arg("x_first") = 0.0, py::arg("x_step") = 1.0,
            "Shows whole lines, a dict of names and values, which replace the earlier ones.")
        .def(
            "bars",
            [](Gui& self, const std::string& name, const py::object& values, bool log,
               const std::string& unit, const std::string& group, const std::string& help,
               double x_first, double x_step) {
                const Line line;
                self.bars(name, floats_of(values, line.at),
                          plot_options(log, 0, unit, group, help, x_first, x_step));
            },
            py::arg("name"), py::arg("values"), py::kw_only(), py::arg("log") = false,
            py::arg("unit") = "", py::arg("group") = "", py::arg("help") = "",
            py::arg("x_first") = 0.0, py::arg("x_step") = 1.0,
            "Shows a bar for each value; they replace the earlier ones.")
        .def_property_readonly(
            "parameters",
            [](Gui& self) {
                py::dict out;
                const PanelParameters all = self.parameters();
                for (const std::string& name : all.names()) out[py::str(name)] = all.value(name);
                return out;
            },
            "The names of all parameters with their values as texts, as presets have them.")
        .def(
            "set",
            [](Gui& self, const std::string& name, const std::string& text) {
                const Line line;
                at_line(line.at, [&] { self.parameters().set(name, text); });
            },
            py::arg("name"), py::arg("text"), "Sets a parameter by a text, as presets do.")
        .def(
            "reset", [](Gui& self) { self.parameters().reset(); },
            "Gives all parameters the values that they had when they were made.");
}

}  // namespace firn::python
