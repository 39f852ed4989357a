// Vectors and matrices of shaders as named tuples of tensors: they flow through loops, branches and
// compiled functions as any structure, and Python's operators work on their components.
#include "engine/python/bindings/vectors.h"

#include <cstring>

#include "engine/python/bindings/values.h"
#include "engine/python/generated/structs.h"

namespace firn::python {

namespace {

constexpr const char* kPrefixes[] = {"", "i", "u", "b"};
constexpr size_t kKinds = 4;

/// The types; they live as long as the process.
struct Types {
    PyTypeObject* vectors[5][kKinds] = {};
    PyTypeObject* matrices[5] = {};
};
Types& types() {
    static Types all;
    return all;
}

struct VectorKind {
    size_t count = 0;
    VecKind kind = VecKind::Float;
};

std::optional<VectorKind> vector_in(py::handle x) {
    if (!PyTuple_Check(x.ptr())) return std::nullopt;
    for (size_t count = 2; count <= 4; ++count)
        for (size_t kind = 0; kind < kKinds; ++kind)
            if (PyObject_TypeCheck(x.ptr(), types().vectors[count][kind]))
                return VectorKind{count, VecKind(kind)};
    return std::nullopt;
}

/// The number of columns of a matrix; 0 for anything else.
size_t matrix_in(py::handle x) {
    if (!PyTuple_Check(x.ptr())) return 0;
    for (size_t count = 2; count <= 4; ++count)
        if (PyObject_TypeCheck(x.ptr(), types().matrices[count])) return count;
    return 0;
}

py::object member(py::handle tuple, size_t k) {
    return py::reinterpret_borrow<py::object>(
        PyTuple_GET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(k)));
}

VecKind kind_of(DType dtype) {
    if (dtype.is_float()) return VecKind::Float;
    if (dtype.is_bool()) return VecKind::Bool;
    return dtype.is_signed() ? VecKind::Int : VecKind::Uint;
}

/// A vector of these components, whose type says its kind.
py::object vector_of(const std::vector<py::object>& components) {
    const VecKind kind = kind_of(tensor_in(components[0].ptr())->dtype());
    return tuple_of(types().vectors[components.size()][size_t(kind)], components);
}
py::object vector_of(const std::vector<Tensor>& components) {
    std::vector<py::object> all;
    for (const Tensor& x : components) all.push_back(py::cast(x));
    return vector_of(all);
}

py::object not_implemented() { return py::reinterpret_borrow<py::object>(Py_NotImplemented); }

// ---- making ----

py::object new_vector(const py::handle& type, const py::args& parts) {
    const Line line;
    size_t count = 0;
    VecKind kind = VecKind::Float;
    for (size_t n = 2; n <= 4; ++n)
        for (size_t k = 0; k < kKinds; ++k)
            if (PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type.ptr()),
                                 types().vectors[n][k]))
                count = n, kind = VecKind(k);
    std::vector<py::object> out;
    const auto add = [&](const Arg& x) { out.push_back(py::cast(to_kind(x, kind))); };
    for (const py::handle& part : parts) {
        if (const std::optional<VectorKind> vector = vector_in(part))
            for (size_t k = 0; k < vector->count; ++k) add(operand_of(member(part, k), line.at));
        else
            add(operand_of(part, line.at, "a component"));
    }
    if (parts.size() == 1 && out.size() == 1) out.resize(count, out[0]);
    if (parts.size() == 1 && out.size() > count) out.resize(count);
    if (out.size() != count)
        throw py::type_error(type.attr("__name__").cast<std::string>() + ": the parts have " +
                             std::to_string(out.size()) + " components, and not " +
                             std::to_string(count));
    return tuple_of(reinterpret_cast<PyTypeObject*>(type.ptr()), out);
}

