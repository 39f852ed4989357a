// Operands, types, sizes and shapes of Python's values; errors as Python's exceptions.
#include "engine/python/bindings/convert.h"

#include <stdexcept>
#include <string_view>

namespace firn::python {

Classes& classes() {
    static Classes all;
    return all;
}

Tensor* tensor_in(PyObject* object) {
    if (!classes().tensor || !PyObject_TypeCheck(object, classes().tensor)) return nullptr;
    auto* instance = reinterpret_cast<py::detail::instance*>(object);
    void* value = instance->simple_layout ? instance->simple_value_holder[0]
                                          : instance->get_value_and_holder().value_ptr();
    return static_cast<Tensor*>(value);
}

PyObject* new_tensor(Tensor x) { return py::cast(std::move(x)).release().ptr(); }

namespace {

/// A number of Python as a weak scalar; nothing for anything else.
std::optional<Arg> number_in(PyObject* object, SourceLine line) {
    if (PyFloat_Check(object)) return Arg(PyFloat_AS_DOUBLE(object), line);
    if (PyBool_Check(object)) return Arg(object == Py_True, line);
    if (!PyLong_Check(object)) return std::nullopt;
    int overflow = 0;
    const int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow > 0) {
        const uint64_t large = PyLong_AsUnsignedLongLong(object);
        if (!PyErr_Occurred()) return Arg(large, line);
        PyErr_Clear();
    }
    if (overflow)
        throw UserError(
            "the integer " + py::str(object).cast<std::string>() +
            " is beyond 64 bits, which no type of tensors holds; write a float, as float(n)" +
            (line.line ? " (" + text(line) + ")" : ""));
    if (value == static_cast<int32_t>(value)) return Arg(static_cast<int32_t>(value), line);
    if (value == static_cast<uint32_t>(value)) return Arg(static_cast<uint32_t>(value), line);
    return Arg(value, line);
}

/// A scalar of numpy, whose type is weak as that of Python's numbers.
bool is_numpy_scalar(PyObject* object) {
    return std::string_view(Py_TYPE(object)->tp_name).starts_with("numpy.") &&
           PyObject_HasAttrString(object, "item") && PyObject_HasAttrString(object, "ndim") &&
           !PySequence_Check(object);
}

}  // namespace

std::optional<Arg> operand_in(PyObject* object, SourceLine line) {
    if (Tensor* x = tensor_in(object)) return Arg(*x, line);
    if (std::optional<Arg> number = number_in(object, line)) return number;
    if (classes().size && PyObject_TypeCheck(object, classes().size))
        return Arg(size_of(object), line);
    if (classes().donated && PyObject_TypeCheck(object, classes().donated)) {
        const py::object held = py::handle(object).attr("tensor");
        return Arg(std::move(*tensor_in(held.ptr())), line);
    }
    if (is_numpy_scalar(object)) {
        const py::object number = py::handle(object).attr("item")();
        if (std::optional<Arg> out = number_in(number.ptr(), line)) return out;
    }
    if (PyObject_HasAttrString(object, "__firn_number__")) {  // a Param
        const py::object number = py::handle(object).attr("__firn_number__")();
        return operand_in(number.ptr(), line);
    }
    if (is_array_like(object)) return Arg(tensor_of(object, std::nullopt, line), line);
    return std::nullopt;
}

Arg operand_of(py::handle object, SourceLine line, const char* what) {
    std::optional<Arg> out = operand_in(object.ptr(), line);
    if (!out)
        throw py::type_error(
            std::string(what) + " is a tensor, a number or an array, and not " +
            py::repr(py::type::handle_of(object).attr("__name__")).cast<std::string>());
    return *out;
}

Tensor strong(const Arg& x) {
    if (x.is_scalar() && x.scalar().dtype == f64) return Tensor(x.scalar().f, x.line());
    return x.tensor();
}

std::string in_brackets(SourceLine line) {
    return line.line ? " (" + text(line) + ")" : std::string();
}

