// Drawing in Python: points, lines and other shapes from tensors where they lie.
#include "engine/python/bindings/window.h"

namespace firn::python {

namespace {

/// True for a list or tuple of plain numbers, which is one place or one colour.
bool is_numbers(py::handle x, size_t least, size_t most) {
    if (!PyTuple_Check(x.ptr()) && !PyList_Check(x.ptr())) return false;
    const size_t count = py::len(x);
    if (count < least || count > most) return false;
    for (const py::handle& each : py::reinterpret_borrow<py::sequence>(x))
        if (tensor_in(each.ptr()) || PyUnicode_Check(each.ptr()) || PySequence_Check(each.ptr()) ||
            !PyNumber_Check(each.ptr()))
            return false;
    return true;
}

/// The value of a parameter, or the object itself.
py::object plain(py::handle x) {
    if (PyObject_HasAttrString(x.ptr(), "__firn_number__"))
        return py::handle(x).attr("__firn_number__")();
    return py::reinterpret_borrow<py::object>(x);
}

/// Places [n, d] or a grid; (x, y) and (x, y, z) are one place.
DrawPlaces places_of(py::handle given, SourceLine line) {
    const py::object x = plain(given);
    if (is_numbers(x, 2, 3)) {
        const auto at = [&](int k) { return x[py::int_(k)].cast<float>(); };
        return py::len(x) == 2 ? DrawPlaces(at(0), at(1)) : DrawPlaces(at(0), at(1), at(2));
    }
    return DrawPlaces(shown_tensor(x, line));
}

/// One colour of 3 or 4 numbers, or [n, c] for each.
DrawColour colour_of(py::handle given, SourceLine line) {
    if (given.is_none()) return {};
    const py::object x = plain(given);
    if (is_numbers(x, 3, 4)) {
        const auto at = [&](int k) { return x[py::int_(k)].cast<float>(); };
        return {at(0), at(1), at(2), py::len(x) == 4 ? at(3) : 1.0f};
    }
    if (PyUnicode_Check(x.ptr()) || PyFloat_Check(x.ptr()) || PyLong_Check(x.ptr()))
        throw py::type_error(
            "a colour is (red, green, blue), with alpha or without, from 0 to 1, or a tensor [n, "
            "3] "
            "or [n, 4]; not " +
            py::repr(x).cast<std::string>());
    return DrawColour(shown_tensor(x, line));
}

/// One number, or [n] for each.
DrawNumber number_of(py::handle given, SourceLine line) {
    const py::object x = plain(given);
    if (PyFloat_Check(x.ptr()) || (PyLong_Check(x.ptr()) && !PyBool_Check(x.ptr())))
        return x.cast<float>();
    return DrawNumber(shown_tensor(x, line));
}

DrawLabels labels_of(py::handle x) {
    if (PyUnicode_Check(x.ptr())) return x.cast<std::string>();
    py::detail::make_caster<std::vector<std::string>> all;
    if (!all.load(x, true))
        throw py::type_error("labels are a str, or a list of them; not " +
                             py::repr(py::type::handle_of(x).attr("__name__")).cast<std::string>());
    return py::detail::cast_op<std::vector<std::string>>(std::move(all));
}

LineOptions line_options(const py::object& colour, const py::object& width, bool additive,
                         SourceLine line) {
    LineOptions out;
    out.colour = colour_of(colour, line);
    if (!width.is_none()) out.width = number_of(width, line);
    out.additive = additive;
    return out;
}

using Pair = std::array<float, 2>;

/// The options that text and numbers have both.
template <class Options>
Options text_options(const py::object& colour, float size, Pair align, Pair shift, bool on_top,
                     bool halo, SourceLine line) {
    Options out;
    out.colour = colour_of(colour, line);
    out.size = size;
    out.align = align;
    out.shift = shift;
    out.on_top = on_top;
    out.halo = halo;
    return out;
}

void bind_pictures_of(py::class_<Drawing>& drawing) {
    const auto options = [](const char* name, const char* text, auto add) {
        return std::tuple(name, text, add);
    };
    const auto both = {
        options(
            "picture", "Shows a picture beneath all shapes, with the contrast of Window.show.",
            +[](Drawing& to, const Tensor& x, const ShowOptions& how) { to.picture(x, how); }),
        options(
            "overlay",
            "Lays a picture over all shapes, blended by its alpha, [h, w, 4], and `opacity`.",
            +[](Drawing& to, const Tensor& x, const ShowOptions& how) { to.overlay(x, how); })};
    for (const auto& [name, text, add] : both)
        drawing.def(
            name,
            [add = add](const py::object& self, const py::object& x, const py::object& colormap,
                        const py::object& range, bool smooth, float opacity, bool colour_bar,
                        const std::string& label) {
                const Line line;
                add(self.cast<Drawing&>(), shown_tensor(x, line.at),
                    show_options(colormap, range, smooth, opacity, colour_bar, label));
                return self;
            },
            py::arg("x"), py::arg("colormap") = py::none(), py::arg("range") = py::none(),
            py::kw_only(), py::arg("smooth") = true, py::arg("opacity") = 1.0f,
            py::arg("colour_bar") = false, py::arg("label") = "", text);
}

void bind_shapes(py::class_<Drawing>& drawing) {
    const PointOptions point;
    drawing
        .def(
            "points",
            [](const py::object& self, const py::object& places, const py::object& colour,
               const py::object& size, const py::object& radius, bool lit, bool additive) {
                const Line line;
                PointOptions options;
                options.colour = colour_of(colour, line.at);
                if (!size.is_none()) options.size = number_of(size, line.at);
                if (!radius.is_none()) options.radius = number_of(radius, line.at);
                options.lit = lit;
                options.additive = additive;
                self.cast<Drawing&>().points(places_of(places, line.at), options);
                return self;
            },
            py::arg("places"), py::kw_only(), py::arg("colour") = py::none(),
            py::arg("size") = py::none(), py::arg("radius") = py::none(),
            py::arg("lit") = point.lit, py::arg("additive") = false,
            "Draws discs at [n, 2], or discs and balls in space at [n, 3], or grids of them. "
            "`size` "
            "is in pixels, `radius` in units of the places.")
        .def(
            "lines",
            [](const py::object& self, const py::object& ends, const py::object& colour,
               const py::object& width, bool additive) {
                const Line line;
                self.cast<Drawing&>().lines(places_of(ends, line.at),
                                            line_options(colour, width, additive, line.at));
                return self;
            },
            py::arg("ends"), py::kw_only(), py::arg("colour") = py::none(),
            py::arg("width") = py::none(), py::arg("additive") = false,
            "Draws lines between the two ends in [n, 2, 2] or [n, 2, 3].")
        .def(
            "path",
            [](const py::object& self, const py::object& places, const py::object& colour,
               const py::object& width, bool additive) {
                const Line line;
                self.cast<Drawing&>().path(places_of(places, line.at),
                                           line_options(colour, width, additive, line.at));
                return self;
            },
            py::arg("places"), py::kw_only(), py::arg("colour") = py::none(),
            py::arg("width") = py::none(), py::arg("additive") = false,
            "Draws a line through [n, 2] or [n, 3]; nan interrupts it.")
        .def(
            "arrows",
            [](const py::object& self, const py::object& places, const py::object& vectors,
               const py::object& colour, const py::object& width, float scale, bool additive) {
                const Line line;
                ArrowOptions options;
                options.colour = colour_of(colour, line.at);
                if (!width.is_none()) options.width = number_of(width, line.at);
                options.scale = scale;
                options.additive = additive;
                self.cast<Drawing&>().arrows(places_of(places, line.at),
                                             places_of(vectors, line.at), options);
                return self;
            },
            py::arg("places"), py::arg("vectors"), py::kw_only(), py::arg("colour") = py::none(),
            py::arg("width") = py::none(), py::arg("scale") = 1.0f, py::arg("additive") = false,
            "Draws arrows that begin at `places` and are as long as `vectors`, times `scale`.")
        .def(
            "triangles",
            [](const py::object& self, const py::object& corners, const py::object& colour,
               bool lit, bool additive) {
                const Line line;
                TriangleOptions options;
                options.colour = colour_of(colour, line.at);
                options.lit = lit;
                options.additive = additive;
                self.cast<Drawing&>().triangles(places_of(corners, line.at), options);
                return self;
            },
            py::arg("corners"), py::kw_only(), py::arg("colour") = py::none(),
            py::arg("lit") = true, py::arg("additive") = false,
            "Draws triangles with their corners in [n, 3, 2] or [n, 3, 3].");
}

void bind_texts(py::class_<Drawing>& drawing) {
    const TextOptions d;
    const py::tuple align = py::make_tuple(d.align[0], d.align[1]);
    const py::tuple shift = py::make_tuple(d.shift[0], d.shift[1]);
    drawing
        .def(
            "text",
            [](const py::object& self, const py::object& places, const py::object& labels,
               const py::object& colour, float size, Pair align, Pair shift, bool on_top,
               bool halo) {
                const Line line;
                self.cast<Drawing&>().text(
                    places_of(places, line.at), labels_of(labels),
                    text_options<TextOptions>(colour, size, align, shift, on_top, halo, line.at));
                return self;
            },
            py::arg("places"), py::arg("labels"), py::kw_only(), py::arg("colour") = py::none(),
            py::arg("size") = d.size, py::arg("align") = align, py::arg("shift") = shift,
            py::arg("on_top") = d.on_top, py::arg("halo") = d.halo,
            "Writes a label at each of n places, or one at (x, y).")
        .def(
            "numbers",
            [](const py::object& self, const py::object& places, const py::object& values,
               int decimals, const py::object& colour, float size, Pair align, Pair shift,
               bool on_top, bool halo) {
                const Line line;
                auto options =
                    text_options<NumberOptions>(colour, size, align, shift, on_top, halo, line.at);
                options.decimals = decimals;
                self.cast<Drawing&>().numbers(places_of(places, line.at),
                                              shown_tensor(values, line.at), options);
                return self;
            },
            py::arg("places"), py::arg("values"), py::kw_only(),
            py::arg("decimals") = NumberOptions().decimals, py::arg("colour") = py::none(),
            py::arg("size") = d.size, py::arg("align") = align, py::arg("shift") = shift,
            py::arg("on_top") = d.on_top, py::arg("halo") = d.halo,
            "Writes the numbers [n], or [h, w] at the places of a grid; the device formats them.")
        .def(
            "caption",
            [](const py::object& self, const std::string& text) {
                self.cast<Drawing&>().caption(text);
                return self;
            },
            py::arg("text"), "Adds a line of text below.")
        .def(
            "colour_bar",
            [](const py::object& self, const py::object& colormap, const py::object& range,
               const std::string& label) {
                const std::optional<Colormap> map = colormap_of(colormap);
                if (!map) throw py::type_error("colour_bar needs a colour map");
                self.cast<Drawing&>().colour_bar(*map, range_of(range), label);
                return self;
            },
            py::arg("colormap"), py::arg("range"), py::arg("label") = "",
            "Adds a colour bar beside the drawing, for shapes that a map has coloured.");
}

void bind_frame_of(py::class_<Drawing>& drawing) {
    const DrawCamera d;
    drawing
        .def(
            "limits",
            [](const py::object& self, float left, float right, float bottom, float top) {
                self.cast<Drawing&>().limits(left, right, bottom, top);
                return self;
            },
            py::arg("left"), py::arg("right"), py::arg("bottom"), py::arg("top"),
            "Sets the part of the plane that is shown, with equal units both ways.")
        .def(
            "axes",
            [](const py::object& self, const std::string& x, const std::string& y) {
                DrawAxes words;
                words.x = x;
                words.y = y;
                self.cast<Drawing&>().axes(words);
                return self;
            },
            py::arg("x") = "", py::arg("y") = "",
            "Adds axes with round numbers to the left and below, and titles.")
        .def(
            "y_down",
            [](const py::object& self, bool down) {
                self.cast<Drawing&>().y_down(down);
                return self;
            },
            py::arg("down") = true, "Lets y point down in a drawing without a picture.")
        .def(
            "camera",
            [](const py::object& self, std::array<float, 3> target, float distance, float yaw,
               float pitch, float field_of_view, bool fly) {
                DrawCamera camera;
                camera.target = target;
                camera.distance = distance;
                camera.yaw = yaw;
                camera.pitch = pitch;
                camera.field_of_view = field_of_view;
                camera.fly = fly;
                self.cast<Drawing&>().camera(camera);
                return self;
            },
            py::kw_only(), py::arg("target") = py::make_tuple(0.0f, 0.0f, 0.0f),
            py::arg("distance") = d.distance, py::arg("yaw") = d.yaw, py::arg("pitch") = d.pitch,
            py::arg("field_of_view") = d.field_of_view, py::arg("fly") = d.fly,
            "Sets the first camera of a drawing in space, in radians; the person then moves it.");
}

}  // namespace

void bind_drawings(py::module_& m) {
    py::class_<DrawCamera>(m, "Camera", "A camera of a drawing in space.")
        .def_readonly("target", &DrawCamera::target)
        .def_readonly("distance", &DrawCamera::distance)
        .def_readonly("yaw", &DrawCamera::yaw)
        .def_readonly("pitch", &DrawCamera::pitch)
        .def_readonly("field_of_view", &DrawCamera::field_of_view)
        .def_readonly("fly", &DrawCamera::fly);
    py::class_<Drawing> drawing(
        m, "Drawing",
        "The contents of one frame: points, lines, paths, arrows, triangles and text from tensors "
        "where they lie, over a picture or in space. Later layers cover earlier ones. The methods "
        "return the drawing: `firn.Drawing().picture(u, \"viridis\").points(p, radius=2)`.");
    drawing.def(py::init<>());
    bind_pictures_of(drawing);
    bind_shapes(drawing);
    bind_texts(drawing);
    bind_frame_of(drawing);
}

}  // namespace firn::python
