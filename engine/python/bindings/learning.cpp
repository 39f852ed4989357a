// Modules and optimizers in Python: what the generated tables do not have.
#include <memory>

#include "engine/python/bindings/values.h"
#include "engine/python/generated/structs.h"

namespace firn::python {

namespace {

/// Gives the bindings what a module gives to its own class.
struct OpenModule : Module {
    using Module::add_buffer;
    using Module::add_parameter;
    static void add_module(Module& to, const std::string& name, const Module& module,
                           SourceLine line) {
        using Add = Module (Module::*)(const std::string&, Module, SourceLine);
        (to.*static_cast<Add>(&OpenModule::add<Module>))(name, module, line);
    }
    static void add_modules(Module& to, const std::string& name, std::vector<Module> modules,
                            SourceLine line) {
        using Add =
            std::vector<Module> (Module::*)(const std::string&, std::vector<Module>, SourceLine);
        (to.*static_cast<Add>(&OpenModule::add<Module>))(name, std::move(modules), line);
    }
};
using AddVariable = Variable (Module::*)(const std::string&, const Shape&, const Initialiser&,
                                         SourceLine);

/// The modules of a list or tuple; nothing where other things are among them, or none.
std::vector<Module> modules_in(py::handle value) {
    std::vector<Module> out;
    if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) return out;
    for (const py::handle& each : py::reinterpret_borrow<py::sequence>(value)) {
        if (!py::isinstance<Module>(each)) return {};
        out.push_back(each.cast<const Module&>());
    }
    return out;
}

/// The attribute where a module notes what was added under which name, so that `self.first =
/// self.add("first", ..)` adds once.
constexpr const char* kAdded = "_firn_added";

py::dict added(py::handle self) {
    const py::dict attributes = self.attr("__dict__");
    if (!attributes.contains(kAdded)) attributes[kAdded] = py::dict();
    return attributes[kAdded];
}

py::object add(const py::object& self, const std::string& name, const py::object& module) {
    const Line line;
    const std::vector<Module> list = modules_in(module);
    if (list.empty() && !py::isinstance<Module>(module))
        throw py::type_error("add: '" + name + "' is a module or a list of modules");
    if (list.empty())
        OpenModule::add_module(self.cast<Module&>(), name, module.cast<const Module&>(), line.at);
    else
        OpenModule::add_modules(self.cast<Module&>(), name, list, line.at);
    added(self)[py::str(name)] = module;
    return module;
}

void set_attribute(const py::object& self, const py::str& name, const py::object& value) {
    const bool is_part = py::isinstance<Module>(value) || !modules_in(value).empty();
    if (is_part) {
        const py::dict known = added(self);
        if (!known.contains(name) || known[name].ptr() != value.ptr()) add(self, name, value);
    }
    if (PyObject_GenericSetAttr(self.ptr(), name.ptr(), value.ptr()) != 0)
        throw py::error_already_set();
}

/// Modules and functions one after the other, by their positions. The parts are an attribute of the
/// object of Python, where the garbage collector sees them.
struct PythonSequential : Module {};
constexpr const char* kParts = "_parts";

py::tuple parts_of(const py::object& sequential) {
    return py::dict(sequential.attr("__dict__"))[kParts];
}

// ---- optimizers by rules of Python ----

/// Update of C++ as a rule of Python sees it: it assigns to the attributes.
struct PythonUpdate {
    py::object parameter, gradient;
    py::list state, powers;
    Callback<Tensor(const char*)> number;
};

}  // namespace

std::optional<State> state_in(py::handle from) {
    if (py::isinstance<State>(from)) return from.cast<const State&>();
    if (py::isinstance<Module>(from)) return State(from.cast<const Module&>());
    if (py::isinstance<Optimizer>(from)) return State(from.cast<const Optimizer&>());
    if (py::isinstance<LBFGS>(from)) return State(from.cast<const LBFGS&>());
    if (py::isinstance<AveragedWeights>(from)) return State(from.cast<const AveragedWeights&>());
    py::detail::make_caster<std::vector<NamedVariable>> variables;
    if (variables.load(from, true)) {
        State out;
        out.variables = py::detail::cast_op<std::vector<NamedVariable>&>(variables);
        return out;
    }
    if (!PyTuple_Check(from.ptr()) && !PyList_Check(from.ptr())) return std::nullopt;
    State out;
    for (const py::handle& each : py::reinterpret_borrow<py::sequence>(from)) {
        const std::optional<State> part = state_in(each);
        if (!part) return std::nullopt;
        out.add(*part);
    }
    return out;
}

std::optional<Initialiser> initialiser_in(py::handle from) {
    if (from.is_none()) return Initialiser();
    if (py::isinstance<PythonInitialiser>(from)) return from.cast<const PythonInitialiser&>().call;
    if (!PyCallable_Check(from.ptr())) return std::nullopt;
    const std::shared_ptr<py::object> kept =
        shared_by_threads(py::reinterpret_borrow<py::object>(from));
    return Initialiser([kept](const Shape& shape, const RandomOptions& random) -> Tensor {
        py::gil_scoped_acquire acquire;
        return (*kept)(shape_to_python(shape), py::arg("seed") = random.seed,
                       py::arg("stream") = random.stream)
            .cast<Tensor>();
    });
}

