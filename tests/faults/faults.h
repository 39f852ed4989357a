// Makes Vulkan calls and host allocations fail, one after the other, as the machine may at any
// moment.
#pragma once
#include <cstdint>
#include <set>
#include <string>

#include "engine/gpu/device.h"

namespace firn {

enum class Fault : uint8_t {
    OutOfMemory,  // of a Vulkan call: host and device memory alternately
    DeviceLost,   // of a Vulkan call that may say so
    Allocation,   // operator new while AllocationsFail lives, in its thread, outside of the driver
};

/// Makes the `nth` call of its kind from now on, counted from 1, fail. One at a time in a process.
void inject(Fault fault, int64_t nth);
/// The failure that was injected since: nothing if fewer calls were made.
struct Injected {
    bool fired = false;
    std::string call, result;  // of a Vulkan call
};
/// Calls that fail no more.
Injected end_injection();

/// Lets Vulkan calls of the process' devices that have these options fail, and lets the driver's
/// own allocations pass.
DeviceOptions with_faults(DeviceOptions options);

/// The names of all functions of tables that can fail.
std::set<std::string> wrapped_functions();

/// While it lives, allocations of this thread count and may fail.
class AllocationsFail {
  public:
    AllocationsFail();
    ~AllocationsFail();
    AllocationsFail(const AllocationsFail&) = delete;
    AllocationsFail& operator=(const AllocationsFail&) = delete;

  private:
    bool before_;
};

}  // namespace firn
