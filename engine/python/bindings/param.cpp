// Param in Python: values that the panel, the command line and presets change.
#include "engine/firn/param.h"

#include <algorithm>
#include <variant>

#include "engine/firn/at_line.h"
#include "engine/python/bindings/window.h"

namespace firn::python {

namespace {

[[noreturn]] void refuse_value(const std::string& name, const char* wanted, py::handle given) {
    throw py::type_error("parameter '" + name + "' takes " + wanted + ", and not " +
                         py::repr(given).cast<std::string>());
}

bool is_integer(py::handle x) { return PyIndex_Check(x.ptr()) && !PyBool_Check(x.ptr()); }
bool is_number(py::handle x) {
    return PyFloat_Check(x.ptr()) || is_integer(x) ||
           (PyNumber_Check(x.ptr()) && !PyBool_Check(x.ptr()) && !PyUnicode_Check(x.ptr()));
}

float float_in(const std::string& name, py::handle x) {
    if (!is_number(x)) refuse_value(name, "a number", x);
    const double value = PyFloat_AsDouble(x.ptr());
    if (PyErr_Occurred()) throw py::error_already_set();
    return static_cast<float>(value);
}
int int_in(const std::string& name, py::handle x) {
    if (!is_integer(x)) refuse_value(name, "an int", x);
    const long value =
        PyLong_AsLong(py::reinterpret_steal<py::object>(PyNumber_Index(x.ptr())).ptr());
    if (PyErr_Occurred() || value != static_cast<int>(value)) {
        PyErr_Clear();
        refuse_value(name, "an int of 32 bits", x);
    }
    return static_cast<int>(value);
}

template <size_t N>
std::array<float, N> vector_in(const std::string& name, py::handle x) {
    std::array<float, N> out;
    const std::string wanted = std::to_string(N) + " numbers";
    if (!PySequence_Check(x.ptr()) || PyUnicode_Check(x.ptr()) || py::len(x) != N)
        refuse_value(name, wanted.c_str(), x);
    for (size_t k = 0; k < N; ++k) out[k] = float_in(name, x[py::int_(k)]);
    return out;
}

/// How a program wrote a value: by Python's type, or by one of firn's (firn/window.py).
std::string kind_of(py::handle value) {
    if (PyObject_HasAttrString(value.ptr(), "_firn_kind"))
        return value.attr("_firn_kind").cast<std::string>();
    return "";
}

template <class P>
constexpr int count_of_components = 0;
template <size_t N>
constexpr int count_of_components<Param<Vec<N>>> = N;
template <>
constexpr int count_of_components<Param<Colour>> = 3;

/// A parameter of any type.
class PythonParam {
  public:
    PythonParam(Gui& gui, const std::string& name, const py::object& value,
                const py::object& choices, const ParamOptions& options)
        : param_(made(gui, name, value, choices, options)) {}

    py::object value() const {
        return std::visit(
            [&](const auto& param) -> py::object {
                using P = std::decay_t<decltype(param)>;
                if constexpr (std::is_same_v<P, Param<OneOf>>) {
                    return choices_[py::int_(param.value())];
                } else if constexpr (count_of_components<P> > 0) {
                    py::tuple out(count_of_components<P>);
                    for (size_t k = 0; k < size_t{count_of_components<P>}; ++k) out[k] = param[k];
                    return out;
                } else {
                    return py::cast(param.value());
                }
            },
            param_);
    }
    void set(const py::object& value) {
        std::visit(
            [&](auto& param) {
                using P = std::decay_t<decltype(param)>;
                if constexpr (std::is_same_v<P, Param<OneOf>>) {
                    param = index_of(param.name(), value);
                } else if constexpr (count_of_components<P> > 0) {
                    param = vector_in<size_t{count_of_components<P>}>(param.name(), value);
                } else if constexpr (std::is_same_v<P, Param<float>> ||
                                     std::is_same_v<P, Param<Angle>>) {
                    param = float_in(param.name(), value);
                } else if constexpr (std::is_same_v<P, Param<int>>) {
                    param = int_in(param.name(), value);
                } else if constexpr (std::is_same_v<P, Param<bool>>) {
                    if (!PyBool_Check(value.ptr())) refuse_value(param.name(), "a bool", value);
                    param = value.ptr() == Py_True;
                } else {
                    if (!PyUnicode_Check(value.ptr())) refuse_value(param.name(), "a str", value);
                    param = value.cast<std::string>();
                }
            },
            param_);
    }
    /// What operands beside tensors are.
    py::object number() const {
        if (const auto* choice = std::get_if<Param<OneOf>>(&param_))
            return py::int_(choice->value());
        const py::object out = value();
        if (PyUnicode_Check(out.ptr()))
            throw py::type_error("parameter '" + name() +
                                 "' is a text, and no operand beside tensors");
        return out;
    }
    py::object index() const {
        if (const auto* choice = std::get_if<Param<OneOf>>(&param_))
            return py::int_(choice->value());
        throw py::type_error("parameter '" + name() + "' is no choice and has no index");
    }
    const std::string& name() const {
        return std::visit([](const auto& param) -> const std::string& { return param.name(); },
                          param_);
    }
    bool changed() {
        return std::visit([](auto& param) { return param.changed(); }, param_);
    }
    void set_step(float step) {
        std::visit([&](auto& param) { param.set_step(step); }, param_);
    }
    void set_structural(const std::string& state) {
        std::visit([&](auto& param) { param.set_structural(state); }, param_);
    }

