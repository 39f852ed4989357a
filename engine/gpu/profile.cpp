// Reads the compiler's profile of a physical device from the driver.
#include "engine/gpu/profile.h"

#include <algorithm>
#include <sstream>
#include <thread>

#include "compiler/base/disk_cache.h"
#include "engine/gpu/matrix_unit.h"

namespace firn {
namespace {

bool loads_texels(const InstanceTable& vk, VkPhysicalDevice device) {
    for (VkFormat format :
         {VK_FORMAT_R32_SFLOAT, VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_R32_SINT,
          VK_FORMAT_R32G32B32A32_SINT, VK_FORMAT_R32_UINT, VK_FORMAT_R32G32B32A32_UINT}) {
        VkFormatProperties properties;
        vk.vkGetPhysicalDeviceFormatProperties(device, format, &properties);
        if (!(properties.bufferFeatures & VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_BIT)) return false;
    }
    return true;
}

/// Rates of limits.md, which were measured on two cores, for the cores of this machine.
void scale_rates(DeviceProfile& profile) {
    unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    profile.operations_per_second *= cores / 2.0;
    profile.seconds_per_load *= 2.0 / cores;
    profile.bytes_per_second *=
        std::min(cores, 8u) / 2.0;  // cores share the memory, so more of them add no more
    profile.parallel_invocations = cores * profile.subgroup_size;
}

uint32_t clamp_count(uint64_t count) {
    return static_cast<uint32_t>(std::min<uint64_t>(count, 1u << 20));
}

}  // namespace

DeviceFeatures::DeviceFeatures(const InstanceTable& vk, VkPhysicalDevice device,
                               const DeviceExtensions& used)
    : has_subgroup_sizes(used.subgroup_sizes) {
    vulkan11.pNext = &vulkan12;
    core.pNext = &vulkan11;
    if (used.float_atomics) vulkan12.pNext = &float_atomics;
    if (has_subgroup_sizes) {
        subgroup_sizes.pNext = vulkan12.pNext;
        vulkan12.pNext = &subgroup_sizes;
    }
    if (used.matrices) {
        matrices.pNext = vulkan12.pNext;
        vulkan12.pNext = &matrices;
    }
    vk.vkGetPhysicalDeviceFeatures2(device, &core);
    keep_used();
}

void DeviceFeatures::keep_used() {
    const VkPhysicalDeviceFeatures all = core.features;
    core.features = {};
    core.features.robustBufferAccess = all.robustBufferAccess;
    core.features.shaderFloat64 = all.shaderFloat64;
    core.features.shaderInt64 = all.shaderInt64;
    core.features.shaderInt16 = all.shaderInt16;
    core.features.shaderStorageImageExtendedFormats = all.shaderStorageImageExtendedFormats;

    const VkPhysicalDeviceVulkan11Features all11 = vulkan11;
    vulkan11 = {all11.sType, all11.pNext};
    vulkan11.storageBuffer16BitAccess = all11.storageBuffer16BitAccess;

    const VkPhysicalDeviceVulkan12Features all12 = vulkan12;
    vulkan12 = {all12.sType, all12.pNext};
    vulkan12.storageBuffer8BitAccess = all12.storageBuffer8BitAccess;
    vulkan12.shaderFloat16 = all12.shaderFloat16;
    vulkan12.shaderInt8 = all12.shaderInt8;
    vulkan12.shaderSubgroupExtendedTypes = all12.shaderSubgroupExtendedTypes;
    vulkan12.bufferDeviceAddress = all12.bufferDeviceAddress;
    vulkan12.hostQueryReset = all12.hostQueryReset;
    vulkan12.timelineSemaphore = all12.timelineSemaphore;
    vulkan12.vulkanMemoryModel = all12.vulkanMemoryModel;
    vulkan12.vulkanMemoryModelDeviceScope = all12.vulkanMemoryModelDeviceScope;
    vulkan12.shaderBufferInt64Atomics = all12.shaderBufferInt64Atomics;
    vulkan12.shaderSharedInt64Atomics = all12.shaderSharedInt64Atomics;

    const auto all_sizes = subgroup_sizes;
    subgroup_sizes = {all_sizes.sType, all_sizes.pNext};
    subgroup_sizes.computeFullSubgroups = all_sizes.computeFullSubgroups;

    const auto all_matrices = matrices;
    matrices = {all_matrices.sType, all_matrices.pNext};
    matrices.cooperativeMatrix = all_matrices.cooperativeMatrix && vulkan12.vulkanMemoryModel &&
                                 vulkan12.shaderFloat16 && vulkan11.storageBuffer16BitAccess;

    const auto all_atomics = float_atomics;
    float_atomics = {all_atomics.sType, all_atomics.pNext};
    float_atomics.shaderBufferFloat32Atomics = all_atomics.shaderBufferFloat32Atomics;
    float_atomics.shaderBufferFloat32AtomicAdd = all_atomics.shaderBufferFloat32AtomicAdd;
    float_atomics.shaderSharedFloat32AtomicAdd = all_atomics.shaderSharedFloat32AtomicAdd;
}

namespace {

/// The structs by which a host states features, each once in a chain.
template <class Struct>
const Struct* find_struct(const void* chain, VkStructureType type) {
    for (auto* at = static_cast<const VkBaseInStructure*>(chain); at; at = at->pNext)
        if (at->sType == type) return reinterpret_cast<const Struct*>(at);
    return nullptr;
}

}  // namespace

DeviceFeatures::DeviceFeatures(const InstanceTable& vk, VkPhysicalDevice device,
                               const HostDevice& host) {
    const void* chain = host.features;
    const DeviceExtensions stated = extensions_among(host.extensions);
    if (host.core_features) core.features = *host.core_features;
#define FIRN_FIND(type, id) \
    find_struct<VkPhysicalDevice##type>(chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##id)
    if (const auto* all = FIRN_FIND(Features2, FEATURES_2)) core.features = all->features;
    if (const auto* all = FIRN_FIND(Vulkan11Features, VULKAN_1_1_FEATURES))
        vulkan11.storageBuffer16BitAccess = all->storageBuffer16BitAccess;
    if (const auto* all = FIRN_FIND(Vulkan12Features, VULKAN_1_2_FEATURES)) {
        vulkan12 = *all;
        vulkan12.pNext = nullptr;
    }
    // What Vulkan 1.2 has as one struct was a struct for each extension before.
    if (const auto* old = FIRN_FIND(16BitStorageFeatures, 16BIT_STORAGE_FEATURES))
        vulkan11.storageBuffer16BitAccess |= old->storageBuffer16BitAccess;
    if (const auto* old = FIRN_FIND(8BitStorageFeatures, 8BIT_STORAGE_FEATURES))
        vulkan12.storageBuffer8BitAccess |= old->storageBuffer8BitAccess;
    if (const auto* old = FIRN_FIND(ShaderFloat16Int8Features, SHADER_FLOAT16_INT8_FEATURES)) {
        vulkan12.shaderFloat16 |= old->shaderFloat16;
        vulkan12.shaderInt8 |= old->shaderInt8;
    }
    if (const auto* old =
            FIRN_FIND(ShaderSubgroupExtendedTypesFeatures, SHADER_SUBGROUP_EXTENDED_TYPES_FEATURES))
        vulkan12.shaderSubgroupExtendedTypes |= old->shaderSubgroupExtendedTypes;
    if (const auto* old = FIRN_FIND(BufferDeviceAddressFeatures, BUFFER_DEVICE_ADDRESS_FEATURES))
        vulkan12.bufferDeviceAddress |= old->bufferDeviceAddress;
    if (const auto* old = FIRN_FIND(TimelineSemaphoreFeatures, TIMELINE_SEMAPHORE_FEATURES))
        vulkan12.timelineSemaphore |= old->timelineSemaphore;
    if (const auto* old = FIRN_FIND(VulkanMemoryModelFeatures, VULKAN_MEMORY_MODEL_FEATURES)) {
        vulkan12.vulkanMemoryModel |= old->vulkanMemoryModel;
        vulkan12.vulkanMemoryModelDeviceScope |= old->vulkanMemoryModelDeviceScope;
    }
    if (const auto* old = FIRN_FIND(ShaderAtomicInt64Features, SHADER_ATOMIC_INT64_FEATURES)) {
        vulkan12.shaderBufferInt64Atomics |= old->shaderBufferInt64Atomics;
        vulkan12.shaderSharedInt64Atomics |= old->shaderSharedInt64Atomics;
    }
    if (const auto* all = FIRN_FIND(ShaderAtomicFloatFeaturesEXT, SHADER_ATOMIC_FLOAT_FEATURES_EXT);
        all && stated.float_atomics)
        float_atomics = *all;
    if (const auto* all = FIRN_FIND(CooperativeMatrixFeaturesNV, COOPERATIVE_MATRIX_FEATURES_NV);
        all && stated.matrices)
        matrices = *all;
    const auto* sizes = FIRN_FIND(SubgroupSizeControlFeatures, SUBGROUP_SIZE_CONTROL_FEATURES);
    if (sizes && (host.api_version >= VK_API_VERSION_1_3 || stated.subgroup_sizes))
        subgroup_sizes = *sizes;
    if (const auto* all = FIRN_FIND(Vulkan13Features, VULKAN_1_3_FEATURES)) {
        subgroup_sizes.subgroupSizeControl |= all->subgroupSizeControl;
        subgroup_sizes.computeFullSubgroups |= all->computeFullSubgroups;
    }
#undef FIRN_FIND
    has_subgroup_sizes = extensions_among(names_of_extensions(vk, device)).subgroup_sizes;
    keep_used();
}

namespace {

/// Every subgroup of a kernel has the size in the profile, which shuffles rely on.
bool has_full_subgroups(const InstanceTable& vk, VkPhysicalDevice device,
                        const DeviceFeatures& features) {
    if (!features.has_subgroup_sizes) return false;
    if (features.subgroup_sizes.computeFullSubgroups) return true;
    VkPhysicalDeviceSubgroupSizeControlPropertiesEXT sizes{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &sizes};
    vk.vkGetPhysicalDeviceProperties2(device, &properties);
    return sizes.minSubgroupSize == sizes.maxSubgroupSize;
}

}  // namespace

DeviceProfile query_profile(const InstanceTable& vk, const DeviceInfo& info,
                            const DeviceFeatures& features) {
    VkPhysicalDeviceFloatControlsProperties floats{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES};
    VkPhysicalDeviceVulkan11Properties vulkan11{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES, &floats};
    VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                           &vulkan11};
    vk.vkGetPhysicalDeviceProperties2(info.handle, &properties);
    const VkPhysicalDeviceLimits& limits = properties.properties.limits;

