// The reference profiles, and the text that tells profiles apart.
#include "compiler/program/device_profile.h"

#include <bit>
#include <sstream>

namespace firn {

DeviceProfile cpu_profile() { return {}; }

DeviceProfile gpu_profile() {
    DeviceProfile profile;
    profile.name = "reference GPU";
    profile.device_class = DeviceClass::Gpu;
    profile.subgroup_size = 32;
    profile.max_groups[0] = 2147483647;
    profile.shared_bytes = 49152;
    profile.push_constant_bytes = 256;
    profile.max_views = 0;
    profile.max_storage_range = 4294967295;
    profile.buffer_alignment = 256;
    profile.max_back_edges = 0;
    profile.max_body_operations = 3072;
    profile.rounds_exactly = false;  // few do, and Vulkan requires less
    profile.view_loads = false;
    profile.float_atomic_add = false;  // an extension: a device says so itself
    profile.operations_per_second = 8e12;
    profile.bytes_per_second = 350e9;
    profile.seconds_per_load = 1e-12;
    profile.shared_loads = 1;
    profile.seconds_per_launch = 5e-6;
    profile.parallel_invocations = 65536;
    return profile;
}

DeviceProfile native_profile(uint32_t vector_bits) {
    DeviceProfile profile;
    profile.name = "reference processor";
    profile.device_class = DeviceClass::Native;
    profile.subgroup_size = vector_bits / 32;
    for (uint32_t& groups : profile.max_groups) groups = INT32_MAX;
    for (uint32_t& extent : profile.max_group_extent) extent = profile.max_group_size;
    // Bindings, parameters and buffers are addresses and plain memory.
    profile.push_constant_bytes = 1u << 20;
    profile.max_storage_buffers = INT32_MAX;
    profile.max_views = 0;
    profile.max_storage_range = INT64_MAX;
    profile.max_view_elements = 0;
    profile.max_back_edges = 0;
    profile.view_loads = false;
    profile.buffer_addresses = false;
    profile.operations_per_second = 10e9 * profile.subgroup_size * kRatedCores;
    profile.bytes_per_second = 30e9;
    profile.shared_loads = 1;
    profile.seconds_per_launch = 2e-6;
    constexpr uint32_t kKeptBusy = 8;
    profile.parallel_invocations = kKeptBusy * profile.subgroup_size;
    return profile;
}

std::string why_lacks(DType dtype, const DeviceProfile& profile) {
    const bool lacks =
        dtype == f64 ? !profile.has_f64 : (dtype == i64 || dtype == u64) && !profile.has_i64;
    if (!lacks) return {};
    return std::string(dtype.name()) + " is not available on this device; cast to " +
           (dtype == f64 ? "f32" : "i32");
}

bool lanes_share(const DeviceProfile& profile) {
    return profile.subgroup_shuffle && profile.subgroup_size > 1 &&
           std::has_single_bit(profile.subgroup_size);
}

// Words and floats of 32 bits are exchanged on every device; the others are extensions.
bool lanes_exchange(DType dtype) {
    return dtype == f32 || dtype == i32 || dtype == u32 || dtype == boolean;
}

std::string cache_key(const DeviceProfile& p) {
    std::ostringstream key;
    key.precision(17);
    key << kDeviceClassNames[static_cast<size_t>(p.device_class)];
    if (!p.processor.empty()) key << ' ' << p.processor;
    key << " subgroup " << p.subgroup_size << " group " << p.max_group_size;
    for (uint32_t extent : p.max_group_extent) key << ' ' << extent;
    key << " groups";
    for (uint32_t groups : p.max_groups) key << ' ' << groups;
    key << " shared " << p.shared_bytes << " push " << p.push_constant_bytes << " buffers "
        << p.max_storage_buffers << ' ' << p.max_views << " range " << p.max_storage_range << ' '
        << p.max_view_elements << " align " << p.buffer_alignment << " edges " << p.max_back_edges
        << " body " << p.max_body_operations << " features " << p.view_loads << p.buffer_addresses
        << p.storage_8bit << p.storage_16bit << p.has_f64 << p.has_i64 << p.subgroup_shuffle
        << p.float_atomic_add << p.wide_atomics << p.keeps_special_floats << p.compares_widened
        << p.rounds_exactly << " matrix " << p.matrix_unit.rows << ' ' << p.matrix_unit.columns
        << ' ' << p.matrix_unit.depth << " rates " << p.operations_per_second << ' '
        << p.bytes_per_second << ' ' << p.seconds_per_load << ' ' << p.seconds_per_launch << ' '
        << p.parallel_invocations << ' ' << p.cache_bytes << ' ' << p.shared_loads;
    return key.str();
}

std::string rates_text(const DeviceProfile& profile) {
    std::ostringstream out;
    out.precision(4);
    out << profile.bytes_per_second * 1e-9 << " GB/s, " << profile.operations_per_second * 1e-9
        << " GFLOP/s, " << profile.seconds_per_launch * 1e6 << " us per launch, "
        << (profile.rates_measured ? "measured in steps of two" : "by its class");
    return out.str();
}

}  // namespace firn