  private:
    using Any = std::variant<Param<float>, Param<int>, Param<bool>, Param<std::string>,
                             Param<Angle>, Param<File>, Param<OneOf>, Param<Colour>, Param<vec2>,
                             Param<vec3>, Param<vec4>>;

    Any made(Gui& gui, const std::string& name, const py::object& value, const py::object& choices,
             const ParamOptions& options) {
        if (!choices.is_none()) return choice(gui, name, value, choices, options);
        // A member of an enum, or a list of names, whose first is the value.
        if (PyObject_HasAttrString(py::type::handle_of(value).ptr(), "__members__"))
            return choice(gui, name, value, py::type::of(value), options);
        if (is_list_of_names(value)) return choice(gui, name, value[py::int_(0)], value, options);
        const std::string kind = kind_of(value);
        if (kind == "colour") return Param<Colour>(gui, name, vector_in<3>(name, value), options);
        if (kind == "angle") return Param<Angle>(gui, name, float_in(name, value), options);
        if (kind == "file") return Param<File>(gui, name, value.cast<std::string>(), options);
        if (PyBool_Check(value.ptr()))
            return Param<bool>(gui, name, value.ptr() == Py_True, options);
        if (PyUnicode_Check(value.ptr()))
            return Param<std::string>(gui, name, value.cast<std::string>(), options);
        if (is_integer(value)) return Param<int>(gui, name, int_in(name, value), options);
        if (PySequence_Check(value.ptr()) && !tensor_in(value.ptr())) {
            switch (py::len(value)) {
                case 2: return Param<vec2>(gui, name, vector_in<2>(name, value), options);
                case 3: return Param<vec3>(gui, name, vector_in<3>(name, value), options);
                case 4: return Param<vec4>(gui, name, vector_in<4>(name, value), options);
                default: break;
            }
        } else if (is_number(value) && !tensor_in(value.ptr())) {
            return Param<float>(gui, name, float_in(name, value), options);
        }
        refuse_value(name,
                     "a float, an int, a bool, a str, 2 to 4 numbers, a list of names, a member of "
                     "an enum, or a firn.Colour, firn.Angle or firn.File",
                     value);
    }

    static bool is_list_of_names(const py::object& value) {
        if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) return false;
        if (py::len(value) == 0) return false;
        for (const py::handle& each : value)
            if (!PyUnicode_Check(each.ptr())) return false;
        return true;
    }

    Any choice(Gui& gui, const std::string& name, const py::object& value,
               const py::object& choices, const ParamOptions& options) {
        std::vector<std::string> names;
        const bool is_enum = PyObject_HasAttrString(choices.ptr(), "__members__");
        for (const py::handle& each : choices) {
            names.push_back(is_enum ? each.attr("name").cast<std::string>()
                                    : py::str(each).cast<std::string>());
            choices_.append(each);
        }
        return Param<OneOf>(gui, name, index_of(name, value), names, options);
    }

    /// The index of one of the choices, which are names or members of an enum.
    int index_of(const std::string& name, const py::object& value) const {
        for (size_t k = 0; k < choices_.size(); ++k)
            if (py::object(choices_[k]).equal(value)) return static_cast<int>(k);
        if (is_integer(value)) {
            const int at = int_in(name, value);
            if (at >= 0 && at < static_cast<int>(choices_.size())) return at;
        }
        throw UserError("parameter '" + name + "' is one of " +
                        py::repr(choices_).cast<std::string>() + ", and not " +
                        py::repr(value).cast<std::string>());
    }

