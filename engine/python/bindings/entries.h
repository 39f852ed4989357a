// Functions of the module as rows of tables: a row costs no code of its own, and functions of one
// type share the code that binds them; internal.
#pragma once
#include "engine/python/bindings/convert.h"

namespace firn::python {

/// What a row is in Python.
enum class EntryKind : uint8_t { Function, Method, Constructor, Static, Getter, Setter };

/// A function of C++ by its name in Python.
struct Entry {
    const char* name;
    /// The names of arguments with their defaults, `x, axis=None, *, keep_dims=False`; a method's
    /// without self.
    const char* arguments;
    const char* doc;
    void (*define)(const Entry& entry,
                   py::handle scope);  ///< define<R, A...> of the function's type
    void (*function)();
    EntryKind kind = EntryKind::Function;
};

/// An entry as pybind11 takes it among the attributes of a function.
struct EntryAttribute {
    const Entry& entry;
    py::handle scope;
    py::object sibling;  // the overloads before it
};

/// Fills what pybind11 keeps about a function.
void describe(const EntryAttribute& attribute, py::detail::function_record& record);
/// The overloads that a function joins.
py::object overloads_of(const Entry& entry, py::handle scope);
/// Makes the function an attribute of its module or class.
void place(const Entry& entry, py::handle scope, py::cpp_function function);
/// Defines all entries of a table in a module or class.
void define_all(const Entry* begin, const Entry* end, py::handle scope);

/// A type of functions with its code is instantiated once, in a file of its own.
template <class R, class... A>
void define(const Entry& entry, py::handle scope) {
    auto* function = reinterpret_cast<R (*)(A...)>(entry.function);
    place(entry, scope,
          py::cpp_function(function, EntryAttribute{entry, scope, overloads_of(entry, scope)}));
}

}  // namespace firn::python

namespace pybind11::detail {

template <>
struct process_attribute<firn::python::EntryAttribute>
    : process_attribute_default<firn::python::EntryAttribute> {
    static void init(const firn::python::EntryAttribute& attribute, function_record* record) {
        firn::python::describe(attribute, *record);
    }
};

}  // namespace pybind11::detail
