// The firn_bench program: measures every case, prints one row each.
#include "tests/bench/bench.h"

#include <firn/firn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/excess_sum.h"

namespace {

using namespace firn;
using namespace firn::bench;

/// FIRN_SOURCES is another folder of the sources than the one that this was built from.
const std::string kScript = [] {
    const char* moved = std::getenv("FIRN_SOURCES");
    return std::string(moved ? moved : FIRN_SOURCE_DIR) + "/tests/bench/torch_cases.py";
}();
constexpr int kMostSmaller = 6;
constexpr const char* kUsage =
    R"(usage: firn_bench [--section NAME] [--only CASE] [--rounds N] [--csv FILE] [--list]

Times Firn, the best and the plain hand-written GLSL for the same work in turns, on the same device,
Firn as native code where that device is a processor (--native) beside hand-written C++ and the
libraries that are installed (OpenBLAS, oneDNN, FFTW, TBB), and PyTorch on the host where python3
can import it: medians, and how far from them the middle half of the rounds lies. The bound is the time that the device would need
at its peaks, measured in the same rounds: of bandwidth, of arithmetic or of reads at places that data
decide, whichever binds. A case above 3 times its bound says why, and where its time goes.

  --section NAME  own, what the compiler was made for; ported, examples of another compiler as
                  their authors wrote them; training, programs as users write them, for
                  which it has no rules; holdout, more of those, kept for the end of a change
                  (all of these); large, sizes for GPUs, without PyTorch (see tests/gpu/run)
  --smaller N     sides of the large section 2^N times smaller, for CPU drivers (0, at most 6)
  --after CASE    the cases behind this one
  --seconds N     no case begins after so many seconds; those that are left are named
  --device NAME   number or part of a name of the device; --list-devices lists them all, and
                  --show-device the one that is used
  --native WHEN   native code of the processor beside the device: yes, no, or cpu (on CPU drivers alone,
                  where LLVM's library is there; the default)
  --only CASE     this case, or all whose names begin with CASE_ (--list names them)
  --rounds N      as many rounds (15)
  --csv FILE      a line per case: case,firn_ms,best_ms,plain_ms,torch_ms,torch_best_ms,over_bound,
                  firn_spread,best_spread (of the medians),native_ms,native_spread,cpp_ms,
                  library,library_ms (the fastest one)
)";

struct SectionName {
    Section section;
    const char* name;
};
constexpr SectionName kSections[] = {{Section::Own, "own"},
                                     {Section::Ported, "ported"},
                                     {Section::Training, "training"},
                                     {Section::Holdout, "holdout"},
                                     {Section::Large, "large"}};

struct Options {
    std::string only, after, csv, native = "cpu";
    std::optional<Section> section;
    int rounds = 15, smaller = 0;
    double seconds = 0;  // 0: no limit
    bool help = false, list = false, list_devices = false, show_device = false;
};

Section section_of(const std::string& name) {
    for (const SectionName& one : kSections)
        if (name == one.name) return one.section;
    throw UserError("there is no section '" + name + "'; see --help");
}

bool* flag_of(const std::string& name, Options& options) {
    if (name == "--help" || name == "-h") return &options.help;
    if (name == "--list") return &options.list;
    if (name == "--list-devices") return &options.list_devices;
    if (name == "--show-device") return &options.show_device;
    return nullptr;
}

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (bool* flag = flag_of(name, options)) {
            *flag = true;
            continue;
        }
        const bool known = name == "--only" || name == "--csv" || name == "--rounds" ||
                           name == "--section" || name == "--smaller" || name == "--seconds" ||
                           name == "--device" || name == "--after" || name == "--native";
        if (!known) throw UserError("there is no option '" + name + "'; see --help");
        if (++i == argc) throw UserError(name + " needs a value; see --help");
        if (name == "--only") options.only = argv[i];
        if (name == "--section") options.section = section_of(argv[i]);
        if (name == "--after") options.after = argv[i];
        if (name == "--csv") options.csv = argv[i];
        if (name == "--native") options.native = argv[i];
        if (name == "--rounds") options.rounds = std::atoi(argv[i]);
        if (name == "--smaller") options.smaller = std::atoi(argv[i]);
        if (name == "--seconds") options.seconds = std::atof(argv[i]);
        if (name == "--device") setenv("FIRN_DEVICE", argv[i], 1);
    }
    if (options.rounds < 1) throw UserError("--rounds takes a number from 1 on; see --help");
    if (options.native != "yes" && options.native != "no" && options.native != "cpu")
        throw UserError("--native takes yes, no or cpu; see --help");
    if (options.smaller < 0 || options.smaller > kMostSmaller)
        throw UserError("--smaller takes a number from 0 to 6; see --help");
    return options;
}

