// Loads, stores and atomics over the lanes of a workgroup, every one checked against its memory.
#include "compiler/lower/interpret_memory.h"

#include <cstring>

#include "compiler/ir/evaluate.h"
#include "compiler/program/error.h"

namespace firn {
namespace {

const KernelBuffer& buffer_of(const LaneAccess& access) {
    return access.code.buffers[static_cast<size_t>(access.node.index)];
}

[[noreturn]] void fail(const LaneAccess& access, const std::string& what) {
    const KernelNode& node = access.node;
    throw InternalError("internal error: kernel " + access.code.name + ": " + info(node.op).name +
                        " of buffer " + std::to_string(node.index) + " (program buffer " +
                        std::to_string(buffer_of(access).buffer) + ") " + what +
                        (node.lines.empty() ? "" : " (" + text(node.lines[0]) + ")"));
}

/// The place of a lane's first element; `width` elements lie inside.
std::byte* element(const LaneAccess& access, int lane, int width) {
    int64_t index = access.index[lane], bytes = buffer_of(access).dtype.bytes();
    auto size = static_cast<int64_t>(access.memory.size());
    if (index < 0 || (index + width) * bytes > size)
        fail(access, "at index " + std::to_string(index) + ", " + std::to_string(width) +
                         " wide: it has " + std::to_string(size / bytes) + " elements");
    return access.memory.data() + index * bytes;
}

void check_written(const LaneAccess& access) {
    if (!buffer_of(access).written) fail(access, "which is bound read-only");
}

/// Memory and lanes hold the same 4 bytes.
bool same_words(DType stored, DType used) {
    return stored == used && lane_form(used) != LaneForm::Scalar && !used.is_bool();
}

template <class F>
void for_running(const LaneMask& mask, F f) {
    for (size_t lane = 0; lane < mask.on.size(); ++lane)
        if (mask.on[lane]) f(static_cast<int>(lane));
}

}  // namespace

void load_lanes(const LaneAccess& access, const Lanes& target) {
    DType stored = buffer_of(access).dtype;
    int width = access.node.width, lanes = static_cast<int>(access.mask.on.size());
    bool direct = same_words(stored, target.dtype);
    for_running(access.mask, [&](int lane) {
        const std::byte* source = element(access, lane, width);
        for (int k = 0; k < width; ++k, source += stored.bytes()) {
            int slot = k * lanes + lane;
            if (direct)
                std::memcpy(target.words() + slot, source, 4);
            else
                set_lane(target, slot, load_scalar(stored, source).to(target.dtype));
        }
    });
}

void store_lanes(const LaneAccess& access, std::span<const Lanes> values) {
    check_written(access);
    DType stored = buffer_of(access).dtype;
    int width = access.node.width;
    ensure(static_cast<int>(values.size()) == width, "a store has not one value per element");
    for_running(access.mask, [&](int lane) {
        std::byte* target = element(access, lane, width);
        for (const Lanes& value : values) {
            if (same_words(stored, value.dtype))
                std::memcpy(target, value.words() + lane, 4);
            else
                store_scalar(get_lane(value, lane).to(stored), target);
            target += stored.bytes();
        }
    });
}

void combine_lanes(const LaneAccess& access, ReduceOp op, const Lanes& value) {
    check_written(access);
    DType stored = buffer_of(access).dtype;
    for_running(access.mask, [&](int lane) {
        std::byte* place = element(access, lane, 1);
        Scalar operand = get_lane(value, lane).to(stored);
        store_scalar(evaluate_reduce(op, load_scalar(stored, place), operand), place);
    });
}

}  // namespace firn
