// Rates of a device as they are rounded, kept on disk and listed.
#include "engine/gpu/rates.h"

#include <cmath>
#include <ctime>
#include <locale>
#include <sstream>
#include <thread>

#include "compiler/program/disk_cache.h"
#include "engine/gpu/device.h"

namespace firn {
namespace {

constexpr const char* kRatesCache = "rates";
constexpr const char* kFirstWord = "rates3";  // with the version of what is measured
constexpr int kMostMeasurements = 3;
constexpr int64_t kSecondsBetween = 3600;
constexpr double kClearly = 1.5;  // times as good; less is what two measurements differ by

double rounded(double measured, double reference) {
    return reference * std::exp2(std::round(std::log2(measured / reference)));
}

/// The cores of a machine are no part of what a CPU driver says of itself, and two machines may
/// share a home.
std::string rates_key(const InstanceTable& vk, VkPhysicalDevice device) {
    return driver_key(vk, device) + "cores " + std::to_string(std::thread::hardware_concurrency());
}

std::optional<KeptRates> load(const std::string& directory, const std::string& key) {
    const auto words = cache_find_text(directory, kRatesCache, key);
    return words ? parse_rates(*words) : std::nullopt;
}

}  // namespace

Rates rates_of(const DeviceProfile& profile) {
    return {profile.bytes_per_second, profile.operations_per_second, profile.seconds_per_launch};
}

bool are_plausible(const Rates& rates) {
    // A nan is in no range.
    const auto within = [](double x, double least, double most) { return x >= least && x <= most; };
    return within(rates.bytes_per_second, 1e8, 1e14) &&
           within(rates.operations_per_second, 1e8, 1e16) &&
           within(rates.seconds_per_launch, 1e-8, 0.1);
}

// Two measurements differ by some per cent, on a busy machine by more, and a threshold of the
// compiler that lies between them would make other kernels of the same program. Steps of two are
// fine enough: costs are estimates, and where two choices come that close either will do. They
// start from the reference rather than from 1: a device about as fast as the reference gets the
// very kernels that are tested most.
Rates rounded(const Rates& measured, const Rates& reference) {
    return {rounded(measured.bytes_per_second, reference.bytes_per_second),
            rounded(measured.operations_per_second, reference.operations_per_second),
            rounded(measured.seconds_per_launch, reference.seconds_per_launch)};
}

void set_rates(DeviceProfile& profile, const Rates& measured) {
    const Rates reference = rates_of(profile), rates = rounded(measured, reference);
    profile.seconds_per_load *= reference.operations_per_second / rates.operations_per_second;
    profile.bytes_per_second = rates.bytes_per_second;
    profile.operations_per_second = rates.operations_per_second;
    profile.seconds_per_launch = rates.seconds_per_launch;
    profile.rates_measured = true;
}

std::string text(const KeptRates& kept) {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out.precision(9);
    out << kFirstWord << ' ' << kept.rates.bytes_per_second << ' '
        << kept.rates.operations_per_second << ' ' << kept.rates.seconds_per_launch << ' '
        << kept.measured_at << ' ' << kept.measurements;
    return out.str();
}

std::optional<KeptRates> parse_rates(const std::string& words) {
    KeptRates out;
    std::istringstream in(words);
    in.imbue(std::locale::classic());
    std::string first, more;
    const bool good = in >> first && first == kFirstWord &&
                      in >> out.rates.bytes_per_second >> out.rates.operations_per_second >>
                          out.rates.seconds_per_launch >> out.measured_at >> out.measurements &&
                      !(in >> more);
    if (!good || !are_plausible(out.rates) || out.measurements < 1) return std::nullopt;
    return out;
}

bool is_due(const KeptRates& kept, int64_t now) {
    if (kept.measurements >= kMostMeasurements) return false;
    return now < kept.measured_at || now - kept.measured_at >= kSecondsBetween;
}

KeptRates merged(const KeptRates& kept, const Rates& later, int64_t now) {
    KeptRates out{kept.rates, now, kept.measurements + 1};
    const Rates& was = kept.rates;
    if (later.bytes_per_second > kClearly * was.bytes_per_second)
        out.rates.bytes_per_second = later.bytes_per_second;
    if (later.operations_per_second > kClearly * was.operations_per_second)
        out.rates.operations_per_second = later.operations_per_second;
    if (later.seconds_per_launch * kClearly < was.seconds_per_launch)
        out.rates.seconds_per_launch = later.seconds_per_launch;
    return out;
}

std::optional<Rates> probe_rates(const std::shared_ptr<Device>& device,
                                 const std::string& cache_directory) {
    const std::string key = rates_key(device->instance().functions(), device->physical());
    const auto now = static_cast<int64_t>(std::time(nullptr));
    auto kept = load(cache_directory, key);
    if (kept && !is_due(*kept, now)) return kept->rates;
    try {
        const Rates found = measure_rates(device);
        if (are_plausible(found)) {
            kept = kept ? merged(*kept, found, now) : KeptRates{found, now, 1};
            cache_put_text(cache_directory, kRatesCache, key, text(*kept));
        }
    } catch (const std::exception&) {
        if (device->is_lost()) throw;
    }
    if (!kept) return std::nullopt;
    return kept->rates;
}

std::string list_devices_with_rates(const std::string& cache_directory) {
    const Instance instance(InstanceOptions{});
    const InstanceTable& vk = instance.functions();
    std::string out;
    for (const DeviceInfo& info : list_devices(instance)) {
        out += text(info) + "\n";
        if (!info.missing.empty()) continue;
        DeviceProfile profile =
            query_profile(vk, info, DeviceFeatures(vk, info.handle, false, false, false));
        if (const auto kept = load(cache_directory, rates_key(vk, info.handle)))
            set_rates(profile, kept->rates);
        out += "   " + rates_text(profile) + "\n";
    }
    return out;
}

}  // namespace firn