py::object new_matrix(const py::handle& type, const py::args& parts) {
    const Line line;
    size_t count = 0;
    for (size_t n = 2; n <= 4; ++n)
        if (PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type.ptr()), types().matrices[n]))
            count = n;
    PyTypeObject* const column = types().vectors[count][0];
    std::vector<py::object> columns;
    const auto element = [&](const py::object& x) {
        return py::cast(to_kind(operand_of(x, line.at, "an element"), VecKind::Float));
    };
    if (parts.size() == 1 && !PyTuple_Check(py::object(parts[0]).ptr())) {  // the diagonal
        const py::object diagonal = element(parts[0]), zero = py::cast(Tensor(0.0f));
        for (size_t j = 0; j < count; ++j) {
            std::vector<py::object> all(count, zero);
            all[j] = diagonal;
            columns.push_back(tuple_of(column, all));
        }
    } else if (parts.size() == count * count) {
        for (size_t j = 0; j < count; ++j) {
            std::vector<py::object> all;
            for (size_t i = 0; i < count; ++i) all.push_back(element(parts[j * count + i]));
            columns.push_back(tuple_of(column, all));
        }
    } else {
        for (const py::handle& part : parts) {
            if (!PyObject_TypeCheck(part.ptr(), column))
                throw py::type_error(
                    type.attr("__name__").cast<std::string>() +
                    ": a matrix is made of its columns, of all its elements, or of its diagonal");
            columns.push_back(py::reinterpret_borrow<py::object>(part));
        }
    }
    if (columns.size() != count)
        throw py::type_error(type.attr("__name__").cast<std::string>() + ": there are " +
                             std::to_string(columns.size()) + " columns, and not " +
                             std::to_string(count));
    return tuple_of(reinterpret_cast<PyTypeObject*>(type.ptr()), columns);
}

// ---- operators ----

/// An operator on the components of two vectors, or of a vector and a number or tensor.
py::object by_component(binaryfunc op, const py::object& a, const py::object& b) {
    const std::optional<VectorKind> x = vector_in(a), y = vector_in(b);
    if ((x && y && x->count != y->count) || (!x && !y)) return not_implemented();
    if ((!x && PyTuple_Check(a.ptr())) || (!y && PyTuple_Check(b.ptr()))) return not_implemented();
    std::vector<py::object> out;
    for (size_t k = 0; k < (x ? x : y)->count; ++k) {
        const py::object s = x ? member(a, k) : a, t = y ? member(b, k) : b;
        out.push_back(py::reinterpret_steal<py::object>(op(s.ptr(), t.ptr())));
        if (!out.back()) throw py::error_already_set();
    }
    return vector_of(out);
}

template <binaryfunc op>
py::object of_vectors(const py::object& a, const py::object& b) {
    return by_component(op, a, b);
}
template <binaryfunc op>
py::object of_vectors_swapped(const py::object& a, const py::object& b) {
    return by_component(op, b, a);
}
template <unaryfunc op>
py::object of_vector(const py::object& a) {
    std::vector<py::object> out;
    for (size_t k = 0; k < vector_in(a)->count; ++k) {
        out.push_back(py::reinterpret_steal<py::object>(op(member(a, k).ptr())));
        if (!out.back()) throw py::error_already_set();
    }
    return vector_of(out);
}

/// One bool, as in GLSL: all components are equal; `swap` of that: some differ.
py::object equal(const py::object& a, const py::object& b, bool swap) {
    const std::optional<VectorKind> x = vector_in(a), y = vector_in(b);
    if (!y || x->count != y->count) return not_implemented();
    const Line line;
    std::optional<Tensor> out;
    for (size_t k = 0; k < x->count; ++k) {
        const Tensor same =
            swap ? component(a, k) != component(b, k) : component(a, k) == component(b, k);
        out = !out ? same : swap ? *out | same : *out & same;
    }
    return py::cast(*out);
}

py::object refuse_order(const py::object&, const py::object&) {
    throw py::type_error(
        "vectors have no order; lessThan(a, b) and its kin compare component by component");
}

