// The Python line of a call, and Ctrl-C while Firn works.
#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>

#include "engine/python/bindings/convert.h"

namespace firn::python {

namespace {

/// What is known of a code object. Keeping a reference to it keeps its address its own.
struct KnownCode {
    PyCodeObject* code = nullptr;
    const char* file = "";
    bool is_ours = false;
    std::vector<std::pair<int, int>>
        lines;  // the first byte of each run of instructions, and its line
};

/// Files of the package itself, whose frames are passed over.
bool is_of_package(const char* file) {
    static const std::string folder = [] {
        const py::object path = py::module_::import("firn").attr("__path__").attr("__getitem__")(0);
        return path.cast<std::string>() + "/";
    }();
    return std::strncmp(file, folder.c_str(), folder.size()) == 0;
}

KnownCode read(PyCodeObject* code) {
    KnownCode out;
    out.code = code;
    Py_INCREF(code);
    static std::set<std::string> files;  // lines outlive the code that they are of
    out.file = files.insert(PyUnicode_AsUTF8(code->co_filename)).first->c_str();
    out.is_ours = is_of_package(out.file);
    for (const py::handle& run : py::handle(reinterpret_cast<PyObject*>(code)).attr("co_lines")()) {
        const py::tuple parts = py::reinterpret_borrow<py::tuple>(run);
        if (!parts[2].is_none()) out.lines.emplace_back(parts[0].cast<int>(), parts[2].cast<int>());
    }
    return out;
}

/// Codes seen of late. CPython reads a function's table of lines from its start for each question.
const KnownCode& known(PyCodeObject* code) {
    static std::array<KnownCode, 256> kept;
    KnownCode& place = kept[(reinterpret_cast<uintptr_t>(code) >> 5) % kept.size()];
    if (place.code != code) {
        KnownCode fresh = read(code);
        Py_XDECREF(place.code);
        place = std::move(fresh);
    }
    return place;
}

}  // namespace

SourceLine python_line() {
    PyFrameObject* frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    SourceLine out;
    while (frame) {
        PyCodeObject* code = PyFrame_GetCode(frame);
        const KnownCode& of = known(code);
        if (!of.is_ours) {
            const int at = PyFrame_GetLasti(frame);
            auto run = std::upper_bound(of.lines.begin(), of.lines.end(), at,
                                        [](int x, const auto& each) { return x < each.first; });
            out = {of.file,
                   run == of.lines.begin() ? code->co_firstlineno : std::prev(run)->second};
            Py_DECREF(code);
            break;
        }
        Py_DECREF(code);
        PyFrameObject* back = PyFrame_GetBack(frame);
        Py_DECREF(frame);
        frame = back;
    }
    Py_XDECREF(frame);
    return out;
}

namespace {

thread_local int interruptible_count = 0;
/// Threads that are in Firn without the GIL.
std::atomic<int> at_work = 0;

bool python_ends() {
#if PY_VERSION_HEX >= 0x030d0000
    return Py_IsFinalizing();
#else
    return _Py_IsFinalizing();
#endif
}

/// Waits until no other thread is in Firn: what the process destroys at its end is used there. A
/// thread that cannot be stopped is waited for at most ten seconds.
void wait_for_threads() {
    for (int k = 0; k < 10000 && at_work > 0; ++k)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Counted before another thread can end Python.
PyThreadState* give_gil() {
    ++at_work;
    return PyEval_SaveThread();
}

/// Takes the GIL. Where Python has begun to end it stops this thread for good instead, as
/// Python 3.14 does: earlier ones end it by an exception that no destructor on the stack lets pass.
void take_gil(PyThreadState* state) {
    try {
        PyEval_RestoreThread(state);
    } catch (abi::__forced_unwind&) {
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
}

}  // namespace

Interruptible::Interruptible() : state_(give_gil()) {
    static const int waits = Py_AtExit(wait_for_threads);  // after Python's own end
    static_cast<void>(waits);
    if (++interruptible_count > 1 || !CancelScope::is_open())
        cancels_.emplace([this] { return is_interrupted(); });
}

Interruptible::~Interruptible() {
    --interruptible_count;
    --at_work;
    take_gil(state_);
    if (error_[0]) PyErr_Restore(error_[0], error_[1], error_[2]);
}

/// Asks Python for signals, not more often than a person could tell: that takes the GIL.
bool Interruptible::is_interrupted() {
    if (error_[0]) return true;
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ < std::chrono::milliseconds(20)) return false;
    asked_ = now;
    if (python_ends()) return true;
    take_gil(state_);
    if (PyErr_CheckSignals() != 0) PyErr_Fetch(&error_[0], &error_[1], &error_[2]);
    state_ = PyEval_SaveThread();
    return error_[0] != nullptr;
}

}  // namespace firn::python
