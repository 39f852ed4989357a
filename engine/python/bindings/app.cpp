// App in Python: the command line, the session and the output files of a program with a window.
#include "engine/firn/app.h"

#include <csignal>

#include "engine/app/command_line.h"
#include "engine/python/bindings/window.h"

namespace firn::python {

namespace {

/// A text of the command line, known once the run has begun.
struct Option {
    std::shared_ptr<std::string> value;
};

/// How a run's function ended.
struct Ending {
    bool began = false;
    PyObject* error[3] = {};  // what it raised

    void keep(py::error_already_set& raised) {
        raised.restore();
        PyErr_Fetch(&error[0], &error[1], &error[2]);
    }
};

/// True in a notebook or a terminal of IPython, whose command line is not the program's.
bool is_interactive() {
    const py::dict modules = py::module_::import("sys").attr("modules");
    if (!modules.contains("IPython")) return false;
    return !modules["IPython"].attr("get_ipython")().is_none();
}

std::vector<std::string> words_of(const py::object& argv) {
    if (!argv.is_none()) {
        if (PyUnicode_Check(argv.ptr()))
            throw py::type_error("argv is a list of words, and not one str");
        std::vector<std::string> out;
        for (const py::handle& each : argv) out.push_back(py::str(each).cast<std::string>());
        return out;
    }
    if (is_interactive()) return {};
    const py::list all = py::module_::import("sys").attr("argv");
    std::vector<std::string> out;
    for (size_t k = 1; k < all.size(); ++k) out.push_back(all[k].cast<std::string>());
    return out;
}

class PythonApp {
  public:
    explicit PythonApp(const AppInfo& info) : name_(info.name), app_(info) {
        // Tensors and functions of the module, made before the run, are of its session.
        app_.use_current_session();
    }

    App& app() { return app_; }

    py::object option(const std::string& name, const std::string& value, const std::string& help,
                      bool written) {
        Option out{std::make_shared<std::string>(value)};
        options_.push_back(out.value);
        written ? app_.output(name, *out.value, help) : app_.option(name, *out.value, help);
        return py::cast(out);
    }

    py::object run(const py::object& body, const py::object& argv) {
        if (!PyCallable_Check(body.ptr()))
            throw py::type_error("app.run takes a function of the window");
        if (is_running_)
            throw UserError(
                "app.run: a program of this process runs already, and it has ended first");
        std::vector<std::string> words = words_of(argv);
        words.insert(words.begin(), name_);
        std::vector<char*> pointers;
        for (std::string& word : words) pointers.push_back(word.data());
        flush();
        Ending ending;
        int status = 0;
        is_running_ = true;
        {
            const py::gil_scoped_release released;
            status = app_.run(static_cast<int>(pointers.size()), pointers.data(),
                              [&](Window& window) { call(body, window, ending); });
        }
        is_running_ = false;
        std::fflush(stdout);
        if (ending.error[0]) {
            PyErr_Restore(ending.error[0], ending.error[1], ending.error[2]);
            throw py::error_already_set();
        }
        if (status == 0 && ending.began) return body;
        if (status == 128 + SIGINT && is_interactive()) {
            PyErr_SetString(PyExc_KeyboardInterrupt, "");
            throw py::error_already_set();
        }
        PyErr_SetObject(PyExc_SystemExit, py::int_(status).ptr());
        throw py::error_already_set();
    }

  private:
    /// Flushes Python's output, so that it comes before that of Firn.
    static void flush() {
        const py::object out = py::module_::import("sys").attr("stdout");
        if (PyObject_HasAttrString(out.ptr(), "flush")) out.attr("flush")();
    }

    static void call(const py::object& body, Window& window, Ending& ending) {
        const py::gil_scoped_acquire acquire;
        ending.began = true;
        const py::object lent = py::cast(std::make_unique<PythonWindow>(window));
        struct End {
            const py::object& window;
            ~End() { window.cast<PythonWindow&>().end(); }
        } const end{lent};
        try {
            body(lent);
            flush();
        } catch (py::error_already_set& raised) {
            flush();
            // Work that was cut because the run ends, as set_python_error gives it.
            if (raised.matches(PyExc_KeyboardInterrupt) && window.asks_to_end())
                throw Cancelled(py::str(raised.value()).cast<std::string>());
            ending.keep(raised);
            // The exception is Python's to say; files of the frames until here are kept.
            throw CommandLineEnd{};
        }
    }

