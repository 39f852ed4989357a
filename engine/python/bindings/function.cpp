// compile and jit of functions of Python: recording, calls, and what is known of the programs.
#include "compiler/frontend/function.h"

#include <memory>
#include <unordered_map>

#include "compiler/learning/state_function.h"
#include "engine/firn/saved_programs.h"
#include "engine/python/bindings/values.h"

namespace firn::python {

namespace {

/// Marks a tensor that a call may write over.
struct Donated {
    py::object tensor;
};

/// A recorded function: of its arguments alone, or over the state of modules and optimizers, too.
class Recorded {
  public:
    explicit Recorded(Function of) : function_(std::move(of)) {}
    explicit Recorded(StateFunction of) : function_(of.function()), over_state_(std::move(of)) {}

    const Function& function() const { return function_; }
    std::vector<Tensor> call(const std::vector<Arg>& args) const {
        return over_state_ ? over_state_->call(args) : function_.call(args);
    }
    /// The arguments of function(), for questions about calls.
    std::vector<Arg> arguments(const std::vector<Arg>& args) const {
        return over_state_ ? over_state_->arguments(args) : args;
    }

  private:
    Function function_;
    std::optional<StateFunction> over_state_;
};

template <class T>
auto record_by(T& trace, const py::function& body, SourceLine line) {
    py::list arguments;
    for (const Tensor& each : trace.arguments()) arguments.append(py::cast(Tensor(each)));
    const py::object results = body(arguments);
    FlatValue flat;
    for (const py::handle& each : results)
        flat.tensors.push_back(operand_of(each, line, "a result").tensor());
    return trace.finish(flat);
}

/// Records a function of a list of tensors, which gives a list of tensors.
Recorded record(const std::vector<ArgSpec>& specs, const py::function& body,
                const py::object& state) {
    const SourceLine line = python_line();
    if (state.is_none()) {
        Trace trace(specs, line);
        return Recorded(record_by(trace, body, line));
    }
    const std::optional<State> over = state_in(state);
    if (!over)
        throw py::type_error(
            "state is a module, an optimizer, averaged weights, or a tuple of such" +
            (line.line ? " (" + text(line) + ")" : std::string()));
    StateTrace trace(*over, specs, line);
    return Recorded(record_by(trace, body, line));
}

/// The structure of arguments or results: that of trees.py, None for a single tensor, or the number
/// of tensors of a flat tuple.
struct Structure {
    py::object tree;

    py::object give(std::vector<Tensor>& from) const {
        if (tree.is_none()) return py::cast(std::move(from[0]));
        if (PyLong_Check(tree.ptr())) {
            py::tuple out(from.size());
            for (size_t k = 0; k < from.size(); ++k) out[k] = py::cast(std::move(from[k]));
            return out;
        }
        py::list leaves;
        for (Tensor& each : from) leaves.append(py::cast(std::move(each)));
        return tree.attr("build")(leaves);
    }
};

/// Operands of arguments, and the structures of those that are none by themselves.
struct Operands {
    std::vector<Arg> all;
    py::list trees;  // None for an operand

    /// `expected` are the trees of a compiled function: where it takes a tensor, a list is one.
    Operands(const py::args& args, SourceLine line, py::handle expected = {}) {
        all.reserve(args.size());
        for (size_t k = 0; k < args.size(); ++k)
            add(args[k], line, expected && PyList_GET_ITEM(expected.ptr(), k) == Py_None);
    }

