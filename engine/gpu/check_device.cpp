// Checks whether a Vulkan device can run a program: the limits and the features that its kernels
// state.
#include "engine/gpu/check_device.h"

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/base/error.h"

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

/// A need of kernels, and the feature of a device that meets it.
struct FeatureNeed {
    bool DeviceNeeds::*need;
    bool DeviceProfile::*feature;
    const char* what;
};
constexpr FeatureNeed kFeatureNeeds[] = {
    {&DeviceNeeds::f64, &DeviceProfile::has_f64, "floats of 64 bits"},
    {&DeviceNeeds::i64, &DeviceProfile::has_i64, "integers of 64 bits"},
    {&DeviceNeeds::wide_atomics, &DeviceProfile::wide_atomics, "atomics of 64 bits"},
    {&DeviceNeeds::bits_16, &DeviceProfile::storage_16bit, "values of 16 bits"},
    {&DeviceNeeds::bits_8, &DeviceProfile::storage_8bit, "values of 8 bits"},
    {&DeviceNeeds::addresses, &DeviceProfile::buffer_addresses, "buffers by address"},
    {&DeviceNeeds::float_atomics, &DeviceProfile::float_atomic_add, "atomic sums of floats"},
};

void check_bindings(const KernelInfo& kernel, const DeviceProfile& device) {
    const auto count = [&](BindingForm form) {
        return static_cast<uint64_t>(
            std::count_if(kernel.bindings.begin(), kernel.bindings.end(),
                          [&](const BindingInfo& binding) { return binding.form == form; }));
    };
    require_limit(kernel, "storage buffers", count(BindingForm::Storage),
                  device.max_storage_buffers);
    require_limit(kernel, "typed views", count(BindingForm::View), device.max_views);
    require_limit(kernel, "buffers by address", count(BindingForm::Address),
                  device.buffer_addresses ? kernel.bindings.size() : 0);
}

/// Checks the properties that two devices must share so that a kernel made for the first is correct
/// on the second.
void check_meaning(const KernelInfo& kernel, const DeviceNeeds& needs,
                   const DeviceProfile& made_for, const DeviceProfile& device) {
    if (needs.subgroups) {
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
    if (needs.i64 && made_for.compares_widened && !device.compares_widened)
        refuse_kernel(kernel,
                      "compares integers of 64 bits, which the driver of this device gets wrong");
    if (made_for.rounds_exactly && !device.rounds_exactly && needs.exact_division)
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

void check_kernel(const KernelInfo& kernel, const DeviceNeeds& needs, const DeviceProfile& device) {
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
    for (const FeatureNeed& row : kFeatureNeeds)
        if (needs.*row.need && !(device.*row.feature))
            refuse_kernel(kernel, "uses " + std::string(row.what) + ", which this device lacks");
}

void check_device(const Program& program, std::span<const DeviceNeeds> needs,
                  const DeviceProfile& device) {
    for (size_t k = 0; k < program.kernels.size(); ++k) {
        check_kernel(program.kernels[k], needs[k], device);
        check_meaning(program.kernels[k], needs[k], program.profile, device);
    }
}

void check_device(const Program& program, const DeviceProfile& device) {
    std::vector<DeviceNeeds> needs;
    for (const KernelInfo& kernel : program.kernels) needs.push_back(kernel.needs);
    check_device(program, needs, device);
}

}  // namespace firn
