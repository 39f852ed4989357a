// Values that generated bindings take and give.
#include "engine/python/bindings/values.h"

#include <memory>

#include "engine/python/bindings/entries.h"
#include "engine/python/generated/structs.h"

namespace firn::python {

void AnyTensors::check_count(size_t count) const {
    if (all.size() != count)
        throw UserError("here stand " + std::to_string(count) + " tensors, and not " +
                        std::to_string(all.size()));
}

ShiftList AnyShifts::list() const {
    if (all.empty()) throw UserError("roll: there are no shifts; give one for each axis");
    ShiftList out(all[0], 0);
    out.values = all;
    return out;
}

std::optional<AnyDType> dtype_in(py::handle from) {
    try {
        return AnyDType{dtype_of(from)};
    } catch (const py::type_error&) {
        if (PyUnicode_Check(from.ptr())) throw;  // there is no type by this name
        return std::nullopt;
    }
}

namespace {

template <class T, class F>
std::optional<T> items_in(py::handle from, const F& add) {
    if ((!PyTuple_Check(from.ptr()) && !PyList_Check(from.ptr())) || is_structure(from.ptr()))
        return std::nullopt;
    T out;
    for (const py::handle& each : py::reinterpret_borrow<py::sequence>(from))
        if (!add(out, each)) return std::nullopt;
    return out;
}

}  // namespace

std::optional<AnyTensors> tensors_in(py::handle from) {
    return items_in<AnyTensors>(from, [](AnyTensors& out, py::handle each) {
        py::detail::make_caster<Operand> operand;
        if (!operand.load(each, true)) return false;
        out.all.push_back(operand.value->tensor());
        return true;
    });
}

std::optional<AnyShifts> shifts_in(py::handle from) {
    const SourceLine line = python_line();
    return items_in<AnyShifts>(from, [&](AnyShifts& out, py::handle each) {
        const std::optional<Arg> shift = operand_in(each.ptr(), line);
        if (shift) out.all.push_back(*shift);
        return shift.has_value();
    });
}

py::object choice_by_name(py::handle enumeration, const py::str& name) {
    const py::dict members = enumeration.attr("__members__");
    // `None_` is None, which Python reserves.
    const auto plain = [](py::handle text) { return text.attr("lower")().attr("rstrip")("_"); };
    std::string all;
    for (const auto& [each, value] : members) {
        if (plain(each).equal(plain(name))) return py::reinterpret_borrow<py::object>(value);
        all += (all.empty() ? "'" : ", '") + plain(each).cast<std::string>() + "'";
    }
    throw UserError(enumeration.attr("__name__").cast<std::string>() + " is one of " + all +
                    ", and not '" + name.cast<std::string>() + "'");
}

void require_tensor(const char* function, std::initializer_list<const Arg*> operands) {
    for (const Arg* each : operands)
        if (!each->is_scalar()) return;
    throw py::type_error(std::string(function) +
                         " of numbers alone is Python's: one operand at least is a tensor, as "
                         "firn.tensor(x)");
}

std::shared_ptr<py::object> shared_by_threads(const py::object& object) {
    return {new py::object(object), [](py::object* kept) {
                py::gil_scoped_acquire acquire;
                delete kept;
            }};
}

py::object call_spread(const py::object& f, const std::vector<Tensor>& xs) {
    py::tuple all(xs.size());
    for (size_t k = 0; k < xs.size(); ++k) all[k] = py::cast(xs[k]);
    return f(*all);
}

// ---- named tuples ----

Parts::Parts(py::handle from, size_t required, size_t most) : from_(from) {
    if (!PyTuple_Check(from.ptr()) && !PyList_Check(from.ptr())) return;
    size_ = static_cast<size_t>(PySequence_Fast_GET_SIZE(from.ptr()));
    is_ = size_ >= required && size_ <= most;
}

py::object Parts::operator[](size_t k) const {
    return py::reinterpret_borrow<py::object>(
        PySequence_Fast_GET_ITEM(from_.ptr(), static_cast<Py_ssize_t>(k)));
}

py::object make_named_tuple(py::module_& m, const char* name, const char* fields,
                            py::tuple defaults, const char* doc) {
    // Without an owner: Python is gone when statics end.
    static const py::handle make =
        py::object(py::module_::import("collections").attr("namedtuple")).release();
    py::object type =
        make(name, fields, py::arg("defaults") = defaults, py::arg("module") = "firn");
    type.attr("__doc__") = doc;
    m.attr(name) = type;
    return type;
}

py::handle named_tuple(const py::object& type, py::tuple values) {
    // As _make does, without a call of Python code.
    return py::reinterpret_steal<py::object>(
               PyTuple_Type.tp_new(reinterpret_cast<PyTypeObject*>(type.ptr()),
                                   py::make_tuple(values).ptr(), nullptr))
        .release();
}

// ---- places and readers ----

std::vector<Tensor::Index> plain_indices(py::handle key, SourceLine line) {
    std::vector<Tensor::Index> out;
    const auto end_of = [](PyObject* end) {
        return end == Py_None ? std::nullopt : std::optional(size_of(end));
    };
    const auto add = [&](py::handle each) {
        if (each.is_none()) {
            out.emplace_back(newaxis, line);
        } else if (each.ptr() == Py_Ellipsis) {
            out.emplace_back(ellipsis, line);
        } else if (PySlice_Check(each.ptr())) {
            auto* slice = reinterpret_cast<PySliceObject*>(each.ptr());
            IndexRange range{end_of(slice->start), end_of(slice->stop), 1};
            if (slice->step != Py_None) range.step = py::handle(slice->step).cast<int64_t>();
            out.emplace_back(range, line);
        } else {
            out.emplace_back(operand_of(each, line, "an index"));
        }
    };
    if (PyTuple_Check(key.ptr()))
        for (const py::handle& each : py::reinterpret_borrow<py::tuple>(key)) add(each);
    else
        add(key);
    return out;
}

namespace {

/// As many indices as C++ takes.
template <class X>
auto at_indices(X& x, std::vector<Tensor::Index> indices, SourceLine line) {
    if (indices.size() > 8)
        throw UserError("a tensor has at most 8 indices" + (" (" + text(line) + ")"));
    indices.resize(8);
    const auto& i = indices;
    return x(i[0], i[1], i[2], i[3], i[4], i[5], i[6], i[7]);
}

}  // namespace

Access place_of(const py::object& x, const py::object& index, SourceLine line) {
    if (Tensor* tensor = tensor_in(x.ptr()))
        return Access(*tensor, indices_of(index.ptr(), *tensor, line), line);
    py::detail::make_caster<KernelArray> array;
    if (py::detail::get_type_info(typeid(KernelArray)) && array.load(x, false)) {
        std::vector<Tensor::Index> all = plain_indices(index, line);
        if (all.size() > 3)
            throw UserError("an array of a kernel has at most 3 indices (" + text(line) + ")");
        all.resize(3);
        return py::detail::cast_op<KernelArray&>(array)(all[0], all[1], all[2]);
    }
    throw py::type_error(
        "a place is a tensor and an index: fn.scatter_add(x, i, value) adds to x[i]");
}

namespace {

/// `x.reshape(2, 3)` and `x.reshape((2, 3))`.
Shape sizes_of(const py::args& sizes) {
    return sizes.size() == 1 ? shape_of(sizes[0]) : shape_of(sizes);
}
std::vector<int> axes_of(const py::args& axes) {
    const bool is_list = axes.size() == 1 && !PyLong_Check(py::object(axes[0]).ptr());
    return (is_list ? py::object(axes[0]) : py::object(axes)).cast<std::vector<int>>();
}

/// Methods of numpy and torch whose arguments are several numbers or a tuple.
void bind_shape_methods(py::handle tensor) {
    const auto method = [&](const char* name, auto f, auto... extra) {
        tensor.attr(name) = py::cpp_function(f, py::name(name), py::is_method(tensor), extra...);
    };
    method(
        "reshape",
        [](const Operand& x, const py::args& shape) {
            const Line line;
            return reshape(x, sizes_of(shape));
        },
        "The same elements in row-major order in another shape; at most one size may be -1.");
    method(
        "expand",
        [](const Operand& x, const py::args& shape) {
            const Line line;
            return expand(x, sizes_of(shape));
        },
        "Repeats axes of size 1, and adds axes in front.");
    method(
        "tile",
        [](const Operand& x, const py::args& counts) {
            const Line line;
            return tile(x, sizes_of(counts));
        },
        "Repeats the whole tensor along each axis.");
    method(
        "transpose",
        [](const Operand& x, const py::args& axes) {
            const Line line;
            return axes.empty() ? transpose(x) : transpose(x, axes_of(axes));
        },
        "Axes in reverse order, or in that of the arguments, as in numpy; swapaxes swaps two.");
    method(
        "permute",
        [](const Operand& x, const py::args& axes) {
            const Line line;
            return permute(x, axes_of(axes));
        },
        "Axis k of the result is axis axes[k].");
    method(
        "swapaxes",
        [](const Operand& x, int a, int b) {
            const Line line;
            return transpose(x, a, b);
        },
        py::arg("a"), py::arg("b"), "Axes a and b swapped.");
    for (const char* name : {"flatten", "ravel"})
        method(
            name,
            [](const Operand& x) {
                const Line line;
                return reshape(x, {-1});
            },
            "The elements along one axis, in row-major order.");
}

}  // namespace

void bind_values(py::module_& m) {
    bind_shape_methods(m.attr("Tensor"));
    m.def(
        "realize",
        [](const py::args& tensors) {
            const Line line;
            std::vector<Tensor*> all;
            for (const py::handle& each : tensors) {
                all.push_back(tensor_in(each.ptr()));
                if (!all.back()) throw py::type_error("realize takes tensors");
            }
            without_gil([&] { realize(all, line.at); });
        },
        "realize(*tensors: Tensor) -> None\n\nComputes the tensors together, in one program, "
        "unless they are already; does "
        "not wait for the device.");
    py::class_<Reader>(m, "Reader",
                       "Reads a tensor with a bounds mode: `wrap(u)[i - 1, j]`. Negative numbers "
                       "are positions outside of "
                       "the tensor, and do not count from its end.")
        .def(
            "__getitem__",
            [](const Reader& reader, const py::object& key) {
                const Line line;
                return at_indices(reader, plain_indices(key, line.at), line.at);
            },
            py::arg("index"));
    py::class_<PythonInitialiser>(m, "Initialiser",
                                  "Gives the first value of a variable of a shape.")
        .def(
            "__call__",
            [](const PythonInitialiser& self, const Shape& shape,
               const std::optional<Operand>& seed, const std::optional<Operand>& stream) {
                const Line line;
                RandomOptions random;
                if (seed) random.seed = seed->tensor();
                if (stream) random.stream = stream->tensor();
                return self.call(shape, random);
            },
            py::arg("shape"), py::arg("seed") = py::none(), py::arg("stream") = py::none());
    py::class_<PythonSchedule>(m, "Schedule", "Gives the rate of a step.")
        .def(
            "__call__", [](const PythonSchedule& self, int64_t step) { return self.call(step); },
            py::arg("step"));
}

}  // namespace firn::python