/// Returns the output of a program, nothing if it fails.
std::optional<std::string> output_of(const std::string& command) {
    FILE* pipe = popen((command + " 2> /dev/null").c_str(), "r");
    if (!pipe) return std::nullopt;
    std::string out;
    char buffer[256];
    while (std::fgets(buffer, sizeof buffer, pipe)) out += buffer;
    if (pclose(pipe) != 0) return std::nullopt;
    return out;
}

/// PyTorch's milliseconds, as one writes the case first and in its best form; 0 where there are
/// none.
struct TorchTimes {
    double written = 0, best = 0;
};
TorchTimes torch_milliseconds(const std::string& name) {
    TorchTimes out;
    if (const auto text = output_of(std::string("python3 '") + kScript + "' " + name))
        std::istringstream(*text) >> out.written >> out.best;
    return out;
}

std::vector<Case> chosen_cases(const Options& options) {
    const std::string& only = options.only;
    const std::optional<Section> section = options.section;
    std::vector<Case> chosen;
    std::string names;
    for (const Case& one : section == Section::Large ? large_cases(options.smaller) : all_cases()) {
        if (section && one.section != *section) continue;
        if (only.empty() || one.name == only || one.name.rfind(only + "_", 0) == 0)
            chosen.push_back(one);
        names += (names.empty() ? "" : ", ") + one.name;
    }
    if (chosen.empty()) throw UserError("there is no case '" + only + "'; there are " + names);
    const auto after = std::find_if(chosen.begin(), chosen.end(),
                                    [&](const Case& one) { return one.name == options.after; });
    if (after != chosen.end()) chosen.erase(chosen.begin(), after + 1);
    return chosen;
}

std::string number(double value, const char* format) {
    char text[40];
    std::snprintf(text, sizeof text, format, value);
    return value > 0 ? text : "-";
}

/// Firn's time over the bound, 0 where that is not known.
double over_bound(const Outcome& outcome, const LeastWork& least) {
    const double bound = least_milliseconds(outcome.peaks, least);
    return bound > 0 ? outcome.firn / bound : 0;
}

/// Prints one row on the terminal, and returns the line of the CSV file.
std::string report(const std::string& name, const Outcome& outcome, const TorchTimes& torch,
                   double bound) {
    const std::string best = number(outcome.best, "%.3f"), plain = number(outcome.plain, "%.3f"),
                      torch_text = number(torch.written, "%.3f"),
                      torch_best = number(torch.best, "%.3f"), bound_text = number(bound, "%.2f");
    const auto percent = [](double time, double spread) {
        char text[20];
        std::snprintf(text, sizeof text, "%.0f%%", 100 * spread);
        return std::string(time > 0 ? text : "");
    };
    const auto ratio = [&](double other) {
        return number(other > 0 ? outcome.firn / other : 0, "%.2f");
    };
    std::printf(
        "%-26s %10.3f %4s %10s %4s %10s %10s %4s %10s %10s %10s %8s %8s %8s %8s %8s\n",
        name.c_str(), outcome.firn, percent(outcome.firn, outcome.firn_spread).c_str(),
        number(outcome.native, "%.3f").c_str(),
        percent(outcome.native, outcome.native_spread).c_str(),
        number(outcome.processor, "%.3f").c_str(), best.c_str(),
        percent(outcome.best, outcome.best_spread).c_str(), plain.c_str(), torch_text.c_str(),
        torch_best.c_str(), number(outcome.native / outcome.firn, "%.2f").c_str(),
        number(outcome.processor > 0 ? outcome.native / outcome.processor : 0, "%.2f").c_str(),
        ratio(outcome.best).c_str(), ratio(torch.best).c_str(), bound_text.c_str());
    std::string library = "-";
    double library_ms = 0;
    for (size_t k = 0; k < outcome.libraries.size(); ++k) {
        const auto& [by, time] = outcome.libraries[k];
        std::printf("%s%s %.3f ms (native / it %.2f)", k ? "; " : "    libraries: ", by.c_str(),
                    time, outcome.native / time);
        if (library_ms > 0 && library_ms <= time) continue;
        library = by;
        std::replace(library.begin(), library.end(), ',', ' ');
        library_ms = time;
    }
    if (!outcome.libraries.empty()) std::printf("\n");
    std::fflush(stdout);
    char line[300];
    std::snprintf(line, sizeof line, "%s,%.4f,%s,%s,%s,%s,%s,%.4f,%.4f,%s,%.4f,%s,%s,%s\n",
                  name.c_str(), outcome.firn, best.c_str(), plain.c_str(), torch_text.c_str(),
                  torch_best.c_str(), bound_text.c_str(), outcome.firn_spread, outcome.best_spread,
                  number(outcome.native, "%.4f").c_str(), outcome.native_spread,
                  number(outcome.processor, "%.4f").c_str(), library.c_str(),
                  number(library_ms, "%.4f").c_str());
    return line;
}

