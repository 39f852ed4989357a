// The firn_bench_gradients program: what gradients take, beside what they are the gradients of.
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

Milliseconds of objectives and of their gradients, medians of rounds in which both take turns; their
ratio; dispatches of each, by iteration where a loop is what takes the time.

  --only CASE   this case, or all whose names begin with CASE_ (--list names them)
  --rounds N    as many rounds (9)
  --explain     what the compiler makes of each gradient, with the times of its kernels
)";

struct Options {
    std::string only;
    int rounds = 9;
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

void run_case(const GradientCase& one, const Options& options, Executor& executor) {
    const GradientContest contest = one.make();
    const Timed* sides[] = {&contest.objective, &contest.gradient};
    int runs[2];
    std::vector<double> times[2], ratios;
    for (int k : {0, 1}) runs[k] = runs_of(executor, *sides[k]);
    for (int round = 0; round < options.rounds; ++round) {
        for (int k : {0, 1}) times[k].push_back(milliseconds(executor, *sides[k], runs[k]));
        ratios.push_back(times[1].back() / times[0].back());
    }
    const double ratio = median(times[1]) / median(times[0]);
    const ProgramStats of[] = {contest.objective.function.stats(),
                               contest.gradient.function.stats()};
    std::printf("%-26s %10.2f %10.2f %7.2f %7.1f", one.name.c_str(), median(times[0]),
                median(times[1]), ratio, contest.most);
    for (const ProgramStats& stats : of)
        std::printf(" %9.2f", static_cast<double>(stats.dispatches) / contest.iterations);
    std::printf(" %9.1f\n", static_cast<double>(of[1].peak_bytes) / (1 << 20));
    std::fflush(stdout);
    if (options.explain) {
        const std::vector<Tensor>& args = contest.gradient.args;
        std::puts(
            contest.gradient.function.explain(std::vector<Arg>(args.begin(), args.end())).c_str());
    }
}

int run(const Options& options) {
    std::vector<GradientCase> cases;
    add_simulations(cases);
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
    std::printf("%-26s %10s %10s %7s %7s %9s %9s %9s\n", "case", "value ms", "grad ms", "ratio",
                "aim", "kernels", "of grad", "MiB");
    for (const GradientCase& one : cases) run_case(one, options, session.executor());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const Options options = parse(argc, argv);
        if (options.help) return std::puts(kUsage), 0;
        return run(options);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "firn_bench_gradients: %s\n", error.what());
        return 1;
    }
}
