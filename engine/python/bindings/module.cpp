// The module _firn: its parts in the order in which they need each other.
#include "engine/python/bindings/convert.h"
#include "engine/python/bindings/values.h"
#include "engine/python/bindings/window.h"
#include "engine/python/generated/generated.h"

PYBIND11_MODULE(_firn, m) {
    using namespace firn::python;
    bind_errors(m);
    bind_types(m);
    bind_tensor(m);
    bind_functions(m);
    bind_sessions(m);
    bind_gradients(m);
    bind_control(m);
    bind_pictures(m);
    bind_panels(m);
    bind_windows(m);
    bind_drawings(m);
    bind_app(m);
    bind_params(m);
    bind_vectors(m);
    bind_values(m);
    bind_generated(m);
    bind_modules(m);
    bind_vector_functions(m);
}
