// Times the sides of a contest alternately, and the device's peaks.
#include <firn/firn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "compiler/host/workers.h"
#include "tests/bench/bench.h"

namespace firn::bench {
namespace {

constexpr double kMostSpent = 4000;  // ms that one side's rounds may take together

double milliseconds(Executor& executor, const std::function<void()>& run, int runs) {
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < runs; ++i) run();
    executor.wait();
    std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    return time.count() / runs;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// See Outcome.
double spread(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const double middle = median(values), low = values[values.size() / 4],
                 high = values[values.size() - 1 - values.size() / 4];
    return std::max(middle - low, high - middle) / middle;
}

/// A contestant of the alternating measurement.
struct Side {
    std::function<void()> run;
    Executor* executor = nullptr;
    int runs = 1;  // in each round
    double spent = 0;
    std::vector<double> times;
    bool threads_spin = false;  // those of a library, for a while after its last run
};

// OpenBLAS's threads wait for work for 2^26 cycles before they sleep.
constexpr std::chrono::milliseconds kMostSpin{60};

/// Runs until everything is compiled; a side that takes long is not run again for its own sake.
void warm(Side& side) {
    Executor& executor = *side.executor;
    milliseconds(executor, side.run, 1);
    double once = milliseconds(executor, side.run, 1);
    if (once > kMostSpent / 2) {
        side.times.push_back(once);
        side.spent = kMostSpent;
    }
    // Most of a short run is the wait for its end, which a row of runs shares.
    for (int runs = 2; runs <= 64 && once * runs < 10; runs *= 2)
        once = milliseconds(executor, side.run, runs);
    side.runs = std::clamp(static_cast<int>(50.0 / std::max(once, 0.01)), 1, 400);
    if (side.threads_spin) std::this_thread::sleep_for(kMostSpin);
}

void take_turns(std::vector<Side>& sides, int rounds) {
    for (int round = 0; round < rounds; ++round)
        for (Side& side : sides) {
            if (side.spent >= kMostSpent) continue;
            side.times.push_back(milliseconds(*side.executor, side.run, side.runs));
            side.spent += side.times.back() * side.runs;
            if (side.threads_spin) std::this_thread::sleep_for(kMostSpin);
        }
}

// Peaks are measured by kernels that take long beside their launch: a GPU is through with what
// keeps a CPU busy before the next submission has arrived.
constexpr double kPeakSeconds = 250e-6;
constexpr int64_t kLeastPeakElements = 16 << 20, kMostPeakElements = 256 << 20;

/// The power of two within the bounds that comes next after what passes in that time.
int64_t peak_count(double per_second, int64_t least, int64_t most) {
    int64_t count = least;
    while (count < most && double(count) < per_second * kPeakSeconds) count *= 2;
    return count;
}

/// Groups of 8 that read pages after pages are the best on CPU drivers; groups that fill a core of
/// a GPU, with neighbours beside each other, are the best there.
HandKernel reading(int64_t elements, int group) {
    return {"peak_read",
            R"(
void main() {
    int base = int(gl_WorkGroupID.x) * 256 * GROUP + int(gl_LocalInvocationID.x);
    vec4 total = vec4(0.0);
    for (int turn = 0; turn < 16; ++turn) {
        vec4 part = vec4(0.0);
        [[unroll]] for (int k = 0; k < 16; ++k) part += x_at(base + GROUP * (16 * turn + k));
        total += part;
    }
    y[gl_WorkGroupID.x * GROUP + gl_LocalInvocationID.x] = total;
}
)",
            {uint32_t(group), 1, 1},
            {int(elements / 4 / 256 / group), 1, 1},
            {{"x", group == 8 ? As::Texels4 : As::Vec4s, 0}, {"y", As::Vec4s, 1, true}},
            {{"GROUP", group}}};
}

HandKernel writing(int64_t elements) {
    return {
        "peak_write",
        R"(
void main() {
    int base = int(gl_WorkGroupID.x) * 1024 + int(gl_LocalInvocationID.x);
    [[unroll]] for (int k = 0; k < 4; ++k) y[base + 256 * k] = vec4(1.0);
}
)",          {256, 1, 1}, {int(elements / 4096), 1, 1}, {{"y", As::Vec4s, 0, true}}, {}};
}

// Twelve independent chains hide every latency. Squares, as compilers make one step of many steps
// x * a + b.
constexpr int kChains = 12, kMeasureTurns = 256, kUnrolled = 8;
constexpr int64_t kLeastPeakThreads = 1 << 16, kMostPeakThreads = 1 << 24;
constexpr double kOfAThread = 2.0 * kChains * kMeasureTurns * kUnrolled;  // operations
HandKernel computing(int64_t threads) {
    return {"peak_compute",
            R"(
void main() {
    float i = float(gl_LocalInvocationID.x) / 256.0, chain[12];
    [[unroll]] for (int c = 0; c < 12; ++c) chain[c] = i / float(c + 1);
    for (int turn = 0; turn < TURNS; ++turn)
        [[unroll]] for (int k = 0; k < 8; ++k)
            [[unroll]] for (int c = 0; c < 12; ++c) chain[c] = chain[c] * chain[c] - 0.5;
    float total = 0.0;
    [[unroll]] for (int c = 0; c < 12; ++c) total += chain[c];
    y[gl_GlobalInvocationID.x] = total;
}
)",
            {256, 1, 1},
            {int(threads / 256), 1, 1},
            {{"y", As::Floats, 0, true}},
            {{"TURNS", kMeasureTurns}}};
}