constexpr double kFar = 3;  // a case so many times above its bound says why

/// Firn's time over another one, by case.
using Ratios = std::vector<std::pair<double, std::string>>;

void print_spread(const char* name, const char* what, Ratios ratios) {
    if (ratios.empty()) return;
    std::sort(ratios.begin(), ratios.end());
    const size_t n = ratios.size();
    std::printf("%s: %s %.2f at the median of %zu and %.2f at worst (%s)", name, what,
                (ratios[(n - 1) / 2].first + ratios[n / 2].first) / 2, n, ratios.back().first,
                ratios.back().second.c_str());
}

/// Reports how far a section's cases are above their bounds and above
/// hand-written kernels, and how long native code takes beside them.
void report_section(const char* name, const Ratios& bounds, const Ratios& best,
                    const Ratios& native) {
    if (!bounds.empty()) {
        print_spread(name, "over the bound by", bounds);
        const auto far = std::count_if(bounds.begin(), bounds.end(),
                                       [](const auto& ratio) { return ratio.first > kFar; });
        std::printf(", %td above %.0f\n", far, kFar);
    }
    if (!best.empty()) {
        print_spread(name, "over the best GLSL by", best);
        std::printf("\n");
    }
    if (!native.empty()) {
        print_spread(name, "native code takes, times the device's time,", native);
        std::printf("\n");
    }
}

struct Setting {
    Executor& executor;
    PeakKernels& kernels;
    int rounds;
    bool torch;
    std::optional<Session> native;
};

/// The results of a section's rows.
struct Rows {
    Ratios bounds, best, native;
    std::string lines;
    Peaks peaks;
    ProcessorPeaks processor_peaks;
    bool good = true;
};

void report_missing(const std::string& name, const std::string& why, Rows& rows) {
    std::printf("%-26s not run: %s\n", name.c_str(), why.c_str());
    rows.lines += name + ",not run: " + why + "\n";
    std::fflush(stdout);
}

/// Runs a case and adds its row and line; if it fails, the others go on.
void run_case(const Case& one, const Setting& setting, Rows& rows) try {
    const Contest contest = one.make();
    std::optional<NativeContest> native;
    if (setting.native) {
        const SessionScope scope(*setting.native);
        native = NativeContest{*setting.native, one.make()};
    }
    const Outcome outcome = measure(setting.executor, one.name, contest,
                                    native ? &*native : nullptr, setting.kernels, setting.rounds);
    rows.peaks = outcome.peaks;
    rows.processor_peaks = outcome.processor_peaks;
    const double bound = over_bound(outcome, contest.least);
    if (bound > 0) rows.bounds.emplace_back(bound, one.name);
    if (outcome.best > 0) rows.best.emplace_back(outcome.firn / outcome.best, one.name);
    if (native) rows.native.emplace_back(outcome.native / outcome.firn, one.name);
    const bool torch = setting.torch && one.section != Section::Large;
    rows.lines +=
        report(one.name, outcome, torch ? torch_milliseconds(one.name) : TorchTimes{}, bound);
    if (bound > kFar) {
        if (!one.far.empty()) std::printf("    %s\n", one.far.c_str());
        std::printf("    %s\n", where_time_goes(setting.executor, contest).c_str());
    }
    std::fflush(stdout);
} catch (const DeviceError& error) {
    const std::string what = error.what();
    if (what.find("out of device memory") == std::string::npos)
        throw;  // nothing else would go right either
    report_missing(one.name, "the device has too little memory (" + what + ")", rows);
} catch (const std::exception& error) {
    std::printf("%-26s %s\n", one.name.c_str(), error.what());
    rows.lines += one.name + ",failed: " + error.what() + "\n";
    std::fflush(stdout);
    rows.good = false;
}

