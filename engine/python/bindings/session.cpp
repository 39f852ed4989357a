// Sessions in Python: which device computes, and what it checks.
#include <memory>

#include "engine/python/bindings/convert.h"

namespace firn::python {

namespace {

/// A session that `with` makes current; scopes nest.
class PythonSession {
  public:
    explicit PythonSession(Session made) : session(std::move(made)) {}
    PythonSession(PythonSession&&) = default;
    PythonSession(const PythonSession&) = delete;
    Session session;
    std::vector<std::unique_ptr<SessionScope>> scopes;
};

}  // namespace

py::object session_object(const Session& session) { return py::cast(PythonSession(session)); }

void bind_sessions(py::module_& m) {
    py::class_<PythonSession>(m, "Session",
                              "A session: the device that computes, and its caches. A tensor "
                              "belongs to the session that was current when it was "
                              "made. `with session:` makes it current in this thread.")
        .def(py::init([](const std::string& device, bool validation) {
                 return without_gil([&] {
                     return PythonSession(
                         device_session({.device = device, .validation = validation}));
                 });
             }),
             py::arg("device") = "", py::arg("validation") = false,
             "A session on a device: a number or part of a name of a Vulkan device, or `cpu` for "
             "the processor without a driver; empty: the fastest "
             "kind that the machine has.")
        .def_static(
            "oracle", [] { return PythonSession(Session::oracle()); },
            "Evaluates graphs node by node on the host: slow and obvious.")
        .def_static(
            "interpreter", [] { return PythonSession(Session::interpreter()); },
            "Runs compiled programs by the kernel interpreter.")
        .def_static(
            "current", [] { return PythonSession(current_session()); },
            "The current session of this thread.")
        .def(
            "__enter__",
            [](PythonSession& self) -> PythonSession& {
                self.scopes.push_back(std::make_unique<SessionScope>(self.session));
                return self;
            },
            py::return_value_policy::reference)
        .def("__exit__", [](PythonSession& self, const py::args&) { self.scopes.pop_back(); })
        .def(
            "on_print",
            [](const PythonSession& self, Callback<void(const std::string&)> write) {
                self.session.on_print(std::move(write));
            },
            py::arg("write"),
            "Sets the function for the lines of print_value; None: they go to stdout.")
        .def(
            "check_promises",
            [](const PythonSession& self, bool on) { self.session.check_promises(on); },
            py::arg("on"),
            "Whether programs recorded from now on verify the promises of unique, permutation and "
            "unchecked.")
        .def(
            "find_nan", [](const PythonSession& self, bool on) { self.session.find_nan(on); },
            py::arg("on"),
            "Whether floats that are computed from now on are checked for nan; an error names the "
            "operation that made one.")
        .def(
            "limit_while",
            [](const PythonSession& self, int64_t iterations) {
                self.session.limit_while(iterations);
            },
            py::arg("iterations"),
            "How many iterations a while without max_steps may take before it is an error.")
        .def(
            "compile_in_background",
            [](const PythonSession& self, bool on) { self.session.compile_in_background(on); },
            py::arg("on"),
            "Whether functions compile better programs for new sizes in the background.")
        .def_property_readonly("compiles",
                               [](const PythonSession& self) { return self.session.compiles(); })
        .def_property_readonly(
            "device_name", [](const PythonSession& self) { return self.session.profile().name; })
        .def_property_readonly(
            "node_count", [](const PythonSession& self) { return self.session.node_count(); },
            "Nodes alive in the node table.")
        .def_property_readonly(
            "plan_count", [](const PythonSession& self) { return self.session.plan_count(); },
            "Programs kept for lazy evaluation.");
    static_cast<py::class_<Tensor>>(m.attr("Tensor"))
        .def(
            "to",
            [](const Tensor& x, const PythonSession& session) {
                const Line line;
                return without_gil([&] { return x.to(session.session, line.at); });
            },
            py::arg("session"),
            "The same value in another session, on its device: computes it, waits for it, and "
            "copies it. The copy is a value of its own for gradients.")
        .def(
            "add_from",
            [](Tensor& x, const Tensor& y) -> Tensor& {
                const Line line;
                without_gil([&] { x.add_from(y, line.at); });
                return x;
            },
            py::arg("y"), py::return_value_policy::reference,
            "Adds a tensor of any session, of the same type and shape.")
        .def_property_readonly(
            "session", [](const Tensor& x) { return PythonSession(x.session()); },
            "The session that it belongs to.");
    m.def(
        "device_report", [] { return without_gil([] { return device_report(); }); },
        "All devices of this machine as text.");
    m.def(
        "validation_report",
        [](const PythonSession& self) { return validation_report(self.session); },
        py::arg("session"),
        "The validation layers' messages on the session's device so far, one a line.");
}

}  // namespace firn::python