// Next places are drawn, not read: they wait for no load.
constexpr int kGathers = 512, kPlaces = 1 << 14;  // of an invocation; numbers, 64 KB
constexpr int64_t kLeastGatherers = 1 << 14, kMostGatherers = 1 << 22;
HandKernel gathering(int64_t threads, As as) {
    return {"peak_gather",
            R"(
void main() {
    int place = int(gl_GlobalInvocationID.x) * 40503;
    float total = 0.0;
    for (int turn = 0; turn < TURNS; ++turn)
        [[unroll]] for (int k = 0; k < 8; ++k) {
            place = place * 1229 + 12345;
            total += x_at(place >> 8 & MASK);
        }
    y[gl_GlobalInvocationID.x] = total;
}
)",
            {256, 1, 1},
            {int(threads / 256), 1, 1},
            {{"x", as, 0}, {"y", As::Floats, 1, true}},
            {{"TURNS", kGathers / 8}, {"MASK", kPlaces - 1}}};
}

// Sums of their own hide how long one takes, as chains do.
constexpr int kMatrixTurns = 1024, kMatrixSums = 4, kMatrixGroups = 4096;
double matrix_operations_of(const MatrixUnit& unit) {
    return 2.0 * unit.rows * unit.columns * unit.depth * kMatrixTurns * kMatrixSums * kMatrixGroups;
}
HandKernel multiplying(const MatrixUnit& unit, uint32_t subgroup) {
    return {"peak_matrix",
            R"(
void main() {
    float own = float(gl_WorkGroupID.x & 7u) / 64.0;
    fcoopmatNV<16, gl_ScopeSubgroup, ROWS, DEPTH> a = fcoopmatNV<16, gl_ScopeSubgroup, ROWS, DEPTH>(own);
    fcoopmatNV<16, gl_ScopeSubgroup, DEPTH, COLUMNS> b = fcoopmatNV<16, gl_ScopeSubgroup, DEPTH, COLUMNS>(own);
    fcoopmatNV<32, gl_ScopeSubgroup, ROWS, COLUMNS> sums[4];
    [[unroll]] for (int k = 0; k < 4; ++k)
        sums[k] = fcoopmatNV<32, gl_ScopeSubgroup, ROWS, COLUMNS>(float(k));
    for (int turn = 0; turn < TURNS; ++turn)
        [[unroll]] for (int k = 0; k < 4; ++k) sums[k] = coopMatMulAddNV(a, b, sums[k]);
    [[unroll]] for (int k = 1; k < 4; ++k) sums[0] += sums[k];
    coopMatStoreNV(sums[0], y, gl_WorkGroupID.x * uint(ROWS * COLUMNS), uint(COLUMNS), false);
}
)",
            {subgroup, 1, 1},
            {kMatrixGroups, 1, 1},
            {{"y", As::Floats, 0, true}},
            {{"TURNS", kMatrixTurns},
             {"ROWS", int(unit.rows)},
             {"COLUMNS", int(unit.columns)},
             {"DEPTH", int(unit.depth)}},
            unit};
}

}  // namespace

double relative_difference(const std::vector<float>& a, const std::vector<float>& b) {
    ensure(a.size() == b.size(), "the results to compare have different sizes");
    double difference = 0, largest = 1e-30;
    for (size_t i = 0; i < a.size(); ++i) {
        if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return INFINITY;
        difference = std::max(difference, std::abs(double(a[i]) - double(b[i])));
        largest = std::max(largest, std::abs(double(b[i])));
    }
    return difference / largest;
}