/// The line of the session's device among all.
std::string line_of_device() {
    const std::string name = current_session().executor().profile().name;
    const char* wanted = std::getenv("FIRN_DEVICE");
    std::string found;
    std::istringstream lines(device_report());
    for (std::string line; std::getline(lines, line);) {
        if (line.find("  " + name + "  (") == std::string::npos) continue;
        if (found.empty() || (wanted && line.starts_with(wanted + std::string("  ")))) found = line;
    }
    return found;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The session of native code beside `executor`, where it is asked for; says why there is none.
std::optional<Session> native_session(const Options& options, const Executor& executor) {
    if (options.native == "no") return std::nullopt;
    if (options.native == "cpu" && executor.profile().device_class != DeviceClass::CpuDriver)
        return std::nullopt;
    const std::string why = why_no_cpu_session();
    if (!why.empty() && options.native == "yes") throw UserError(why);
    std::printf("native code: %s\n", why.empty() ? "of this processor" : why.c_str());
    if (!why.empty()) return std::nullopt;
    Session session = cpu_session();
    session.compile_in_background(false);
    return session;
}

/// True where no case failed.
bool run(const Options& options, const std::vector<Case>& cases) {
    std::ofstream file;
    auto write = [&](const std::string& lines) {
        if (!options.csv.empty() && !(file << lines << std::flush))
            throw UserError("cannot write '" + options.csv + "'");
    };
    const auto begin = std::chrono::steady_clock::now();
    if (!options.csv.empty()) file.open(options.csv);
    write(
        "case,firn_ms,best_ms,plain_ms,torch_ms,torch_best_ms,over_bound,firn_spread,"
        "best_spread,native_ms,native_spread,cpp_ms,library,library_ms\n");
    Session session = current_session();
    session.compile_in_background(false);  // only the program that fits is measured
    Executor& executor = session.executor();
    PeakKernels kernels(executor);
    const auto torch = output_of(std::string("python3 '") + kScript + "' --version");
    std::printf("%s, medians of %d rounds\n", executor.profile().name.c_str(), options.rounds);
    const MatrixUnit unit = executor.profile().matrix_unit;
    if (unit)
        std::printf("matrix unit: %u x %u x %u of f16\n", unit.rows, unit.columns, unit.depth);
    std::printf("PyTorch: %s\n",
                torch ? torch->c_str() : "python3 cannot import torch, so its column stays empty");
    std::optional<Session> native = native_session(options, executor);
    std::printf("%-26s %10s %4s %10s %4s %10s %10s %4s %10s %10s %10s %8s %8s %8s %8s %8s\n",
                "case", "Firn ms", "+-", "native ms", "+-", "C++ ms", "best ms", "+-", "plain ms",
                "torch ms", "best torch", "native /", "/ C++", "/ best", "/ torch", "/ bound");
    const Setting setting{executor, kernels, options.rounds, torch.has_value(), std::move(native)};
    bool good = true;
    Peaks peaks;
    ProcessorPeaks processor_peaks;
    for (const SectionName& section : kSections) {
        Rows rows;
        for (const Case& one : cases) {
            if (one.section != section.section) continue;
            if (options.seconds > 0 && seconds_since(begin) > options.seconds)
                report_missing(one.name, "no time was left", rows);
            else
                run_case(one, setting, rows);
            write(rows.lines);
            rows.lines.clear();
        }
        report_section(section.name, rows.bounds, rows.best, rows.native);
        good = good && rows.good;
        if (rows.peaks.operations_per_ms > 0)
            peaks = rows.peaks, processor_peaks = rows.processor_peaks;
    }
    std::printf(
        "peaks: %.1f GB/s read, %.1f GB/s written, %.1f GFLOP/s, %.2f gathers in a nanosecond\n",
        peaks.bytes_read_per_ms * 1e-6, peaks.bytes_written_per_ms * 1e-6,
        peaks.operations_per_ms * 1e-6, peaks.gathers_per_ms * 1e-6);
    if (peaks.matrix_operations_per_ms > 0)
        std::printf("the matrix unit: %.1f TFLOP/s\n", peaks.matrix_operations_per_ms * 1e-9);
    if (processor_peaks.launch_ms > 0)
        std::printf(
            "the processor by C++: %.1f GFLOP/s, copies of %.1f GB/s read and written; a run of "
            "one "
            "native kernel takes %.1f us\n",
            processor_peaks.operations_per_ms * 1e-6, processor_peaks.bytes_copied_per_ms * 1e-6,
            processor_peaks.launch_ms * 1e3);
    return good;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const Options options = parse(argc, argv);
        if (options.help) {
            std::fputs(kUsage, stdout);
            return 0;
        }
        if (options.list_devices) {
            std::fputs(device_report().c_str(), stdout);
            return 0;
        }
        if (options.show_device) {
            std::puts(line_of_device().c_str());
            return 0;
        }
        const std::vector<Case> cases = chosen_cases(options);
        if (!options.list) {
            count_excess();
            const bool good = run(options, cases);
            std::printf("%s\n", text(counted_excess()).c_str());
            return good ? 0 : 1;
        }
        for (const Case& one : cases) std::puts(one.name.c_str());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "firn_bench: %s\n", error.what());
        return 1;
    }
    return 0;
}
