// The limits and features that all devices of Vulkan 1.2 have.
#include "compiler/program/vulkan_limits.h"

#include <algorithm>
#include <type_traits>

namespace firn {

DeviceProfile least(DeviceProfile profile) {
    // Table "Required Limits" of the specification; a limit that the device does not reach stays
    // its own.
    const auto at_most = [](auto& limit, uint64_t most) {
        limit =
            static_cast<std::remove_reference_t<decltype(limit)>>(std::min<uint64_t>(limit, most));
    };
    at_most(profile.max_group_size, 128);
    at_most(profile.max_group_extent[0], 128);
    at_most(profile.max_group_extent[1], 128);
    at_most(profile.max_group_extent[2], 64);
    for (uint32_t& groups : profile.max_groups) at_most(groups, 65535);
    at_most(profile.shared_bytes, 16384);
    at_most(profile.push_constant_bytes, 128);
    at_most(profile.max_storage_buffers, 4);
    at_most(profile.max_views, 4);
    at_most(profile.max_storage_range, 1u << 27);
    at_most(profile.max_view_elements, 65536);
    profile.buffer_alignment = std::max(profile.buffer_alignment, kLeastAlignment);
    profile.storage_8bit = profile.storage_16bit = profile.has_f64 = profile.has_i64 = false;
    profile.buffer_addresses = profile.subgroup_shuffle = profile.float_atomic_add = false;
    profile.wide_atomics = false;
    profile.keeps_special_floats = false;
    profile.matrix_unit = {};
    return profile;
}

DeviceProfile least_profile() {
    DeviceProfile profile = least(gpu_profile());
    profile.name = "any Vulkan device";
    profile.max_back_edges = cpu_profile().max_back_edges;
    profile.compares_widened = false;
    return profile;
}

}  // namespace firn