    static inline bool is_running_ = false;
    std::string name_;
    App app_;
    std::vector<std::shared_ptr<std::string>> options_;
};

}  // namespace

void bind_app(py::module_& m) {
    py::class_<Option>(m, "Option", "A text of the command line, known once the run has begun.")
        .def_property_readonly("value", [](const Option& self) { return *self.value; })
        .def("__str__", [](const Option& self) { return *self.value; })
        .def("__fspath__", [](const Option& self) { return *self.value; })
        .def("__bool__", [](const Option& self) { return !self.value->empty(); })
        .def("__repr__", [](const Option& self) {
            return "<firn.Option " + py::repr(py::cast(*self.value)).cast<std::string>() + ">";
        });
    const AppInfo d;
    py::class_<PythonApp>(
        m, "App",
        "A program with a window. Make its parameters first, so that `--help` lists them, then run "
        "it: `@app.run` above a function of the window, or `app.run(function)`.")
        .def(py::init([](const std::string& name, const std::string& help, const std::string& keys,
                         const std::string& version, const py::object& size, int headless_frames,
                         bool runs_minimised, int devices) {
                 AppInfo info;
                 info.name = name;
                 info.help = help;
                 info.keys = keys;
                 info.version = version;
                 info.size = window_size_of(size);
                 info.headless_frames = headless_frames;
                 info.runs_minimised = runs_minimised;
                 info.devices = devices;
                 return std::make_unique<PythonApp>(info);
             }),
             py::arg("name"), py::arg("help") = d.help, py::kw_only(), py::arg("keys") = d.keys,
             py::arg("version") = d.version,
             py::arg("size") = py::make_tuple(d.size.width, d.size.height),
             py::arg("headless_frames") = d.headless_frames,
             py::arg("runs_minimised") = d.runs_minimised, py::arg("devices") = d.devices)
        .def_property_readonly(
            "devices",
            [](PythonApp& self) {
                py::list out;
                for (const Session& session : self.app().devices())
                    out.append(session_object(session));
                return out;
            },
            "The sessions of the devices that `--device cpu,0` or FIRN_DEVICE lists, as many as "
            "`devices` at most; the first is current in the run. Empty before it.")
        .def(
            "gui", [](PythonApp& self) -> Gui& { return self.app().gui(); },
            py::return_value_policy::copy, "The panel, before the window and in it.")
        .def(
            "option",
            [](PythonApp& self, const std::string& name, const std::string& value,
               const std::string& help) { return self.option(name, value, help, false); },
            py::arg("name"), py::arg("value") = "", py::arg("help") = "",
            "A flag `--name TEXT` of the program's own; gives an Option.")
        .def(
            "output",
            [](PythonApp& self, const std::string& name, const std::string& value,
               const std::string& help) { return self.option(name, value, help, true); },
            py::arg("name"), py::arg("value") = "", py::arg("help") = "",
            "The same for a file that the program writes; a path that cannot be written is refused "
            "before the run.")
        .def("go_on_minimised", [](PythonApp& self) { self.app().go_on_minimised(); })
        .def("writes_numbers", [](PythonApp& self) { return self.app().writes_numbers(); })
        .def(
            "set_numbers",
            [](PythonApp& self, const py::object& x) {
                const Line line;
                self.app().set_numbers(operand_of(x, line.at, "a picture").tensor());
            },
            py::arg("picture"),
            "Output files of numbers get this tensor's, in place of the shown tensor's.")
        .def(
            "seed", [](PythonApp& self) { return self.app().seed(); }, "The value of `--seed`.")
        .def(
            "run", &PythonApp::run, py::arg("body"), py::arg("argv") = py::none(),
            "Runs a function of the window as the command line says, sys.argv[1:] (in a notebook: "
            "nothing), and writes the files that it asks for. Returns the function where it ran to "
            "its end. An exception of it is raised here. Else SystemExit, with the status that C++ "
            "programs have: 0 after --help, 2 for a mistake of the command line, 1 for another "
            "error, 130 after Ctrl-C, which ends the run as closing the window does.");
}

}  // namespace firn::python
