// The device as the compiler sees it, as plain data: limits, features and measured rates.
#pragma once
#include <cstdint>
#include <string>

#include "compiler/program/dtype.h"

namespace firn {

/// Decides the target and its rules: a Vulkan driver that runs kernels on the CPU, a GPU, or a
/// processor that runs native code without a driver.
enum class DeviceClass : uint8_t { CpuDriver, Gpu, Native };
/// Their names, in files and in keys.
inline constexpr const char* kDeviceClassNames[] = {"cpu", "gpu", "native"};

/// The shape that a matrix unit multiplies at once for a whole subgroup: [rows, depth] by [depth,
/// columns] of f16, with sums in f32. No rows: there is no unit.
struct MatrixUnit {
    uint32_t rows = 0, columns = 0, depth = 0;
    explicit operator bool() const { return rows > 0; }
    friend bool operator==(const MatrixUnit&, const MatrixUnit&) = default;
};

struct DeviceProfile {
    std::string name = "reference CPU driver";
    std::string driver;  // stands for the driver and its version; what was measured on it holds for
                         // no other
    DeviceClass device_class = DeviceClass::CpuDriver;
    /// The processor that native code is for, by its name in host/processor; empty: one of
    /// x86-64 with vectors of `subgroup_size` numbers.
    std::string processor;

    // Limits.
    uint32_t subgroup_size = 8;
    uint32_t max_group_size = 1024;  // invocations of one workgroup
    uint32_t max_group_extent[3] = {1024, 1024, 64};
    uint32_t max_groups[3] = {65535, 65535, 65535};
    uint32_t shared_bytes = 32768;
    uint32_t push_constant_bytes = 128;
    uint32_t max_storage_buffers = 32;          // per stage
    uint32_t max_views = 64;                    // typed views per stage
    uint64_t max_storage_range = 128ull << 20;  // bytes of one storage binding
    uint64_t max_view_elements = 1ull << 27;    // elements, or blocks of four, of one view
    uint32_t buffer_alignment = 64;             // for offsets of any binding form
    /// Loop back edges that one invocation may take before the driver cuts it off; 0: no limit.
    uint32_t max_back_edges = 65535;
    /// Simple operations in the body of one kernel, copies and unrolled iterations included, that
    /// the driver's compiler can take. Its time grows with the square of a straight-line body: for
    /// so many in sines lavapipe takes 0.8 to 1.5 s, SwiftShader 10 s; for exponentials, sums and
    /// products lavapipe takes 0.2 to 0.4 s.
    uint32_t max_body_operations = 6144;

    // Features.
    bool view_loads = true;  // read-only tensors load fastest through typed views
    bool buffer_addresses =
        true;  // kernels may reach a buffer by its address: slower, but of any size
    bool storage_8bit = true, storage_16bit = true;
    bool has_f64 = true, has_i64 = true;
    bool subgroup_shuffle = true;
    bool float_atomic_add = true;  // to f32 in buffers and in shared memory
    bool wide_atomics = true;      // of 64-bit integers, there too; f64 is exchanged by its bits
    /// Kernels may require that floats keep -0, inf and nan (f32, and f64 where there is f64); else
    /// a driver may assume them away.
    bool keeps_special_floats = true;
    /// A signed integer that was widened to 64 bits compares right with constants; else kernels put
    /// the 64 bits together from two words.
    bool compares_widened = true;
    /// Quotients and square roots of f32 are rounded once; else kernels correct these, but no
    /// reciprocals. Vulkan allows 2.5 units in the last place, and anything where a divisor is
    /// beyond 2^126.
    bool rounds_exactly = true;

    MatrixUnit matrix_unit;

    // Rates, those of the class (limits.md) or measured on the device (engine/gpu/rates.h).
    double operations_per_second = 110e9;  // simple f32 operations, whole device
    double bytes_per_second = 14e9;        // streaming reads and writes
    uint64_t cache_bytes = 32ull << 20;    // near the cores from one kernel to the next
    double seconds_per_load = 0.07e-9;     // a cached 4-byte load, whole device
    double shared_loads = 10;              // of those that take as long as one of shared memory
    double seconds_per_launch = 40e-6;     // a dispatch and its barrier
    uint32_t parallel_invocations = 16;    // invocations that run at once: below this, rates drop
    bool rates_measured = false;           // else they are those of the class
};

/// Returns why the device has no values of this type, and what to do; empty: it has.
std::string why_lacks(DType dtype, const DeviceProfile& profile);
/// The lanes of a subgroup can exchange values, and so share a reduction.
bool lanes_share(const DeviceProfile& profile);
/// They can exchange values of this type.
bool lanes_exchange(DType dtype);

/// The software driver that `limits.md` measures.
DeviceProfile cpu_profile();
/// A discrete GPU of an unknown make.
DeviceProfile gpu_profile();
/// The cores that the rates of native_profile are for.
inline constexpr uint32_t kRatedCores = 2;
/// A processor whose registers hold vectors of so many bits (a power of two from 128 on), and
/// native code for it. It is the same for any number of cores, since the order of sums follows from
/// the kernels, and these from the profile. Kernels get work for at least eight cores; the rates
/// are those of kRatedCores. Neither number, nor any rate, is measured.
DeviceProfile native_profile(uint32_t vector_bits = 256);
/// Text that changes whenever anything in the profile that steers the compiler changes.
std::string cache_key(const DeviceProfile& profile);
/// `14 GB/s, 110 GFLOP/s, 40 us per launch, measured in steps of two` or `by its class`.
std::string rates_text(const DeviceProfile& profile);

}  // namespace firn
