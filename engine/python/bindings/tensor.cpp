// Tensor in Python: numpy's operators, indices and printing over the C++ class.
#include <sstream>

#include "engine/python/bindings/convert.h"

namespace firn::python {

namespace {

// ---- operators: slots of the type, since calls by name would cost more than recording does ----

template <Tensor (*op)(const Arg&, const Arg&)>
PyObject* binary(PyObject* a, PyObject* b) {
    try {
        const Line line;
        const std::optional<Arg> x = operand_in(a, line.at);
        const std::optional<Arg> y = x ? operand_in(b, line.at) : std::nullopt;
        if (!y) Py_RETURN_NOTIMPLEMENTED;
        return new_tensor(op(*x, *y));
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

template <Tensor (*op)(const Arg&)>
PyObject* unary(PyObject* a) {
    try {
        const Line line;
        return new_tensor(op(operand_of(a, line.at)));
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

Tensor op_add(const Arg& a, const Arg& b) { return a + b; }
Tensor op_subtract(const Arg& a, const Arg& b) { return a - b; }
Tensor op_multiply(const Arg& a, const Arg& b) { return a * b; }
Tensor op_bit_and(const Arg& a, const Arg& b) { return a & b; }
Tensor op_bit_or(const Arg& a, const Arg& b) { return a | b; }
Tensor op_bit_xor(const Arg& a, const Arg& b) { return a ^ b; }
Tensor op_shift_left(const Arg& a, const Arg& b) { return a << b; }
Tensor op_shift_right(const Arg& a, const Arg& b) { return a >> b; }
Tensor op_less(const Arg& a, const Arg& b) { return a < b; }
Tensor op_less_equal(const Arg& a, const Arg& b) { return a <= b; }
Tensor op_greater(const Arg& a, const Arg& b) { return a > b; }
Tensor op_greater_equal(const Arg& a, const Arg& b) { return a >= b; }
Tensor op_equal(const Arg& a, const Arg& b) { return a == b; }
Tensor op_not_equal(const Arg& a, const Arg& b) { return a != b; }
Tensor op_power(const Arg& a, const Arg& b) { return pow_of(a, b); }
Tensor op_matmul(const Arg& a, const Arg& b) { return matmul(a.tensor(), b.tensor()); }
Tensor op_negative(const Arg& x) { return -x; }
Tensor op_positive(const Arg& x) { return +x; }
Tensor op_invert(const Arg& x) { return ~x; }
Tensor op_absolute(const Arg& x) { return abs(x.tensor()); }

DType dtype_of_arg(const Arg& x) { return x.is_scalar() ? x.scalar().dtype : x.tensor().dtype(); }

/// numpy's true division: of integers and bools in f32 (f64 where one has 64 bits, as there).
Tensor true_divide(const Arg& a, const Arg& b) {
    if (dtype_of_arg(a).is_float() || dtype_of_arg(b).is_float()) return a / b;
    return a.tensor().as(f32) / b.tensor().as(f32);
}
/// Rounded down, also of integers.
Tensor floor_divide(const Arg& a, const Arg& b) {
    if (dtype_of_arg(a).is_float() || dtype_of_arg(b).is_float()) return floor(a / b);
    const Tensor quotient = a / b, rest = a - quotient * b;
    return quotient - ((rest != 0) & ((rest < 0) != (b < Arg(0)))).as(quotient.dtype());
}
/// With the sign of the divisor, also of integers.
Tensor remainder(const Arg& a, const Arg& b) {
    if (dtype_of_arg(a).is_float() || dtype_of_arg(b).is_float()) return a % b;
    const Tensor rest = a % b;
    return select((rest != 0) & ((rest < 0) != (b < Arg(0))), rest + b, rest);
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
    if (modulus != Py_None) {
        PyErr_SetString(PyExc_TypeError, "pow of tensors takes two operands");
        return nullptr;
    }
    return binary<op_power>(a, b);
}

PyObject* compare(PyObject* a, PyObject* b, int op) {
    switch (op) {
        case Py_LT: return binary<op_less>(a, b);
        case Py_LE: return binary<op_less_equal>(a, b);
        case Py_GT: return binary<op_greater>(a, b);
        case Py_GE: return binary<op_greater_equal>(a, b);
        case Py_EQ: return binary<op_equal>(a, b);
        default: return binary<op_not_equal>(a, b);
    }
}

// ---- one element as a number of Python ----

py::object number_of(const Tensor& x, SourceLine line) {
    const DType dtype = x.dtype(line);
    return without_gil([&]() -> std::function<py::object()> {
        if (dtype.is_bool()) return [value = x.item<bool>(line)] { return py::bool_(value); };
        if (dtype.is_float()) return [value = x.item<double>(line)] { return py::float_(value); };
        if (dtype.is_signed()) return [value = x.item<int64_t>(line)] { return py::int_(value); };
        return [value = x.item<uint64_t>(line)] { return py::int_(value); };
    })();
}

int is_true(PyObject* object) {
    try {
        const Line line;
        const Tensor& x = *tensor_in(object);
        if (recording_now())
            throw py::type_error(
                "a tensor has no value while a function is recorded, so Python's if, while, and, "
                "or, not cannot decide "
                "by it; decorate the function with @firn.function (or @firn.compile), which "
                "records them, or write "
                "firn.select(c, a, b), &, |, ~, or `with firn.if_(c):`" +
                in_brackets(line.at));
        for (const Size& size : x.shape(line.at))
            if (!size.is(1))
                throw UserError("whether a tensor of shape " + text(x.shape(line.at)) +
                                " is true is ambiguous; write firn.any(x) or firn.all(x)" +
                                in_brackets(line.at));
        return number_of(x, line.at).cast<double>() != 0;
    } catch (...) {
        set_python_error();
        return -1;
    }
}

template <PyObject* (*convert)(PyObject*)>
PyObject* as_number(PyObject* object) {
    try {
        const Line line;
        return convert(number_of(*tensor_in(object), line.at).ptr());
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

PyObject* as_index(PyObject* object) {
    try {
        const Line line;
        const Tensor& x = *tensor_in(object);
        if (!x.dtype(line.at).is_integer() || x.rank(line.at) != 0)
            throw py::type_error(
                std::string(
                    "only a tensor of one integer can be an index of Python's lists; this is ") +
                x.dtype(line.at).name() + text(x.shape(line.at)) + in_brackets(line.at));
        return number_of(x, line.at).release().ptr();
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

// ---- indices ----

[[noreturn]] void index_error(const std::string& message, SourceLine line) {
    throw py::index_error(message + in_brackets(line));
}

/// The number of axes that an index takes up.
int axes_of(PyObject* index) {
    if (index == Py_None || index == Py_Ellipsis) return 0;
    if (Tensor* x = tensor_in(index); x && x->dtype().is_bool()) return x->rank();
    return 1;
}

std::optional<Size> range_end(PyObject* object) {
    if (object == Py_None) return std::nullopt;
    if (tensor_in(object))
        throw py::type_error(
            "a slice ends at ints and sizes: its size is fixed while recording; x[i + "
            "firn.arange(3)] begins at a tensor");
    return size_of(object);
}

Tensor::Index index_of(PyObject* object, const Tensor& x, int axis, SourceLine line) {
    if (object == Py_None) return {newaxis, line};
    if (object == Py_Ellipsis) return {ellipsis, line};
    if (PySlice_Check(object)) {
        auto* slice = reinterpret_cast<PySliceObject*>(object);
        IndexRange range{range_end(slice->start), range_end(slice->stop), 1};
        if (slice->step != Py_None) {
            const Size step = size_of(slice->step);
            if (!step.is_constant() || step.is(0))
                throw UserError("the step of a slice is a number, and not 0" + in_brackets(line));
            range.step = step.constant();
        }
        return {range, line};
    }
    if (PyBool_Check(object))
        throw py::type_error("True and False are no indices; a mask is a tensor of bools" +
                             in_brackets(line));
    if (Tensor* at = tensor_in(object)) {
        if (at->dtype(line).is_float())
            throw py::type_error(std::string("indices are integers, and this tensor is ") +
                                 at->dtype(line).name() + "; convert by .astype(firn.i32)" +
                                 in_brackets(line));
        return {*at, line};
    }
    if (PyFloat_Check(object))
        throw py::type_error("indices are integers, not floats" + in_brackets(line));
    if ((PyIndex_Check(object) && !PySequence_Check(object)) ||
        PyObject_TypeCheck(object, classes().size)) {
        if (axis >= x.rank(line))
            index_error(
                "too many indices: the tensor has " + std::to_string(x.rank(line)) + " axes", line);
        Size at = size_of(object);
        if (at.is_constant()) {
            const Size size = x.size(axis, line);
            const int64_t given = at.constant();
            if (size.is_constant() && (given >= size.constant() || given < -size.constant()))
                index_error("index " + std::to_string(given) + " is outside of axis " +
                                std::to_string(axis) + " of size " +
                                std::to_string(size.constant()),
                            line);
            if (given < 0) at = size + at;
            if (at.is_constant()) return Tensor::Index(Arg(at.constant(), line));
        }
        return Tensor::Index(Arg(at, line));
    }
    if (is_array_like(object)) return {tensor_of(object, std::nullopt, line), line};
    throw py::type_error(
        "an index is an int, a slice, None, ..., a tensor of integers or a mask; not " +
        py::repr(py::type::handle_of(object).attr("__name__")).cast<std::string>() +
        in_brackets(line));
}

}  // namespace

std::vector<Tensor::Index> indices_of(PyObject* key, const Tensor& x, SourceLine line) {
    std::vector<PyObject*> parts;
    if (PyTuple_Check(key))
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(key); ++k)
            parts.push_back(PyTuple_GET_ITEM(key, k));
    else
        parts.push_back(key);
    int taken = 0;
    for (PyObject* part : parts) taken += axes_of(part);
    std::vector<Tensor::Index> out;
    int axis = 0;
    for (PyObject* part : parts) {
        out.push_back(index_of(part, x, axis, line));
        axis += part == Py_Ellipsis ? x.rank(line) - taken : axes_of(part);
    }
    return out;
}

namespace {

/// The only index if it is a mask; null otherwise.
Tensor* mask_in(PyObject* key) {
    if (PyTuple_Check(key)) {
        if (PyTuple_GET_SIZE(key) != 1) return nullptr;
        key = PyTuple_GET_ITEM(key, 0);
    }
    Tensor* x = tensor_in(key);
    return x && x->dtype().is_bool() ? x : nullptr;
}

/// The shape of the first axes, on which a mask lies, made one axis of `count`.
Shape merged(const Tensor& x, const Tensor& mask, const Size& count, SourceLine line) {
    Shape out{count};
    const Shape all = x.shape(line);
    out.insert(out.end(), all.begin() + std::min(mask.rank(line), x.rank(line)), all.end());
    return out;
}

/// numpy's x[mask]: the elements, or slices, that a mask over the first axes chooses, in their
/// order.
Tensor chosen(const Tensor& x, const Tensor& mask) {
    if (mask.rank() < 2) return compact(x, mask);
    return compact(reshape(x, merged(x, mask, -1, {})), reshape(mask, {-1}));
}

/// numpy's x[mask] = values, where `values` has one axis for those of the mask: each in its turn.
void store_in_turn(Tensor& x, const Tensor& mask, const Tensor& values, SourceLine line) {
    const Tensor turns = cumsum(reshape(mask, {-1}).as(i32, line), {.axis = 0}) - 1;
    Access(x, {Tensor::Index(Arg(mask, line))}, line) =
        Arg(reshape(take(values, turns, {.axis = 0}), x.shape(line)), line);
}

PyObject* get_item(PyObject* object, PyObject* key) {
    try {
        const Line line;
        Tensor& x = *tensor_in(object);
        if (Tensor* mask = mask_in(key)) return new_tensor(chosen(x, *mask));
        const Access access(x, indices_of(key, x, line.at), line.at);
        return new_tensor(access);
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

int set_item(PyObject* object, PyObject* key, PyObject* value) {
    try {
        const Line line;
        if (!value)
            throw py::type_error("elements of a tensor cannot be deleted" + in_brackets(line.at));
        Tensor& x = *tensor_in(object);
        const Arg stored = operand_of(value, line.at, "what is stored");
        if (Tensor* mask = mask_in(key); mask && !stored.is_scalar()) {
            const Tensor values = stored.tensor();
            if (values.rank(line.at) == 1 + x.rank(line.at) - mask->rank(line.at) &&
                !values.shape(line.at)[0].is(1)) {
                store_in_turn(x, *mask, values, line.at);
                return 0;
            }
        }
        Access(x, indices_of(key, x, line.at), line.at) = stored;
        return 0;
    } catch (...) {
        set_python_error();
        return -1;
    }
}

PyObject* row(PyObject* object, Py_ssize_t k) {
    const py::int_ key(k);
    return get_item(object, key.ptr());
}

Py_ssize_t length(PyObject* object) {
    try {
        const Line line;
        const Tensor& x = *tensor_in(object);
        if (x.rank(line.at) == 0)
            throw py::type_error("a tensor of rank 0 has no length" + in_brackets(line.at));
        const Size size = x.size(0, line.at);
        if (!size.is_constant())
            throw UserError("the first size of the tensor, " + size.text() +
                            ", is symbolic, so it has no length while a function is recorded; "
                            "write x.shape[0], or a loop "
                            "over firn.range(x.shape[0])" +
                            in_brackets(line.at));
        return size.constant();
    } catch (...) {
        set_python_error();
        return -1;
    }
}

PyObject* text_of(PyObject* object) {
    try {
        const Line line;
        std::ostringstream out;
        const Tensor& x = *tensor_in(object);
        if (recording_now())
            out << x;
        else
            without_gil([&] { out << x; });
        return py::str(out.str()).release().ptr();
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

void set_slots(PyHeapTypeObject* type) {
    PyNumberMethods& number = type->as_number;
    number.nb_add = binary<op_add>;
    number.nb_subtract = binary<op_subtract>;
    number.nb_multiply = binary<op_multiply>;
    number.nb_true_divide = binary<true_divide>;
    number.nb_floor_divide = binary<floor_divide>;
    number.nb_remainder = binary<remainder>;
    number.nb_power = power;
    number.nb_and = binary<op_bit_and>;
    number.nb_or = binary<op_bit_or>;
    number.nb_xor = binary<op_bit_xor>;
    number.nb_lshift = binary<op_shift_left>;
    number.nb_rshift = binary<op_shift_right>;
    number.nb_matrix_multiply = binary<op_matmul>;
    number.nb_negative = unary<op_negative>;
    number.nb_positive = unary<op_positive>;
    number.nb_invert = unary<op_invert>;
    number.nb_absolute = unary<op_absolute>;
    number.nb_bool = is_true;
    number.nb_float = as_number<PyNumber_Float>;
    number.nb_int = as_number<PyNumber_Long>;
    number.nb_index = as_index;
    type->as_mapping.mp_subscript = get_item;
    type->as_mapping.mp_ass_subscript = set_item;
    type->as_mapping.mp_length = length;
    type->as_sequence.sq_item = row;  // by which iter() goes over the rows
    type->as_sequence.sq_length = length;
    type->ht_type.tp_richcompare = compare;
    type->ht_type.tp_hash = [](PyObject* object) { return _Py_HashPointer(object); };
    type->ht_type.tp_repr = text_of;
    type->ht_type.tp_str = text_of;
}

}  // namespace

void bind_tensor(py::module_& m) {
    py::class_<Tensor> tensor(
        m, "Tensor",
        "A tensor as a value: its value is computed when its data is read. Operators, indices and "
        "shapes are numpy's; slices are values, and `x[i] = v` makes a new version of x.",
        py::custom_type_setup([](PyHeapTypeObject* type) {
            set_slots(type);
            set_buffer_slots(type);
        }));
    classes().tensor = reinterpret_cast<PyTypeObject*>(tensor.ptr());
    tensor.attr("__array_ufunc__") = py::none();  // numpy's operators leave theirs to ours
    tensor
        .def(py::init([](const py::object& data, const py::object& dtype) {
                 const Line line;
                 return tensor_of(data,
                                  dtype.is_none() ? std::nullopt : std::optional(dtype_of(dtype)),
                                  line.at);
             }),
             py::arg("data"), py::arg("dtype") = py::none(),
             "A tensor of numbers, nested lists or an array.")
        .def_property_readonly(
            "shape",
            [](const Tensor& x) {
                const Line line;
                return shape_to_python(x.shape(line.at));
            },
            "The sizes of all axes; in a function that is recorded they may be symbolic.")
        .def_property_readonly(
            "ndim",
            [](const Tensor& x) {
                const Line line;
                return x.rank(line.at);
            },
            "The number of axes; 0 for a single number.")
        .def_property_readonly(
            "size",
            [](const Tensor& x) {
                const Line line;
                Size count = 1;
                for (const Size& each : x.shape(line.at)) count *= each;
                return size_to_python(count);
            },
            "The number of elements.")
        .def_property_readonly(
            "dtype",
            [](const Tensor& x) {
                const Line line;
                return x.dtype(line.at);
            },
            "The type of its elements.")
        .def_property_readonly(
            "T",
            [](const Tensor& x) {
                const Line line;
                return x.T(line.at);
            },
            "Axes in reverse order.")
        .def(
            "astype",
            [](const Tensor& x, const py::object& dtype) {
                const Line line;
                return x.as(dtype_of(dtype), line.at);
            },
            py::arg("dtype"),
            "Converted to another type: floats to integers truncate and saturate, and nan becomes "
            "0; integers wrap; to "
            "bool it is != 0.")
        .def(
            "item",
            [](const Tensor& x) {
                const Line line;
                return number_of(x, line.at);
            },
            "The only element of a tensor that has one, as a number of Python; computes and waits.")
        .def(
            "copy", [](const Tensor& x) { return Tensor(x); },
            "Another tensor of the same value, which stores to this one do not change.")
        .def("__copy__", [](const Tensor& x) { return Tensor(x); })
        .def("__deepcopy__", [](const Tensor& x, const py::dict&) { return Tensor(x); })
        .def(
            "assign",
            [](Tensor& x, const py::object& value) {
                const Line line;
                x = operand_of(value, line.at, "what is assigned").tensor();
            },
            py::arg("value"),
            "Gives this tensor another value, of any type and shape. In a recorded loop or branch "
            "a tensor that was made "
            "outside keeps its type.");
    bind_arrays(m, tensor);
}

}  // namespace firn::python