std::vector<float> numbers(int64_t count, float low, float high, uint32_t seed) {
    std::vector<float> out(static_cast<size_t>(count));
    uint32_t state = seed * 2654435761u;
    for (float& value : out) {
        state = state * 1664525u + 1013904223u;
        value = low + (high - low) * (float(state >> 8) / float(1 << 24));
    }
    return out;
}

PeakKernels::PeakKernels(Executor& executor)
    : elements(peak_count(executor.profile().bytes_per_second / 4, kLeastPeakElements,
                          kMostPeakElements)),
      threads(peak_count(executor.profile().operations_per_second / kOfAThread, kLeastPeakThreads,
                         kMostPeakThreads)),
      gatherers(peak_count(1 / executor.profile().seconds_per_load / kGathers, kLeastGatherers,
                           kMostGatherers)) {
    const std::vector<std::vector<float>> input{
        std::vector<float>(static_cast<size_t>(elements), 1.0f)};
    const auto add = [&](const HandKernel& kernel, const std::vector<std::vector<float>>& reads,
                         int64_t writes) {
        programs.emplace_back(executor, kernel.name, HandProgram{{kernel}, {}, {}}, reads,
                              std::vector<int64_t>{writes});
    };
    add(reading(elements, 8), input, elements / 256);
    add(reading(elements, 256), input, elements / 256);
    add(writing(elements), {}, elements);
    add(computing(threads), {}, threads);
    const std::vector<std::vector<float>> table{std::vector<float>(kPlaces, 1.0f)};
    for (As as : {As::Texels, As::Floats}) add(gathering(gatherers, as), table, gatherers);
    const MatrixUnit unit = executor.profile().matrix_unit;
    if (!unit) return;
    matrix_operations = matrix_operations_of(unit);
    add(multiplying(unit, executor.profile().subgroup_size), {},
        int64_t{unit.rows} * unit.columns * kMatrixGroups);
}

double least_milliseconds(const Peaks& peaks, const LeastWork& least) {
    const bool unit = peaks.matrix_operations_per_ms > 0;
    const double by_unit = unit ? least.matrix_operations / peaks.matrix_operations_per_ms : 0,
                 operations = least.operations + (unit ? 0 : least.matrix_operations);
    return std::max({least.bytes_read / peaks.bytes_read_per_ms +
                         least.bytes_written / peaks.bytes_written_per_ms,
                     operations / peaks.operations_per_ms, least.gathers / peaks.gathers_per_ms,
                     by_unit});
}

namespace {

using Results = std::vector<std::vector<float>>;

Results read_all(const std::vector<Tensor>& results) {
    Results out;
    for (const Tensor& result : results) out.push_back(result.to_vector<float>());
    return out;
}

Results read_all(const HandWritten& program, size_t count) {
    Results out;
    for (size_t k = 0; k < count; ++k) out.push_back(program.read(k));
    return out;
}

/// Hand-written C++ or a library with its memory, whose parts begin at 64 bytes.
class ProcessorSide {
  public:
    ProcessorSide(LibraryProgram program, const std::vector<std::vector<float>>& arguments,
                  const std::vector<int64_t>& results)
        : program_(std::move(program)), workers_(std::make_unique<Workers>()) {
        for (const std::vector<float>& values : arguments) {
            const float* copy = room(values.size());
            std::copy(values.begin(), values.end(), rooms_.back().get());
            memory_.arguments.push_back(copy);
        }
        for (int64_t elements : results) {
            memory_.results.push_back(room(static_cast<size_t>(elements)));
            counts_.push_back(static_cast<size_t>(elements));
        }
    }
    const std::string& name() const { return program_.name; }
    bool threads_spin() const { return program_.threads_spin; }
    void run() { program_.run(memory_, *workers_); }
    Results results() const {
        if (program_.finish) program_.finish(memory_);
        Results out;
        for (size_t k = 0; k < counts_.size(); ++k)
            out.emplace_back(memory_.results[k], memory_.results[k] + counts_[k]);
        return out;
    }

  private:
    struct Free {
        void operator()(float* memory) const { std::free(memory); }
    };
    float* room(size_t elements) {
        const size_t bytes = (4 * elements + 63) / 64 * 64;
        rooms_.emplace_back(
            static_cast<float*>(std::aligned_alloc(64, std::max<size_t>(bytes, 64))));
        if (!rooms_.back()) throw UserError("there is no memory for " + name());
        return rooms_.back().get();
    }

