// The firn_bench program: measures every contest, prints one row each.
#include "tests/bench/bench.h"

#include <firn/firn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace firn::bench {
namespace {

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

Outcome measure(Executor& executor, const Contest& contest, int rounds) {
    // The first runs compile: in Firn, in the driver at the first dispatch, and again for its
    // variants.
    for (int i = 0; i < 2; ++i) {
        contest.firn();
        contest.hand_written();
        contest.plain();
    }
    double difference = contest.difference();
    if (difference > contest.tolerance)
        throw InternalError(contest.name + ": results differ from the hand-written kernel's by " +
                            std::to_string(difference));
    double once = milliseconds(executor, contest.hand_written, 1);
    int runs = std::clamp(static_cast<int>(50.0 / std::max(once, 0.01)), 1, 100);
    std::vector<double> firn, hand, plain;
    for (int round = 0; round < rounds; ++round) {
        firn.push_back(milliseconds(executor, contest.firn, runs));
        hand.push_back(milliseconds(executor, contest.hand_written, runs));
        plain.push_back(milliseconds(executor, contest.plain, runs));
    }
    return {median(firn), median(hand), median(plain)};
}

}  // namespace firn::bench

namespace {

using namespace firn;
using namespace firn::bench;

constexpr const char* kUsage =
    R"(usage: firn_bench [--only CASE] [--rounds N] [--csv FILE]

Times Firn, the best and the plain hand-written GLSL for the same work in turns, on the same device.
CASE is wave, chain, sum, rowsum, softmax, n_body, n_body_pairs, mandelbrot or path (all of them by
default), N the number of rounds (15).
FILE gets one line per case: case,firn_ms,best_ms,plain_ms,firn_gb_per_s.
)";

struct Options {
    std::string only, csv;
    int rounds = 15;
    bool help = false;
};

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--help" || name == "-h") {
            options.help = true;
            continue;
        }
        const bool known = name == "--only" || name == "--csv" || name == "--rounds";
        if (!known) throw UserError("there is no option '" + name + "'; see --help");
        if (++i == argc) throw UserError(name + " needs a value; see --help");
        if (name == "--only") options.only = argv[i];
        if (name == "--csv") options.csv = argv[i];
        if (name == "--rounds") options.rounds = std::atoi(argv[i]);
    }
    if (options.rounds < 1) throw UserError("--rounds takes a number from 1 on; see --help");
    return options;
}

/// One row on the terminal, the line for the CSV file returned.
std::string report(const Contest& contest, const Outcome& outcome) {
    const double rate = contest.bytes / outcome.firn * 1e-6;
    std::printf("%-18s %10.3f %10.3f %10.3f %10.2f %10.1f\n", contest.name.c_str(), outcome.firn,
                outcome.hand_written, outcome.plain, outcome.firn / outcome.hand_written, rate);
    std::fflush(stdout);
    char line[200];
    std::snprintf(line, sizeof line, "%s,%.4f,%.4f,%.4f,%.2f\n", contest.name.c_str(), outcome.firn,
                  outcome.hand_written, outcome.plain, rate);
    return line;
}

void run(const Options& options) {
    Session session = current_session();
    Executor& executor = session.executor();
    std::string csv = "case,firn_ms,best_ms,plain_ms,firn_gb_per_s\n";
    const std::pair<const char*, Contest (*)(Executor&)> contests[] = {
        {"wave", wave_contest},
        {"chain", chain_contest},
        {"sum", sum_contest},
        {"rowsum", rowsum_contest},
        {"softmax", softmax_contest},
        {"n_body", n_body_contest},
        {"n_body_pairs", n_body_pairs_contest},
        {"mandelbrot", mandelbrot_contest},
        {"path", path_contest}};
    bool any = false;
    for (const auto& [name, make] : contests) {
        if (!options.only.empty() && options.only != name) continue;
        if (!any) {
            std::printf("%s, medians of %d rounds\n", executor.profile().name.c_str(),
                        options.rounds);
            std::printf("%-18s %10s %10s %10s %10s %10s\n", "work", "Firn ms", "best ms",
                        "plain ms", "Firn/best", "Firn GB/s");
        }
        any = true;
        const Contest contest = make(executor);
        csv += report(contest, measure(executor, contest, options.rounds));
    }
    if (!any)
        throw UserError("there is no case '" + options.only +
                        "'; there are wave, chain, sum, rowsum, "
                        "softmax, n_body, n_body_pairs, mandelbrot and path");
    if (options.csv.empty()) return;
    std::ofstream file(options.csv);
    if (!(file << csv << std::flush)) throw UserError("cannot write '" + options.csv + "'");
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const Options options = parse(argc, argv);
        if (options.help)
            std::fputs(kUsage, stdout);
        else
            run(options);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "firn_bench: %s\n", error.what());
        return 1;
    }
    return 0;
}
