// Estimates a device's rates from series of timings on a busy machine.
#include "engine/gpu/rate_estimates.h"

#include <algorithm>
#include <cstddef>

namespace firn {
namespace {

/// Rounds with all cores that make a rate certain. On a CPU driver of two cores, 18 works measured
/// beside 16 busy processes or one: one such round claims to be certain of 9 works, of some within
/// 1 percent though it takes 1.2 times what others of this work took; three of 5, six of 2.
constexpr size_t kEnoughRounds = 3;
/// The least share of all cores' time that counts as having all of them: waking them takes the
/// rest. Measured beside the same processes: with half this share, launches that take 40 us take 46
/// to 353, with a claimed error of at most 1.33. With 0.7 none of them is measured, as with 0.85
/// and 0.93, and as many works are certain as with 0.85; with 0.93 one fewer.
constexpr double kAllCores = 0.85;

/// Returns the value at a share of the sorted values.
double at(const std::vector<double>& sorted, double share) {
    return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
}

}  // namespace

bool had_all_cores(const Timing& work, int cores) {
    return work.processor_seconds >= kAllCores * cores * work.seconds;
}

Estimate work_estimate(const std::vector<Timing>& rounds, int cores) {
    std::vector<double> all, quiet;
    for (const Timing& round : rounds) {
        const double taken = cores > 0 ? round.processor_seconds / cores : round.seconds;
        // A clock may give an invalid time.
        if (!(taken > 0) || !(round.seconds > 0)) continue;
        all.push_back(taken);
        if (had_all_cores(round, cores)) quiet.push_back(taken);
    }
    const bool busy = quiet.size() < kEnoughRounds;
    std::vector<double>& counted = busy ? all : quiet;
    if (counted.empty()) return {0, kNotMeasured};
    std::sort(counted.begin(), counted.end());
    const double error = at(counted, 0.5) / counted[0];
    return {counted[0], busy ? std::max(error, kBusyError) : error};
}

Estimate launch_estimate(const std::vector<LaunchRound>& rounds, int launches, double work,
                         int cores) {
    std::vector<double> taken;
    for (size_t k = 0; k < rounds.size(); ++k) {
        const bool ends_quiet = k + 1 == rounds.size() || had_all_cores(rounds[k + 1].work, cores);
        if (!had_all_cores(rounds[k].work, cores) || !ends_quiet) continue;
        const double each = rounds[k].launches.seconds / launches - work,
                     bare = rounds[k].bare.seconds / launches;
        if (bare > 0) taken.push_back(std::max(each, bare));
    }
    if (taken.size() < std::max(kEnoughRounds, rounds.size() / 2)) return {0, kNotMeasured};
    std::sort(taken.begin(), taken.end());
    const double value = at(taken, cores > 0 ? 0.5 : 0), other = at(taken, cores > 0 ? 0.25 : 0.5);
    return {value, std::max(value / other, other / value)};
}

}  // namespace firn