    LibraryProgram program_;
    ProcessorMemory memory_;
    std::vector<size_t> counts_;  // of the results' elements
    std::vector<std::unique_ptr<float, Free>> rooms_;
    std::unique_ptr<Workers> workers_;
};

constexpr int64_t kCopied = 16 << 20;  // numbers

/// Hand-written C++ and libraries beside native code, and the processor's peaks.
struct BesideNative {
    std::vector<ProcessorSide> programs;  // C++ first, where there is any
    std::vector<ProcessorSide> peaks;     // compute and copy, or none
    std::function<void()> launch;
};

LibraryProgram by_hand(const std::string& name, const ProcessorProgram& program) {
    return {name, program, nullptr, false};
}

BesideNative beside_native(const Contest& contest, const Session& session) {
    BesideNative out;
    if (contest.processor)
        out.programs.emplace_back(by_hand("hand-written C++", contest.processor), contest.arguments,
                                  contest.results);
    if (contest.libraries)
        for (const LibraryProgram& program : contest.libraries())
            out.programs.emplace_back(program, contest.arguments, contest.results);
    if (const ProcessorProgram compute = compute_by_hand()) {
        out.peaks.emplace_back(by_hand("arithmetic", compute),
                               std::vector<std::vector<float>>{{0.999f, 0.001f}},
                               std::vector<int64_t>{kPeakParts});
        out.peaks.emplace_back(by_hand("a copy", copy_by_hand(kCopied)),
                               std::vector<std::vector<float>>{std::vector<float>(kCopied, 1.0f)},
                               std::vector<int64_t>{kCopied});
    }
    const SessionScope scope(session);
    out.launch = [session, f = compile([](Tensor x) { return x + 1.0f; }, {f32(1)}),
                  x = tensor(std::vector<float>{1.0f})] {
        const SessionScope inside(session);
        f(x);
    };
    return out;
}

/// Compares every side with the host's results, else with the best hand-written one.
void compare(const std::string& name, const Contest& contest, const std::vector<Tensor>& results,
             const Results& native, const std::vector<ProcessorSide>& beside_native,
             const std::vector<HandWritten>& by_hand) {
    std::vector<std::pair<std::string, Results>> sides{{"Firn", read_all(results)}};
    if (!native.empty()) sides.emplace_back("native code", native);
    for (const ProcessorSide& side : beside_native) sides.emplace_back(side.name(), side.results());
    const size_t best = sides.size();
    for (size_t k = 0; k < by_hand.size(); ++k)
        sides.emplace_back(k == 0 ? "the best hand-written one" : "the plain hand-written one",
                           read_all(by_hand[k], results.size()));
    if (contest.expected) sides.emplace_back("the host", contest.expected());
    if (sides.size() == 1) return;
    const auto& [by, expected] = sides[contest.expected  ? sides.size() - 1
                                       : by_hand.empty() ? 0
                                                         : best];
    ensure(expected.size() == results.size(), "the host computes another number of results");
    for (const auto& [who, values] : sides)
        for (size_t k = 0; k < values.size(); ++k) {
            const std::string what = name + ": result " + std::to_string(k) + " by " + who;
            if (values[k].size() != expected[k].size())
                throw InternalError(what + " has " + std::to_string(values[k].size()) +
                                    " elements instead of " + std::to_string(expected[k].size()));
            const double difference = contest.difference(values[k], expected[k]);
            if (!(difference <= contest.tolerance))
                throw InternalError(what + " differs from " + by + " by " +
                                    std::to_string(difference));
        }
}

}  // namespace