    py::list choices_;
    Any param_;
};

/// A button, which has no value.
class PythonButton {
  public:
    PythonButton(Gui& gui, const std::string& name, const ParamOptions& options)
        : name(name), param_(gui, name, options) {}
    bool pressed() { return param_.pressed(); }
    const std::string name;

  private:
    Param<Button> param_;
};

ParamOptions options_of(const py::kwargs& given) {
    ParamOptions out;
    for (const auto& [key, value] : given) {
        const std::string name = key.cast<std::string>();
        const auto text = [&, &each = value] { return each.cast<std::string>(); };
        const auto end = [&, &each = value]() -> std::optional<double> {
            if (each.is_none()) return std::nullopt;
            return each.cast<double>();
        };
        if (name == "min")
            out.min = end();
        else if (name == "max")
            out.max = end();
        else if (name == "soft_min")
            out.soft_min = end();
        else if (name == "soft_max")
            out.soft_max = end();
        else if (name == "log")
            out.log = value.cast<bool>();
        else if (name == "step")
            out.step = value.cast<float>();
        else if (name == "unit")
            out.unit = text();
        else if (name == "label")
            out.label = text();
        else if (name == "group")
            out.group = text();
        else if (name == "help")
            out.help = text();
        else
            throw py::type_error("a parameter has no option '" + name +
                                 "'; there are choices, min, max, soft_min, soft_max, log, step, "
                                 "unit, label, group and help");
    }
    return out;
}

py::object plain(const py::object& x) {
    return py::isinstance<PythonParam>(x) ? x.cast<PythonParam&>().value() : x;
}

/// An operation of Python's numbers and texts on the value; `swapped`: it stands on the right.
template <PyObject* (*op)(PyObject*, PyObject*), bool swapped>
py::object apply(const py::object& self, const py::object& other) {
    const py::object a = plain(swapped ? other : self), b = plain(swapped ? self : other);
    PyObject* out = op(a.ptr(), b.ptr());
    if (!out) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(out);
}
template <PyObject* (*op)(PyObject*)>
py::object apply_to(const py::object& self) {
    PyObject* out = op(plain(self).ptr());
    if (!out) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(out);
}
template <int op>
PyObject* compare(PyObject* a, PyObject* b) {
    return PyObject_RichCompare(a, b, op);
}
PyObject* power(PyObject* a, PyObject* b) { return PyNumber_Power(a, b, Py_None); }

/// `dt += 0.1` changes the parameter, and clamps as an assignment does.
template <PyObject* (*op)(PyObject*, PyObject*)>
py::object change(const py::object& self, const py::object& other) {
    self.cast<PythonParam&>().set(apply<op, false>(self, other));
    return self;
}

void bind_operators(py::class_<PythonParam>& param) {
#define FIRN_BOTH(name, op)                                          \
    param.def("__" name "__", &apply<op, false>, py::is_operator()); \
    param.def("__r" name "__", &apply<op, true>, py::is_operator());
    FIRN_BOTH("add", PyNumber_Add)
    FIRN_BOTH("sub", PyNumber_Subtract)
    FIRN_BOTH("mul", PyNumber_Multiply)
    FIRN_BOTH("truediv", PyNumber_TrueDivide)
    FIRN_BOTH("floordiv", PyNumber_FloorDivide)
    FIRN_BOTH("mod", PyNumber_Remainder)
    FIRN_BOTH("pow", power)
    FIRN_BOTH("and", PyNumber_And)
    FIRN_BOTH("or", PyNumber_Or)
    FIRN_BOTH("xor", PyNumber_Xor)
    FIRN_BOTH("lshift", PyNumber_Lshift)
    FIRN_BOTH("rshift", PyNumber_Rshift)
#undef FIRN_BOTH
    param.def("__iadd__", &change<PyNumber_Add>)
        .def("__isub__", &change<PyNumber_Subtract>)
        .def("__imul__", &change<PyNumber_Multiply>)
        .def("__itruediv__", &change<PyNumber_TrueDivide>)
        .def("__neg__", &apply_to<PyNumber_Negative>)
        .def("__pos__", &apply_to<PyNumber_Positive>)
        .def("__abs__", &apply_to<PyNumber_Absolute>)
        .def("__invert__", &apply_to<PyNumber_Invert>)
        .def("__float__", &apply_to<PyNumber_Float>)
        .def("__int__", &apply_to<PyNumber_Long>)
        .def("__iter__", &apply_to<PyObject_GetIter>)
        .def("__str__", &apply_to<PyObject_Str>)
        .def("__eq__", &apply<compare<Py_EQ>, false>, py::is_operator())
        .def("__ne__", &apply<compare<Py_NE>, false>, py::is_operator())
        .def("__lt__", &apply<compare<Py_LT>, false>, py::is_operator())
        .def("__le__", &apply<compare<Py_LE>, false>, py::is_operator())
        .def("__gt__", &apply<compare<Py_GT>, false>, py::is_operator())
        .def("__ge__", &apply<compare<Py_GE>, false>, py::is_operator())
        .def("__bool__",
             [](const PythonParam& self) {
                 const int out = PyObject_IsTrue(self.value().ptr());
                 if (out < 0) throw py::error_already_set();
                 return out != 0;
             })
        .def("__index__",
             [](const PythonParam& self) {
                 return py::reinterpret_steal<py::object>(PyNumber_Index(self.number().ptr()));
             })
        .def("__len__", [](const PythonParam& self) { return py::len(self.value()); })
        .def("__getitem__", &apply<PyObject_GetItem, false>)
        .def("__format__",
             [](const PythonParam& self, const py::str& spec) {
                 return self.value().attr("__format__")(spec);
             })
        .def("__hash__", [](const py::object& self) { return _Py_HashPointer(self.ptr()); })
        .def("__firn_number__", &PythonParam::number);
}

const char* kParamText =
    "A parameter of an App or of a window's panel, by the type of its value: float, int, bool, "
    "str, "
    "2 to 4 numbers, firn.Colour, firn.Angle (radians), firn.File, a member of an enum, or a list "
    "of "
    "names, whose first is the value. It stands for its present value beside numbers and tensors "
    "and "
    "as an argument of compiled functions, and a change compiles nothing; inside a compiled "
    "function "
    "it is the value at the time of compiling. Options: choices, min, max, soft_min, soft_max, "
    "log, "
    "step, unit, label, group, help.";

}  // namespace