std::optional<Schedule> schedule_in(py::handle from) {
    if (py::isinstance<PythonSchedule>(from)) return from.cast<const PythonSchedule&>().call;
    py::detail::make_caster<Schedule> caster;
    if (from.is_none() || !caster.load(from, true)) return std::nullopt;
    return py::detail::cast_op<Schedule&>(caster);
}

std::optional<UpdateRule> rule_in(py::handle from) {
    if (!py::isinstance<UpdateRule>(from)) return std::nullopt;
    return from.cast<const UpdateRule&>();
}

Callback<std::vector<Tensor>(const std::vector<Tensor>&, const Tensor&, const Tensor&)>
gradient_rule(const py::function& rule) {
    const std::shared_ptr<py::object> kept = shared_by_threads(rule);
    return [kept](const std::vector<Tensor>& xs, const Tensor& y, const Tensor& cotangent) {
        py::gil_scoped_acquire acquire;
        const std::optional<AnyTensors> out = tensors_in((*kept)(xs, y, cotangent));
        if (!out)
            throw py::type_error(
                "the rule of custom_gradient returns a list of tensors, one for each operand");
        return out->all;
    };
}

Callback<Tensor(const std::vector<Tensor>&, const Tensor&, const std::vector<Tensor>&)>
tangent_rule(const py::function& rule) {
    const std::shared_ptr<py::object> kept = shared_by_threads(rule);
    return [kept](const std::vector<Tensor>& xs, const Tensor& y,
                  const std::vector<Tensor>& tangents) {
        py::gil_scoped_acquire acquire;
        return (*kept)(xs, y, tangents).cast<Tensor>();
    };
}

