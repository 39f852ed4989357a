// Vectors and matrices of shaders as named tuples of tensors, and complex numbers beside them;
// internal.
#pragma once
#include <firn/shading.h>

#include "engine/python/bindings/convert.h"

namespace firn::python {

/// The type of vectors of so many components of a kind, `vec3`; and of square matrices, `mat3`.
PyTypeObject* vector_type(size_t count, VecKind kind);
PyTypeObject* matrix_type(size_t count);
/// A named tuple of this type with these members.
py::object tuple_of(PyTypeObject* type, const std::vector<py::object>& members);
/// Member k of a named tuple as a tensor.
Tensor component(py::handle vector, size_t k);

/// A complex number of Python, a Complex, or what an operand is.
std::optional<ComplexArg> complex_in(py::handle from);

void bind_vectors(py::module_& m);
/// Functions of vectors and complex numbers join those of tensors, and are tried after them.
void bind_vector_functions(py::module_& m);

}  // namespace firn::python

namespace pybind11::detail {

template <size_t N, firn::VecKind K>
struct type_caster<firn::Vec<N, K>> {
    static constexpr auto name =
        const_name<K == firn::VecKind::Int>(const_name("i"), const_name("")) +
        const_name<K == firn::VecKind::Uint>(const_name("u"), const_name("")) +
        const_name<K == firn::VecKind::Bool>(const_name("b"), const_name("")) + const_name("vec") +
        const_name<N>();
    bool load(handle from, bool) {
        if (!PyObject_TypeCheck(from.ptr(), firn::python::vector_type(N, K))) return false;
        value.emplace();
        for (size_t k = 0; k < N; ++k) (*value)[k] = firn::python::component(from, k);
        return true;
    }
    static handle cast(const firn::Vec<N, K>& vector, return_value_policy, handle) {
        std::vector<object> members;
        for (size_t k = 0; k < N; ++k) members.push_back(pybind11::cast(firn::Tensor(vector[k])));
        return firn::python::tuple_of(firn::python::vector_type(N, K), members).release();
    }
    operator const firn::Vec<N, K>&() { return *value; }
    operator firn::Vec<N, K>&() { return *value; }
    template <class T>
    using cast_op_type = firn::Vec<N, K>&;
    std::optional<firn::Vec<N, K>> value;
};

template <size_t N>
struct type_caster<firn::Mat<N>> {
    static constexpr auto name = const_name("mat") + const_name<N>();
    bool load(handle from, bool) {
        if (!PyObject_TypeCheck(from.ptr(), firn::python::matrix_type(N))) return false;
        value.emplace();
        for (size_t k = 0; k < N; ++k) {
            make_caster<firn::Vec<N>> column;
            if (!column.load(PyTuple_GET_ITEM(from.ptr(), static_cast<Py_ssize_t>(k)), false))
                return false;
            (*value)[k] = *column.value;
        }
        return true;
    }
    static handle cast(const firn::Mat<N>& matrix, return_value_policy policy, handle parent) {
        std::vector<object> columns;
        for (size_t k = 0; k < N; ++k)
            columns.push_back(reinterpret_steal<object>(
                make_caster<firn::Vec<N>>::cast(matrix[k], policy, parent)));
        return firn::python::tuple_of(firn::python::matrix_type(N), columns).release();
    }
    operator const firn::Mat<N>&() { return *value; }
    template <class T>
    using cast_op_type = const firn::Mat<N>&;
    std::optional<firn::Mat<N>> value;
};

template <>
struct type_caster<firn::ComplexArg> {
    static constexpr auto name = const_name("Complex | Tensor | complex");
    bool load(handle from, bool) {
        value = firn::python::complex_in(from);
        return value.has_value();
    }
    operator const firn::ComplexArg&() { return *value; }
    template <class T>
    using cast_op_type = const firn::ComplexArg&;
    std::optional<firn::ComplexArg> value;
};

}  // namespace pybind11::detail