void bind_params(py::module_& m) {
    const auto make = [](const py::object& owner, const std::string& name, const py::object& value,
                         const py::object& choices, const py::kwargs& options) {
        const Line line;
        Gui gui = panel_of(owner);
        return at_line(line.at, [&] {
            return std::make_unique<PythonParam>(gui, name, value, choices, options_of(options));
        });
    };
    const auto make_button = [](const py::object& owner, const std::string& name,
                                const py::kwargs& options) {
        const Line line;
        Gui gui = panel_of(owner);
        return at_line(line.at, [&] {
            return std::make_unique<PythonButton>(gui, name, options_of(options));
        });
    };
    py::class_<PythonParam> param(m, "Param", kParamText);
    param
        .def(py::init(make), py::arg("owner"), py::arg("name"), py::arg("value"),
             py::arg("choices") = py::none())
        .def_property("value", &PythonParam::value, &PythonParam::set,
                      "The present value; a number outside of the limits is clamped to them.")
        .def_property_readonly("index", &PythonParam::index, "Of a choice: its number from 0.")
        .def_property_readonly("name", &PythonParam::name)
        .def("changed", &PythonParam::changed,
             "True when it was set from outside since the last time this was asked: by the person, "
             "a preset, or the command line.")
        .def("set_step", &PythonParam::set_step, py::arg("step"))
        .def("set_structural", &PythonParam::set_structural, py::arg("state"),
             "Says that a change compiles another program; `state` says how far that is.")
        .def("__repr__", [](const PythonParam& self) {
            return "<firn.Param " + self.name() + " = " +
                   py::repr(self.value()).cast<std::string>() + ">";
        });
    bind_operators(param);
    py::class_<PythonButton>(m, "Button", "A button of the panel.")
        .def(py::init(make_button), py::arg("owner"), py::arg("name"))
        .def("pressed", &PythonButton::pressed, "True once for every press.")
        .def_readonly("name", &PythonButton::name);
    // app.param("dt", 0.4, min=0) is Param(app, "dt", 0.4, min=0).
    for (const char* owner : {"App", "Window", "Gui"}) {
        const py::object type = m.attr(owner);
        type.attr("param") =
            py::cpp_function(make, py::is_method(type), py::name("param"), py::arg("name"),
                             py::arg("value"), py::arg("choices") = py::none(), kParamText);
        type.attr("button") =
            py::cpp_function(make_button, py::is_method(type), py::name("button"), py::arg("name"),
                             "A button of the panel; options are label, group and help.");
    }
}

}  // namespace firn::python