DType dtype_of(py::handle object) {
    if (PyObject_TypeCheck(object.ptr(), classes().dtype)) return object.cast<DType>();
    if (object.ptr() == reinterpret_cast<PyObject*>(&PyFloat_Type)) return f32;
    if (object.ptr() == reinterpret_cast<PyObject*>(&PyLong_Type)) return i32;
    if (object.ptr() == reinterpret_cast<PyObject*>(&PyBool_Type)) return boolean;
    std::string name;
    if (PyUnicode_Check(object.ptr())) {
        name = object.cast<std::string>();
    } else if (PyType_Check(object.ptr()) && PyObject_HasAttrString(object.ptr(), "dtype")) {
        name = object.attr("__name__").cast<std::string>();  // numpy.float32
    } else if (PyObject_HasAttrString(object.ptr(), "name")) {
        name = py::str(object.attr("name")).cast<std::string>();  // numpy.dtype
    } else {
        throw py::type_error(
            "a dtype is one of firn's, as firn.f32, its name, a dtype of numpy, float, int or "
            "bool; not " +
            py::repr(object).cast<std::string>());
    }
    static const std::pair<const char*, DType> kNames[] = {
        {"float32", f32}, {"float16", f16}, {"bfloat16", bf16}, {"float64", f64}, {"int32", i32},
        {"uint32", u32},  {"int64", i64},   {"uint64", u64},    {"int16", i16},   {"uint16", u16},
        {"int8", i8},     {"uint8", u8},    {"bool_", boolean}};
    for (const auto& [numpy, dtype] : kNames)
        if (name == numpy) return dtype;
    for (DType each : kAllTypes)
        if (name == each.name()) return each;
    throw py::type_error(
        "there is no dtype '" + name +
        "'; there are f32, f16, bf16, f64, i32, u32, i64, u64, i16, u16, i8, u8 and bool");
}

Size size_of(py::handle object) {
    if (classes().size && PyObject_TypeCheck(object.ptr(), classes().size))
        return *static_cast<Size*>(reinterpret_cast<py::detail::instance*>(object.ptr())
                                       ->get_value_and_holder()
                                       .value_ptr());
    if (PyUnicode_Check(object.ptr())) return Size::symbol(object.cast<std::string>());
    if (PyBool_Check(object.ptr()) || PyFloat_Check(object.ptr()) || !PyIndex_Check(object.ptr()))
        throw py::type_error(
            "a size is an int, a size of a tensor, or a symbol's name; not " +
            py::repr(py::type::handle_of(object).attr("__name__")).cast<std::string>());
    const py::object index = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
    if (!index) throw py::error_already_set();
    int overflow = 0;
    const int64_t value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    if (overflow)
        throw UserError("a size of " + py::str(index).cast<std::string>() + " is beyond 64 bits");
    return Size(value);
}

Shape shape_of(py::handle object) {
    if (PyUnicode_Check(object.ptr()) || !PySequence_Check(object.ptr()) || tensor_in(object.ptr()))
        return Shape{size_of(object)};
    Shape out;
    for (const py::handle& each : py::reinterpret_borrow<py::sequence>(object))
        out.push_back(size_of(each));
    return out;
}

py::object size_to_python(const Size& size) {
    if (size.is_constant()) return py::int_(size.constant());
    return py::reinterpret_steal<py::object>(py::detail::type_caster_base<Size>::cast(
        size, py::return_value_policy::copy, py::handle()));
}

py::tuple shape_to_python(const Shape& shape) {
    py::tuple out(shape.size());
    for (size_t axis = 0; axis < shape.size(); ++axis) out[axis] = size_to_python(shape[axis]);
    return out;
}

// ---- errors ----

namespace {

PyObject *user_error = nullptr, *device_error = nullptr, *internal_error = nullptr;

}  // namespace

