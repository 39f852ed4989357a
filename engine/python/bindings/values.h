// What generated bindings take and give beside operands and numbers: enumerations by name, lists of
// tensors, named tuples, functions, states; internal.
#pragma once
#include <firn/files.h>
#include <firn/learning.h>
#include <firn/shading.h>

#include <array>
#include <memory>

#include "compiler/files/stored_tensor.h"
#include "engine/python/bindings/convert.h"
#include "engine/python/bindings/vectors.h"

namespace firn::python {

/// A dtype by all of its names.
struct AnyDType {
    DType dtype;
};
/// A sequence of tensors, numbers and arrays.
struct AnyTensors {
    std::vector<Tensor> all;
    /// UserError where there are others than N.
    template <size_t N>
    std::array<Tensor, N> array() const {
        check_count(N);
        std::array<Tensor, N> out;
        for (size_t k = 0; k < N; ++k) out[k] = all[k];
        return out;
    }
    void check_count(size_t count) const;
};
/// Shifts, one for each axis.
struct AnyShifts {
    std::vector<Arg> all;
    ShiftList list() const;
};
/// A value of an enumeration, or its name.
template <class E>
struct Choice {
    E value;
};
/// A module, an optimizer, a state, a list of variables, or a list of these.
struct AnyState {
    State state;
};
/// A function of Python that gives the first value of a variable, or one of the module.
struct AnyInitialiser {
    Initialiser call;
};
/// A function of Python that gives the rate of a step, or one of the module.
struct AnySchedule {
    Schedule call;
};
/// The rule of an optimizer: a function, and the names of the tensors that it keeps.
struct AnyRule {
    UpdateRule rule;
};

/// What he_uniform and its kin return.
struct PythonInitialiser {
    Initialiser call;
};
/// What cosine_decay and its kin return.
struct PythonSchedule {
    Schedule call;
};

std::optional<AnyDType> dtype_in(py::handle from);
std::optional<AnyTensors> tensors_in(py::handle from);
std::optional<AnyShifts> shifts_in(py::handle from);
std::optional<State> state_in(py::handle from);
std::optional<Initialiser> initialiser_in(py::handle from);
std::optional<Schedule> schedule_in(py::handle from);
std::optional<UpdateRule> rule_in(py::handle from);
/// The value of an enumeration of the module by its name, in any case; a TypeError that lists the
/// names.
py::object choice_by_name(py::handle enumeration, const py::str& name);

/// Throws a TypeError unless one of the operands is a tensor or an array: functions of numbers
/// alone are Python's.
void require_tensor(const char* function, std::initializer_list<const Arg*> operands);

/// The place that `x[index]` is, of a tensor or an array of a kernel.
Access place_of(const py::object& x, const py::object& index, SourceLine line);
/// Indices of Python as they are: negative ones do not count from the end.
std::vector<Tensor::Index> plain_indices(py::handle key, SourceLine line);

/// A reference that copies share, and that ends with the GIL held.
std::shared_ptr<py::object> shared_by_threads(const py::object& object);
/// Returns f(*xs) for C++, which has its tensors in a list.
py::object call_spread(const py::object& f, const std::vector<Tensor>& xs);
/// A function of Python that is called with several tensors, as one of C++ that has them in a list.
template <class R>
Callback<R(const std::vector<Tensor>&)> spread(const py::function& f) {
    const std::shared_ptr<py::object> kept = shared_by_threads(f);
    return [kept](const std::vector<Tensor>& xs) -> R {
        py::gil_scoped_acquire acquire;
        return call_spread(*kept, xs).cast<R>();
    };
}

/// The Python line of a call that calls back into Python: what is recorded there has lines of its
/// own.
struct LineAt {
    SourceLine at = python_line();
};

/// The rule of custom_gradient: f(xs, y, cotangent) gives a list of cotangents.
Callback<std::vector<Tensor>(const std::vector<Tensor>&, const Tensor&, const Tensor&)>
gradient_rule(const py::function& rule);
/// The same for tangents: f(xs, y, tangents) gives the tangent of y.
Callback<Tensor(const std::vector<Tensor>&, const Tensor&, const std::vector<Tensor>&)>
tangent_rule(const py::function& rule);

template <class T, size_t N>
std::vector<T> listed(const std::array<T, N>& all) {
    return {all.begin(), all.end()};
}
/// f of the value where there is one.
template <class T, class F>
auto given(const std::optional<T>& value, const F& f)
    -> std::optional<std::decay_t<decltype(f(*value))>> {
    if (!value) return std::nullopt;
    return f(*value);
}

/// The parts of a tuple or list that stands for a struct.
class Parts {
  public:
    /// Nothing where it is no tuple or list, or has another number of parts.
    Parts(py::handle from, size_t required, size_t most);
    explicit operator bool() const { return is_; }
    size_t size() const { return size_; }
    py::object operator[](size_t k) const;