  private:
    static bool is_container(py::handle arg) {
        return !tensor_in(arg.ptr()) && !PyFloat_Check(arg.ptr()) && !PyLong_Check(arg.ptr()) &&
               (PyTuple_Check(arg.ptr()) || PyList_Check(arg.ptr()) || PyDict_Check(arg.ptr()) ||
                PyObject_HasAttrString(arg.ptr(), "__dataclass_fields__"));
    }
    void add(py::handle arg, SourceLine line, bool is_tensor) {
        if (!is_container(arg) || (is_tensor && PyList_Check(arg.ptr()))) {
            all.push_back(operand_of(arg, line, "an argument"));
            trees.append(py::none());
            return;
        }
        static const py::handle flatten =
            py::object(py::module_::import("firn.trees").attr("flatten")).release();
        const py::tuple both = flatten(arg);
        for (const py::handle& leaf : both[0]) all.push_back(operand_of(leaf, line, "an argument"));
        trees.append(both[1]);
    }
};

/// Shows the garbage collector the objects that a C++ object holds: `each(self, visit)` visits
/// them.
template <class T>
py::custom_type_setup collected() {
    return py::custom_type_setup([](PyHeapTypeObject* type) {
        type->ht_type.tp_flags |= Py_TPFLAGS_HAVE_GC;
        type->ht_type.tp_traverse = [](PyObject* self, visitproc visit, void* arg) {
            Py_VISIT(Py_TYPE(self));
            if (reinterpret_cast<py::detail::instance*>(self)->simple_value_holder[0])
                for (const py::object* held : py::cast<const T&>(py::handle(self)).held())
                    Py_VISIT(held->ptr());
            return 0;
        };
        type->ht_type.tp_clear = [](PyObject* self) {
            for (const py::object* held : py::cast<const T&>(py::handle(self)).held())
                const_cast<py::object&>(*held) = py::none();
            return 0;
        };
    });
}

/// A compiled function with the structures of its arguments and results.
class Compiled {
  public:
    Compiled(Recorded function, py::object trees, py::object result, py::object bind)
        : function_(std::move(function)),
          trees_(std::move(trees)),
          result_{std::move(result)},
          bind_(std::move(bind)) {}

    py::object call(py::args args, const py::kwargs& named) const {
        if (named.size() != 0 || args.size() != py::len(trees_))
            args = py::tuple(bind_(args, named));
        const Line line;
        Operands operands(args, line.at, trees_);
        if (!operands.trees.equal(trees_)) refuse_structure(operands, line.at);
        std::vector<Tensor> out = without_gil([&] { return function_.call(operands.all); });
        return result_.give(out);
    }
    const Function& function() const { return function_.function(); }
    std::vector<const py::object*> held() const { return {&trees_, &result_.tree, &bind_}; }
    std::vector<Arg> flat(const py::args& args) const {
        return function_.arguments(Operands(args, python_line(), trees_).all);
    }

  private:
    void refuse_structure(const Operands& given, SourceLine line) const {
        for (size_t k = 0; k < py::len(trees_); ++k) {
            const py::object expected = trees_[py::int_(k)], have = given.trees[k];
            if (!have.equal(expected))
                throw UserError("argument " + std::to_string(k) + " is " + shown(have) +
                                ", and the function was compiled for " + shown(expected) +
                                (line.line ? " (" + text(line) + ")" : ""));
        }
    }
    static std::string shown(const py::object& tree) {
        return tree.is_none() ? "a tensor" : py::str(tree).cast<std::string>();
    }

    Recorded function_;
    py::object trees_;
    Structure result_;
    py::object bind_;
};

/// A function that is compiled for the structures, types and shapes that it is called with.
class Jitted {
  public:
    Jitted(py::object function, py::object make, py::object bind)
        : function_(std::move(function)), make_(std::move(make)), bind_(std::move(bind)) {}

    py::object call(py::args args, const py::kwargs& named) {
        if (recording_now()) return function_(*args, **named);
        if (named.size() != 0) args = py::tuple(bind_(args, named));
        const SourceLine at = python_line();
        Operands operands(args, at);
        const std::vector<ArgSpec> specs = specs_of(operands.all);
        py::object made;
        const std::shared_ptr<Function> function =
            programs_.get(specs, {structure(operands.trees)}, [&]() -> Function {
                const py::tuple both = make_(specs, operands.trees);
                made = both[1];
                return both[0].cast<const Recorded&>().function();
            });
        if (made) results_[function.get()] = made;
        last_ = *function;
        const Line line;
        std::vector<Tensor> out = without_gil([&] { return function->call(operands.all); });
        return Structure{results_.at(function.get())}.give(out);
    }
    std::vector<const py::object*> held() const { return {&function_, &make_, &bind_}; }
    size_t shape_count() const { return programs_.size(); }
    const std::optional<Function>& last() const { return last_; }

  private:
    /// A number for these trees; few functions are called with many kinds.
    size_t structure(const py::list& trees) {
        for (size_t k = 0; k < structures_.size(); ++k)
            if (structures_[k].equal(trees)) return k;
        structures_.push_back(trees);
        return structures_.size() - 1;
    }

