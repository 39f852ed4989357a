// Tells what a device must have for programs, before the device is made.
#include <algorithm>
#include <optional>

#include "engine/c/handles.h"
#include "engine/gpu/module_needs.h"

namespace firn::c {
namespace {

/// Returns whether a kernel needs something of a device: a row is told for programs with such a
/// kernel.
using KernelNeeds = bool (*)(const KernelInfo&, const DeviceNeeds&);

struct Row {
    int32_t kind;
    const char *structure, *name, *reason;
    KernelNeeds is_needed;     // null: of the runtime, by every program
    bool is_replaced = false;  // another way is there where a device lacks it
};

constexpr const char* kCore = "VkPhysicalDeviceFeatures";
constexpr const char* k11 = "VkPhysicalDeviceVulkan11Features";
constexpr const char* k12 = "VkPhysicalDeviceVulkan12Features";
constexpr int32_t kFeature = FIRN_REQUIREMENT_FEATURE, kExtension = FIRN_REQUIREMENT_EXTENSION;

constexpr KernelNeeds kF64 = [](const KernelInfo&, const DeviceNeeds& needs) { return needs.f64; };
constexpr KernelNeeds kI64 = [](const KernelInfo&, const DeviceNeeds& needs) { return needs.i64; };
constexpr KernelNeeds k16 = [](const KernelInfo&, const DeviceNeeds& needs) {
    return needs.bits_16;
};
constexpr KernelNeeds k8 = [](const KernelInfo&, const DeviceNeeds& needs) { return needs.bits_8; };
constexpr KernelNeeds kWide = [](const KernelInfo&, const DeviceNeeds& needs) {
    return needs.wide_atomics;
};
constexpr KernelNeeds kFloats = [](const KernelInfo&, const DeviceNeeds& needs) {
    return needs.float_atomics;
};
constexpr KernelNeeds kAddresses = [](const KernelInfo&, const DeviceNeeds& needs) {
    return needs.addresses;
};
constexpr KernelNeeds kSubgroups = [](const KernelInfo&, const DeviceNeeds& needs) {
    return needs.subgroups;
};
constexpr KernelNeeds kMatrices = [](const KernelInfo& kernel, const DeviceNeeds&) {
    return static_cast<bool>(kernel.matrix_unit);
};

constexpr Row kRows[] = {
    {FIRN_REQUIREMENT_VERSION, nullptr, nullptr, "kernels are SPIR-V of Vulkan 1.2", nullptr},
    {kFeature, k12, "timelineSemaphore",
     "one semaphore tells when Firn's submissions end, in place of a fence for each", nullptr,
     true},
    {kExtension, nullptr, "VK_EXT_memory_budget", "messages about full memory say how much is free",
     nullptr, true},
    {kFeature, kCore, "shaderFloat64", "floats of 64 bits", kF64},
    {kFeature, kCore, "shaderInt64", "integers of 64 bits", kI64},
    {kFeature, kCore, "shaderInt16", "elements of 16 bits", k16},
    {kFeature, k11, "storageBuffer16BitAccess", "elements of 16 bits", k16},
    {kFeature, k12, "shaderFloat16", "elements of 16 bits", k16},
    {kFeature, k12, "storageBuffer8BitAccess", "elements of 8 bits", k8},
    {kFeature, k12, "shaderInt8", "elements of 8 bits", k8},
    {kFeature, k12, "shaderBufferInt64Atomics", "atomics of 64 bits", kWide},
    {kFeature, k12, "shaderSharedInt64Atomics", "atomics of 64 bits", kWide},
    {kFeature, k12, "bufferDeviceAddress", "tensors larger than a binding", kAddresses},
    {kExtension, nullptr, "VK_EXT_shader_atomic_float", "atomic sums of floats", kFloats},
    {kFeature, "VkPhysicalDeviceShaderAtomicFloatFeaturesEXT", "shaderBufferFloat32AtomicAdd",
     "atomic sums of floats", kFloats},
    {kFeature, "VkPhysicalDeviceShaderAtomicFloatFeaturesEXT", "shaderSharedFloat32AtomicAdd",
     "atomic sums of floats", kFloats},
    {kExtension, nullptr, "VK_EXT_subgroup_size_control",
     "lanes exchange values, where subgroups may have several sizes", kSubgroups, true},
    {kFeature, "VkPhysicalDeviceSubgroupSizeControlFeatures", "computeFullSubgroups",
     "lanes exchange values, where subgroups may have several sizes", kSubgroups, true},
    {kExtension, nullptr, "VK_NV_cooperative_matrix", "products of a matrix unit", kMatrices},
    {kFeature, "VkPhysicalDeviceCooperativeMatrixFeaturesNV", "cooperativeMatrix",
     "products of a matrix unit", kMatrices},
    {kFeature, k12, "vulkanMemoryModel", "products of a matrix unit", kMatrices},
};

bool form_needs(const Program& program, KernelNeeds is_needed) {
    return std::any_of(
        program.kernels.begin(), program.kernels.end(),
        [&](const KernelInfo& kernel) { return is_needed(kernel, needs_of(kernel)); });
}

bool is_for_vulkan(const Program& program) {
    return program.profile.device_class != DeviceClass::Native;
}

/// The forms of a program that serve every size: without one of these nothing runs.
std::vector<const Program*> forms_of(const SavedProgram& saved, bool all) {
    std::vector<const Program*> forms;
    if (is_for_vulkan(*saved.program)) forms.push_back(saved.program.get());
    for (const SavedVariant& variant : saved.variants)
        if (is_for_vulkan(*variant.program) && (all || assumes_nothing(variant.facts)))
            forms.push_back(variant.program.get());
    return forms;
}

std::vector<firn_requirement> rows_for(const SavedProgram* saved) {
    std::vector<firn_requirement> out;
    for (const Row& row : kRows) {
        firn_requirement told{};
        told.kind = row.kind;
        told.name = row.name ? row.name : "Vulkan";
        told.structure = row.structure;
        told.reason = row.reason;
        told.version = row.kind == FIRN_REQUIREMENT_VERSION ? VK_API_VERSION_1_2 : 0;
        told.needed = row.kind == FIRN_REQUIREMENT_VERSION;
        if (saved && row.is_needed) {
            const auto needs = [&](const Program* form) {
                return form_needs(*form, row.is_needed);
            };
            const auto all = forms_of(*saved, true), for_all_sizes = forms_of(*saved, false);
            if (std::none_of(all.begin(), all.end(), needs)) continue;
            told.needed = !row.is_replaced && !for_all_sizes.empty() &&
                          std::all_of(for_all_sizes.begin(), for_all_sizes.end(), needs);
        }
        out.push_back(told);
    }
    return out;
}

}  // namespace
}  // namespace firn::c

using namespace firn::c;

int32_t firn_requirements(const void* file, size_t bytes, firn_requirement* rows, uint32_t* count,
                          char* message, size_t room) {
    copy_text("", message, room);
    try {
        if (!count) fail("the place for the count is NULL; give one");
        std::optional<firn::SavedProgram> saved;
        if (file)
            saved = firn::program_from_bytes({static_cast<const std::byte*>(file), bytes},
                                             "the program");
        const std::vector<firn_requirement> all = rows_for(saved ? &*saved : nullptr);
        const uint32_t rooms = *count;
        *count = static_cast<uint32_t>(all.size());
        // The rows lie as far apart as the caller's first one says.
        for (uint32_t k = 0; rows && k < all.size() && k < rooms; ++k) {
            const uint32_t step = rows->struct_size;
            auto* row = reinterpret_cast<firn_requirement*>(reinterpret_cast<char*>(rows) +
                                                            size_t{step} * k);
            if (k > 0) row->struct_size = step;
            give(row, all[k], "firn_requirement");
        }
        return FIRN_OK;
    } catch (...) {
        const Failure failure = current_failure(FIRN_ERROR_FILE);
        copy_text(failure.text, message, room);
        return failure.code;
    }
}