/// `p.zyx`, `colour.rgb`: letters of xyzw or of rgba.
py::object swizzle(const py::object& vector, const std::string& letters) {
    const size_t count = vector_in(vector)->count;
    std::vector<py::object> out;
    for (const char letter : letters) {
        const char* const found = letter ? std::strchr("xyzwrgba", letter) : nullptr;
        const size_t k = found ? static_cast<size_t>(found - "xyzwrgba") % 4 : 4;
        if (k >= count || letters.size() > 4)
            throw py::attribute_error(
                "a " + py::type::handle_of(vector).attr("__name__").cast<std::string>() +
                " has no component or attribute '" + letters + "'");
        out.push_back(member(vector, k));
    }
    return out.size() == 1 ? out[0] : vector_of(out);
}

// ---- matrices, by the operators of their columns ----

template <binaryfunc op>
py::object of_columns(const py::object& a, const py::object& b) {
    const size_t x = matrix_in(a), y = matrix_in(b);
    if ((y && x != y) || (!y && PyTuple_Check(b.ptr()))) return not_implemented();
    std::vector<py::object> out;
    for (size_t j = 0; j < x; ++j) {
        const py::object other = y ? member(b, j) : b;
        out.push_back(by_component(op, member(a, j), other));
    }
    return tuple_of(types().matrices[x], out);
}

/// The matrix times a column vector.
py::object times_vector(const py::object& m, const py::object& v) {
    py::object sum = by_component(PyNumber_Multiply, member(m, 0), member(v, 0));
    for (size_t j = 1; j < matrix_in(m); ++j)
        sum = by_component(PyNumber_Add, sum,
                           by_component(PyNumber_Multiply, member(m, j), member(v, j)));
    return sum;
}
py::object matrix_product(const py::object& a, const py::object& b) {
    const size_t count = matrix_in(a);
    if (const std::optional<VectorKind> v = vector_in(b))
        return v->count == count ? times_vector(a, b) : not_implemented();
    if (!matrix_in(b)) return of_columns<PyNumber_Multiply>(a, b);
    if (matrix_in(b) != count) return not_implemented();
    std::vector<py::object> out;
    for (size_t j = 0; j < count; ++j) out.push_back(times_vector(a, member(b, j)));
    return tuple_of(types().matrices[count], out);
}
/// A number or a row vector times the matrix.
py::object matrix_product_swapped(const py::object& m, const py::object& a) {
    const std::optional<VectorKind> v = vector_in(a);
    if (!v) return of_columns<PyNumber_Multiply>(m, a);
    if (v->count != matrix_in(m)) return not_implemented();
    const Line line;
    std::vector<Tensor> out;
    for (size_t j = 0; j < v->count; ++j) {
        Tensor sum = component(a, 0) * component(member(m, j), 0);
        for (size_t k = 1; k < v->count; ++k)
            sum = sum + component(a, k) * component(member(m, j), k);
        out.push_back(sum);
    }
    return vector_of(out);
}
py::object negative_matrix(const py::object& m) {
    std::vector<py::object> out;
    for (size_t j = 0; j < matrix_in(m); ++j)
        out.push_back(of_vector<PyNumber_Negative>(member(m, j)));
    return tuple_of(types().matrices[out.size()], out);
}

// ---- functions by component ----

using Unary = Tensor (*)(const Operand&);
using Binary = Tensor (*)(const Arg&, const Arg&);
using Ternary = Tensor (*)(const Arg&, const Arg&, const Arg&);

/// The vector among the operands that decides kind and count; the next overload is tried where
/// there is none.
VectorKind deciding(std::initializer_list<py::object> operands) {
    std::optional<VectorKind> out;
    for (const py::object& each : operands) {
        const std::optional<VectorKind> vector = vector_in(each);
        if (!vector) continue;
        if (out && out->count != vector->count) throw py::reference_cast_error();
        if (!out || vector->kind == VecKind::Float) out = vector;
    }
    if (!out) throw py::reference_cast_error();
    return *out;
}

