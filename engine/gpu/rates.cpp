// Rates of a device as they are rounded, kept on disk and listed.
#include "engine/gpu/rates.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <locale>
#include <sstream>
#include <thread>

#include "compiler/base/disk_cache.h"
#include "engine/gpu/device.h"

namespace firn {
namespace {

constexpr const char* kRatesCache = "rates";
constexpr const char* kFirstWord = "rates4";  // with the version of the measurement
constexpr int kMostMeasurements = 3;
constexpr int64_t kSecondsBetween = 3600;
constexpr double kClearly = 1.5;  // times as fast; two measurements may differ by less

/// The number of steps of two by which a device may be below and above the rates of its class. CPU
/// drivers differ by their cores' vectors, clocks and memory, the number of cores being known; GPUs
/// from those of a telephone to those of a computing centre.
struct Steps {
    double below, above;
};
Steps steps_of(DeviceClass device_class) {
    return device_class == DeviceClass::CpuDriver ? Steps{-4, 3} : Steps{-7, 5};
}

double rounded(const Estimate& measured, double reference, const Steps& steps) {
    const double step = std::round(std::log2(measured.value / reference));
    if (measured.value <= reference * measured.error &&
        reference <= measured.value * measured.error)
        return reference;
    return reference * std::exp2(std::clamp(step, steps.below, steps.above));
}

bool is_doubtful(const Estimate& measured, double reference, const Steps& steps) {
    const double step = std::round(std::log2(measured.value / reference));
    return !(measured.error <= kDoubtfulError && step >= steps.below && step <= steps.above);
}

/// `better`: how many times as good the later one is.
Estimate merged(const Estimate& kept, const Estimate& later, double better) {
    const auto is_sure = [](const Estimate& one) { return one.error <= kDoubtfulError; };
    if (is_sure(kept) != is_sure(later)) return is_sure(kept) ? kept : later;
    if (kept.error == kNotMeasured || later.error == kNotMeasured)
        return later.error < kept.error ? later : kept;
    return better > kClearly ? later : kept;
}

/// Adds the cores: a CPU driver's key does not contain them, and two machines may share a home
/// directory.
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
    // Comparisons with nan are false.
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
Rates rounded(const MeasuredRates& measured, const DeviceProfile& of_class) {
    const Steps steps = steps_of(of_class.device_class);
    return {rounded(measured.bytes_per_second, of_class.bytes_per_second, steps),
            rounded(measured.operations_per_second, of_class.operations_per_second, steps),
            rounded(measured.seconds_per_launch, of_class.seconds_per_launch, steps)};
}

void set_rates(DeviceProfile& profile, const MeasuredRates& measured) {
    const Rates rates = rounded(measured, profile);
    profile.seconds_per_load *= profile.operations_per_second / rates.operations_per_second;
    profile.bytes_per_second = rates.bytes_per_second;
    profile.operations_per_second = rates.operations_per_second;
    profile.seconds_per_launch = rates.seconds_per_launch;
    profile.rates_measured = true;
}

Rates rates_of(const MeasuredRates& measured) {
    return {measured.bytes_per_second.value, measured.operations_per_second.value,
            measured.seconds_per_launch.value};
}

bool are_doubtful(const MeasuredRates& measured, const DeviceProfile& of_class) {
    const Steps steps = steps_of(of_class.device_class);
    return is_doubtful(measured.bytes_per_second, of_class.bytes_per_second, steps) ||
           is_doubtful(measured.operations_per_second, of_class.operations_per_second, steps) ||
           is_doubtful(measured.seconds_per_launch, of_class.seconds_per_launch, steps);
}

std::string text(const KeptRates& kept) {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out.precision(9);
    out << kFirstWord;
    for (const Estimate& each : {kept.rates.bytes_per_second, kept.rates.operations_per_second,
                                 kept.rates.seconds_per_launch})
        out << ' ' << each.value << ' ' << each.error;
    out << ' ' << kept.measured_at << ' ' << kept.measurements;
    return out.str();
}

std::optional<KeptRates> parse_rates(const std::string& words) {
    KeptRates out;
    std::istringstream in(words);
    in.imbue(std::locale::classic());
    std::string first, more;
    bool good = in >> first && first == kFirstWord;
    for (Estimate* each : {&out.rates.bytes_per_second, &out.rates.operations_per_second,
                           &out.rates.seconds_per_launch})
        good = good && in >> each->value >> each->error && each->error >= 1;
    good = good && in >> out.measured_at >> out.measurements && !(in >> more);
    if (!good || !are_plausible(rates_of(out.rates)) || out.measurements < 1) return std::nullopt;
    return out;
}

bool is_due(const KeptRates& kept, const DeviceProfile& of_class, int64_t now) {
    const bool later = now < kept.measured_at || now - kept.measured_at >= kSecondsBetween;
    const bool few = kept.measurements < kMostMeasurements;
    return are_doubtful(kept.rates, of_class) ? few || later : few && later;
}

KeptRates merged(const KeptRates& kept, const MeasuredRates& later, int64_t now) {
    const MeasuredRates& was = kept.rates;
    const auto faster = [](const Estimate& a, const Estimate& b) { return b.value / a.value; };
    return {{merged(was.bytes_per_second, later.bytes_per_second,
                    faster(was.bytes_per_second, later.bytes_per_second)),
             merged(was.operations_per_second, later.operations_per_second,
                    faster(was.operations_per_second, later.operations_per_second)),
             merged(was.seconds_per_launch, later.seconds_per_launch,
                    faster(later.seconds_per_launch, was.seconds_per_launch))},
            now,
            kept.measurements + 1};
}

std::optional<MeasuredRates> probe_rates(const std::shared_ptr<Device>& device,
                                         const std::string& cache_directory) {
    const std::string key = rates_key(device->instance().functions(), device->physical());
    const auto now = static_cast<int64_t>(std::time(nullptr));
    auto kept = load(cache_directory, key);
    if (kept && !is_due(*kept, device->profile(), now)) return kept->rates;
    try {
        const MeasuredRates found = measure_rates(device);
        if (are_plausible(rates_of(found))) {
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
            query_profile(vk, info, DeviceFeatures(vk, info.handle, DeviceExtensions()));
        if (const auto kept = load(cache_directory, rates_key(vk, info.handle)))
            set_rates(profile, kept->rates);
        out += "   " + rates_text(profile) + "\n";
    }
    return out;
}

}  // namespace firn
