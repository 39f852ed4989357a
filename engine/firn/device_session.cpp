// Sessions that run on a Vulkan device.
#include "engine/firn/device_session.h"

#include <cstdio>

#include "compiler/base/disk_cache.h"
#include "compiler/frontend/environment.h"
#include "compiler/frontend/record.h"
#include "engine/gpu/rates.h"
#include "engine/runtime/open_executor.h"
#include "engine/runtime/vulkan_executor.h"

namespace firn {
namespace {

/// FIRN_RATES asks for the rates of the device's class.
bool reference_rates() {
    const auto rates = environment("FIRN_RATES");
    if (rates && *rates != "reference")
        throw UserError("FIRN_RATES=" + *rates + " is unknown; use reference, or leave it out");
    return rates.has_value();
}

std::shared_ptr<Executor> make_executor(const DeviceChoice& choice) {
    DeviceOptions options;
    options.device =
        choice.device.empty() ? environment("FIRN_DEVICE").value_or("") : choice.device;
    options.validation = choice.validation || environment_number("FIRN_VALIDATION", 0) != 0;
    options.fill_memory = choice.fill_memory || environment_number("FIRN_FILL_MEMORY", 0) != 0;
    options.surfaces = SurfaceSupport::IfAvailable;
    options.cache_directory = default_cache_directory();
    if (const std::string why = why_cache_is_not_used(options.cache_directory); !why.empty())
        std::fprintf(stderr, "firn: %s\n", why.c_str());
    if (const auto limits = environment("FIRN_LIMITS")) {
        if (*limits != "least")
            throw UserError("FIRN_LIMITS=" + *limits + " is unknown; use least, or leave it out");
        options.limit = least;
    }
    options.measure_rates = !reference_rates();
    if (choice.limit) options.limit = choice.limit;
    return std::make_shared<VulkanExecutor>(Device::create(options));
}

}  // namespace

Session device_session(const DeviceChoice& choice) { return Session(make_executor(choice)); }

std::string device_report() {
    return list_devices_with_rates(reference_rates() ? "" : default_cache_directory());
}

std::string validation_report(const Session& session) {
    const SharedPtr<Executor>& executor = session.state()->executor;
    return executor ? validation_report(*executor) : "";
}

bool use_device_by_default() {
    set_default_executor([]() -> SharedPtr<Executor> { return make_executor({}); });
    return true;
}

}  // namespace firn
