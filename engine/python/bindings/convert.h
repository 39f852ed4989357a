// Conversions between Python's values and Firn's, and the Python line that every call carries;
// internal.
#pragma once
#include <firn/firn.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/callback.h"
#include "compiler/base/long_work.h"
#include "compiler/frontend/line_scope.h"

namespace firn::python {

namespace py = pybind11;

/// The line of the innermost Python frame outside of the package itself; none where no Python runs.
SourceLine python_line();

/// Makes all that is recorded carry the Python line while it lives. The GIL is held where it is
/// made and destroyed.
class Line {
  public:
    Line() : at(python_line()), scope_(at) {}
    const SourceLine at;

  private:
    LineScope scope_;
};

/// Returns f() without the GIL, so that other threads of Python run; Ctrl-C ends long work of Firn
/// in it, as KeyboardInterrupt.
template <class F>
auto without_gil(const F& f);

/// The classes of the module, for checks that cost little; set when they are bound.
struct Classes {
    PyTypeObject *tensor = nullptr, *size = nullptr, *dtype = nullptr, *donated = nullptr;
};
Classes& classes();

/// The tensor that a Python object holds; null where it holds none.
Tensor* tensor_in(PyObject* object);
/// A new Python object with this session.
py::object session_object(const Session& session);
/// A new Python object with this tensor.
PyObject* new_tensor(Tensor x);

/// An operand of a Python tensor, number, size, array, list, or anything with `__dlpack__` or the
/// buffer protocol; nothing where it is none of these. A Python error is set, and thrown, where it
/// is one that cannot be converted.
std::optional<Arg> operand_in(PyObject* object, SourceLine line);
/// The same, with a TypeError that names `what`.
Arg operand_of(py::handle object, SourceLine line, const char* what = "an operand");
/// The operand as a tensor of its own: a float of Python is f32.
Tensor strong(const Arg& x);
/// A tensor of array-like data (array.cpp): numbers, nested lists, buffers, DLPack.
Tensor tensor_of(py::handle data, std::optional<DType> dtype, SourceLine line);
/// True for what tensor_of takes and is no number.
bool is_array_like(PyObject* object);
/// True for a named tuple: a structure with members, and no list of numbers.
bool is_structure(PyObject* object);

/// A dtype of a DType, its name, a dtype of numpy, or Python's float, int and bool.
DType dtype_of(py::handle object);
/// A size of an integer, a Size, or the name of a symbol; a whole tensor or float is a TypeError.
Size size_of(py::handle object);
/// A shape of one size or a sequence of sizes.
Shape shape_of(py::handle object);
/// The indices of x that a key of Python stands for, by the rules of numpy.
std::vector<Tensor::Index> indices_of(PyObject* key, const Tensor& x, SourceLine line);
/// A Python int where the size is known, else a Size.
py::object size_to_python(const Size& size);
py::tuple shape_to_python(const Shape& shape);

/// The line behind a message: ` (wave.py:41)`, or nothing where no Python runs.
std::string in_brackets(SourceLine line);

/// Sets the Python error for the exception that is being handled.
void set_python_error();

// ---- parts of the module ----

void bind_errors(py::module_& m);
void bind_types(py::module_& m);
void bind_tensor(py::module_& m);
/// Gives the class of tensors the buffer protocol.
void set_buffer_slots(PyHeapTypeObject* type);
void bind_arrays(py::module_& m, py::class_<Tensor>& tensor);
void bind_functions(py::module_& m);
void bind_sessions(py::module_& m);
void bind_gradients(py::module_& m);
void bind_control(py::module_& m);

/// Releases the GIL while it lives; internal to without_gil. Inside of App.run, whose own scope
/// ends work, it opens none.
class Interruptible {
  public:
    Interruptible();
    ~Interruptible();
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

  private:
    bool is_interrupted();
    PyThreadState* state_;
    std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
    PyObject* error_[3] = {};  // that a handler of signals raised
    std::optional<CancelScope> cancels_;
};

template <class F>
auto without_gil(const F& f) {
    const Interruptible released;
    return f();
}

}  // namespace firn::python

// ---- casters ----