void bind_modules(py::module_& m) {
    py::handle module = m.attr("Module");
    const auto method = [](py::handle owner, const char* name, auto f, auto... extra) {
        owner.attr(name) =
            py::cpp_function(f, py::name(name), py::is_method(owner),
                             py::sibling(py::getattr(owner, name, py::none())), extra...);
    };
    method(module, "add", &add, py::arg("name"), py::arg("module"),
           "add(name: str, module: Module) -> Module\n\n"
           "A module, or a list of modules, inside; it is given back. `self.first = fn.Linear(2, "
           "16)` does the same.");
    method(module, "__setattr__", &set_attribute);
    const auto adder = [&](const char* name, AddVariable add_variable, const char* doc) {
        method(
            module, name,
            [add_variable](Module& self, const std::string& variable, const Shape& shape,
                           const AnyInitialiser& first) {
                const Line line;
                return (self.*add_variable)(variable, shape, first.call, line.at);
            },
            py::arg("name"), py::arg("shape"), py::arg("first"), doc);
    };
    adder("add_parameter", &OpenModule::add_parameter,
          "add_parameter(name: str, shape: ShapeLike, first: Initialiser) -> Variable\n\n"
          "A variable that optimizers change, with the first value that `first` gives.");
    adder("add_buffer", &OpenModule::add_buffer,
          "add_buffer(name: str, shape: ShapeLike, first: Initialiser) -> Variable\n\n"
          "A variable that is kept, and no optimizer changes; of any type.");
    method(
        module, "__call__",
        [](const py::object& self, const py::args& args, const py::kwargs& named) {
            if (!py::hasattr(self, "forward"))
                throw py::type_error(
                    py::type::handle_of(self).attr("__name__").cast<std::string>() +
                    " defines neither forward nor __call__");
            return self.attr("forward")(*args, **named);
        },
        "Returns self.forward(...).");

    py::class_<PythonSequential, Module>(
        m, "Sequential", py::dynamic_attr(),
        "Sequential(*parts: Callable[[Tensor], Tensor])\n\n"
        "Modules and functions one after the other; modules are called by their "
        "positions, as PyTorch does: `0.weight`, `2.weight`.")
        .def(
            "__init__",
            [](py::detail::value_and_holder& self, const py::args& parts) {
                const Line line;
                auto* made = new PythonSequential;
                self.value_ptr() = made;
                for (size_t k = 0; k < parts.size(); ++k) {
                    const py::object part = parts[k];
                    if (!PyCallable_Check(part.ptr()))
                        throw py::type_error("Sequential: each part is a module or a function");
                    if (py::isinstance<Module>(part))
                        OpenModule::add_module(*made, std::to_string(k), part.cast<const Module&>(),
                                               line.at);
                }
                const py::object object =
                    py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(self.inst));
                py::dict(object.attr("__dict__"))[kParts] = py::tuple(parts);
            },
            py::detail::is_new_style_constructor())
        .def(
            "__call__",
            [](const py::object& self, py::object x) {
                for (const py::handle& part : parts_of(self)) x = part(x);
                return x;
            },
            py::arg("x"), "__call__(x: Tensor) -> Tensor")
        .def("__len__", [](const py::object& self) { return parts_of(self).size(); })
        .def(
            "__getitem__",
            [](const py::object& self, size_t k) -> py::object {
                const py::tuple parts = parts_of(self);
                if (k >= parts.size())
                    throw py::index_error("Sequential has no part " + std::to_string(k));
                return parts[k];
            },
            py::arg("k"));

    py::handle optimizer = m.attr("Optimizer");
    method(
        optimizer, "__getitem__",
        [](const Optimizer& self, const std::string& name) { return self[name]; }, py::arg("name"),
        "__getitem__(name: str) -> float\n\nA number by its name, such as \"lr\", which may be "
        "changed at any time.");
    method(
        optimizer, "__setitem__",
        [](const Optimizer& self, const std::string& name, float value) { self[name] = value; },
        py::arg("name"), py::arg("value"));

    py::class_<PythonUpdate>(m, "Update",
                             "The inputs of a rule for one parameter, which it may change: it "
                             "assigns to `parameter` and "
                             "to the items of `state`.")
        .def_readwrite("parameter", &PythonUpdate::parameter)
        .def_readonly("gradient", &PythonUpdate::gradient)
        .def_readonly("state", &PythonUpdate::state)
        .def_readonly("powers", &PythonUpdate::powers)
        .def(
            "number",
            [](const PythonUpdate& self, const std::string& name) {
                return self.number(name.c_str());
            },
            py::arg("name"),
            "number(name: str) -> Tensor\n\nA number of the optimizer by its name, rank 0.");
    py::class_<UpdateRule>(
        m, "UpdateRule",
        "UpdateRule(update: Callable[[Update], None], state: Sequence[str] = (), powers: "
        "Sequence[str] = ())\n\nThe rule by which an optimizer changes a parameter, the names of "
        "the "
        "tensors of its shape that it keeps, which start at 0, and of the numbers whose products "
        "over all steps it needs.")
        .def(py::init([](const py::function& update, std::vector<std::string> state,
                         std::vector<std::string> powers) {
                 const std::shared_ptr<py::object> kept = shared_by_threads(update);
                 return UpdateRule{
                     std::move(state), std::move(powers), [kept](Update& of) {
                         py::gil_scoped_acquire acquire;
                         const py::object held = py::cast(
                             PythonUpdate{py::cast(of.parameter), py::cast(of.gradient),
                                          py::cast(of.state), py::cast(of.powers), of.number});
                         (*kept)(held);
                         const SourceLine line = python_line();
                         of.parameter =
                             operand_of(held.attr("parameter"), line, "the parameter of a rule")
                                 .tensor();
                         const py::list state = held.attr("state");
                         for (size_t k = 0; k < of.state.size(); ++k)
                             of.state[k] =
                                 operand_of(state[k], line, "the state of a rule").tensor();
                     }};
             }),
             py::arg("update"), py::arg("state") = py::tuple(), py::arg("powers") = py::tuple());

    method(
        m.attr("State"), "__init__",
        [](py::detail::value_and_holder& self, const py::args& parts) {
            std::optional<State> state = state_in(parts);
            if (!state)
                throw py::type_error("State: each part is a module, an optimizer or a state");
            self.value_ptr() = new State(std::move(*state));
        },
        py::detail::is_new_style_constructor(),
        "State(*parts: StateLike)\n\nThe variables and numbers of modules and optimizers, joined.");

    // Its destructor waits for the thread, which may want the GIL.
    struct ReleasingDelete {
        void operator()(Prefetch* batches) const {
            py::gil_scoped_release release;
            delete batches;
        }
    };
    py::class_<Prefetch, std::unique_ptr<Prefetch, ReleasingDelete>>(
        m, "Prefetch",
        "Prefetch(read: Callable[[int], Sequence[StoredTensor]], ahead: int = 2)\n\n"
        "Batches of files and the like, made on a thread of its own while the device works on "
        "those before. `read` gives "
        "batch k on the other thread: it must use no session, and read_npy and its kin and "
        "read_pictures use none.")
        .def(py::init([](const Callback<std::vector<StoredTensor>(int64_t)>& read, int ahead) {
                 return new Prefetch(read, ahead);
             }),
             py::arg("read"), py::arg("ahead") = 2)
        .def(
            "next",
            [](Prefetch& self) {
                const Line line;
                return without_gil([&] { return self.next(line.at); });
            },
            "next() -> list[Tensor]\n\nThe next batch on the device, as tensors in the order of "
            "`read`. An exception of "
            "`read` is raised here, when its batch is due; it is the last.");
}

}  // namespace firn::python

namespace pybind11::detail {

namespace {

template <class T>
handle list_of(const std::vector<T>& all) {
    list out;
    for (const T& each : all)
        out.append(reinterpret_steal<object>(firn::python::cast_struct(each)));
    return out.release();
}

}  // namespace

handle type_caster<std::vector<firn::NamedVariable>>::cast(
    const std::vector<firn::NamedVariable>& all, return_value_policy, handle) {
    return list_of(all);
}
handle type_caster<std::vector<firn::NamedNumber>>::cast(const std::vector<firn::NamedNumber>& all,
                                                         return_value_policy, handle) {
    return list_of(all);
}

}  // namespace pybind11::detail