Arg part_of(const py::object& x, size_t k, VecKind kind, SourceLine line) {
    const py::object part = vector_in(x) ? member(x, k) : x;
    return operand_of_kind(operand_of(part, line), kind);
}

template <class F>
void add(py::module_& m, const char* name, const char* arguments, const F& f) {
    const std::string doc = std::string(name) + arguments;
    py::options options;
    options.disable_function_signatures();
    m.attr(name) = py::cpp_function(f, py::name(name), py::scope(m),
                                    py::sibling(py::getattr(m, name, py::none())), doc.c_str());
}

void add_unary(py::module_& m, const char* name, Unary f) {
    add(m, name, "(v: Vector) -> Vector", [f](const py::object& v) {
        const VectorKind kind = deciding({v});
        const Line line;
        std::vector<Tensor> out;
        for (size_t k = 0; k < kind.count; ++k) out.push_back(f(Operand(component(v, k), line.at)));
        return vector_of(out);
    });
}
void add_binary(py::module_& m, const char* name, Binary f) {
    add(m, name, "(a: Vector | Tensor, b: Vector | Tensor) -> Vector",
        [f](const py::object& a, const py::object& b) {
            const VectorKind kind = deciding({a, b});
            const Line line;
            std::vector<Tensor> out;
            for (size_t k = 0; k < kind.count; ++k)
                out.push_back(
                    f(part_of(a, k, kind.kind, line.at), part_of(b, k, kind.kind, line.at)));
            return vector_of(out);
        });
}
void add_ternary(py::module_& m, const char* name, Ternary f) {
    add(m, name, "(a: Vector | Tensor, b: Vector | Tensor, c: Vector | Tensor) -> Vector",
        [f](const py::object& a, const py::object& b, const py::object& c) {
            const VectorKind kind = deciding({a, b, c});
            const Line line;
            std::vector<Tensor> out;
            for (size_t k = 0; k < kind.count; ++k)
                out.push_back(f(part_of(a, k, kind.kind, line.at),
                                part_of(b, k, kind.kind, line.at),
                                part_of(c, k, kind.kind, line.at)));
            return vector_of(out);
        });
}

// ---- complex numbers ----

