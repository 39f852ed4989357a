// The firn_bench program: measures every contest, prints one row each.
#include "tests/bench/bench.h"

#include <firn/firn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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
    }
    double difference = contest.difference();
    if (difference > contest.tolerance)
        throw InternalError(contest.name + ": Firn and the hand-written kernel differ by " +
                            std::to_string(difference));
    double once = milliseconds(executor, contest.hand_written, 1);
    int runs = std::clamp(static_cast<int>(50.0 / std::max(once, 0.01)), 1, 100);
    std::vector<double> firn, hand;
    for (int round = 0; round < rounds; ++round) {
        firn.push_back(milliseconds(executor, contest.firn, runs));
        hand.push_back(milliseconds(executor, contest.hand_written, runs));
    }
    return {median(firn), median(hand)};
}

}  // namespace firn::bench

int main(int argc, char** argv) {
    using namespace firn;
    using namespace firn::bench;
    std::string wanted;
    int rounds = 15;
    for (int i = 1; i < argc; ++i) {
        if (!std::strcmp(argv[i], "--rounds") && i + 1 < argc && std::atoi(argv[i + 1]) > 0) {
            rounds = std::atoi(argv[++i]);
        } else if (argv[i][0] != '-' && wanted.empty()) {
            wanted = argv[i];
        } else {
            std::fprintf(stderr, "usage: firn_bench [wave | chain | sum] [--rounds N]\n");
            return 2;
        }
    }
    try {
        Session session = current_session();
        Executor& executor = session.executor();
        std::printf("%s, medians of %d rounds\n", executor.profile().name.c_str(), rounds);
        std::printf("%-24s %10s %14s %7s\n", "work", "Firn ms", "by hand ms", "ratio");
        bool any = false;
        for (auto make : {wave_contest, chain_contest, sum_contest}) {
            Contest contest = make(executor);
            if (contest.name.rfind(wanted, 0) != 0) continue;
            any = true;
            Outcome outcome = measure(executor, contest, rounds);
            std::printf("%-24s %10.3f %14.3f %7.2f\n", contest.name.c_str(), outcome.firn,
                        outcome.hand_written, outcome.firn / outcome.hand_written);
        }
        if (!any)
            throw UserError("there is no contest '" + wanted + "'; there are wave, chain and sum");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "firn_bench: %s\n", error.what());
        return 1;
    }
    return 0;
}