void set_python_error() {
    try {
        throw;
    } catch (py::error_already_set& error) {
        error.restore();
    } catch (const Cancelled& error) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
    } catch (const UserError& error) {
        PyErr_SetString(user_error, error.what());
    } catch (const DeviceError& error) {
        PyErr_SetString(device_error, error.what());
    } catch (const InternalError& error) {
        PyErr_SetString(internal_error, error.what());
    } catch (const py::builtin_exception& error) {
        error.set_error();
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
    }
}

void bind_errors(py::module_& m) {
    const auto add = [&](const char* name, PyObject* base, const char* text) {
        PyObject* out =
            PyErr_NewExceptionWithDoc((std::string("firn.") + name).c_str(), text, base, nullptr);
        m.add_object(name, out);
        return out;
    };
    user_error = add("UserError", PyExc_ValueError,
                     "An error that the caller can correct: it states the request, the offending "
                     "values, the reason, "
                     "the way out, and the line.");
    device_error = add("DeviceError", PyExc_RuntimeError,
                       "Vulkan said no: the call, its result and the object's name. Out of device "
                       "memory is one, too: "
                       "tensors that were there stay usable.");
    internal_error = add("InternalError", PyExc_RuntimeError, "A bug in Firn.");
    py::register_exception_translator([](std::exception_ptr error) {
        if (!error) return;
        try {
            std::rethrow_exception(error);
        } catch (const Cancelled&) {
            set_python_error();
        } catch (const UserError&) {
            set_python_error();
        } catch (const DeviceError&) {
            set_python_error();
        } catch (const InternalError&) {
            set_python_error();
        }
    });
}

// ---- types and sizes ----

namespace {

/// The sizes of `f32["n", 4]` or `f32("n", 4)`.
ArgSpec spec_of(DType dtype, const py::args& sizes) {
    ArgSpec out{dtype, {}};
    for (const py::handle& each : sizes) out.shape.push_back(size_of(each));
    return out;
}

Size checked(const Size& b, const char* what) {
    if (b.is(0)) {
        PyErr_SetString(PyExc_ZeroDivisionError, what);
        throw py::error_already_set();
    }
    return b;
}

}  // namespace