    bool cpu = info.type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    DeviceProfile profile = cpu ? cpu_profile() : gpu_profile();
    profile.name = info.name;
    profile.driver = cache_hash(driver_key(vk, info.handle));
    profile.device_class = cpu ? DeviceClass::CpuDriver : DeviceClass::Gpu;
    profile.subgroup_size = vulkan11.subgroupSize;
    profile.max_group_size = limits.maxComputeWorkGroupInvocations;
    for (int i = 0; i < 3; ++i) {
        profile.max_group_extent[i] = limits.maxComputeWorkGroupSize[i];
        profile.max_groups[i] = limits.maxComputeWorkGroupCount[i];
    }
    profile.shared_bytes = limits.maxComputeSharedMemorySize;
    profile.push_constant_bytes = limits.maxPushConstantsSize;
    profile.max_storage_buffers = clamp_count(std::min(limits.maxPerStageDescriptorStorageBuffers,
                                                       limits.maxDescriptorSetStorageBuffers));
    profile.max_views = clamp_count(
        std::min(limits.maxPerStageDescriptorStorageImages, limits.maxDescriptorSetStorageImages));
    // Both kinds together, and the buffer of parameters.
    profile.max_storage_buffers =
        std::min(profile.max_storage_buffers, limits.maxPerStageResources / 2);
    profile.max_views =
        std::min(profile.max_views, limits.maxPerStageResources - profile.max_storage_buffers - 1);
    profile.max_storage_range = limits.maxStorageBufferRange;
    profile.max_view_elements = limits.maxTexelBufferElements;
    profile.buffer_alignment = static_cast<uint32_t>(std::max<uint64_t>(
        {64, limits.minStorageBufferOffsetAlignment, limits.minTexelBufferOffsetAlignment}));
    profile.view_loads = loads_texels(vk, info.handle);
    profile.buffer_addresses = features.vulkan12.bufferDeviceAddress;
    profile.storage_8bit =
        features.vulkan12.storageBuffer8BitAccess && features.vulkan12.shaderInt8;
    profile.storage_16bit =
        features.vulkan11.storageBuffer16BitAccess && features.vulkan12.shaderFloat16;
    profile.has_f64 = features.core.features.shaderFloat64;
    profile.has_i64 = features.core.features.shaderInt64;
    profile.subgroup_shuffle =
        (vulkan11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
        (vulkan11.subgroupSupportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) &&
        has_full_subgroups(vk, info.handle, features);
    profile.float_atomic_add = features.float_atomics.shaderBufferFloat32AtomicAdd &&
                               features.float_atomics.shaderSharedFloat32AtomicAdd;
    profile.wide_atomics = profile.has_i64 && features.vulkan12.shaderBufferInt64Atomics &&
                           features.vulkan12.shaderSharedInt64Atomics;
    profile.keeps_special_floats =
        floats.shaderSignedZeroInfNanPreserveFloat32 &&
        (!profile.has_f64 || floats.shaderSignedZeroInfNanPreserveFloat64);
    profile.matrix_unit = query_matrix_unit(vk, info.handle, features);
    if (cpu) scale_rates(profile);
    return profile;
}

std::string driver_key(const InstanceTable& vk, VkPhysicalDevice device) {
    VkPhysicalDeviceIDProperties id{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceDriverProperties driver{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
                                            &id};
    VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &driver};
    vk.vkGetPhysicalDeviceProperties2(device, &properties);
    const VkPhysicalDeviceProperties& core = properties.properties;
    std::ostringstream key;
    key << core.deviceName << '\n'
        << core.vendorID << ' ' << core.deviceID << ' ' << core.driverVersion << ' '
        << core.apiVersion << '\n'
        << driver.driverName << ' ' << driver.driverInfo << '\n';
    auto add = [&](const uint8_t* uuid) {
        for (size_t i = 0; i < VK_UUID_SIZE; ++i) key << static_cast<int>(uuid[i]) << ' ';
    };
    add(id.deviceUUID);
    add(id.driverUUID);
    add(core.pipelineCacheUUID);
    return key.str();
}

}  // namespace firn
