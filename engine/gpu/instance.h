// The Vulkan instance, its validation messages, and the list of devices.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/gpu/host_device.h"
#include "engine/gpu/vulkan.h"

namespace firn {

/// Tells whether windows can be opened on the instance.
enum class SurfaceSupport : uint8_t {
    None,         // headless
    IfAvailable,  // every surface extension that the loader offers, and the swapchain where there
                  // is one
    Required,     // it is an error if the device cannot present
};

struct InstanceOptions {
    SurfaceSupport surfaces = SurfaceSupport::None;
    /// More instance extensions that are required (by the window library).
    std::vector<std::string> extensions;
    /// The Khronos validation layer with synchronisation validation; messages are recorded.
    bool validation = false;
    /// Called with every validation message, from any thread and until the instance has ended.
    std::function<void(const std::string&)> on_message;
    /// Called with the functions before their first use: a test puts others in their place.
    std::function<void(InstanceTable&)> on_functions;
    /// See DeviceOptions::is_hosted.
    bool is_hosted = false;
};

/// Owns a VkInstance, or uses that of a host. Safe to read from several threads.
class Instance {
  public:
    /// Throws DeviceError: no Vulkan loader, no driver, an extension or the validation layer
    /// missing.
    explicit Instance(const InstanceOptions& options);
    /// Uses a host's instance. Throws UserError: a handle or the function by which all others are
    /// found is missing, or the version is below 1.2.
    explicit Instance(const HostDevice& host);
    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    VkInstance handle() const { return handle_; }
    const InstanceTable& functions() const { return functions_; }
    /// Loads any other instance function; null where it does not exist.
    PFN_vkVoidFunction function(const char* name) const;
    bool has_extension(const std::string& name) const;

    /// Messages of the validation layer so far (warnings and errors), oldest first, at most 1000.
    std::vector<std::string> validation_messages() const;
    void record_message(const std::string& message);

  private:
    Instance() = default;  // so that the destructor runs when the constructor throws midway
    void load_functions();
    void create_messenger();

    VkInstance handle_ = VK_NULL_HANDLE;
    PFN_vkGetInstanceProcAddr get_ = nullptr;
    bool belongs_to_host_ = false;
    InstanceTable functions_;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
    std::vector<std::string> extensions_;
    std::function<void(const std::string&)> on_message_;
    mutable std::mutex mutex_;
    std::vector<std::string> messages_;
};

/// A physical device, with the facts by which a person chooses it.
struct DeviceInfo {
    int number = 0;             // from 0, in the loader's order
    std::string name;           // `llvmpipe (LLVM 15.0.6, 256 bits)`
    std::string driver;         // `llvmpipe Mesa 22.3.6 (LLVM 15.0.6)`
    std::string kind;           // `discrete GPU`, `integrated GPU`, `virtual GPU`, `CPU`, `other`
    uint64_t memory_bytes = 0;  // the largest device-local heap
    std::string missing;        // why Firn cannot run on it; empty: it can
    VkPhysicalDevice handle = VK_NULL_HANDLE;
    VkPhysicalDeviceType type = VK_PHYSICAL_DEVICE_TYPE_OTHER;
};

/// A driver waits at the end of a process for its threads, which a child of fork() does not have:
/// such a child now ends before that, and before its parent's exit handlers. To be called once
/// after each thing that has a driver register handlers of its own, since the last runs first. It
/// does nothing, and returns false, where this code is in a shared library: that may be unloaded
/// before the process ends.
bool end_children_in_time();

/// The queue families of a physical device, in the driver's order.
std::vector<VkQueueFamilyProperties> queue_families(const InstanceTable& vk,
                                                    VkPhysicalDevice device);

/// All devices of an instance.
std::vector<DeviceInfo> list_devices(const Instance& instance);
/// A device of the instance by its handle. Throws UserError if it is none.
DeviceInfo describe_device(const Instance& instance, VkPhysicalDevice device);
/// Returns a device as a line of text for a person.
std::string text(const DeviceInfo& info);
/// All devices of this machine, as text for a person, one line each. Throws DeviceError where there
/// is no loader or no driver.
std::string list_devices();

/// The device that `wanted` names: empty (a discrete GPU before an integrated or virtual one before
/// a CPU), a number, or a part of the name in any case. Throws UserError that lists the devices
/// there are, and behind them what `others` gives: lines of devices that the caller has besides.
DeviceInfo choose_device(const std::vector<DeviceInfo>& devices, const std::string& wanted,
                         const std::function<std::string()>& others = {});

}  // namespace firn