  private:
    py::handle from_;
    size_t size_ = 0;
    bool is_ = false;
};

/// Makes the named tuple `name`, with these fields and the defaults of the last of them.
py::object make_named_tuple(py::module_& m, const char* name, const char* fields,
                            py::tuple defaults, const char* doc);
/// A named tuple with these values.
py::handle named_tuple(const py::object& type, py::tuple values);

/// A part of a struct, in the type that its field has; false where it has another.
template <class T>
bool take(const Parts& parts, size_t k, T& to) {
    if (k >= parts.size()) return true;
    const py::object part = parts[k];
    if constexpr (std::is_same_v<T, Tensor>) {
        py::detail::make_caster<Operand> operand;
        if (!operand.load(part, true)) return false;
        to = operand.value->tensor();
    } else if constexpr (std::is_same_v<T, std::optional<Tensor>>) {
        if (part.is_none()) return true;
        Tensor one;
        if (!take(parts, k, one)) return false;
        to = one;
    } else if constexpr (std::is_same_v<T, DType>) {
        const std::optional<AnyDType> dtype = dtype_in(part);
        if (dtype) to = dtype->dtype;
        return dtype.has_value();
    } else {
        py::detail::make_caster<T> caster;
        if (!caster.load(part, true)) return false;
        to = py::detail::cast_op<T&>(caster);
    }
    return true;
}

/// Adds what the generated tables do not have.
void bind_values(py::module_& m);
void bind_modules(py::module_& m);

}  // namespace firn::python

