// Sessions on a device: a Vulkan device, or the processor itself.
#include "engine/firn/device_session.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "compiler/base/disk_cache.h"
#include "compiler/frontend/cpu_session.h"
#include "compiler/frontend/environment.h"
#include "compiler/frontend/record.h"
#include "compiler/host/processor.h"
#include "compiler/host/workers.h"
#include "compiler/program/vulkan_limits.h"
#include "compiler/target/native/llvm.h"
#include "engine/gpu/rates.h"
#include "engine/runtime/open_executor.h"
#include "engine/runtime/vulkan_executor.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace firn {
namespace {

/// FIRN_RATES asks for the rates of the device's class.
bool reference_rates() {
    const auto rates = environment("FIRN_RATES");
    if (rates && *rates != "reference")
        throw UserError("FIRN_RATES=" + *rates + " is unknown; use reference, or leave it out");
    return rates.has_value();
}

bool least_limits() {
    const auto limits = environment("FIRN_LIMITS");
    if (limits && *limits != "least")
        throw UserError("FIRN_LIMITS=" + *limits + " is unknown; use least, or leave it out");
    return limits.has_value();
}

bool wants_validation(const DeviceChoice& choice) {
    return choice.validation || environment_number("FIRN_VALIDATION", 0) != 0;
}

bool wants_filled_memory(const DeviceChoice& choice) {
    return choice.fill_memory || environment_number("FIRN_FILL_MEMORY", 0) != 0;
}

/// Returns what was asked for that only Vulkan devices have; empty: nothing.
std::string asked_of_vulkan(const DeviceChoice& choice) {
    if (wants_validation(choice)) return "validation layers";
    if (wants_filled_memory(choice)) return "memory that is filled with nan";
    if (choice.limit || least_limits()) return "limits that can be reduced";
    return "";
}

/// Returns the maker's name of the processor; empty where it does not tell.
std::string processor_name() {
    std::string name;
#if defined(__x86_64__)
    constexpr unsigned kFirst = 0x80000002, kLast = 0x80000004;  // 16 bytes of the name in each
    for (unsigned leaf = kFirst; leaf <= kLast; ++leaf) {
        unsigned words[4];
        if (!__get_cpuid(leaf, &words[0], &words[1], &words[2], &words[3])) return "";
        name.append(reinterpret_cast<const char*>(words), sizeof words);
    }
    name.erase(std::find(name.begin(), name.end(), '\0'), name.end());
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
#endif
    return name;
}

std::string counted(size_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// The row of the processor among the devices.
std::string cpu_row() {
    std::string row = kCpuDevice;
    if (const std::string name = processor_name(); !name.empty()) row += "  " + name;
    row += "  (native code";
    const NativeProcessor processor = host_processor();
    if (!processor.name.empty())
        row += " for " + processor.name + ", vectors of " + std::to_string(processor.vectors.bits) +
               " bits";
    row += ", " + counted(std::max(1u, std::thread::hardware_concurrency()), "core") + ", " +
           counted(wanted_threads(), "thread");
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGE_SIZE);
    if (pages > 0 && page_bytes > 0)
        row += ", " +
               std::to_string((static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes)) >>
                              20) +
               " MiB";
    const std::string why = why_no_cpu_session();
    row += why.empty() ? ", " + llvm_version() + ")" : ")  cannot be used: " + why;
    return row + "\n";
}

/// The kinds of Vulkan devices that this machine has.
struct VulkanDevices {
    bool any = false;
    bool gpu = false;  // one that Firn can run on, and that is no driver for the CPU
};

VulkanDevices find_vulkan_devices() {
    VulkanDevices found;
    try {
        const Instance instance(InstanceOptions{});
        for (const DeviceInfo& info : list_devices(instance)) {
            found.any = true;
            found.gpu |= info.missing.empty() && info.type != VK_PHYSICAL_DEVICE_TYPE_CPU;
        }
    } catch (const DeviceError&) {
        // There is no loader, or no driver.
    }
    return found;
}

