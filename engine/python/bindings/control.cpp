// Recorded scopes for control.py: loops, branches and kernels that Python opens and closes, what
// they carry, and the arrays of kernels by hand.
#include "compiler/frontend/scopes.h"
#include "compiler/ir/graph.h"
#include "engine/python/bindings/convert.h"

namespace firn::python {

namespace {

/// A scope that Python opens and closes; discarded where it is dropped open.
template <class S>
class Held {
  public:
    template <class... A>
    explicit Held(const A&... arguments) : scope_(std::make_unique<S>(arguments...)) {}
    S& open() {
        if (!scope_) throw std::runtime_error("this loop, branch or kernel has ended");
        return *scope_;
    }
    void close() {
        open().close();
        scope_.reset();
    }
    void discard() { scope_.reset(); }

  private:
    std::unique_ptr<S> scope_;
};

template <class S>
py::class_<Held<S>> bind_held(py::module_& m, const char* name) {
    return py::class_<Held<S>>(m, name)
        .def("close", &Held<S>::close)
        .def("discard", &Held<S>::discard);
}

/// Condition of Python's `if` and `while`: a bool, and of other types whether it is not 0.
Tensor truth(const Tensor& x, SourceLine line) {
    return x.dtype(line).is_bool() ? x : Arg(x, line) != Arg(0, line);
}

void bind_scopes(py::module_& m) {
    bind_held<LoopScope>(m, "_Loop")
        .def(py::init([](const py::object& begin, const py::object& end, const py::object& step,
                         int64_t checkpoint) {
                 const Line line;
                 return std::make_unique<Held<LoopScope>>(
                     operand_of(begin, line.at, "a bound of a loop"),
                     operand_of(end, line.at, "a bound of a loop"),
                     operand_of(step, line.at, "the step of a loop"),
                     LoopOptions{.checkpoint = checkpoint});
             }),
             py::arg("begin"), py::arg("end"), py::arg("step"), py::arg("checkpoint") = 0)
        .def("index", [](Held<LoopScope>& self) { return self.open().index(); });
    bind_held<BranchScope>(m, "_Branch")
        .def(py::init([](const Tensor& condition) {
            const Line line;
            return std::make_unique<Held<BranchScope>>(Arg(truth(condition, line.at), line.at));
        }))
        .def_property_readonly("masks", [](Held<BranchScope>& self) { return self.open().masks(); })
        .def("otherwise", [](Held<BranchScope>& self) { self.open().otherwise(); });
    bind_held<WhileScope>(m, "_While")
        .def(py::init([](std::optional<int64_t> max_steps) {
                 const Line line;
                 return std::make_unique<Held<WhileScope>>(WhileOptions{.max_steps = max_steps},
                                                           line.at);
             }),
             py::arg("max_steps") = py::none())
        .def("test", [](Held<WhileScope>& self, const Tensor& condition) {
            const Line line;
            self.open().test(truth(condition, line.at));
        });
    bind_held<KernelRecorder>(m, "_Kernel")
        .def(py::init([](const Shape& shape, const std::vector<int>& group) {
            const Line line;
            return std::make_unique<Held<KernelRecorder>>(shape, KernelOptions{.group = group},
                                                          line.at);
        }))
        .def("index", [](Held<KernelRecorder>& self, int axis) {
            const Line line;
            return self.open().index(axis);
        });
    m.def(
        "break_",
        [] {
            const Line line;
            break_(line.at);
        },
        "Ends the innermost recorded loop for the elements whose conditions hold. A rewritten "
        "function says `break`.");
    m.def(
        "continue_",
        [] {
            const Line line;
            continue_(line.at);
        },
        "Ends this iteration of the innermost recorded loop for the elements whose conditions "
        "hold. A rewritten function says `continue`.");
    m.def("_current_scope", &current_scope);
    m.def("_line_text", [] { return text(python_line()); });
}

/// The value of a name of Python, carried through the scopes in which it is assigned.
void bind_carriers(py::module_& m) {
    py::class_<Carrier>(m, "_Carrier")
        .def(py::init([](const py::object& value, std::optional<uint64_t> scope) {
                 const Line line;
                 std::optional<Tensor> start;
                 if (!value.is_none()) start = operand_of(value, line.at).tensor();
                 return Carrier(start, scope.value_or(current_scope()), line.at);
             }),
             py::arg("value"), py::arg("scope") = py::none())
        .def("assign",
             [](Carrier& self, const py::object& value) -> py::object {
                 const Line line;
                 if (const Tensor* x = tensor_in(value.ptr())) {
                     if (self.assign(*x, line.at)) return value;
                 } else {
                     self.assign(operand_of(value, line.at, "what is assigned").tensor(), line.at);
                 }
                 return py::reinterpret_steal<py::object>(new_tensor(self.read(line.at)));
             })
        .def("read",
             [](const Carrier& self) {
                 const Line line;
                 return self.read(line.at);
             })
        .def("holds", [](const Carrier& self, const Tensor& x) { return self.holds(x); })
        .def("takes",
             [](const Carrier& self, const py::object& value) {
                 const Line line;
                 const Tensor* x = tensor_in(value.ptr());
                 return self.takes(x ? x->dtype() : operand_of(value, line.at).tensor().dtype());
             })
        .def("astype",
             [](const Carrier& self, const py::object& dtype, const std::vector<py::object>& open) {
                 const Line line;
                 std::vector<BranchScope*> branches;
                 for (const py::object& each : open)
                     branches.push_back(&each.cast<Held<BranchScope>&>().open());
                 return self.as(dtype_of(dtype), branches);
             })
        .def_property_readonly("has_value", &Carrier::has_value)
        .def_property_readonly("lost", &Carrier::lost);
    m.def("_zeros_like", [](const Tensor& x) {
        const Line line;
        return zeros(x.node(line.at)->shape, x.dtype(line.at));
    });
    m.def("_has_ended", [](const Tensor& x) {
        try {
            x.node();
            return false;
        } catch (const UserError&) {
            return true;
        }
    });
    m.def("_choose", [](const Tensor& condition, const py::object& a, const py::object& b) {
        const Line line;
        return select_of(Arg(truth(condition, line.at), line.at), operand_of(a, line.at),
                         operand_of(b, line.at));
    });
    m.def("_and", [](const py::object& a, const py::object& b) {
        const Line line;
        return truth(operand_of(a, line.at).tensor(), line.at) &
               truth(operand_of(b, line.at).tensor(), line.at);
    });
    m.def("_or", [](const py::object& a, const py::object& b) {
        const Line line;
        return truth(operand_of(a, line.at).tensor(), line.at) |
               truth(operand_of(b, line.at).tensor(), line.at);
    });
    m.def("_not", [](const Tensor& x) {
        const Line line;
        return !truth(x, line.at);
    });
}

// --- arrays of kernels ---------------------------------------------------------------------------

std::vector<Tensor::Index> array_indices(py::handle index, SourceLine line) {
    std::vector<Tensor::Index> out;
    const py::tuple all =
        py::isinstance<py::tuple>(index) ? py::cast<py::tuple>(index) : py::make_tuple(index);
    if (all.empty() || all.size() > 3)
        throw UserError("an array of a kernel takes one to three indices (" + text(line) + ")");
    for (const py::handle& each : all)
        out.emplace_back(operand_of(each, line, "an index of an array"));
    out.resize(3);
    return out;
}

Access element_of(KernelArray& array, py::handle index, SourceLine line) {
    const std::vector<Tensor::Index> at = array_indices(index, line);
    return array(at[0], at[1], at[2]);
}

/// Elements of an array that no other invocation stores to; see own.
struct OwnArray {
    Reader reader;
};

std::vector<int> sizes_of(const py::object& shape) {
    if (py::isinstance<py::int_>(shape)) return {shape.cast<int>()};
    return shape.cast<std::vector<int>>();
}

void bind_arrays_of_kernels(py::module_& m) {
    py::class_<KernelArray>(m, "KernelArray",
                            "Memory of a kernel, which is read and stored to by index.")
        .def("__getitem__",
             [](KernelArray& self, const py::object& index) {
                 const Line line;
                 return Tensor(element_of(self, index, line.at));
             })
        .def("__setitem__",
             [](KernelArray& self, const py::object& index, const py::object& value) {
                 const Line line;
                 element_of(self, index, line.at) = operand_of(value, line.at, "what is stored");
             });
    py::class_<Shared, KernelArray>(m, "Shared",
                                    "Memory that the invocations of a kernel's group share.");
    py::class_<Local, KernelArray>(m, "Local", "Memory of each invocation of a kernel alone.");
    m.def(
        "shared",
        [](const py::object& dtype, const py::object& shape) {
            const Line line;
            return std::make_unique<Shared>(dtype_of(dtype), sizes_of(shape), line.at);
        },
        py::arg("dtype"), py::arg("shape"),
        "An array that the invocations of a group share, of one to three dimensions; it starts as "
        "zeros.");
    m.def(
        "local",
        [](const py::object& dtype, const py::object& shape) {
            const Line line;
            return std::make_unique<Local>(dtype_of(dtype), sizes_of(shape), line.at);
        },
        py::arg("dtype"), py::arg("shape"),
        "An array of each invocation, of one to three dimensions; it starts as zeros.");
    py::class_<OwnArray>(m, "_OwnArray")
        .def("__getitem__", [](const OwnArray& self, const py::object& index) {
            const Line line;
            const std::vector<Tensor::Index> at = array_indices(index, line.at);
            return self.reader(at[0], at[1], at[2]);
        });
    m.def(
        "own",
        [](const KernelArray& array) {
            const Line line;
            return OwnArray{own(array, line.at)};
        },
        py::arg("array"),
        "The array, read by promise: no other invocation stores to the elements that are read, "
        "until the next barrier.");
    m.def(
        "barrier",
        [] {
            const Line line;
            barrier(line.at);
        },
        "Waits until every invocation of the group has come here; then all stores to shared "
        "arrays can be read.");
    m.def(
        "local_index",
        [](int axis) {
            const Line line;
            return local_index(axis, line.at);
        },
        py::arg("axis") = 0, "The invocation's place in its group along an axis; i32.");
    m.def(
        "group_index",
        [](int axis) {
            const Line line;
            return group_index(axis, line.at);
        },
        py::arg("axis") = 0, "The group's place among groups along an axis; i32.");
    m.def("round_up", &round_up, py::arg("n"), py::arg("width"),
          "n rounded up to whole groups of width.");
}

}  // namespace

void bind_control(py::module_& m) {
    bind_scopes(m);
    bind_carriers(m);
    bind_arrays_of_kernels(m);
}

}  // namespace firn::python
