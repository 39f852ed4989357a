// Sessions that run on a Vulkan device, and the one that programs get by default.
#pragma once
#include <string>

#include "compiler/frontend/session.h"
#include "compiler/program/callback.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Which device, and what of it is used.
struct DeviceChoice {
    /// Number or part of a name, see device_report; empty: FIRN_DEVICE, else the best there is.
    std::string device;
    /// Validation layers; FIRN_VALIDATION=1 turns them on too.
    bool validation = false;
    /// New memory is filled with nan (as an integer -4063295), so that elements that no kernel
    /// wrote show; FIRN_FILL_MEMORY=1 does it too.
    bool fill_memory = false;
    /// What the compiler is to know of the device, less than is true. Absent: everything, or what
    /// FIRN_LIMITS leaves.
    Callback<DeviceProfile(const DeviceProfile&)> limit;
};

/// A session on a device of its own, on which windows can be opened. Throws UserError (no such
/// device: lists them) or DeviceError (no loader, no driver).
///
/// Example: `auto work = [] { SessionScope scope(device_session({.device = "llvmpipe"})); };` works
/// on the CPU driver for as long as the scope lives.
Session device_session(const DeviceChoice& choice = {});

/// All devices of this machine, as text for a person: a line each, and a line of its rates. They
/// are measured when a device is first used, and those of its class before.
///
/// Example: `auto list = [] { puts(device_report().c_str()); };` prints what there is.
std::string device_report();

/// What the validation layers said of the session's device so far, one message a line; empty where
/// they are off or silent, and of sessions without a device.
///
/// Example: `validation_report(Session::oracle())` is `""`.
std::string validation_report(const Session& session);

/// @cond
/// Makes default sessions run on the device. Including firn/firn.h does it.
bool use_device_by_default();
namespace detail {
inline const bool kDeviceByDefault = use_device_by_default();
}
/// @endcond

}  // namespace firn
