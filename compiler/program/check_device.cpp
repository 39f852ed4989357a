// Checks whether a device can run a program: limits that kernels state, and capabilities that their
// code declares.
#include "compiler/program/check_device.h"

#include <algorithm>
#include <string>

#include "compiler/program/error.h"

namespace firn {
namespace {

[[noreturn]] void refuse_kernel(const KernelInfo& kernel, const std::string& what) {
    throw UserError("kernel '" + kernel.name + "' " + what +
                    "; the program was compiled for another device: compile it for this one");
}

void require_limit(const KernelInfo& kernel, const char* what, uint64_t needed, uint64_t limit) {
    if (needed <= limit) return;
    refuse_kernel(kernel, "needs " + std::to_string(needed) + " " + what + " and this device has " +
                              std::to_string(limit));
}

std::string unit_text(const MatrixUnit& unit) {
    return std::to_string(unit.rows) + " x " + std::to_string(unit.columns) + " x " +
           std::to_string(unit.depth);
}

/// Visits the capabilities that a module declares: they are its first instructions.
template <class Visit>
void for_capabilities(std::span<const uint32_t> spirv, const Visit& visit) {
    constexpr uint32_t kCapability = 2u << 16 | 17u;
    constexpr size_t kHeader = 5;
    for (size_t at = kHeader; at + 1 < spirv.size() && spirv[at] == kCapability; at += 2)
        visit(spirv[at + 1]);
}

bool divides_or_roots(std::span<const uint32_t> spirv) {
    constexpr uint32_t kDivision = 136, kExtended = 12, kSqrt = 31;
    constexpr size_t kHeader = 5;
    for (size_t at = kHeader; at < spirv.size(); at += std::max(1u, spirv[at] >> 16)) {
        const uint32_t op = spirv[at] & 0xffffu;
        if (op == kDivision) return true;
        if (op == kExtended && at + 4 < spirv.size() && spirv[at + 4] == kSqrt) return true;
    }
    return false;
}

/// A capability of SPIR-V, by its number there, and the feature that it stands for.
struct CapabilityNeed {
    uint32_t capability;
    bool DeviceProfile::*feature;
    const char* what;
};
constexpr CapabilityNeed kCapabilityNeeds[] = {
    {10, &DeviceProfile::has_f64, "floats of 64 bits"},
    {11, &DeviceProfile::has_i64, "integers of 64 bits"},
    {12, &DeviceProfile::wide_atomics, "atomics of 64 bits"},
    {9, &DeviceProfile::storage_16bit, "values of 16 bits"},
    {4433, &DeviceProfile::storage_16bit, "values of 16 bits"},
    {4434, &DeviceProfile::storage_16bit, "values of 16 bits"},
    {39, &DeviceProfile::storage_8bit, "values of 8 bits"},
    {4448, &DeviceProfile::storage_8bit, "values of 8 bits"},
    {4449, &DeviceProfile::storage_8bit, "values of 8 bits"},
    {5347, &DeviceProfile::buffer_addresses, "buffers by address"},
    {6033, &DeviceProfile::float_atomic_add, "atomic sums of floats"},
};

/// All capabilities of operations over subgroups.
bool is_of_subgroups(uint32_t capability) { return capability >= 61 && capability <= 68; }

void check_bindings(const KernelInfo& kernel, const DeviceProfile& device) {
    const auto count = [&](BindingForm form) {
        return static_cast<uint64_t>(
            std::count_if(kernel.bindings.begin(), kernel.bindings.end(),
                          [&](const BindingInfo& binding) { return binding.form == form; }));
    };
    require_limit(kernel, "storage buffers", count(BindingForm::Storage),
                  device.max_storage_buffers);
    require_limit(kernel, "texel buffers", count(BindingForm::Texel), device.max_texel_buffers);
    require_limit(kernel, "buffers by address", count(BindingForm::Address),
                  device.buffer_addresses ? kernel.bindings.size() : 0);
}

/// Checks the properties that two devices must share so that a kernel made for the first is correct
/// on the second.
void check_meaning(const KernelInfo& kernel, const DeviceProfile& made_for,
                   const DeviceProfile& device) {
    if (uses_subgroups(kernel.spirv)) {
        if (!lanes_share(device))
            refuse_kernel(kernel,
                          "exchanges values between the lanes of a subgroup, which this device "
                          "cannot");
        if (device.subgroup_size != made_for.subgroup_size)
            refuse_kernel(kernel, "exchanges values between the " +
                                      std::to_string(made_for.subgroup_size) +
                                      " lanes of a subgroup and this device has subgroups of " +
                                      std::to_string(device.subgroup_size));
    }
    bool wide = false;
    for_capabilities(kernel.spirv, [&](uint32_t capability) { wide |= capability == 11; });
    if (wide && made_for.compares_widened && !device.compares_widened)
        refuse_kernel(kernel,
                      "compares integers of 64 bits, which the driver of this device gets wrong");
    if (made_for.rounds_exactly && !device.rounds_exactly && divides_or_roots(kernel.spirv))
        refuse_kernel(kernel,
                      "takes quotients or roots of floats as they are, and this device is off by "
                      "some units in the last place");
    const bool cut_off =
        device.max_back_edges > 0 &&
        (made_for.max_back_edges == 0 || made_for.max_back_edges > device.max_back_edges);
    if (kernel.back_edges < 0 && cut_off)
        refuse_kernel(kernel,
                      "has loops whose iterations only the data knows, and this device ends an "
                      "invocation after " +
                          std::to_string(device.max_back_edges));
}

}  // namespace

bool uses_subgroups(std::span<const uint32_t> spirv) {
    bool uses = false;
    for_capabilities(spirv, [&](uint32_t capability) { uses |= is_of_subgroups(capability); });
    return uses;
}

void check_kernel(const KernelInfo& kernel, const DeviceProfile& device) {
    uint64_t group = 1;
    for (size_t i = 0; i < 3; ++i) {
        require_limit(kernel, "invocations in one extent of a workgroup", kernel.group_size[i],
                      device.max_group_extent[i]);
        group *= kernel.group_size[i];
    }
    require_limit(kernel, "invocations in a workgroup", group, device.max_group_size);
    require_limit(kernel, "bytes of shared memory", kernel.shared_bytes, device.shared_bytes);
    check_bindings(kernel, device);
    if (!kernel.params_in_buffer)
        require_limit(kernel, "bytes of push constants", param_offsets(kernel.param_types).back(),
                      device.push_constant_bytes);
    if (kernel.keeps_special_floats && !device.keeps_special_floats)
        refuse_kernel(kernel,
                      "asks for signed zeros, inf and nan to be kept and this device does not "
                      "promise it");
    if (kernel.matrix_unit && kernel.matrix_unit != device.matrix_unit)
        refuse_kernel(
            kernel, "multiplies matrices by a matrix unit of " + unit_text(kernel.matrix_unit) +
                        " and this device has " +
                        (device.matrix_unit ? "one of " + unit_text(device.matrix_unit) : "none"));
    if (device.max_back_edges > 0 && kernel.back_edges > 0)
        require_limit(kernel, "loop iterations in one invocation",
                      static_cast<uint64_t>(kernel.back_edges), device.max_back_edges);
    for_capabilities(kernel.spirv, [&](uint32_t capability) {
        for (const CapabilityNeed& need : kCapabilityNeeds)
            if (need.capability == capability && !(device.*need.feature))
                refuse_kernel(kernel,
                              "uses " + std::string(need.what) + ", which this device lacks");
    });
}

void check_device(const Program& program, const DeviceProfile& device) {
    for (const KernelInfo& kernel : program.kernels) {
        check_kernel(kernel, device);
        check_meaning(kernel, program.profile, device);
    }
}

}  // namespace firn
