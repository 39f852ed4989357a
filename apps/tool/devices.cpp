// The devices on which the tool runs a saved program.
#include "apps/tool/devices.h"

#include <cstdlib>

#include "apps/tool/saved_file.h"
#include "compiler/base/error.h"
#include "compiler/host/native_executor.h"
#include "engine/runtime/open_executor.h"

namespace firn::tool {
namespace {

constexpr const char* kCpuDevice = "cpu";

bool has_form(const SavedProgram& saved, bool native) {
    for (const Form& form : forms_of(saved))
        if (is_native(*form.program) == native) return true;
    return false;
}

bool runs_some_form(const SavedProgram& saved, const Executor& executor) {
    for (const Form& form : forms_of(saved))
        if (executor.why_cannot_run(*form.program).empty()) return true;
    return false;
}

std::string wanted_device(const std::string& wanted) {
    if (!wanted.empty()) return wanted;
    const char* set = std::getenv("FIRN_DEVICE");
    return set ? set : "";
}

std::shared_ptr<Executor> open_named(const std::string& name) {
    if (name == kCpuDevice) return open_native_executor();
    return open_executor({.device = name});
}

}  // namespace

std::shared_ptr<Executor> open_device(const SavedProgram& saved, const std::string& wanted) {
    if (const std::string name = wanted_device(wanted); !name.empty()) return open_named(name);
    std::shared_ptr<Executor> native;
    if (has_form(saved, true)) native = open_native_executor();
    const bool native_runs = native && runs_some_form(saved, *native);
    if (!has_form(saved, false)) return native;
    try {
        std::shared_ptr<Executor> vulkan = open_executor();
        const bool on_gpu = vulkan->profile().device_class == DeviceClass::Gpu;
        return native_runs && (!on_gpu || !runs_some_form(saved, *vulkan)) ? native : vulkan;
    } catch (const DeviceError&) {
        if (!native_runs) throw;
        return native;
    }
}

std::vector<TriedDevice> try_devices(const SavedProgram& saved, const std::string& wanted) {
    const std::string name = wanted_device(wanted);
    if (!name.empty())
        return {{name == kCpuDevice ? "native code" : "Vulkan", open_named(name), ""}};
    std::vector<TriedDevice> out;
    if (has_form(saved, false)) {
        out.push_back({"Vulkan", nullptr, ""});
        try {
            out.back().executor = open_executor();
        } catch (const DeviceError& error) {
            out.back().why_not = error.what();
        }
    }
    if (has_form(saved, true)) out.push_back({"native code", open_native_executor(), ""});
    return out;
}

std::string device_name(const Executor& executor) {
    const DeviceProfile& profile = executor.profile();
    return (profile.device_class == DeviceClass::Native ? "" : "Vulkan device ") + profile.name;
}

}  // namespace firn::tool