void bind_complex(py::module_& m) {
    const py::handle type = m.attr("Complex");
    const auto method = [&](const char* name, auto f) {
        type.attr(name) = py::cpp_function(
            [f](const ComplexArg& a, const py::object& other) -> py::object {
                const std::optional<ComplexArg> b = complex_in(other);
                if (!b) return not_implemented();
                const Line line;
                return py::cast(f(a, *b));
            },
            py::name(name), py::is_method(type));
    };
    method("__add__", [](const ComplexArg& a, const ComplexArg& b) { return complex_sum(a, b); });
    method("__radd__", [](const ComplexArg& a, const ComplexArg& b) { return complex_sum(b, a); });
    method("__sub__",
           [](const ComplexArg& a, const ComplexArg& b) { return complex_difference(a, b); });
    method("__rsub__",
           [](const ComplexArg& a, const ComplexArg& b) { return complex_difference(b, a); });
    method("__mul__",
           [](const ComplexArg& a, const ComplexArg& b) { return complex_product(a, b); });
    method("__rmul__",
           [](const ComplexArg& a, const ComplexArg& b) { return complex_product(b, a); });
    method("__truediv__",
           [](const ComplexArg& a, const ComplexArg& b) { return complex_quotient(a, b); });
    method("__rtruediv__",
           [](const ComplexArg& a, const ComplexArg& b) { return complex_quotient(b, a); });
    method("__pow__", [](const ComplexArg& a, const ComplexArg& b) {
        return complex_power(a, b, python_line());
    });
    method("__rpow__", [](const ComplexArg& a, const ComplexArg& b) {
        return complex_power(b, a, python_line());
    });
    type.attr("__neg__") = py::cpp_function(
        [](const ComplexArg& z) {
            const Line line;
            return complex_negative(z);
        },
        py::name("__neg__"), py::is_method(type));
    type.attr("__abs__") = py::cpp_function(
        [](const Complex& z) {
            const Line line;
            return abs(z, line.at);
        },
        py::name("__abs__"), py::is_method(type));
    type.attr("__array_ufunc__") = py::none();
    type.attr("__array__") = py::cpp_function(
        [](const py::object& z, const py::object& dtype, const py::object&) {
            const py::object out = z.attr("re").attr("__array__")() +
                                   py::reinterpret_steal<py::object>(PyComplex_FromDoubles(0, 1)) *
                                       py::object(z.attr("im").attr("__array__")());
            return dtype.is_none() ? out : py::object(out.attr("astype")(dtype));
        },
        py::name("__array__"), py::is_method(type), py::arg("dtype") = py::none(),
        py::arg("copy") = py::none());

    const py::handle quaternion = m.attr("Quaternion");
    quaternion.attr("__mul__") = py::cpp_function(
        [](const Quaternion& a, const py::object& other) -> py::object {
            py::detail::make_caster<Quaternion> b;
            if (!b.load(other, false)) return not_implemented();
            const Line line;
            return py::cast(a * py::detail::cast_op<Quaternion&>(b));
        },
        py::name("__mul__"), py::is_method(quaternion));
}

/// The type of a named tuple with these fields.
PyTypeObject* made(py::module_& m, const std::string& name, const char* fields, const char* doc) {
    const py::object type = make_named_tuple(m, name.c_str(), fields, py::tuple(), doc);
    type.attr("__array_ufunc__") = py::none();  // numpy's operators leave theirs to these
    return reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr());
}

}  // namespace

PyTypeObject* vector_type(size_t count, VecKind kind) {
    return types().vectors[count][size_t(kind)];
}
PyTypeObject* matrix_type(size_t count) { return types().matrices[count]; }

py::object tuple_of(PyTypeObject* type, const std::vector<py::object>& members) {
    py::tuple all(members.size());
    for (size_t k = 0; k < members.size(); ++k) all[k] = members[k];
    return py::reinterpret_steal<py::object>(
        named_tuple(py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(type)), all));
}

Tensor component(py::handle vector, size_t k) {
    const py::object part = member(vector, k);
    if (const Tensor* x = tensor_in(part.ptr())) return *x;
    return strong(operand_of(part, python_line(), "a component"));
}

std::optional<ComplexArg> complex_in(py::handle from) {
    const SourceLine line = python_line();
    py::detail::make_caster<Complex> complex;
    if (complex.load(from, false)) return ComplexArg(py::detail::cast_op<Complex&>(complex), line);
    if (PyComplex_Check(from.ptr()))
        return ComplexArg(
            Complex{Tensor(static_cast<float>(PyComplex_RealAsDouble(from.ptr())), line),
                    Tensor(static_cast<float>(PyComplex_ImagAsDouble(from.ptr())), line)},
            line);
    const std::optional<Arg> real = operand_in(from.ptr(), line);
    if (!real) return std::nullopt;
    ComplexArg out(0, line);
    out.re = *real;
    return out;
}