namespace pybind11::detail {

/// A caster of a value that a function reads from an object.
template <class T, class Made, std::optional<Made> (*read)(handle)>
struct ReadingCaster {
    bool load(handle from, bool) {
        std::optional<Made> made = read(from);
        if (made) value.emplace(T{std::move(*made)});
        return value.has_value();
    }
    operator const T&() { return *value; }
    template <class>
    using cast_op_type = const T&;
    std::optional<T> value;
};

template <>
struct type_caster<firn::python::AnyDType>
    : ReadingCaster<firn::python::AnyDType, firn::python::AnyDType, firn::python::dtype_in> {
    static constexpr auto name = const_name("DType");
};
template <>
struct type_caster<firn::python::AnyTensors>
    : ReadingCaster<firn::python::AnyTensors, firn::python::AnyTensors, firn::python::tensors_in> {
    static constexpr auto name = const_name("Sequence[Tensor]");
};
template <>
struct type_caster<firn::python::AnyShifts>
    : ReadingCaster<firn::python::AnyShifts, firn::python::AnyShifts, firn::python::shifts_in> {
    static constexpr auto name = const_name("Sequence[Tensor | int]");
};
template <>
struct type_caster<firn::python::AnyState>
    : ReadingCaster<firn::python::AnyState, firn::State, firn::python::state_in> {
    static constexpr auto name = const_name("State");
};
template <>
struct type_caster<firn::python::AnyInitialiser>
    : ReadingCaster<firn::python::AnyInitialiser, firn::Initialiser, firn::python::initialiser_in> {
    static constexpr auto name = const_name("Initialiser");
};
template <>
struct type_caster<firn::python::AnySchedule>
    : ReadingCaster<firn::python::AnySchedule, firn::Schedule, firn::python::schedule_in> {
    static constexpr auto name = const_name("Schedule");
};
template <>
struct type_caster<firn::python::AnyRule>
    : ReadingCaster<firn::python::AnyRule, firn::UpdateRule, firn::python::rule_in> {
    static constexpr auto name = const_name("UpdateRule");
};

template <class E>
struct type_caster<firn::python::Choice<E>> {
    static constexpr auto name = make_caster<E>::name + const_name(" | str");
    bool load(handle from, bool) {
        const handle enumeration = get_type_handle(typeid(E), true);
        object held = reinterpret_borrow<object>(from);
        if (PyUnicode_Check(from.ptr()))
            held = firn::python::choice_by_name(enumeration, reinterpret_borrow<str>(from));
        make_caster<E> inner;
        if (!inner.load(held, false)) return false;
        value.value = cast_op<E&>(inner);
        return true;
    }
    operator const firn::python::Choice<E>&() { return value; }
    template <class>
    using cast_op_type = const firn::python::Choice<E>&;
    firn::python::Choice<E> value{};
};

/// A number for every axis: one for all, or a sequence of N.
template <size_t N>
struct type_caster<firn::PerAxis<N>> {
    static constexpr auto name = const_name("int | Sequence[int]");
    bool load(handle from, bool) {
        make_caster<firn::Shape> sizes;
        if (!sizes.load(from, true)) return false;
        const firn::Shape& shape = cast_op<firn::Shape&>(sizes);
        if (shape.size() == 1) {
            value = firn::PerAxis<N>(shape[0]);
            return true;
        }
        if (shape.size() != N) return false;
        for (size_t k = 0; k < N; ++k) value.values[k] = shape[k];
        return true;
    }
    operator const firn::PerAxis<N>&() { return value; }
    operator firn::PerAxis<N>&() { return value; }
    operator firn::PerAxis<N>&&() { return std::move(value); }
    template <class T>
    using cast_op_type = movable_cast_op_type<T>;
    firn::PerAxis<N> value{0};
};

/// Values by their names: a dict, or pairs.
template <class E, class V, V E::*value_of>
struct ByNameCaster {
    PYBIND11_TYPE_CASTER(std::vector<E>, const_name("dict"));
    bool load(handle from, bool) {
        object pairs = reinterpret_borrow<object>(from);
        if (PyDict_Check(from.ptr())) pairs = reinterpret_steal<object>(PyDict_Items(from.ptr()));
        if (!PyList_Check(pairs.ptr()) && !PyTuple_Check(pairs.ptr())) return false;
        for (const handle& each : reinterpret_borrow<sequence>(pairs)) {
            const firn::python::Parts parts(each, 2, 2);
            E one;
            if (!parts || !firn::python::take(parts, 0, one.name) ||
                !firn::python::take(parts, 1, one.*value_of))
                return false;
            value.push_back(std::move(one));
        }
        return true;
    }
    static handle cast(const std::vector<E>& all, return_value_policy, handle) {
        dict out;
        for (const E& each : all) out[str(each.name)] = pybind11::cast(each.*value_of);
        return out.release();
    }
};
template <>
struct type_caster<std::vector<firn::NamedTensor>>
    : ByNameCaster<firn::NamedTensor, firn::Tensor, &firn::NamedTensor::value> {};
template <>
struct type_caster<std::vector<firn::Metric>>
    : ByNameCaster<firn::Metric, double, &firn::Metric::value> {};

/// Variables by their paths: what parameters() returns, pairs, or a dict.
template <>
struct type_caster<std::vector<firn::NamedVariable>>
    : ByNameCaster<firn::NamedVariable, firn::Variable, &firn::NamedVariable::variable> {
    static handle cast(const std::vector<firn::NamedVariable>& all, return_value_policy, handle);
};
template <>
struct type_caster<std::vector<firn::NamedNumber>> {
    static constexpr auto name = const_name("list[NamedNumber]");
    static handle cast(const std::vector<firn::NamedNumber>& all, return_value_policy, handle);
};

/// Bytes as Python has them.
template <>
struct type_caster<std::vector<std::byte>> {
    PYBIND11_TYPE_CASTER(std::vector<std::byte>, const_name("bytes"));
    bool load(handle from, bool) {
        if (!PyBytes_Check(from.ptr())) return false;
        const auto* data = reinterpret_cast<const std::byte*>(PyBytes_AS_STRING(from.ptr()));
        value.assign(data, data + PyBytes_GET_SIZE(from.ptr()));
        return true;
    }
    static handle cast(const std::vector<std::byte>& all, return_value_policy, handle) {
        return bytes(reinterpret_cast<const char*>(all.data()), all.size()).release();
    }
};

}  // namespace pybind11::detail
