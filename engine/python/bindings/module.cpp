// The module _firn: its parts in the order in which they need each other.
#include "engine/python/bindings/control.h"

PYBIND11_MODULE(_firn, m) {
    using namespace firn::python;
    bind_errors(m);
    bind_types(m);
    bind_tensor(m);
    bind_functions(m);
    bind_sessions(m);
    bind_gradients(m);
    bind_control(m);
}
