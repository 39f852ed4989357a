// Elements in and out: numpy, the buffer protocol, DLPack and nested lists.
#include <bit>
#include <cstring>
#include <memory>

#include "engine/python/bindings/convert.h"

namespace firn::python {

namespace {

// ---- nested lists ----

struct Listed {
    Shape shape;
    std::vector<double> floats;
    std::vector<int64_t> integers;
    enum class Kind { Bool, Int, Float } kind = Kind::Bool;
    bool is_unsigned = false;
};

void add_number(PyObject* number, Listed& to, SourceLine line) {
    if (PyBool_Check(number)) {
        to.floats.push_back(number == Py_True);
        to.integers.push_back(number == Py_True);
    } else if (PyLong_Check(number)) {
        int overflow = 0;
        int64_t value = PyLong_AsLongLongAndOverflow(number, &overflow);
        if (overflow > 0) {
            value = static_cast<int64_t>(PyLong_AsUnsignedLongLong(number));
            to.is_unsigned = true;
            if (!PyErr_Occurred()) overflow = 0;
            PyErr_Clear();
        }
        if (overflow)
            throw UserError("the integer " + py::str(number).cast<std::string>() +
                            " is beyond 64 bits, which no type of tensors holds" +
                            in_brackets(line));
        to.floats.push_back(PyLong_AsDouble(number));
        to.integers.push_back(value);
        to.kind = std::max(to.kind, Listed::Kind::Int);
    } else {
        const double value = PyFloat_AsDouble(number);
        if (PyErr_Occurred()) {
            PyErr_Clear();
            throw py::type_error(
                "a tensor is made of numbers, not of " +
                py::repr(py::type::handle_of(number).attr("__name__")).cast<std::string>() +
                in_brackets(line));
        }
        to.floats.push_back(value);
        to.integers.push_back(0);
        to.kind = Listed::Kind::Float;
    }
}

bool is_list(PyObject* x) {
    return PyList_Check(x) || (PyTuple_Check(x) && !is_structure(x)) || PyRange_Check(x);
}

/// Adds all numbers of nested lists; the lists of one level have one length.
void add_list(PyObject* list, size_t level, Listed& to, SourceLine line) {
    if (!is_list(list)) {
        if (level < to.shape.size())
            throw UserError("the lists are ragged: a number stands where others have a list of " +
                            to.shape[level].text() + in_brackets(line));
        return add_number(list, to, line);
    }
    if (level > 64) throw UserError("the lists nest more than 64 deep" + in_brackets(line));
    const Py_ssize_t count = PySequence_Size(list);
    if (level == to.shape.size()) {
        if (!to.floats.empty())
            throw UserError("the lists are ragged: a list stands where others have a number" +
                            in_brackets(line));
        to.shape.push_back(Size(count));
    } else if (!to.shape[level].is(count)) {
        throw UserError("the lists are ragged: one of " + std::to_string(count) +
                        " elements stands beside one of " + to.shape[level].text() +
                        in_brackets(line));
    }
    for (Py_ssize_t k = 0; k < count; ++k) {
        const py::object each = py::reinterpret_steal<py::object>(PySequence_GetItem(list, k));
        if (!each) throw py::error_already_set();
        add_list(each.ptr(), level + 1, to, line);
    }
}

bool has_tensors(PyObject* list) {
    for (const py::handle& each : py::reinterpret_borrow<py::sequence>(list)) {
        if (tensor_in(each.ptr()) || (is_list(each.ptr()) && has_tensors(each.ptr()))) return true;
    }
    return false;
}

/// A list with tensors in it is their stack.
Tensor stacked(PyObject* list, SourceLine line) {
    std::vector<Tensor> parts;
    for (const py::handle& each : py::reinterpret_borrow<py::sequence>(list))
        parts.push_back(is_list(each.ptr()) ? stacked(each.ptr(), line)
                                            : operand_of(each, line, "an element").tensor());
    return stack(parts, {}, line);
}

template <class T, class From>
Tensor narrowed(const std::vector<From>& values, const Shape& shape, DType dtype, SourceLine line) {
    std::vector<T> narrow;
    narrow.reserve(values.size());
    for (From value : values) narrow.push_back(static_cast<T>(value));
    return tensor_from_bytes(narrow, shape, dtype, line);
}

Tensor of_list(PyObject* list, std::optional<DType> dtype, SourceLine line) {
    if (has_tensors(list)) {
        const Tensor out = stacked(list, line);
        return dtype ? out.as(*dtype, line) : out;
    }
    Listed all;
    add_list(list, 0, all, line);
    if (all.kind == Listed::Kind::Float || (dtype && dtype->is_float() && dtype->bytes() < 8) ||
        all.floats.empty()) {
        const DType natural = dtype && *dtype == f64 ? f64 : f32;
        const Tensor out = natural == f64 ? narrowed<double>(all.floats, all.shape, f64, line)
                                          : narrowed<float>(all.floats, all.shape, f32, line);
        return dtype && *dtype != natural ? out.as(*dtype, line) : out;
    }
    if (all.kind == Listed::Kind::Bool) {
        const Tensor out = narrowed<uint32_t>(all.integers, all.shape, boolean, line);
        return dtype ? out.as(*dtype, line) : out;
    }
    bool is_small = !all.is_unsigned;
    for (int64_t value : all.integers) is_small &= value == static_cast<int32_t>(value);
    const Tensor out =
        is_small ? narrowed<int32_t>(all.integers, all.shape, i32, line)
                 : narrowed<int64_t>(all.integers, all.shape, all.is_unsigned ? u64 : i64, line);
    return dtype && *dtype != out.dtype(line) ? out.as(*dtype, line) : out;
}

// ---- arrays of other libraries ----

/// Strided memory of elements; strides in bytes.
struct Strided {
    const std::byte* data = nullptr;
    size_t item = 0;
    std::vector<int64_t> shape, strides;
    bool is_swapped = false;  // of the other order of bytes
    bool is_bytes_of_bool = false;
    DType dtype;
};

size_t count_of(const std::vector<int64_t>& shape) {
    size_t out = 1;
    for (int64_t size : shape) out *= static_cast<size_t>(size);
    return out;
}

/// Copies the elements in row-major order.
void pack(const Strided& from, std::byte* to) {
    const size_t rank = from.shape.size();
    const size_t count = count_of(from.shape);
    bool is_packed = !from.is_swapped && !from.is_bytes_of_bool;
    int64_t expected = static_cast<int64_t>(from.item);
    for (size_t axis = rank; axis-- > 0; expected *= from.shape[axis])
        is_packed &= from.shape[axis] <= 1 || from.strides[axis] == expected;
    if (is_packed) {
        if (count) std::memcpy(to, from.data, count * from.item);
        return;
    }
    std::vector<int64_t> at(rank, 0);
    const size_t stored = from.is_bytes_of_bool ? 4 : from.item;
    const std::byte* element = from.data;
    for (size_t k = 0; k < count; ++k) {
        if (from.is_bytes_of_bool) {
            const uint32_t value = *element != std::byte{0};
            std::memcpy(to + stored * k, &value, sizeof value);
        } else if (from.is_swapped) {
            for (size_t b = 0; b < from.item; ++b) to[stored * k + b] = element[from.item - 1 - b];
        } else {
            std::memcpy(to + stored * k, element, from.item);
        }
        for (size_t axis = rank; axis-- > 0;) {
            element += from.strides[axis];
            if (++at[axis] < from.shape[axis]) break;
            element -= from.strides[axis] * from.shape[axis];
            at[axis] = 0;
        }
    }
}

Tensor of_strided(const Strided& from, std::optional<DType> dtype, SourceLine line) {
    HostWriting writing(Shape(from.shape.begin(), from.shape.end()), from.dtype, line,
                        HostWriting::Unset);
    if (writing.count()) pack(from, writing.data());
    const Tensor out = writing.finish();
    return dtype && *dtype != from.dtype ? out.as(*dtype, line) : out;
}

/// The type of a format of the struct module; `is_swapped` where its bytes are in the other order.
DType dtype_of_format(const char* format, Py_ssize_t item, bool& is_swapped, SourceLine line) {
    const char* kind = format && *format ? format : "B";
    if (*kind == '<' || *kind == '>' || *kind == '!' || *kind == '=' || *kind == '@') {
        is_swapped =
            item > 1 &&
            (*kind == '>' || *kind == '!') == (std::endian::native == std::endian::little) &&
            *kind != '=' && *kind != '@' &&
            !(*kind == '<' && std::endian::native == std::endian::little);
        ++kind;
    }
    const auto is_one_of = [&](const char* all) {
        return kind[0] && !kind[1] && std::strchr(all, *kind);
    };
    if (is_one_of("efd")) return item == 2 ? f16 : item == 4 ? f32 : f64;
    if (is_one_of("?")) return boolean;
    if (is_one_of("bhilqn")) return item == 1 ? i8 : item == 2 ? i16 : item == 4 ? i32 : i64;
    if (is_one_of("BHILQN")) return item == 1 ? u8 : item == 2 ? u16 : item == 4 ? u32 : u64;
    throw py::type_error(
        std::string("elements of format '") + kind +
        "' are no numbers that tensors have; there are floats of 16, 32 "
        "and 64 bits, integers of 8 to 64 and bools (a complex array: its .real and .imag)" +
        in_brackets(line));
}

struct Buffer {
    Py_buffer view{};
    explicit Buffer(PyObject* from) {
        if (PyObject_GetBuffer(from, &view, PyBUF_FULL_RO) != 0) throw py::error_already_set();
    }
    ~Buffer() { PyBuffer_Release(&view); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
};

Tensor of_buffer(PyObject* object, std::optional<DType> dtype, SourceLine line) {
    const Buffer buffer(object);
    const Py_buffer& view = buffer.view;
    Strided from{static_cast<const std::byte*>(view.buf),
                 static_cast<size_t>(view.itemsize),
                 {view.shape, view.shape + view.ndim},
                 {}};
    from.dtype = dtype_of_format(view.format, view.itemsize, from.is_swapped, line);
    from.is_bytes_of_bool = from.dtype.is_bool();
    if (view.suboffsets)
        throw py::type_error("arrays of pointers (PIL-style suboffsets) cannot be read" +
                             in_brackets(line));
    if (view.strides)
        from.strides.assign(view.strides, view.strides + view.ndim);
    else
        from.strides.assign(static_cast<size_t>(view.ndim), view.itemsize);
    return of_strided(from, dtype, line);
}

// ---- DLPack (dmlc/dlpack, dlpack.h of version 0.8: the layout of the structs) ----

struct DLDevice {
    int32_t type, id;
};
struct DLDataType {
    uint8_t code, bits;
    uint16_t lanes;
};
struct DLTensor {
    void* data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape, *strides;  // strides in elements; null: row-major
    uint64_t byte_offset;
};
struct DLManagedTensor {
    DLTensor tensor;
    void* context;
    void (*deleter)(DLManagedTensor*);
};
enum : uint8_t { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 };
constexpr int32_t kDLCpu = 1;

Tensor of_dlpack(py::handle object, std::optional<DType> dtype, SourceLine line) {
    const auto device = object.attr("__dlpack_device__")().cast<std::pair<int, int>>();
    if (device.first != kDLCpu)
        throw UserError("the array is on another device (DLPack's type " +
                        std::to_string(device.first) +
                        "); move it to the host first, as by .cpu()" + in_brackets(line));
    const py::object capsule = object.attr("__dlpack__")();
    auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
    if (!managed) throw py::error_already_set();
    PyCapsule_SetName(capsule.ptr(), "used_dltensor");
    struct Release {
        DLManagedTensor* managed;
        ~Release() {
            if (managed->deleter) managed->deleter(managed);
        }
    } const release{managed};
    const DLTensor& x = managed->tensor;
    if (x.dtype.lanes != 1)
        throw py::type_error("arrays of vectors cannot be read by DLPack" + in_brackets(line));
    Strided from{static_cast<const std::byte*>(x.data) + x.byte_offset,
                 size_t(x.dtype.bits / 8),
                 {x.shape, x.shape + x.ndim},
                 {}};
    std::optional<DType> type;
    for (DType each : kAllTypes) {
        const uint8_t code = each == bf16       ? kDLBfloat
                             : each.is_float()  ? kDLFloat
                             : each.is_bool()   ? kDLBool
                             : each.is_signed() ? kDLInt
                                                : kDLUInt;
        const int bits = each.is_bool() ? 8 : 8 * each.bytes();
        if (code == x.dtype.code && bits == x.dtype.bits) type = each;
    }
    if (!type)
        throw py::type_error("DLPack's type of code " + std::to_string(x.dtype.code) + " with " +
                             std::to_string(x.dtype.bits) + " bits is none that tensors have" +
                             in_brackets(line));
    from.dtype = *type;
    from.is_bytes_of_bool = type->is_bool();
    int64_t stride = 1;
    from.strides.resize(from.shape.size());
    for (size_t axis = from.shape.size(); axis-- > 0; stride *= from.shape[axis])
        from.strides[axis] =
            static_cast<int64_t>(from.item) * (x.strides ? x.strides[axis] : stride);
    return of_strided(from, dtype, line);
}

// ---- out ----

const char* format_of(DType dtype) {
    switch (dtype.type) {
        case Type::F32: return "f";
        case Type::F16: return "e";
        case Type::F64: return "d";
        case Type::I32: return "i";
        case Type::U32: return "I";
        case Type::I64: return "q";
        case Type::U64: return "Q";
        case Type::I16: return "h";
        case Type::U16: return "H";
        case Type::I8: return "b";
        case Type::U8: return "B";
        case Type::Bool: return "?";
        case Type::BF16: break;
    }
    return nullptr;
}

/// Elements of a tensor in the memory of the host, for as long as it lives.
struct Exported {
    HostBytes bytes;
    DType dtype;
    std::vector<int64_t> strides;  // in bytes
    std::vector<std::byte> own;    // bools as bytes
    size_t item = 0;
    const std::byte* data() const { return own.empty() ? bytes.data : own.data(); }
};

std::unique_ptr<Exported> exported(const Tensor& x, SourceLine line) {
    auto out = std::make_unique<Exported>();
    out->dtype = x.dtype(line);
    out->bytes = without_gil([&] { return host_bytes(x, out->dtype, line); });
    out->item = static_cast<size_t>(out->dtype.bytes());
    if (out->dtype.is_bool()) {
        out->item = 1;
        out->own.resize(count_of(out->bytes.shape) + 1);  // never without memory
        for (size_t k = 0; k + 1 < out->own.size(); ++k) out->own[k] = out->bytes.data[4 * k];
    }
    out->strides.resize(out->bytes.shape.size());
    int64_t stride = static_cast<int64_t>(out->item);
    for (size_t axis = out->strides.size(); axis-- > 0; stride *= out->bytes.shape[axis])
        out->strides[axis] = stride;
    return out;
}

int get_buffer(PyObject* object, Py_buffer* view, int flags) {
    view->obj = nullptr;
    try {
        const Line line;
        const Tensor& x = *tensor_in(object);
        if (flags & PyBUF_WRITABLE) {
            PyErr_SetString(PyExc_BufferError,
                            "the elements of a tensor are read only; x[...] = v stores, "
                            "x.numpy().copy() is an array of its own");
            return -1;
        }
        static Py_ssize_t none[1] = {};
        const char* format = format_of(x.dtype(line.at));
        if (!format) {
            PyErr_SetString(PyExc_BufferError,
                            "bf16 has no format among buffers; convert by .astype(firn.f32)");
            return -1;
        }
        std::unique_ptr<Exported> out = exported(x, line.at);
        static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
        view->buf = const_cast<std::byte*>(out->data());
        view->len = static_cast<Py_ssize_t>(count_of(out->bytes.shape) * out->item);
        view->readonly = 1;
        view->itemsize = static_cast<Py_ssize_t>(out->item);
        view->format = flags & PyBUF_FORMAT ? const_cast<char*>(format) : nullptr;
        view->ndim = static_cast<int>(out->strides.size());
        view->shape =
            flags & PyBUF_ND
                ? (view->ndim ? reinterpret_cast<Py_ssize_t*>(out->bytes.shape.data()) : none)
                : nullptr;
        view->strides =
            (flags & PyBUF_STRIDES) == PyBUF_STRIDES
                ? (view->ndim ? reinterpret_cast<Py_ssize_t*>(out->strides.data()) : none)
                : nullptr;
        view->suboffsets = nullptr;
        view->internal = out.release();
        view->obj = Py_NewRef(object);
        return 0;
    } catch (...) {
        set_python_error();
        return -1;
    }
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<Exported*>(view->internal); }

py::capsule to_dlpack(const Tensor& x, SourceLine line) {
    struct Held {
        std::unique_ptr<Exported> from;
        std::vector<int64_t> strides;
        DLManagedTensor managed;
    };
    auto held = std::make_unique<Held>();
    held->from = exported(x, line);
    const DType dtype = held->from->dtype;
    for (int64_t stride : held->from->strides)
        held->strides.push_back(stride / static_cast<int64_t>(held->from->item));
    const uint8_t code = dtype == bf16       ? kDLBfloat
                         : dtype.is_float()  ? kDLFloat
                         : dtype.is_bool()   ? kDLBool
                         : dtype.is_signed() ? kDLInt
                                             : kDLUInt;
    held->managed = {{const_cast<std::byte*>(held->from->data()),
                      {kDLCpu, 0},
                      static_cast<int32_t>(held->strides.size()),
                      {code, static_cast<uint8_t>(8 * held->from->item), 1},
                      held->from->bytes.shape.data(),
                      held->strides.data(),
                      0},
                     held.get(),
                     [](DLManagedTensor* self) { delete static_cast<Held*>(self->context); }};
    DLManagedTensor* out = &held.release()->managed;
    PyObject* capsule = PyCapsule_New(out, "dltensor", [](PyObject* unused) {
        if (!PyCapsule_IsValid(unused, "dltensor")) return;  // taken by a consumer
        auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(unused, "dltensor"));
        managed->deleter(managed);
    });
    if (!capsule) {
        out->deleter(out);
        throw py::error_already_set();
    }
    return py::reinterpret_steal<py::capsule>(capsule);
}

/// An array of numpy over the memory of the tensor where the host sees that, and of a copy
/// otherwise; read only.
py::object to_numpy(const py::object& self, const py::object& dtype, const py::object& copy) {
    const Line line;
    const Tensor& x = *tensor_in(self.ptr());
    const py::module_ numpy = py::module_::import("numpy");
    py::object from = self;
    if (x.dtype(line.at) == bf16) from = py::cast(x.as(f32, line.at));
    py::object out = numpy.attr("asarray")(py::memoryview(from));
    if (!dtype.is_none()) out = out.attr("astype")(dtype, py::arg("copy") = false);
    if (!copy.is_none() && copy.cast<bool>()) out = out.attr("copy")();
    return out;
}

}  // namespace

void set_buffer_slots(PyHeapTypeObject* type) {
    type->ht_type.tp_as_buffer = &type->as_buffer;
    type->as_buffer.bf_getbuffer = get_buffer;
    type->as_buffer.bf_releasebuffer = release_buffer;
}

bool is_structure(PyObject* object) {
    return PyTuple_Check(object) && !PyTuple_CheckExact(object) &&
           PyObject_HasAttrString(object, "_fields");
}

bool is_array_like(PyObject* object) {
    return is_list(object) ||
           (PyObject_CheckBuffer(object) && !PyBytes_Check(object) && !PyByteArray_Check(object)) ||
           (!PyType_Check(object) && PyObject_HasAttrString(object, "__dlpack__"));
}

Tensor tensor_of(py::handle data, std::optional<DType> dtype, SourceLine line) {
    if (Tensor* x = tensor_in(data.ptr())) return dtype ? x->as(*dtype, line) : *x;
    if (is_list(data.ptr())) return of_list(data.ptr(), dtype, line);
    if (PyObject_CheckBuffer(data.ptr()) && !PyBytes_Check(data.ptr()))
        return of_buffer(data.ptr(), dtype, line);
    if (PyObject_HasAttrString(data.ptr(), "__dlpack__")) return of_dlpack(data, dtype, line);
    if (PyUnicode_Check(data.ptr()) || PyBytes_Check(data.ptr()))
        throw py::type_error("a tensor is made of numbers, not of text" + in_brackets(line));
    if (!is_array_like(data.ptr()))
        if (std::optional<Arg> number = operand_in(data.ptr(), line)) {
            const Tensor out = number->is_scalar() && number->scalar().dtype == f64
                                   ? Tensor(number->scalar().f, line)
                                   : number->tensor();
            return dtype ? out.as(*dtype, line) : out;
        }
    throw py::type_error(
        "a tensor is made of numbers, nested lists, or an array (numpy's, or one with DLPack or "
        "the buffer protocol); not of " +
        py::repr(py::type::handle_of(data).attr("__name__")).cast<std::string>() +
        in_brackets(line));
}

void bind_arrays(py::module_& m, py::class_<Tensor>& tensor) {
    m.def(
        "tensor",
        [](const py::object& data, const py::object& shape, const py::object& dtype) {
            const Line line;
            const Tensor out = tensor_of(
                data, dtype.is_none() ? std::nullopt : std::optional(dtype_of(dtype)), line.at);
            return shape.is_none() ? out : reshape(out, shape_of(shape));
        },
        py::arg("data"), py::arg("shape") = py::none(), py::arg("dtype") = py::none(),
        "A tensor of numbers, nested lists, an array of numpy, or any object with DLPack or the "
        "buffer protocol. The elements are copied. "
        "Floats of Python become f32, ints i32 (i64 or u64 where they do not fit), bools bool; "
        "arrays keep their type.");
    m.def(
        "from_dlpack",
        [](const py::object& array) {
            const Line line;
            return of_dlpack(array, std::nullopt, line.at);
        },
        py::arg("array"),
        "A tensor with a copy of the elements of an array in the host's memory, by the protocol "
        "DLPack.");
    tensor
        .def(
            "numpy", [](const py::object& self) { return to_numpy(self, py::none(), py::none()); },
            "The elements as an array of numpy that is read only: without a copy where the host "
            "sees the memory, as of the "
            "processor and most CPU drivers. It keeps the memory for as long as it lives. bf16 "
            "becomes float32.")
        .def("__array__", &to_numpy, py::arg("dtype") = py::none(), py::arg("copy") = py::none())
        .def(
            "tolist",
            [](const py::object& self) {
                const Line line;
                const Tensor& x = *tensor_in(self.ptr());
                const py::object from =
                    x.dtype(line.at).is_half() ? py::cast(x.as(f32, line.at)) : self;
                return py::memoryview(from).attr("tolist")();
            },
            "The elements as nested lists of Python's numbers; computes and waits.")
        .def(
            "__dlpack__",
            [](const Tensor& x, const py::object& stream) {
                const Line line;
                if (!stream.is_none())
                    throw UserError("the elements are in the host's memory, which has no streams" +
                                    in_brackets(line.at));
                return to_dlpack(x, line.at);
            },
            py::arg("stream") = py::none(),
            "The elements in the host's memory by DLPack; a consumer must not write to them.")
        .def("__dlpack_device__", [](const Tensor&) { return std::pair(kDLCpu, 0); });
}

}  // namespace firn::python
