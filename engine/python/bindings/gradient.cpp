// Gradients of recorded values, and functions of one sample for a batch; the package gives them
// their trees.
#include "engine/python/bindings/convert.h"

namespace firn::python {

void bind_gradients(py::module_& m) {
    m.def("_grad", [](const Tensor& y, const std::vector<Tensor>& xs, bool allow_unused) {
        const Line line;
        return grad(y, xs, {.allow_unused = allow_unused}, line.at);
    });
    m.def("_vjp", [](const Tensor& y, const std::vector<Tensor>& xs, const Tensor& cotangent,
                     bool allow_unused) {
        const Line line;
        return vjp(y, xs, cotangent, {.allow_unused = allow_unused}, line.at);
    });
    m.def("_jvp", [](const Tensor& y, const std::vector<Tensor>& xs,
                     const std::vector<Tensor>& tangents, bool allow_unused) {
        const Line line;
        return jvp(y, xs, tangents, {.allow_unused = allow_unused}, line.at);
    });
    // No Line while Python's functions record: their lines are their own.
    m.def("_value_and_grad", [](const Callback<Tensor(const std::vector<Tensor>&)>& f,
                                const std::vector<Tensor>& xs, bool allow_unused) {
        ValueAndGradients out =
            value_and_grad(f, xs, {.allow_unused = allow_unused}, python_line());
        return std::pair(out.value, out.gradients);
    });
    m.def("_vmap", [](const Callback<std::vector<Tensor>(const std::vector<Tensor>&)>& f,
                      const std::vector<Tensor>& xs, const std::vector<std::optional<int>>& axes,
                      int out_axis) {
        return vmap(f, xs, {.axes = axes, .out_axis = out_axis}, python_line());
    });
}

}  // namespace firn::python