void bind_vectors(py::module_& m) {
    const char* const fields[] = {"", "", "x y", "x y z", "x y z w"};
    const char* const columns[] = {"", "", "c0 c1", "c0 c1 c2", "c0 c1 c2 c3"};
    for (size_t count = 2; count <= 4; ++count)
        for (size_t kind = 0; kind < kKinds; ++kind) {
            PyTypeObject* const type =
                made(m, kPrefixes[kind] + ("vec" + std::to_string(count)), fields[count],
                     "A vector of tensors, which broadcast against one another; operators go "
                     "component by component. "
                     "`p.zyx` are components by their letters, of xyzw or rgba. As a named tuple "
                     "it does not change: "
                     "`p._replace(x=0)` is another.");
            types().vectors[count][kind] = type;
        }
    for (size_t count = 2; count <= 4; ++count)
        types().matrices[count] = made(m, "mat" + std::to_string(count), columns[count],
                                       "Columns of vectors: m[column][row]. `*` is the product of "
                                       "matrices, with column vectors behind and row "
                                       "vectors in front.");

    const auto method = [](PyTypeObject* owner, const char* name, auto f) {
        const py::handle type(reinterpret_cast<PyObject*>(owner));
        type.attr(name) = py::cpp_function(f, py::name(name), py::is_method(type));
    };
    for (size_t count = 2; count <= 4; ++count) {
        for (size_t kind = 0; kind < kKinds; ++kind) {
            PyTypeObject* const type = types().vectors[count][kind];
            py::handle(reinterpret_cast<PyObject*>(type)).attr("__new__") =
                py::staticmethod(py::cpp_function(&new_vector, py::name("__new__")));
            method(type, "__add__", &of_vectors<PyNumber_Add>);
            method(type, "__radd__", &of_vectors_swapped<PyNumber_Add>);
            method(type, "__sub__", &of_vectors<PyNumber_Subtract>);
            method(type, "__rsub__", &of_vectors_swapped<PyNumber_Subtract>);
            method(type, "__mul__", &of_vectors<PyNumber_Multiply>);
            method(type, "__rmul__", &of_vectors_swapped<PyNumber_Multiply>);
            method(type, "__truediv__", &of_vectors<PyNumber_TrueDivide>);
            method(type, "__rtruediv__", &of_vectors_swapped<PyNumber_TrueDivide>);
            method(type, "__floordiv__", &of_vectors<PyNumber_FloorDivide>);
            method(type, "__rfloordiv__", &of_vectors_swapped<PyNumber_FloorDivide>);
            method(type, "__mod__", &of_vectors<PyNumber_Remainder>);
            method(type, "__rmod__", &of_vectors_swapped<PyNumber_Remainder>);
            method(type, "__neg__", &of_vector<PyNumber_Negative>);
            method(type, "__abs__", &of_vector<PyNumber_Absolute>);
            method(type, "__eq__",
                   [](const py::object& a, const py::object& b) { return equal(a, b, false); });
            method(type, "__ne__",
                   [](const py::object& a, const py::object& b) { return equal(a, b, true); });
            for (const char* name : {"__lt__", "__le__", "__gt__", "__ge__"})
                method(type, name, &refuse_order);
            method(type, "__getattr__", &swizzle);
            if (VecKind(kind) == VecKind::Float) continue;
            method(type, "__and__", &of_vectors<PyNumber_And>);
            method(type, "__rand__", &of_vectors_swapped<PyNumber_And>);
            method(type, "__or__", &of_vectors<PyNumber_Or>);
            method(type, "__ror__", &of_vectors_swapped<PyNumber_Or>);
            method(type, "__xor__", &of_vectors<PyNumber_Xor>);
            method(type, "__rxor__", &of_vectors_swapped<PyNumber_Xor>);
            method(type, "__invert__", &of_vector<PyNumber_Invert>);
            method(type, "__lshift__", &of_vectors<PyNumber_Lshift>);
            method(type, "__rshift__", &of_vectors<PyNumber_Rshift>);
        }
        PyTypeObject* const matrix = types().matrices[count];
        py::handle(reinterpret_cast<PyObject*>(matrix)).attr("__new__") =
            py::staticmethod(py::cpp_function(&new_matrix, py::name("__new__")));
        method(matrix, "__mul__", &matrix_product);
        method(matrix, "__matmul__", &matrix_product);
        method(matrix, "__rmul__", &matrix_product_swapped);
        method(matrix, "__truediv__", &of_columns<PyNumber_TrueDivide>);
        method(matrix, "__add__", &of_columns<PyNumber_Add>);
        method(matrix, "__sub__", &of_columns<PyNumber_Subtract>);
        method(matrix, "__neg__", &negative_matrix);
    }
}

