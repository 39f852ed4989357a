// Loads, stores and atomics over the lanes of a workgroup, every one checked against its memory.
#include "compiler/kernel/interpret/interpret_memory.h"

#include <cstring>

#include "compiler/base/error.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/evaluate.h"

namespace firn {
namespace {

const KernelBuffer& buffer_of(const LaneAccess& access) {
    return access.code.buffers[static_cast<size_t>(access.node.as<AccessAttr>().buffer)];
}

[[noreturn]] void fail(const LaneAccess& access, const std::string& what) {
    const KernelNode& node = access.node;
    throw InternalError("internal error: kernel " + access.code.name + ": " + info(node.op).name +
                        " of buffer " + std::to_string(node.as<AccessAttr>().buffer) +
                        " (program buffer " + std::to_string(buffer_of(access).buffer) + ") " +
                        what + in_brackets(node.lines));
}

/// The checked indices of an access, worked out once for all lanes.
class Elements {
  public:
    Elements(const LaneAccess& access, int width)
        : access_(access),
          bytes_(buffer_of(access).dtype.bytes()),
          width_(width),
          places_(static_cast<int64_t>(access.memory.size()) / bytes_ - width + 1) {}

    /// The place of a lane's first element; all of its elements lie inside.
    std::byte* operator[](int lane) const {
        int64_t index = access_.index[lane];
        if (index < 0 || index >= places_) outside(index);
        return access_.memory.data() + index * bytes_;
    }

  private:
    [[noreturn]] void outside(int64_t index) const {
        fail(access_, "at index " + std::to_string(index) + ", " + std::to_string(width_) +
                          " wide: it has " + std::to_string(places_ + width_ - 1) + " elements");
    }

    const LaneAccess& access_;
    int64_t bytes_;
    int width_;
    int64_t places_;  // for a first element
};

void check_written(const LaneAccess& access) {
    if (!buffer_of(access).written) fail(access, "which is bound read-only");
}

/// Returns the type of the elements in a kernel that uses them as `used`.
DType element_type(const KernelBuffer& buffer, DType used) {
    return holds_bits(buffer, used) ? used : buffer.dtype;
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
    DType stored = element_type(buffer_of(access), target.dtype);
    int width = access.node.as<AccessAttr>().width, lanes = static_cast<int>(access.mask.on.size());
    // A select drops the values that are read from an empty tensor, whose elements have no index.
    // Devices read within bounds.
    if (access.memory.empty()) {
        for_running(access.mask, [&](int lane) {
            for (int k = 0; k < width; ++k)
                set_lane(target, k * lanes + lane, Scalar{}.to(target.dtype));
        });
        return;
    }
    Elements elements(access, width);
    if (same_words(stored, target.dtype)) {
        int32_t* words = target.words();
        for_running(access.mask, [&](int lane) {
            const std::byte* source = elements[lane];
            for (int k = 0; k < width; ++k)
                std::memcpy(words + k * lanes + lane, source + 4 * k, 4);
        });
        return;
    }
    for_running(access.mask, [&](int lane) {
        const std::byte* source = elements[lane];
        for (int k = 0; k < width; ++k, source += stored.bytes())
            set_lane(target, k * lanes + lane, load_scalar(stored, source).to(target.dtype));
    });
}

void store_lanes(const LaneAccess& access, std::span<const Lanes> values) {
    check_written(access);
    int width = access.node.as<AccessAttr>().width;
    ensure(static_cast<int>(values.size()) == width, "a store has not one value per element");
    Elements elements(access, width);
    for (int k = 0; k < width; ++k) {
        const Lanes& value = values[static_cast<size_t>(k)];
        const DType stored = element_type(buffer_of(access), value.dtype);
        ptrdiff_t offset = ptrdiff_t{k} * stored.bytes();
        if (same_words(stored, value.dtype)) {
            const int32_t* words = value.words();
            for_running(access.mask,
                        [&](int lane) { std::memcpy(elements[lane] + offset, words + lane, 4); });
        } else {
            for_running(access.mask, [&](int lane) {
                store_scalar(get_lane(value, lane).to(stored), elements[lane] + offset);
            });
        }
    }
}

void combine_lanes(const LaneAccess& access, const Lanes& value, const Lanes* old) {
    check_written(access);
    const DType type = access.node.dtype;
    const ScatterOp combine = access.node.as<AccessAttr>().combine;
    ensure(type.bytes() == buffer_of(access).dtype.bytes(),
           "an atomic of another width than its buffer");
    Elements elements(access, 1);
    for_running(access.mask, [&](int lane) {
        std::byte* place = elements[lane];
        const Scalar before = load_scalar(type, place),
                     operands[] = {before, get_lane(value, lane).to(type)};
        store_scalar(combine == ScatterOp::Last ? operands[1]
                                                : evaluate(combining_op(combine), type, operands),
                     place);
        if (old) set_lane(*old, lane, before);
    });
}

}  // namespace firn
