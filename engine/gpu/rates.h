// The rates at which a device moves bytes, computes and starts kernels: measured at its first use,
// and kept.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/gpu/profile.h"
#include "engine/gpu/rate_estimates.h"

namespace firn {

/// The rates of DeviceProfile that are measured.
struct Rates {
    double bytes_per_second = 0;       // reads and writes of a copy that no cache holds
    double operations_per_second = 0;  // independent chains of f32 fma, each of which counts two
    double seconds_per_launch = 0;     // a dispatch and the barrier behind it, beside its work
};

Rates rates_of(const DeviceProfile& profile);
/// Returns whether rates are finite, positive, and within the reach of any device.
bool are_plausible(const Rates& rates);

/// Rates with the factors by which they may be wrong.
struct MeasuredRates {
    Estimate bytes_per_second, operations_per_second, seconds_per_launch;
};
Rates rates_of(const MeasuredRates& measured);
/// Returns each rate of a profile of the class times the power of two that brings it nearest to the
/// measured one, among those that devices of the class may have. A rate within its error of the
/// class's rate becomes the class's.
Rates rounded(const MeasuredRates& measured, const DeviceProfile& of_class);
/// Gives a profile that has the rates of its class the measured ones, rounded. Cached loads are as
/// much faster as arithmetic is.
void set_rates(DeviceProfile& profile, const MeasuredRates& measured);
/// Returns whether a rate may be wrong by more than half a step, or is implausible for the class.
bool are_doubtful(const MeasuredRates& measured, const DeviceProfile& of_class);

/// The rates on disk, as they were measured: rounded when they are used.
struct KeptRates {
    MeasuredRates rates;
    int64_t measured_at = 0;  // the time of the measurement, in seconds since 1970
    int measurements = 1;
};
std::string text(const KeptRates& kept);
/// Returns nothing if the text is malformed, or the rates are implausible.
std::optional<KeptRates> parse_rates(const std::string& words);
/// Returns whether rates are to be measured again: doubtful ones at once, twice, then every hour;
/// others an hour later, at most twice, because other work on a discrete device does not show in
/// its clock.
bool is_due(const KeptRates& kept, const DeviceProfile& of_class, int64_t now);
/// Returns of each rate the one with the smaller error; of two with equal errors, or without any,
/// the earlier one, unless the later is clearly faster, because other work on a machine never makes
/// it look faster.
KeptRates merged(const KeptRates& kept, const MeasuredRates& later, int64_t now);

/// Runs kernels; takes about four times `seconds_each`, twice that on a busy machine, and the time
/// that the driver needs to compile two small kernels and to allocate. A launch that cannot be
/// measured is taken to be that of the class. Throws DeviceError. The rates may be implausible
/// where the clock of the device is.
MeasuredRates measure_rates(const std::shared_ptr<Device>& device, double seconds_each = 0.06);

/// Returns the rates that are kept for the device and its driver; if none are kept, or they are
/// due, measures and keeps them. Returns nothing if the measurement fails: then the rates of the
/// class serve. Throws DeviceError if it loses the device.
std::optional<MeasuredRates> probe_rates(const std::shared_ptr<Device>& device,
                                         const std::string& cache_directory);

/// All devices of this machine, as text for a person, with the rates that are kept of each, else
/// those of its class: nothing is measured. `cache_directory` empty: nothing is kept.
std::string list_devices_with_rates(const std::string& cache_directory);

}  // namespace firn
