// Views as storage bindings.
#include "engine/window/view_binding.h"

#include <algorithm>
#include <string>

namespace firn {

int64_t elements_of(const BufferView& view) {
    int64_t count = 1;
    for (int64_t size : view.shape) count *= size;
    return count;
}

Buffer& buffer_of(const Device& device, const BufferView& view) {
    auto* buffer = dynamic_cast<Buffer*>(view.memory.get());
    if (!buffer || &buffer->device() != &device)
        throw UserError(
            "show: the tensor's memory belongs to another device than the window's; "
            "make both in one session");
    return *buffer;
}

void check_on_host(const BufferView& view) {
    if (dynamic_cast<const Buffer*>(view.memory.get()))
        throw UserError(
            "show: the tensor's memory belongs to a device, and the window's programs run on the "
            "host; make both in one session");
}

ViewBinding bind_view(const Device& device, const BufferView& view) {
    const Buffer& buffer = buffer_of(device, view);
    const auto width = static_cast<uint64_t>(view.dtype.bytes());
    const uint64_t bytes = static_cast<uint64_t>(elements_of(view)) * width;
    ensure(view.offset + bytes <= buffer.bytes(), "a view reaches beyond its buffer");
    const uint64_t begin = buffer.range().offset + view.offset;
    const uint64_t alignment =
        std::max<uint64_t>(device.limits().minStorageBufferOffsetAlignment, 4);
    const uint64_t aligned = begin / alignment * alignment;
    const uint64_t range = (begin - aligned + bytes + 3) / 4 * 4;
    if (range > device.limits().maxStorageBufferRange) {
        throw UserError("show: a tensor of " + std::to_string(bytes) + " bytes is more than the " +
                        std::to_string(device.limits().maxStorageBufferRange) +
                        " that the device reads at once; show a slice of it");
    }
    return {buffer.range().buffer, aligned, range,
            static_cast<uint32_t>((begin - aligned) / width)};
}

}  // namespace firn
