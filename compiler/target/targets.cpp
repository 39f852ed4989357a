// The table of targets: a row for each, by the class of the device.
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

}  // namespace firn
