// The firn_bench_gradients program: the times of gradients beside those of their functions.
#include "tests/bench/gradients/gradients.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "compiler/program/executor.h"

namespace {

using namespace firn;
using namespace firn::bench;

constexpr const char* kUsage =
    R"(usage: firn_bench_gradients [--only CASE] [--rounds N] [--explain] [--list]
       firn_bench_gradients --expressions N [--seed N]

Milliseconds of objectives and of their gradients, medians of rounds in which both take turns; their
ratio; dispatches of each, by iteration where a loop is what takes the time; MiB that the gradient holds at
a time, its results with it;operations and bytes that it counts over the least that any program must do; PyTorch's milliseconds and MiB
where python3 can import it, and how far its gradients are from Firn's. Training steps stand for gradients, too.

  --only CASE   this case, or all whose names begin with CASE_ (--list names them)
  --rounds N    as many rounds (9)
  --explain     what the compiler makes of each gradient, with the times of its kernels
  --expressions N
                as many random functions, their gradients and the gradients of these beside PyTorch's,
                in f64; --seed: of the first (1)
)";

struct Options {
    std::string only;
    int rounds = 9, expressions = 0, seed = 1;
    bool explain = false, list = false, help = false;
};

Options parse(int argc, char** argv) {
    Options out;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--help" || name == "-h")
            out.help = true;
        else if (name == "--list")
            out.list = true;
        else if (name == "--explain")
            out.explain = true;
        else if (name == "--expressions" && i + 1 < argc)
            out.expressions = std::atoi(argv[++i]);
        else if (name == "--seed" && i + 1 < argc)
            out.seed = std::atoi(argv[++i]);
        else if ((name == "--only" || name == "--rounds") && i + 1 < argc)
            name == "--only" ? void(out.only = argv[++i]) : void(out.rounds = std::atoi(argv[++i]));
        else
            throw UserError("there is no option '" + name + "', or it needs a value; see --help");
    }
    if (out.rounds < 1) throw UserError("--rounds takes a number from 1 on; see --help");
    return out;
}

double milliseconds(Executor& executor, const Timed& timed, int runs) {
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < runs; ++k) timed.run();
    executor.wait();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    return time.count() / runs;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

int runs_of(Executor& executor, const Timed& timed) {
    milliseconds(executor, timed, 1);
    return std::clamp(static_cast<int>(50.0 / std::max(milliseconds(executor, timed, 1), 0.01)), 1,
                      100);
}

std::string number(double value, const char* format) {
    char text[40];
    std::snprintf(text, sizeof text, format, value);
    return value > 0 ? text : "-";
}

/// Temporaries and results.
double held_bytes(const Timed& timed, const ProgramStats& stats) {
    double out = static_cast<double>(stats.peak_bytes);
    for (const Tensor& result : timed.run())
        out +=
            static_cast<double>(element_count(result.shape()).constant()) * result.dtype().bytes();
    return out;
}

void run_case(const GradientCase& one, const Options& options, Executor& executor) {
    const GradientContest contest = one.make();
    const Timed* sides[] = {&contest.objective, &contest.gradient};
    int runs[2];
    std::vector<double> times[2];
    for (int k : {0, 1}) runs[k] = runs_of(executor, *sides[k]);
    for (int round = 0; round < options.rounds; ++round)
        for (int k : {0, 1}) times[k].push_back(milliseconds(executor, *sides[k], runs[k]));
    const double value = median(times[0]), gradient = median(times[1]);
    const TorchGradient torch =
        torch_gradient(one.name, contest.gradient.args, contest.gradient.run());
    const ProgramStats of[] = {contest.objective.function.stats(),
                               contest.gradient.function.stats()};
    std::printf("%-24s %9.2f %9.2f %6.2f %5s", one.name.c_str(), value, gradient, gradient / value,
                number(contest.most, "%.1f").c_str());
    for (const ProgramStats& stats : of)
        std::printf(" %8.2f", static_cast<double>(stats.dispatches) / contest.iterations);
    const LeastWork& least = contest.least;
    const auto over = [](int64_t counted, double of) {
        return number(of > 0 ? static_cast<double>(counted) / of : 0, "%.2f");
    };
    std::printf(" %8.1f %6s %6s %9s %9s %8s %8s\n", held_bytes(contest.gradient, of[1]) / (1 << 20),
                over(of[1].operations, least.operations).c_str(),
                over(of[1].bytes_read + of[1].bytes_written, least.bytes_read + least.bytes_written)
                    .c_str(),
                number(torch.value, "%.2f").c_str(), number(torch.gradient, "%.2f").c_str(),
                number(torch.peak_bytes / (1 << 20), "%.1f").c_str(),
                number(torch.difference, "%.0e").c_str());
    std::fflush(stdout);
    if (!(torch.difference <= contest.tolerance))
        throw InternalError(one.name + ": the gradients are not those of PyTorch");
    if (options.explain) {
        const std::vector<Tensor>& args = contest.gradient.args;
        std::puts(
            contest.gradient.function.explain(std::vector<Arg>(args.begin(), args.end())).c_str());
    }
}

int run(const Options& options) {
    std::vector<GradientCase> cases = gradient_cases();
    std::erase_if(cases, [&](const GradientCase& one) {
        return !options.only.empty() && one.name != options.only &&
               one.name.rfind(options.only + "_", 0) != 0;
    });
    if (cases.empty()) throw UserError("there is no case '" + options.only + "'; see --list");
    if (options.list) {
        for (const GradientCase& one : cases) std::puts(one.name.c_str());
        return 0;
    }
    Session session = current_session();
    session.compile_in_background(false);
    std::printf("%s, medians of %d rounds\n", session.profile().name.c_str(), options.rounds);
    std::printf("%-24s %9s %9s %6s %5s %8s %8s %8s %6s %6s %9s %9s %8s %8s\n", "case", "value ms",
                "grad ms", "ratio", "aim", "kernels", "of grad", "MiB", "ops", "bytes", "torch",
                "its grad", "its MiB", "differs");
    for (const GradientCase& one : cases) run_case(one, options, session.executor());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const Options options = parse(argc, argv);
        if (options.help) return std::puts(kUsage), 0;
        if (options.expressions > 0)
            return compare_expressions(options.expressions, static_cast<uint64_t>(options.seed)) !=
                   0;
        return run(options);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "firn_bench_gradients: %s\n", error.what());
        return 1;
    }
}