void bind_types(py::module_& m) {
    py::class_<ArgSpec>(m, "ArgSpec",
                        "The type and shape that a compiled function expects of one argument.")
        .def_readonly("dtype", &ArgSpec::dtype)
        .def_property_readonly("shape",
                               [](const ArgSpec& spec) { return shape_to_python(spec.shape); })
        .def(
            "__eq__",
            [](const ArgSpec& a, const ArgSpec& b) {
                return a.dtype == b.dtype && a.shape == b.shape;
            },
            py::is_operator())
        .def("__hash__",
             [](const ArgSpec& spec) {
                 return py::hash(py::str(spec.dtype.name() + text(spec.shape)));
             })
        .def("__repr__", [](const ArgSpec& spec) { return spec.dtype.name() + text(spec.shape); });

    py::class_<DType> dtype(
        m, "DType",
        "An element type. `f32(\"n\", 4)` and `f32[\"n\", 4]` are specs of arguments of it.");
    classes().dtype = reinterpret_cast<PyTypeObject*>(dtype.ptr());
    dtype.def_property_readonly("name", [](DType x) { return x.name(); })
        .def_property_readonly(
            "itemsize", [](DType x) { return x.bytes(); }, "Bytes of one element in a buffer.")
        .def_property_readonly("is_float", [](DType x) { return x.is_float(); })
        .def_property_readonly("is_integer", [](DType x) { return x.is_integer(); })
        .def("__call__", &spec_of)
        .def("__getitem__",
             [](DType x, const py::object& sizes) {
                 return spec_of(x, py::isinstance<py::tuple>(sizes)
                                       ? py::args(sizes)
                                       : py::args(py::make_tuple(sizes)));
             })
        .def("__eq__",
             [](DType a, const py::object& b) {
                 try {
                     return a == dtype_of(b);
                 } catch (const py::type_error&) {
                     return false;
                 }
             })
        .def("__hash__", [](DType x) { return static_cast<int>(x.type); })
        .def("__repr__", [](DType x) { return std::string("firn.") + x.name(); });
    for (DType each : kAllTypes) m.attr(each.name()) = each;
    m.attr("boolean") = boolean;

    // Not Size's own conversion, which makes ints of known sizes.
    py::class_<Size> size(
        m, "Size",
        "A size that has no value while a function is recorded: a symbol, or a form of such.");
    classes().size = reinterpret_cast<PyTypeObject*>(size.ptr());
    // Beside sizes and ints the result is one; beside a float, and of `/`, it is a tensor of rank
    // 0.
    const auto is_size = [](const py::object& x) {
        return PyObject_TypeCheck(x.ptr(), classes().size) ||
               (PyIndex_Check(x.ptr()) && !tensor_in(x.ptr()) && !PyBool_Check(x.ptr()));
    };
    const auto both = [&](const char* name, const char* swapped, auto op, auto of_floats) {
        const auto of = [=](const py::object& a, const py::object& b) -> py::object {
            if constexpr (!std::is_null_pointer_v<decltype(op)>)
                if (is_size(a) && is_size(b)) return size_to_python(op(size_of(a), size_of(b)));
            const auto is_number = [&](const py::object& x) {
                return is_size(x) || PyFloat_Check(x.ptr());
            };
            if constexpr (!std::is_null_pointer_v<decltype(of_floats)>)
                if (is_number(a) && is_number(b)) {
                    const Line line;
                    const auto real = [&](const py::object& x) {
                        return operand_of(x, line.at).tensor().as(f32, line.at);
                    };
                    return py::cast(Tensor(of_floats(real(a), real(b))));
                }
            return py::reinterpret_borrow<py::object>(Py_NotImplemented);
        };
        size.def(name, of, py::is_operator());
        size.def(
            swapped, [of](const py::object& a, const py::object& b) { return of(b, a); },
            py::is_operator());
    };
    both(
        "__add__", "__radd__", [](const Size& a, const Size& b) { return a + b; },
        [](const Tensor& a, const Tensor& b) { return a + b; });
    both(
        "__sub__", "__rsub__", [](const Size& a, const Size& b) { return a - b; },
        [](const Tensor& a, const Tensor& b) { return a - b; });
    both(
        "__mul__", "__rmul__", [](const Size& a, const Size& b) { return a * b; },
        [](const Tensor& a, const Tensor& b) { return a * b; });
    both("__truediv__", "__rtruediv__", nullptr,
         [](const Tensor& a, const Tensor& b) { return a / b; });
    both(
        "__floordiv__", "__rfloordiv__",
        [](const Size& a, const Size& b) { return floor_div(a, checked(b, "a size // 0")); },
        nullptr);
    both(
        "__mod__", "__rmod__",
        [](const Size& a, const Size& b) { return mod(a, checked(b, "a size % 0")); }, nullptr);
    size.def("__neg__", [](const py::object& x) { return size_to_python(Size(0) - size_of(x)); })
        .def("__eq__",
             [](const py::object& a, const py::object& b) {
                 try {
                     return size_of(a) == size_of(b);
                 } catch (const py::type_error&) {
                     return false;
                 }
             })
        .def("__hash__", [](const py::object& x) { return py::hash(py::str(size_of(x).text())); })
        .def("__repr__", [](const py::object& x) { return size_of(x).text(); });
    const auto no_value = [](const py::object& x) -> py::object {
        throw UserError("the size " + size_of(x).text() +
                        " is symbolic and has no value while a function is recorded; use it in "
                        "shapes, ranges and "
                        "indices as it is, or beside tensors" +
                        [] {
                            const SourceLine at = python_line();
                            return at.line ? " (" + text(at) + ")" : std::string();
                        }());
    };
    for (const char* name : {"__index__", "__int__", "__float__", "__bool__"})
        size.def(name, no_value);
    for (const char* name : {"__lt__", "__gt__", "__le__", "__ge__"})
        size.def(name, [no_value](const py::object& x, const py::object&) { return no_value(x); });
}

}  // namespace firn::python
