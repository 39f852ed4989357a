// How fast a device moves bytes, computes and starts kernels: measured when it is first used, and
// kept.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/gpu/profile.h"

namespace firn {

/// The rates of DeviceProfile that are measured.
struct Rates {
    double bytes_per_second = 0;       // reads and writes of a copy that no cache holds
    double operations_per_second = 0;  // independent chains of f32 fma, each of which counts two
    double seconds_per_launch = 0;     // a dispatch and the barrier behind it, beside its work
};

Rates rates_of(const DeviceProfile& profile);
/// Finite, positive, and within what any device may come near.
bool are_plausible(const Rates& rates);
/// Each of the reference's rates times the power of two that brings it nearest to the measured one.
Rates rounded(const Rates& measured, const Rates& reference);
/// Gives a profile that has the rates of its class the measured ones, rounded. Cached loads are as
/// much faster as arithmetic is.
void set_rates(DeviceProfile& profile, const Rates& measured);

/// What is on disk, as it was measured: it is rounded when it is used.
struct KeptRates {
    Rates rates;
    int64_t measured_at = 0;  // seconds since 1970
    int measurements = 1;
};
std::string text(const KeptRates& kept);
/// Nothing where the words are no such text, or the rates are implausible.
std::optional<KeptRates> parse_rates(const std::string& words);
/// The machine may have been busy when the rates were measured: an hour later they are measured
/// again, twice at most.
bool is_due(const KeptRates& kept, int64_t now);
/// Of each rate the earlier one, unless the later is clearly better: what else a machine does never
/// makes it look faster.
KeptRates merged(const KeptRates& kept, const Rates& later, int64_t now);

/// Runs kernels to see; takes about four times `seconds_each`, and the time that the driver needs
/// to compile two small kernels and to allocate. Throws DeviceError. The rates may be implausible
/// where the clock of the device is.
Rates measure_rates(const std::shared_ptr<Device>& device, double seconds_each = 0.06);

/// The rates that are kept for the device and its driver, else measured and kept. Nothing where the
/// measurement fails: the rates of the class are then as good as any. Throws DeviceError where it
/// loses the device.
std::optional<Rates> probe_rates(const std::shared_ptr<Device>& device,
                                 const std::string& cache_directory);

/// All devices of this machine, as text for a person, with the rates that are kept of each, else
/// those of its class: nothing is measured. `cache_directory` empty: nothing is kept.
std::string list_devices_with_rates(const std::string& cache_directory);

}  // namespace firn
