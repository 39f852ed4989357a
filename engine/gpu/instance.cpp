// The Vulkan instance, its validation messages, and the list of devices.
#include "engine/gpu/instance.h"

#include <dlfcn.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "compiler/base/own_process.h"

namespace firn {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";
constexpr size_t kMaxMessages = 1000;
/// The surface of every window system that the engine may meet.
constexpr const char* kSurfaceExtensions[] = {"VK_KHR_surface",         "VK_KHR_xcb_surface",
                                              "VK_KHR_xlib_surface",    "VK_KHR_wayland_surface",
                                              "VK_KHR_win32_surface",   "VK_EXT_metal_surface",
                                              "VK_EXT_headless_surface"};

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                          VkDebugUtilsMessageTypeFlagsEXT,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data,
                                          void* instance) {
    static_cast<Instance*>(instance)->record_message(data->pMessage ? data->pMessage : "");
    return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info(Instance* instance) {
    VkDebugUtilsMessengerCreateInfoEXT info{
        VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
    info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    // The type `general` is left out: it has the loader's remarks about other drivers.
    info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
    info.pfnUserCallback = on_message;
    info.pUserData = instance;
    return info;
}

/// Keeps an unused bare instance for ever: with the last instance the loader unloads all drivers,
/// which takes ten times as long as an instance, and NVIDIA's fails to load again after 30 times.
void keep_drivers_loaded() {
    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    info.pApplicationInfo = &application;
    VkInstance stays = VK_NULL_HANDLE;
    vkCreateInstance(&info, nullptr, &stays);  // a failure only loses time
}

/// Loads the loader. volk keeps its entry points in globals that never change after this.
void initialize_loader(bool is_hosted) {
    static std::once_flag once, keeps;
    static VkResult result = VK_SUCCESS;
    std::call_once(once, [] { result = volkInitialize(); });
    if (result == VK_SUCCESS && !is_hosted) std::call_once(keeps, keep_drivers_loaded);
    if (result != VK_SUCCESS)
        throw DeviceError(
            "Vulkan: no loader was found (libvulkan.so.1), so no device can be used; install it "
            "and a driver (Debian: apt install libvulkan1 mesa-vulkan-drivers)");
    if (volkGetInstanceVersion() < VK_API_VERSION_1_2)
        throw DeviceError(
            "Vulkan: the loader is older than Vulkan 1.2, which Firn needs; install a newer one "
            "(Debian: apt install libvulkan1)");
}

/// volkLoadDeviceTable uses the global vkGetDeviceProcAddr. It is the loader's own function, the
/// same for every instance, so it is set once and never changes.
void set_device_loader(VkInstance instance) {
    static std::once_flag once;
    std::call_once(once, [&] {
        vkGetDeviceProcAddr = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
            vkGetInstanceProcAddr(instance, "vkGetDeviceProcAddr"));
    });
}

std::vector<std::string> available_extensions(const char* layer) {
    uint32_t count = 0;
    constexpr const char* kCall = "vkEnumerateInstanceExtensionProperties";
    check(vkEnumerateInstanceExtensionProperties(layer, &count, nullptr), kCall,
          layer ? layer : "Vulkan");
    std::vector<VkExtensionProperties> found(count);
    check(vkEnumerateInstanceExtensionProperties(layer, &count, found.data()), kCall,
          layer ? layer : "Vulkan");
    std::vector<std::string> names;
    for (uint32_t i = 0; i < count; ++i) names.push_back(found[i].extensionName);
    return names;
}

bool layer_available(const char* name) {
    uint32_t count = 0;
    check(vkEnumerateInstanceLayerProperties(&count, nullptr), "vkEnumerateInstanceLayerProperties",
          name);
    std::vector<VkLayerProperties> layers(count);
    check(vkEnumerateInstanceLayerProperties(&count, layers.data()),
          "vkEnumerateInstanceLayerProperties", name);
    return std::any_of(layers.begin(), layers.begin() + count,
                       [&](const auto& layer) { return !std::strcmp(layer.layerName, name); });
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns the extensions to enable: the requested ones, and those that are available and useful.
std::vector<std::string> wanted_extensions(const InstanceOptions& options) {
    std::vector<std::string> available = available_extensions(nullptr);
    if (options.validation)
        for (std::string& name : available_extensions(kValidationLayer))
            available.push_back(std::move(name));
    std::vector<std::string> wanted;
    auto add = [&](const std::string& name) {
        if (contains(available, name) && !contains(wanted, name)) wanted.push_back(name);
    };
    for (const std::string& name : options.extensions) {
        if (!contains(available, name))
            throw DeviceError("Vulkan: the instance extension " + name +
                              " was asked for (a window needs it) and no driver here has it; "
                              "install a driver that can present, or run headless");
        add(name);
    }
    add("VK_EXT_debug_utils");
    add("VK_KHR_portability_enumeration");
    if (options.validation) add("VK_EXT_validation_features");
    // No Wayland compositor can be reached without this directory, and Mesa reports that on stderr.
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    bool wayland = runtime && *runtime;
    if (options.surfaces != SurfaceSupport::None)
        for (const std::string name : kSurfaceExtensions)
            if (wayland || name != "VK_KHR_wayland_surface") add(name);
    if (options.surfaces == SurfaceSupport::Required && !contains(wanted, "VK_KHR_surface"))
        throw DeviceError(
            "Vulkan: no driver here can present to a window (VK_KHR_surface is missing); "
            "install one that can, or run headless");
    return wanted;
}

[[noreturn]] void throw_no_instance(VkResult result) {
    if (result != VK_ERROR_INCOMPATIBLE_DRIVER)
        check(result, "vkCreateInstance", "the Vulkan instance");
    std::string message =
        "Vulkan: no driver was found, so there is no device to run on; install one "
        "(Debian: apt install mesa-vulkan-drivers gives one that runs on the CPU)";
    for (const char* name : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"})
        if (const char* value = std::getenv(name))
            message +=
                std::string("; ") + name + " is set to '" + value + "' and limits the search";
    throw DeviceError(message);
}

std::string kind_name(VkPhysicalDeviceType type) {
    switch (type) {
        case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return "discrete GPU";
        case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return "integrated GPU";
        case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return "virtual GPU";
        case VK_PHYSICAL_DEVICE_TYPE_CPU: return "CPU";
        default: return "other";
    }
}

/// Returns why Firn cannot run on a device; empty: it can.
std::string missing_on(const InstanceTable& vk, VkPhysicalDevice device, uint32_t api_version) {
    if (api_version < VK_API_VERSION_1_2)
        return "it has Vulkan " + std::to_string(VK_API_VERSION_MAJOR(api_version)) + "." +
               std::to_string(VK_API_VERSION_MINOR(api_version)) + ", and 1.2 is needed";
    VkPhysicalDeviceVulkan12Features vulkan12{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &vulkan12};
    vk.vkGetPhysicalDeviceFeatures2(device, &features);
    if (!vulkan12.timelineSemaphore) return "it has no timeline semaphores";
    const std::vector<VkQueueFamilyProperties> families = queue_families(vk, device);
    bool computes = std::any_of(families.begin(), families.end(),
                                [](const auto& f) { return f.queueFlags & VK_QUEUE_COMPUTE_BIT; });
    return computes ? "" : "it has no compute queue";
}

DeviceInfo describe(const InstanceTable& vk, VkPhysicalDevice device, int number) {
    VkPhysicalDeviceDriverProperties driver{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    vk.vkGetPhysicalDeviceProperties2(device, &properties);
    uint32_t api_version = properties.properties.apiVersion;
    if (api_version >= VK_API_VERSION_1_2) {
        properties.pNext = &driver;
        vk.vkGetPhysicalDeviceProperties2(device, &properties);
    }
    VkPhysicalDeviceMemoryProperties memory;
    vk.vkGetPhysicalDeviceMemoryProperties(device, &memory);
    DeviceInfo info;
    info.number = number;
    info.name = properties.properties.deviceName;
    info.driver = std::string(driver.driverName) + " " + driver.driverInfo;
    info.kind = kind_name(properties.properties.deviceType);
    info.type = properties.properties.deviceType;
    info.handle = device;
    for (uint32_t i = 0; i < memory.memoryHeapCount; ++i)
        if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
            info.memory_bytes = std::max<uint64_t>(info.memory_bytes, memory.memoryHeaps[i].size);
    info.missing = missing_on(vk, device, api_version);
    return info;
}

std::string text(const std::vector<DeviceInfo>& devices) {
    std::string out;
    for (const DeviceInfo& info : devices) out += text(info) + "\n";
    return out;
}

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

/// Smaller is better.
int rank(const DeviceInfo& info) {
    switch (info.type) {
        case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return 0;
        case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return 1;
        case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return 2;
        case VK_PHYSICAL_DEVICE_TYPE_CPU: return 4;
        default: return 3;
    }
}

}  // namespace

Instance::Instance(const InstanceOptions& options) : Instance() {
    on_message_ = options.on_message;
    initialize_loader(options.is_hosted);
    if (options.validation && !layer_available(kValidationLayer))
        throw DeviceError("Vulkan: validation was asked for and the layer " +
                          std::string(kValidationLayer) +
                          " is not installed (Debian: apt install vulkan-validationlayers)");
    extensions_ = wanted_extensions(options);
    std::vector<const char*> names;
    for (const std::string& name : extensions_) names.push_back(name.c_str());

    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.pApplicationName = "firn";
    application.pEngineName = "firn";
    application.apiVersion = VK_API_VERSION_1_2;
    VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info(this);
    VkValidationFeatureEnableEXT enables[] = {
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    VkValidationFeaturesEXT validation{VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT, &messenger};
    validation.enabledValidationFeatureCount = 1;
    validation.pEnabledValidationFeatures = enables;
    VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    if (options.validation) {
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = &kValidationLayer;
        info.pNext = has_extension("VK_EXT_validation_features") ? static_cast<void*>(&validation)
                                                                 : &messenger;
    }
    if (has_extension("VK_KHR_portability_enumeration"))
        info.flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    info.pApplicationInfo = &application;
    info.enabledExtensionCount = static_cast<uint32_t>(names.size());
    info.ppEnabledExtensionNames = names.data();
    VkResult result = vkCreateInstance(&info, nullptr, &handle_);
    if (result != VK_SUCCESS) throw_no_instance(result);
    get_ = vkGetInstanceProcAddr;
    set_device_loader(handle_);
    load_functions();
    if (options.on_functions) options.on_functions(functions_);
    if (options.validation) create_messenger();
}

Instance::Instance(const HostDevice& host) : Instance() {
    const auto require = [](bool is_there, const char* what) {
        if (!is_there)
            throw UserError(std::string("the host's ") + what +
                            " is missing; Firn needs instance, physical device, device and the "
                            "loader's vkGetInstanceProcAddr");
    };
    require(host.instance, "VkInstance");
    require(host.physical, "VkPhysicalDevice");
    require(host.device, "VkDevice");
    require(host.get_instance_proc_addr, "vkGetInstanceProcAddr");
    if (host.api_version < VK_API_VERSION_1_2)
        throw UserError("the host's instance was made for Vulkan " +
                        std::to_string(VK_API_VERSION_MAJOR(host.api_version)) + "." +
                        std::to_string(VK_API_VERSION_MINOR(host.api_version)) +
                        ", and Firn's kernels need 1.2; set VkApplicationInfo::apiVersion");
    handle_ = host.instance;
    get_ = host.get_instance_proc_addr;
    belongs_to_host_ = true;
    extensions_ = host.instance_extensions;
    load_functions();
}

Instance::~Instance() {
    if (belongs_to_host_) return;
    if (messenger_) functions_.vkDestroyDebugUtilsMessengerEXT(handle_, messenger_, nullptr);
    if (handle_ && functions_.vkDestroyInstance) functions_.vkDestroyInstance(handle_, nullptr);
}

/// A host's instance has those of its extensions alone, whatever the loader returns for a name.
void Instance::load_functions() {
#define FIRN_LOAD(name) functions_.name = reinterpret_cast<PFN_##name>(function(#name));
    FIRN_INSTANCE_FUNCTIONS(FIRN_LOAD)
    if (!belongs_to_host_ || has_extension("VK_EXT_debug_utils")) {
        FIRN_INSTANCE_EXTENSION_FUNCTIONS(FIRN_LOAD)
    }
#undef FIRN_LOAD
#define FIRN_REQUIRE(name) \
    ensure(functions_.name != nullptr, "the Vulkan loader has no function " #name);
    FIRN_INSTANCE_FUNCTIONS(FIRN_REQUIRE)
#undef FIRN_REQUIRE
}

void Instance::create_messenger() {
    if (!functions_.vkCreateDebugUtilsMessengerEXT)
        throw DeviceError(
            "Vulkan: validation was asked for and VK_EXT_debug_utils, which reports its "
            "messages, is missing; install a newer Vulkan loader");
    VkDebugUtilsMessengerCreateInfoEXT info = messenger_info(this);
    check(functions_.vkCreateDebugUtilsMessengerEXT(handle_, &info, nullptr, &messenger_),
          "vkCreateDebugUtilsMessengerEXT", "the validation messages");
}

PFN_vkVoidFunction Instance::function(const char* name) const { return get_(handle_, name); }

bool Instance::has_extension(const std::string& name) const { return contains(extensions_, name); }

std::vector<std::string> Instance::validation_messages() const {
    std::lock_guard lock(mutex_);
    return messages_;
}

void Instance::record_message(const std::string& message) {
    std::lock_guard lock(mutex_);
    if (messages_.size() < kMaxMessages) messages_.push_back(message);
    if (on_message_) on_message_(message);
}

namespace {

/// Returns whether this code is part of the program, not of a shared library, which may be unloaded
/// before the process ends.
bool is_part_of_the_program() {
    Dl_info here{}, program{};
    return dladdr(reinterpret_cast<const void*>(&is_part_of_the_program), &here) != 0 &&
           dladdr(reinterpret_cast<const void*>(getauxval(AT_ENTRY)), &program) != 0 &&
           here.dli_fbase == program.dli_fbase;
}

}  // namespace

bool end_children_in_time() {
    if (!is_part_of_the_program()) return false;
    static const OwnProcess opened_one;
    return on_exit(
               [](int status, void*) {
                   if (opened_one.is_here()) return;
                   std::fflush(nullptr);
                   _exit(status);
               },
               nullptr) == 0;
}

namespace {

std::vector<VkPhysicalDevice> physical_devices(const Instance& instance) {
    const InstanceTable& vk = instance.functions();
    uint32_t count = 0;
    VkResult result = vk.vkEnumeratePhysicalDevices(instance.handle(), &count, nullptr);
    std::vector<VkPhysicalDevice> handles(count);
    if (result == VK_SUCCESS && count > 0)
        result = vk.vkEnumeratePhysicalDevices(instance.handle(), &count, handles.data());
    if (result == VK_ERROR_INITIALIZATION_FAILED || (result == VK_SUCCESS && count == 0))
        throw_no_instance(VK_ERROR_INCOMPATIBLE_DRIVER);
    if (result != VK_INCOMPLETE) check(result, "vkEnumeratePhysicalDevices", "the Vulkan instance");
    handles.resize(count);
    return handles;
}

}  // namespace

DeviceInfo describe_device(const Instance& instance, VkPhysicalDevice device) {
    const std::vector<VkPhysicalDevice> all = physical_devices(instance);
    const auto at = std::find(all.begin(), all.end(), device);
    if (at == all.end())
        throw UserError(
            "the host's VkPhysicalDevice is none of its instance; give handles of one instance");
    return describe(instance.functions(), device, static_cast<int>(at - all.begin()));
}

std::vector<VkQueueFamilyProperties> queue_families(const InstanceTable& vk,
                                                    VkPhysicalDevice device) {
    uint32_t count = 0;
    vk.vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vk.vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
    families.resize(count);
    return families;
}

std::vector<DeviceInfo> list_devices(const Instance& instance) {
    std::vector<DeviceInfo> devices;
    for (VkPhysicalDevice handle : physical_devices(instance))
        devices.push_back(describe(instance.functions(), handle, static_cast<int>(devices.size())));
    static const bool ends_children = end_children_in_time();
    (void)ends_children;
    return devices;
}

std::string text(const DeviceInfo& info) {
    std::ostringstream out;
    out << info.number << "  " << info.name << "  (" << info.kind << ", "
        << (info.memory_bytes >> 20) << " MiB, " << info.driver << ")";
    if (!info.missing.empty()) out << "  cannot be used: " << info.missing;
    return out.str();
}

std::string list_devices() {
    Instance instance(InstanceOptions{});
    return text(list_devices(instance));
}

DeviceInfo choose_device(const std::vector<DeviceInfo>& devices, const std::string& wanted,
                         const std::function<std::string()>& others) {
    const DeviceInfo* best = nullptr;
    int number = -1;
    auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
    bool by_number =
        error == std::errc() && end == wanted.data() + wanted.size() && !wanted.empty();
    for (const DeviceInfo& info : devices) {
        bool named = by_number ? info.number == number
                               : lower(info.name).find(lower(wanted)) != std::string::npos;
        if (!named) continue;
        bool better = !best || (best->missing.empty() ? 0 : 1) > (info.missing.empty() ? 0 : 1) ||
                      (best->missing.empty() == info.missing.empty() && rank(info) < rank(*best));
        if (better) best = &info;
    }
    const auto all = [&] { return text(devices) + (others ? others() : ""); };
    if (!best)
        throw UserError("device '" + wanted +
                        "' does not exist; choose one of these by its number or a "
                        "part of its name:\n" +
                        all());
    if (!best->missing.empty())
        throw UserError("device '" + best->name + "' cannot be used: " + best->missing +
                        "; the devices here are:\n" + all());
    return *best;
}

}  // namespace firn
