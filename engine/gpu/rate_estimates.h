// Estimates a device's rates from series of timings on a busy machine.
#pragma once
#include <vector>

namespace firn {

/// The time of a submission.
struct Timing {
    double seconds = 0;            // by the device's clock where it has one, else by the host's
    double processor_seconds = 0;  // the processor time of all threads of this process
};

/// `error`: the factor by which the value may be wrong either way.
struct Estimate {
    double value = 0, error = 1;
};
/// The error of rates measured while other processes held the cores, and of rates that could not be
/// measured.
inline constexpr double kBusyError = 2, kNotMeasured = 1000;
/// Half a step of the rates that are used: with more, a value is in doubt.
inline constexpr double kDoubtfulError = 1.4142;

/// Returns whether a driver on the CPU had its cores for itself while it worked. `cores`: that it
/// runs kernels on; 0: a device of its own, which always has them.
bool had_all_cores(const Timing& work, int cores);

/// Returns the seconds of each round's work on the whole device: the least, because other processes
/// only add time. On a CPU the processor time counts, to which other processes add little, divided
/// by all cores, because they hold up some of these and not others. If there are three rounds that
/// had all cores, only those count. The error is the distance of the median round from the least.
Estimate work_estimate(const std::vector<Timing>& rounds, int cores);

/// Work alone, for longer than a system leaves a core to one of several processes; then so many
/// launches with a little work each, and as many with hardly any.
struct LaunchRound {
    Timing work, launches, bare;
};
/// Returns the seconds of a launch in these rounds beside its work, which takes `work` seconds; at
/// least those of a launch with hardly any work, even if the difference of clocks is less. On a CPU
/// cores fall asleep and are woken, which is no processor time, and does not happen if other
/// processes keep them awake: the median counts of the rounds between work that had all cores. If
/// these are fewer than three, or than half of all, the launch is not measured. On other devices
/// the least counts.
Estimate launch_estimate(const std::vector<LaunchRound>& rounds, int launches, double work,
                         int cores);

}  // namespace firn
