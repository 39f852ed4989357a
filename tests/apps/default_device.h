// Sessions and programs of a test on the device that a user gets who asks for none.
#pragma once
#include <cstdlib>
#include <string>

namespace firn {

/// Lets sessions that the test opens, and programs that it starts, take the default device while it
/// lives: a GPU, else native code, which compiles large programs in a half of the time of a Vulkan
/// driver for the CPU. FIRN_EXECUTOR from outside stands (tests/on_vulkan.cpp).
class OnDefaultDevice {
  public:
    OnDefaultDevice() {
        const char* set = std::getenv("FIRN_EXECUTOR");
        on_vulkan_ = set && std::string(set) == "device";
        if (on_vulkan_) unsetenv("FIRN_EXECUTOR");
    }
    ~OnDefaultDevice() {
        if (on_vulkan_) setenv("FIRN_EXECUTOR", "device", 1);
    }
    OnDefaultDevice(const OnDefaultDevice&) = delete;
    OnDefaultDevice& operator=(const OnDefaultDevice&) = delete;

  private:
    bool on_vulkan_ = false;
};

}  // namespace firn