void bind_vector_functions(py::module_& m) {
    const std::pair<const char*, Unary> unary[] = {{"abs", abs},
                                                   {"sign", sign},
                                                   {"floor", floor},
                                                   {"ceil", ceil},
                                                   {"round", round},
                                                   {"trunc", trunc},
                                                   {"fract", fract},
                                                   {"exp", exp},
                                                   {"exp2", exp2},
                                                   {"log", log},
                                                   {"log2", log2},
                                                   {"sqrt", sqrt},
                                                   {"inversesqrt", inversesqrt},
                                                   {"sin", sin},
                                                   {"cos", cos},
                                                   {"tan", tan},
                                                   {"asin", asin},
                                                   {"acos", acos},
                                                   {"atan", atan}};
    for (const auto& [name, f] : unary) add_unary(m, name, f);
    const std::pair<const char*, Binary> binary[] = {
        {"min", min_of},
        {"max", max_of},
        {"mod", [](const Arg& a, const Arg& b) { return a % b; }},
        {"pow", pow_of},
        {"atan2", atan2_of},
        {"step", step_of},
        {"lessThan", [](const Arg& a, const Arg& b) { return a < b; }},
        {"lessThanEqual", [](const Arg& a, const Arg& b) { return a <= b; }},
        {"greaterThan", [](const Arg& a, const Arg& b) { return a > b; }},
        {"greaterThanEqual", [](const Arg& a, const Arg& b) { return a >= b; }},
        {"equal", [](const Arg& a, const Arg& b) { return a == b; }},
        {"notEqual", [](const Arg& a, const Arg& b) { return a != b; }}};
    for (const auto& [name, f] : binary) add_binary(m, name, f);
    const std::pair<const char*, Ternary> ternary[] = {
        {"clamp", clamp_of}, {"mix", mix_of}, {"smoothstep", smoothstep_of}};
    for (const auto& [name, f] : ternary) add_ternary(m, name, f);
    add(m, "select",
        "(condition: Vector | Tensor, a: Vector | Tensor, b: Vector | Tensor) -> Vector",
        [](const py::object& condition, const py::object& a, const py::object& b) {
            const VectorKind kind =
                vector_in(a) || vector_in(b) ? deciding({a, b}) : deciding({condition});
            const Line line;
            std::vector<Tensor> out;
            for (size_t k = 0; k < kind.count; ++k) {
                const bool kept =
                    vector_in(a) || vector_in(b);  // else the condition alone is a vector
                out.push_back(
                    select_of(part_of(condition, k, VecKind::Bool, line.at),
                              kept ? part_of(a, k, kind.kind, line.at) : operand_of(a, line.at),
                              kept ? part_of(b, k, kind.kind, line.at) : operand_of(b, line.at)));
            }
            return vector_of(out);
        });

    add(m, "pow", "(a: ComplexLike, b: ComplexLike) -> Complex",
        [](const ComplexArg& a, const ComplexArg& b) {
            const Line line;
            return complex_power(a, b, line.at);
        });
    add(m, "select", "(condition: TensorLike, a: ComplexLike, b: ComplexLike) -> Complex",
        [](const Arg& condition, const ComplexArg& a, const ComplexArg& b) {
            const Line line;
            return complex_choice(condition, a, b, line.at);
        });
    bind_complex(m);

    const py::handle check = m.attr("GradientCheck");
    check.attr("__bool__") =
        py::cpp_function([](const py::object& self) { return self.attr("agree"); },
                         py::name("__bool__"), py::is_method(check));
}

}  // namespace firn::python
