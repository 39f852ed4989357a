// Sessions that run on a device, and the one that programs get by default.
#pragma once
#include <string>

#include "compiler/base/callback.h"
#include "compiler/frontend/session.h"
#include "compiler/program/device_profile.h"

namespace firn {

class VulkanExecutor;
struct HostDevice;

/// Chooses a device, and the features of it that are used.
struct DeviceChoice {
    /// Number or part of a name of a Vulkan device, or `cpu`, see device_report. `cpu` is the
    /// processor without a driver, see cpu_session(); the other fields are then as they are here,
    /// or UserError. Empty: FIRN_DEVICE, else the fastest kind of device that the machine has: a
    /// GPU, then the processor if LLVM's library is there and no other field is set, then a Vulkan
    /// driver for the CPU. FIRN_EXECUTOR=device leaves the processor out.
    std::string device;
    /// Leaves the processor out: where it would be chosen, the Vulkan driver for the CPU is.
    bool only_vulkan = false;
    /// Validation layers; FIRN_VALIDATION=1 turns them on too.
    bool validation = false;
    /// Fills new memory with nan (as an integer -4063295), so that elements that no kernel wrote
    /// are visible; FIRN_FILL_MEMORY=1 does it too.
    bool fill_memory = false;
    /// Changes the profile that the compiler sees, to have it compile for a device with fewer
    /// features or lower limits. Absent: the device's own profile, reduced as FIRN_LIMITS says.
    Callback<DeviceProfile(const DeviceProfile&)> limit;
};

/// A session on a device of its own, on which windows can be opened: those of the processor draw by
/// a Vulkan device, and need it then. Throws UserError (no such device: lists them; no LLVM for
/// `cpu`) or DeviceError (no loader, no driver).
///
/// Example: `auto work = [] { SessionScope scope(device_session({.device = "llvmpipe"})); };` works
/// on the CPU driver for as long as the scope lives.
Session device_session(const DeviceChoice& choice = {});

/// A session on a device that a host made (engine/gpu/host_device.h, behind the host's own Vulkan
/// headers), with a queue on which Firn may submit. It uses nothing that the host does not state,
/// waits for its own work alone, and opens no window. The handles outlive the session, and all
/// tensors of it. Throws UserError or DeviceError, see Device::adopt.
///
/// Example: `auto on_mine = [](const HostDevice& mine) { return host_session(mine); };` makes one.
Session host_session(const HostDevice& host);

/// Lists all devices of this machine as text: a line for each, and a line of its rates. The rates
/// are measured when a device is first used; until then they are those of its class. The last
/// device is the processor, `cpu`; where it or Vulkan cannot be used, the text says why, and which
/// package is missing.
///
/// Example: `auto list = [] { puts(device_report().c_str()); };` prints what there is.
std::string device_report();

/// Returns the validation layers' messages on the session's device so far, one a line. It is empty
/// if there are none, if the layers are off, and for sessions without a device.
///
/// Example: `validation_report(Session::oracle())` is `""`.
std::string validation_report(const Session& session);

/// @cond
/// The name of the processor among the devices.
inline constexpr const char* kCpuDevice = "cpu";
/// A Vulkan device that draws the frames of sessions that run without one. Throws DeviceError where
/// there is none.
SharedPtr<VulkanExecutor> executor_for_frames();
/// Makes default sessions run on the device. Including firn/firn.h calls it.
bool use_device_by_default();
namespace detail {
inline const bool kDeviceByDefault = use_device_by_default();
}
/// @endcond

}  // namespace firn
