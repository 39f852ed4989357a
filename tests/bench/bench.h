// Contests between Firn and hand-written GLSL for the same work, on the same executor, in the same
// run.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/session.h"
#include "tests/bench/hand_written.h"
#include "tests/bench/libraries.h"
#include "tests/bench/processor.h"

namespace firn {
class Tensor;
}

namespace firn::bench {

/// The least work of any program for a task.
struct LeastWork {
    double bytes_read = 0, bytes_written = 0;
    double operations = 0;         // of f32, an fma is two
    double gathers = 0;            // numbers read at places that data decide
    double matrix_operations = 0;  // by the matrix unit, where the device has one
};

using Difference = double (*)(const std::vector<float>& a, const std::vector<float>& b);
/// max |a - b| / max |b|; infinite where an element is not finite.
double relative_difference(const std::vector<float>& a, const std::vector<float>& b);

/// All sides read the same arguments and must give the same results. `best` and `plain` may both be
/// without kernels: then there is no hand-written version, and Firn is timed alone. `expected`, if
/// given, has the correct results.
struct Contest {
    LeastWork least;
    std::vector<std::vector<float>> arguments;  // 4-byte elements; integers by their bits
    std::vector<int64_t> results;               // elements of each
    std::function<std::vector<Tensor>()> firn;
    HandProgram best;
    HandProgram plain;  // the GLSL that one would write first: storage buffers, no tiles
    ProcessorProgram processor = nullptr;  // hand-written C++, timed beside native code
    /// Libraries for the same work, timed beside native code too; opened when it is called.
    std::function<Libraries()> libraries = nullptr;
    double tolerance = 1e-5;
    Difference difference = relative_difference;
    std::function<std::vector<std::vector<float>>()> expected = nullptr;  // computed on the host
    /// Instead of a comparison of all elements, for results that are too large to be read whole:
    /// throws InternalError where the results are wrong.
    std::function<void(const std::vector<Tensor>&)> check = nullptr;
};

/// The origin of a case, and when it may be looked at.
enum class Section : uint8_t {
    Own,       // the cases that the compiler was made for
    Ported,    // examples of another tensor compiler, as their authors wrote them
    Training,  // programs without special rules in the compiler, looked at while tuning
    Holdout,   // the same, looked at only before a landing
    Large,     // sizes at which launches do not dominate on a GPU; timed where they are asked for
};
struct Case {
    std::string name;
    std::function<Contest()> make;
    Section section = Section::Own;
    std::string far = {};  // what keeps any program for it from the bound
};

/// The cases of each file.
void add_streams(std::vector<Case>& cases);
void add_reductions(std::vector<Case>& cases);
void add_matmuls(std::vector<Case>& cases);
void add_n_bodies(std::vector<Case>& cases);
void add_stencils(std::vector<Case>& cases);
void add_mandelbrot(std::vector<Case>& cases);
void add_path(std::vector<Case>& cases);
void add_fluid(std::vector<Case>& cases);
void add_scatters(std::vector<Case>& cases);
void add_convolutions(std::vector<Case>& cases);
void add_sorts(std::vector<Case>& cases);
void add_transforms(std::vector<Case>& cases);
void add_holdout(std::vector<Case>& cases);
void add_ported(std::vector<Case>& cases);
/// All but the large ones.
std::vector<Case> all_cases();
/// The cases of Section::Large, with sides 2^smaller times smaller, and streams 4^smaller times. A
/// name says the size that is run.
std::vector<Case> large_cases(int smaller);

/// A sample of the path tracer; a step of the fluid; the pulls of all bodies on each other, by a
/// loop.
Contest path_contest(int height, int width);
Contest fluid_contest(int side);
Contest n_body_contest(int bodies);

/// The device's rates.
struct Peaks {
    double bytes_read_per_ms = 0, bytes_written_per_ms = 0, operations_per_ms = 0;
    double gathers_per_ms = 0;            // of numbers in a table that stays near the cores
    double matrix_operations_per_ms = 0;  // 0: there is no matrix unit
};
/// Hand-written kernels that do nothing but read, write, compute or gather.
struct PeakKernels {
    explicit PeakKernels(Executor& executor);
    int64_t elements, threads, gatherers;  // that are read, or written; that compute; that gather
    double matrix_operations = 0;          // of the last program, where there is a matrix unit
    std::vector<HandWritten> programs;
};
/// Milliseconds that a device at its peaks would need: the bytes', the operations', the gathers' or
/// the matrix unit's, whichever binds. Without a matrix unit, its operations are ordinary ones.
double least_milliseconds(const Peaks& peaks, const LeastWork& least);

/// The processor's rates, by hand-written C++, and what a run of a kernel takes that does nothing.
struct ProcessorPeaks {
    double operations_per_ms = 0, bytes_copied_per_ms = 0;  // bytes that are read and written
    double launch_ms = 0;
};
/// A case as native code of the processor.
struct NativeContest {
    Session session;
    Contest contest;  // made in that session
};

/// Milliseconds of one run: medians over rounds in which all sides and the peaks alternate.
struct Outcome {
    double firn = 0, best = 0, plain = 0, native = 0, processor = 0;  // 0: no such side
    /// The spread of the median: the distance to the farther end of the middle half of the rounds.
    double firn_spread = 0, best_spread = 0, native_spread = 0;
    Peaks peaks;
    ProcessorPeaks processor_peaks;  // where there is native code
    /// Milliseconds by library.
    std::vector<std::pair<std::string, double>> libraries;
};
/// Measures the contest on `executor`, that of the current session, in turns with the same case
/// as native code, `native`, in a session of it; null: without. Checks the results first; throws
/// InternalError where they differ by more than the tolerance.
Outcome measure(Executor& executor, const std::string& name, const Contest& contest,
                const NativeContest* native, PeakKernels& peaks, int rounds);

/// Returns where the milliseconds of one run go: its dispatches, and the slowest kernels by their
/// lines. Empty if the device cannot time kernels.
std::string where_time_goes(Executor& executor, const Contest& contest);

/// Repeatable numbers in [low, high).
std::vector<float> numbers(int64_t count, float low, float high, uint32_t seed = 1);

}  // namespace firn::bench
