// Sessions that run on a Vulkan device, and the one that programs get by default.
#pragma once
#include <string>

#include "compiler/base/callback.h"
#include "compiler/frontend/session.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Chooses a device, and the features of it that are used.
struct DeviceChoice {
    /// Number or part of a name, see device_report. Empty: FIRN_DEVICE, else the fastest kind of
    /// device that the machine has.
    std::string device;
    /// Validation layers; FIRN_VALIDATION=1 turns them on too.
    bool validation = false;
    /// Fills new memory with nan (as an integer -4063295), so that elements that no kernel wrote
    /// are visible; FIRN_FILL_MEMORY=1 does it too.
    bool fill_memory = false;
    /// Changes the profile that the compiler sees, to have it compile for a device with fewer
    /// features or lower limits. Absent: the device's own profile, reduced as FIRN_LIMITS says.
    Callback<DeviceProfile(const DeviceProfile&)> limit;
};

/// A session on a device of its own, on which windows can be opened. Throws UserError (no such
/// device: lists them) or DeviceError (no loader, no driver).
///
/// Example: `auto work = [] { SessionScope scope(device_session({.device = "llvmpipe"})); };` works
/// on the CPU driver for as long as the scope lives.
Session device_session(const DeviceChoice& choice = {});

/// Lists all devices of this machine as text: a line for each, and a line of its rates. The rates
/// are measured when a device is first used; until then they are those of its class.
///
/// Example: `auto list = [] { puts(device_report().c_str()); };` prints what there is.
std::string device_report();

/// Returns the validation layers' messages on the session's device so far, one a line. It is empty
/// if there are none, if the layers are off, and for sessions without a device.
///
/// Example: `validation_report(Session::oracle())` is `""`.
std::string validation_report(const Session& session);

/// @cond
/// Makes default sessions run on the device. Including firn/firn.h calls it.
bool use_device_by_default();
namespace detail {
inline const bool kDeviceByDefault = use_device_by_default();
}
/// @endcond

}  // namespace firn