    py::object function_, make_, bind_;
    JitPrograms programs_;
    std::vector<py::list> structures_;
    std::unordered_map<const Function*, py::object> results_;
    std::optional<Function> last_;
};

const Function& last_of(const Jitted& jitted) {
    if (!jitted.last()) throw UserError("the function has no program before its first call");
    return *jitted.last();
}

/// What is known of a function's programs; `of` gives the Function of an object.
template <class C, class Of>
void bind_queries(C& to, const Of& of) {
    to.def(
          "explain", [of](const typename C::type& self) { return of(self).explain(); },
          "Every value's verdict with its reason, and every kernel with its work and predicted "
          "time, at the sizes of the most recent call.")
        .def(
            "explain_kernel",
            [of](const typename C::type& self, const std::string& kernel, const std::string& pass) {
                return of(self).explain_kernel(kernel, pass);
            },
            py::arg("kernel"), py::arg("pass_") = "",
            "Kernel code of one kernel, as a pass left it.")
        .def_property_readonly(
            "variant_count",
            [of](const typename C::type& self) { return of(self).variant_count(); },
            "Programs that are kept, 64 at most.")
        .def(
            "finish_compiling",
            [of](const typename C::type& self) {
                without_gil([&] { of(self).finish_compiling(); });
            },
            "Waits until everything that is being compiled in the background of the session is "
            "ready.")
        .def_property_readonly(
            "kernel_count",
            [of](const typename C::type& self) { return of(self).stats().dispatches; },
            "Dispatches of the most recent call's program.");
}

}  // namespace

void bind_functions(py::module_& m) {
    py::class_<Donated>(m, "_Donated").def_readonly("tensor", &Donated::tensor);
    classes().donated = reinterpret_cast<PyTypeObject*>(m.attr("_Donated").ptr());
    m.def(
        "donate",
        [](const py::object& tensor) {
            if (!tensor_in(tensor.ptr())) throw py::type_error("firn.donate takes a tensor");
            return Donated{tensor};
        },
        py::arg("tensor"),
        "Marks an argument of a compiled function whose memory the call may write over, as in `u = "
        "step(firn.donate(u))`; the tensor has "
        "no value afterwards.");

    py::class_<Recorded>(m, "_Recorded");
    m.def("_record", &record, py::arg("specs"), py::arg("body"), py::arg("state") = py::none());
    m.def("recording_now", &recording_now,
          "Whether something is being recorded in the current session.");

    py::class_<Compiled> compiled(m, "_Compiled", collected<Compiled>());
    compiled
        .def(py::init<Recorded, py::object, py::object, py::object>(), py::arg("function"),
             py::arg("trees"), py::arg("result"), py::arg("bind"))
        .def("__call__", &Compiled::call)
        .def(
            "is_ready",
            [](const Compiled& self, const py::args& args) {
                return self.function().is_ready(self.flat(args));
            },
            "Whether the program for a call with these arguments is compiled; if not, that starts "
            "in the background.")
        .def(
            "explain_call",
            [](const Compiled& self, const py::args& args) {
                const std::vector<Arg> flat = self.flat(args);
                return without_gil([&] { return self.function().explain(flat); });
            },
            "As explain, for a call with these arguments, which is run, with the time of each "
            "kernel.")
        .def(
            "tune",
            [](const Compiled& self, const py::args& args, double seconds) {
                const std::vector<Arg> flat = self.flat(args);
                TuneOptions options;
                options.seconds = seconds;
                return without_gil([&] { return self.function().tune(flat, options).text(); });
            },
            py::arg("seconds") = TuneOptions().seconds,
            "Searches a faster program for a call with these arguments, by running it, and returns "
            "a report.")
        .def("_save", [](const Compiled& self, const std::string& path, const py::tuple& args,
                         const py::dict& options) {
            const std::vector<Arg> flat = self.flat(py::args(args));
            SaveOptions to;
            to.devices = options["devices"].cast<std::vector<std::string>>();
            to.sizes =
                options["sizes"].cast<std::vector<std::vector<std::pair<std::string, int64_t>>>>();
            if (options.contains("multiples"))
                to.multiples = options["multiples"].cast<std::vector<int64_t>>();
            to.arguments = options["arguments"].cast<std::vector<std::string>>();
            to.results = options["results"].cast<std::vector<std::string>>();
            const Line line;
            without_gil([&] { save_program(path, self.function(), flat, to); });
        });
    bind_queries(compiled, [](const Compiled& self) -> const Function& { return self.function(); });

    py::class_<Jitted> jitted(m, "_Jitted", collected<Jitted>());
    jitted
        .def(py::init<py::object, py::object, py::object>(), py::arg("function"), py::arg("make"),
             py::arg("bind"))
        .def("__call__", &Jitted::call)
        .def_property_readonly("shape_count", &Jitted::shape_count,
                               "Functions that are kept, one for each list of types and shapes.");
    bind_queries(jitted, last_of);
}

}  // namespace firn::python
