// What series of timings say of a device, whatever else its machine did meanwhile.
#pragma once
#include <vector>

namespace firn {

/// What a submission took.
struct Timing {
    double seconds = 0;            // by the device's clock where it has one, else by the host's
    double processor_seconds = 0;  // of all threads of this process
};

/// `error`: the factor by which the value may be wrong either way.
struct Estimate {
    double value = 0, error = 1;
};
/// The error of what was measured while others held the cores, and of what could not be measured.
inline constexpr double kBusyError = 2, kNotMeasured = 1000;
/// Half a step of the rates that are used: with more, a value is in doubt.
inline constexpr double kDoubtfulError = 1.4142;

/// Whether a driver on the CPU had its cores for itself while it worked. `cores`: that it runs
/// kernels on; 0: a device of its own, which always has them.
bool had_all_cores(const Timing& work, int cores);

/// Seconds of what each round ran on the whole device: the least, since what else a machine does
/// only ever adds time. On a CPU processor time counts, to which other processes add little, shared
/// by all cores: they hold up some of these and not others. Rounds that had all cores count alone
/// where there are three of them. The error is how far the middle round lies from the least.
Estimate work_estimate(const std::vector<Timing>& rounds, int cores);

/// Work alone, for longer than a system leaves a core to one of several processes; then so many
/// launches with a little work each, and as many with hardly any.
struct LaunchRound {
    Timing work, launches, bare;
};
/// Seconds of a launch of these rounds beside its work, which takes `work` seconds; no less than
/// with hardly any, whatever the clock says of a difference. On a CPU cores fall asleep and are
/// woken, which is no processor time, and does not happen where others keep them awake: the middle
/// one of the rounds counts that stand between work which had all cores. Where these are fewer than
/// three, or than half of all, the launch is not measured. On other devices the least counts.
Estimate launch_estimate(const std::vector<LaunchRound>& rounds, int launches, double work,
                         int cores);

}  // namespace firn
