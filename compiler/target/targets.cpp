// The table of targets: a row for each, by the class of the device.
#include <algorithm>

#include "compiler/base/error.h"
#include "compiler/target/target.h"

namespace firn {

extern const Target kGlslTarget;    // glsl/target.cpp
extern const Target kNativeTarget;  // native/target.cpp

const Target& target_of(const DeviceProfile& profile) {
    switch (profile.device_class) {
        case DeviceClass::CpuDriver:
        case DeviceClass::Gpu: return kGlslTarget;
        case DeviceClass::Native: return kNativeTarget;
    }
    return kGlslTarget;
}

namespace {

/// Native code is last: what no other target knows is the name of a processor, or refused as none.
constexpr const Target* kTargets[] = {&kGlslTarget, &kNativeTarget};

}  // namespace

std::vector<std::string> default_devices(const DeviceProfile& own) {
    std::vector<std::string> words{kTargets[0]->devices};
    if (const Target& target = target_of(own); &target != kTargets[0])
        words.emplace_back(target.devices);
    return words;
}

DeviceProfile device_named(const std::string& name, const DeviceProfile& own) {
    for (const Target* target : kTargets)
        if (std::optional<DeviceProfile> found = target->device_named(name, own)) return *found;
    throw InternalError("the last target took the name '" + name + "' for another's");
}

uint32_t most_alignment() {
    uint32_t most = 1;
    for (const Target* target : kTargets) most = std::max(most, target->most_alignment);
    return most;
}

}  // namespace firn