namespace pybind11::detail {

template <>
struct type_caster<firn::Arg> {
    static constexpr auto name = const_name("Tensor | float | int");
    bool load(handle from, bool) {
        value = firn::python::operand_in(from.ptr(), firn::python::python_line());
        return value.has_value();
    }
    operator const firn::Arg&() { return *value; }
    operator firn::Arg&() { return *value; }
    template <class T>
    using cast_op_type = const firn::Arg&;
    std::optional<firn::Arg> value;
};

template <>
struct type_caster<firn::Operand> {
    static constexpr auto name = const_name("Tensor");
    bool load(handle from, bool) {
        const firn::SourceLine line = firn::python::python_line();
        if (firn::Tensor* x = firn::python::tensor_in(from.ptr())) {
            value.emplace(*x, line);
        } else if (const std::optional<firn::Arg> arg =
                       firn::python::operand_in(from.ptr(), line)) {
            value.emplace(firn::python::strong(*arg), line);
        }
        return value.has_value();
    }
    operator const firn::Operand&() { return *value; }
    template <class T>
    using cast_op_type = const firn::Operand&;
    std::optional<firn::Operand> value;
};

template <>
struct type_caster<firn::Size> {
    PYBIND11_TYPE_CASTER(firn::Size, const_name("int | Size"));
    bool load(handle from, bool) {
        // What is often tried first, where another overload takes tensors.
        if (PyFloat_Check(from.ptr()) || PyTuple_Check(from.ptr()) ||
            firn::python::tensor_in(from.ptr()))
            return false;
        try {
            value = firn::python::size_of(from);
            return true;
        } catch (const type_error&) {
            return false;
        }
    }
    static handle cast(const firn::Size& size, return_value_policy, handle) {
        return firn::python::size_to_python(size).release();
    }
};

template <>
struct type_caster<firn::Dimension> {
    static constexpr auto name = const_name("int | Size");
    static handle cast(const firn::Dimension& size, return_value_policy, handle) {
        return firn::python::size_to_python(size).release();
    }
};

template <>
struct type_caster<firn::Shape> {
    PYBIND11_TYPE_CASTER(firn::Shape, const_name("int | Size | Sequence[int | Size]"));
    bool load(handle from, bool) {
        if (firn::python::tensor_in(from.ptr())) return false;  // another overload takes tensors
        try {
            value = firn::python::shape_of(from);
            return true;
        } catch (const type_error&) {
            return false;
        }
    }
    static handle cast(const firn::Shape& shape, return_value_policy, handle) {
        return firn::python::shape_to_python(shape).release();
    }
};

template <>
struct type_caster<firn::TensorShape> {
    static constexpr auto name = const_name("tuple[int | Size, ...]");
    static handle cast(const firn::TensorShape& shape, return_value_policy, handle) {
        return firn::python::shape_to_python(shape).release();
    }
};

template <>
struct type_caster<firn::Axes> {
    PYBIND11_TYPE_CASTER(firn::Axes, const_name("int | Sequence[int] | None"));
    bool load(handle from, bool) {
        if (from.is_none()) return true;
        if (PyLong_Check(from.ptr()) && !PyBool_Check(from.ptr())) {
            value = firn::Axes(from.cast<int>());
            return true;
        }
        if (!PySequence_Check(from.ptr()) || PyUnicode_Check(from.ptr()) ||
            firn::python::tensor_in(from.ptr()))
            return false;
        make_caster<std::vector<int>> list;
        if (!list.load(from, true)) return false;
        value = firn::Axes(cast_op<std::vector<int>&&>(std::move(list)));
        return true;
    }
    static handle cast(const firn::Axes& axes, return_value_policy, handle) {
        if (axes.values.empty()) return none().release();
        if (axes.values.size() == 1) return int_(axes.values[0]).release();
        return pybind11::cast(axes.values).release();
    }
};

/// A function of Python that C++ keeps and calls: with the GIL, and on any thread.
template <class R, class... A>
struct type_caster<firn::Callback<R(A...)>> {
    PYBIND11_TYPE_CASTER(firn::Callback<R(A...)>, const_name("Callable"));
    bool load(handle from, bool) {
        if (from.is_none()) return true;
        if (!PyCallable_Check(from.ptr())) return false;
        // Copies of the callback share one reference, which ends with the GIL held.
        std::shared_ptr<object> kept(new object(reinterpret_borrow<object>(from)),
                                     [](object* function) {
                                         gil_scoped_acquire acquire;
                                         delete function;
                                     });
        value = [kept](A... arguments) -> R {
            gil_scoped_acquire acquire;
            if constexpr (std::is_void_v<R>)
                (*kept)(std::forward<A>(arguments)...);
            else
                return (*kept)(std::forward<A>(arguments)...).template cast<std::decay_t<R>>();
        };
        return true;
    }
};

}  // namespace pybind11::detail
