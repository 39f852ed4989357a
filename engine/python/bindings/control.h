// Elements of a kernel's arrays, for functions that store to them; internal.
#pragma once
#include <optional>

#include "engine/python/bindings/convert.h"

namespace firn::python {

/// The element of a shared or local array at an index of Python; nothing where `array` is neither.
std::optional<Access> array_element(py::handle array, py::handle index, SourceLine line);

void bind_control(py::module_& m);

}  // namespace firn::python