Outcome measure(Executor& executor, const std::string& name, const Contest& contest,
                const NativeContest* native, PeakKernels& peaks, int rounds) {
    std::vector<HandWritten> by_hand;
    if (!contest.best.kernels.empty()) {
        by_hand.emplace_back(executor, name + " at its best", contest.best, contest.arguments,
                             contest.results);
        by_hand.emplace_back(executor, "plain " + name, contest.plain, contest.arguments,
                             contest.results);
    }
    std::vector<Tensor> results;
    auto run_firn = [&] {
        results.clear();  // so that its memory may serve again
        results = contest.firn();
    };
    std::vector<Side> sides{{run_firn, &executor, 1, 0, {}}};
    for (std::vector<HandWritten>* programs : {&by_hand, &peaks.programs})
        for (HandWritten& program : *programs)
            sides.push_back({[&program] { program.run(); }, &executor, 1, 0, {}});
    std::vector<Tensor> native_results;
    if (native)
        sides.push_back({[&] {
                             const SessionScope scope(native->session);
                             native_results.clear();
                             native_results = native->contest.firn();
                         },
                         &native->session.executor(),
                         1,
                         0,
                         {}});
    BesideNative beside;
    if (native) {
        beside = beside_native(contest, native->session);
        sides.push_back({[&] { beside.launch(); }, &native->session.executor(), 1, 0, {}});
        for (std::vector<ProcessorSide>* programs : {&beside.peaks, &beside.programs})
            for (ProcessorSide& program : *programs)
                sides.push_back(
                    {[&program] { program.run(); }, &executor, 1, 0, {}, program.threads_spin()});
    }
    for (Side& side : sides) warm(side);
    ensure(results.size() == contest.results.size(), "Firn gives another number of results");
    Results of_native;
    if (native) {
        const SessionScope scope(native->session);
        if (contest.check)
            contest.check(native_results);
        else
            of_native = read_all(native_results);
    }
    if (contest.check)
        contest.check(results);
    else
        compare(name, contest, results, of_native, beside.programs, by_hand);
    take_turns(sides, rounds);
    auto time = [&](size_t side) { return median(sides[side].times); };
    const size_t peak = 1 + by_hand.size(), behind_peaks = peak + peaks.programs.size();
    const double bytes = 4.0 * double(peaks.elements),
                 matrix =
                     peaks.matrix_operations > 0 ? peaks.matrix_operations / time(peak + 6) : 0;
    Outcome outcome{
        time(0),
        by_hand.empty() ? 0 : time(1),
        by_hand.empty() ? 0 : time(2),
        native ? time(behind_peaks) : 0,
        0,
        spread(sides[0].times),
        by_hand.empty() ? 0 : spread(sides[1].times),
        native ? spread(sides[behind_peaks].times) : 0,
        {bytes / std::min(time(peak), time(peak + 1)), bytes / time(peak + 2),
         kOfAThread * double(peaks.threads) / time(peak + 3),
         kGathers * double(peaks.gatherers) / std::min(time(peak + 4), time(peak + 5)), matrix},
        {},
        {}};
    if (!native) return outcome;
    const size_t launch = behind_peaks + 1, first = launch + 1 + beside.peaks.size();
    outcome.processor_peaks.launch_ms = time(launch);
    if (!beside.peaks.empty()) {
        outcome.processor_peaks.operations_per_ms = peak_operations() / time(launch + 1);
        outcome.processor_peaks.bytes_copied_per_ms = 8.0 * double(kCopied) / time(launch + 2);
    }
    for (size_t k = 0; k < beside.programs.size(); ++k) {
        if (k == 0 && contest.processor)
            outcome.processor = time(first);
        else
            outcome.libraries.emplace_back(beside.programs[k].name(), time(first + k));
    }
    return outcome;
}

std::string where_time_goes(Executor& executor, const Contest& contest) {
    constexpr size_t kShown = 3;
    executor.take_kernel_times();
    executor.set_profiling(true);
    const double all = milliseconds(
        executor, [&] { contest.firn(); }, 1);
    std::vector<KernelTime> kernels = executor.take_kernel_times();
    executor.set_profiling(false);
    const auto total = [](const KernelTime& k) { return k.milliseconds * k.dispatches; };
    std::sort(kernels.begin(), kernels.end(),
              [&](const KernelTime& a, const KernelTime& b) { return total(a) > total(b); });
    double inside = 0;
    int dispatches = 0;
    for (const KernelTime& k : kernels) inside += total(k), dispatches += k.dispatches;
    if (kernels.empty()) return {};
    char text[200];
    std::snprintf(text, sizeof text, "%d dispatches of %zu kernels, which take %.3f of %.3f ms",
                  dispatches, kernels.size(), inside, all);
    std::string out = text;
    for (size_t k = 0; k < std::min(kShown, kernels.size()); ++k) {
        std::snprintf(text, sizeof text, "%s %.3f in %d of '%s'", k ? "," : ":", total(kernels[k]),
                      kernels[k].dispatches, kernels[k].name.c_str());
        out += text;
    }
    return out;
}

}  // namespace firn::bench