/// A Vulkan device. `computes`: programs run on it; else it only draws frames.
std::shared_ptr<VulkanExecutor> make_vulkan_executor(const DeviceChoice& choice, bool computes) {
    DeviceOptions options;
    options.device = choice.device;
    options.other_devices = cpu_row;
    options.validation = wants_validation(choice);
    options.fill_memory = wants_filled_memory(choice);
    options.surfaces = SurfaceSupport::IfAvailable;
    options.cache_directory = default_cache_directory();
    if (least_limits()) options.limit = least;
    options.measure_rates = computes && !reference_rates();
    if (choice.limit) options.limit = choice.limit;
    return std::make_shared<VulkanExecutor>(Device::create(options));
}

void warn_of_cache() {
    if (const std::string why = why_cache_is_not_used(default_cache_directory()); !why.empty())
        std::fprintf(stderr, "firn: %s\n", why.c_str());
}

std::shared_ptr<Executor> make_native() {
    reference_rates();  // an unknown word is an error everywhere
    return make_cpu_executor();
}

/// The processor where there is no GPU and LLVM's library is there, since native code is faster
/// than a Vulkan driver for the CPU; else the best Vulkan device.
std::shared_ptr<Executor> make_best_executor(const DeviceChoice& choice) {
    const VulkanDevices found = find_vulkan_devices();
    if (found.gpu) return make_vulkan_executor(choice, true);
    const std::string why_not = why_no_cpu_session();
    if (why_not.empty()) return make_native();
    try {
        return make_vulkan_executor(choice, true);
    } catch (const DeviceError& error) {
        if (found.any) throw;
        throw DeviceError(std::string(error.what()) + "; or " + why_not);
    }
}

std::shared_ptr<Executor> make_executor(DeviceChoice choice) {
    warn_of_cache();
    const bool by_caller = !choice.device.empty();
    const bool only_vulkan =
        choice.only_vulkan || (!by_caller && environment("FIRN_EXECUTOR") == "device");
    if (!by_caller) choice.device = environment("FIRN_DEVICE").value_or("");
    if (!by_caller && choice.device.find(',') != std::string::npos)
        throw UserError("FIRN_DEVICE=" + choice.device +
                        " lists several devices, and a session has one; give one here, or choose "
                        "each by device_session({.device = ..})");
    const std::string asked = asked_of_vulkan(choice);
    if (choice.device == kCpuDevice) {
        if (only_vulkan)
            throw UserError(
                "device 'cpu' is native code of the processor, and a Vulkan device was asked for, "
                "by FIRN_EXECUTOR=device or for the inspector; leave one of the two out");
        if (!asked.empty())
            throw UserError("device 'cpu' runs native code of the processor and has no " + asked +
                            ", which Vulkan devices have; choose another device, or do without");
        return make_native();
    }
    if (!choice.device.empty() || only_vulkan || !asked.empty())
        return make_vulkan_executor(choice, true);
    return make_best_executor(choice);
}

}  // namespace

Session device_session(const DeviceChoice& choice) { return Session(make_executor(choice)); }

Session host_session(const HostDevice& host) {
    if (!host.queue)
        throw UserError(
            "host_session: a session runs programs itself and was given no queue of the host's; "
            "give one, or record saved programs");
    return Session(std::make_shared<VulkanExecutor>(Device::adopt(host)));
}

std::string device_report() {
    std::string report;
    try {
        report = list_devices_with_rates(reference_rates() ? "" : default_cache_directory());
    } catch (const DeviceError& error) {
        report = std::string(error.what()) + "\n";
    }
    report += cpu_row();
    if (why_no_cpu_session().empty())
        report += "   " + rates_text(make_cpu_executor()->profile()) + "\n";
    return report;
}

SharedPtr<VulkanExecutor> executor_for_frames() {
    const std::string wanted = environment("FIRN_DEVICE").value_or("");
    const std::string first = wanted.substr(0, wanted.find(','));
    return make_vulkan_executor({.device = first == kCpuDevice ? "" : first}, false);
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
