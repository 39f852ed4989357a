// The values of Kernel code nodes over the lanes of a workgroup, for the host interpreter.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/kernel/kernel_op.h"
#include "compiler/program/dtype.h"

namespace firn {

/// Lanes are computed in blocks of this many; storage is padded to it.
inline constexpr int kLaneBlock = 16;

/// The storage of a value's lanes: f32 as floats; i32, u32 and bool as 32-bit words (a bool is 0 or
/// 1); every other type as Scalars.
enum class LaneForm : uint8_t { Float, Word, Scalar };
LaneForm lane_form(DType dtype);
/// Bytes of one lane.
size_t lane_bytes(DType dtype);

/// A value for each lane. Several neighbouring values (a vector load) lie one after the other.
struct Lanes {
    DType dtype = f32;
    std::byte* data = nullptr;

    float* floats() const { return reinterpret_cast<float*>(data); }
    int32_t* words() const { return reinterpret_cast<int32_t*>(data); }
    uint32_t* unsigned_words() const { return reinterpret_cast<uint32_t*>(data); }
    Scalar* scalars() const { return reinterpret_cast<Scalar*>(data); }
};

/// The lanes that run, out of a whole number of blocks.
struct LaneMask {
    std::vector<uint8_t> on;  // 0 or 1
    int active = 0;

    bool all() const { return active == static_cast<int>(on.size()); }
};

/// The value of one lane, and back.
Scalar get_lane(const Lanes& value, int lane);
void set_lane(const Lanes& value, int lane, const Scalar& scalar);
/// Every lane gets `scalar`.
void fill_lanes(const Lanes& value, int lanes, const Scalar& scalar);
/// Copies the lanes that run.
void copy_lanes(const Lanes& target, const Lanes& source, const LaneMask& mask);
/// target = condition ? a : b, on all lanes.
void select_lanes(const Lanes& target, const uint8_t* condition, const Lanes& a, const Lanes& b,
                  int lanes);
/// Runs an elementwise operation, with the results of `evaluate`. Lanes that do not run get any
/// value.
void evaluate_lanes(KernelOp op, const Lanes& target, std::span<const Lanes> args,
                    const LaneMask& mask);

}  // namespace firn
