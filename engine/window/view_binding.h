// A view as a shader binds it.
#pragma once
#include "engine/gpu/buffer.h"
#include "engine/window/view.h"

namespace firn {

/// The buffer and the offset of a binding, as the device aligns it, and the element of the view's
/// type at which the view begins there.
struct ViewBinding {
    VkBuffer buffer = VK_NULL_HANDLE;
    uint64_t offset = 0, bytes = 0;
    uint32_t first = 0;
};

int64_t elements_of(const BufferView& view);
/// Returns the view's memory. Throws UserError if it belongs to another device.
Buffer& buffer_of(const Device& device, const BufferView& view);
/// Throws UserError if the view's memory belongs to a device: executors on the host cannot read it.
void check_on_host(const BufferView& view);
/// Returns the binding of a view. Throws UserError if the view belongs to another device, or is
/// larger than a binding of this one.
ViewBinding bind_view(const Device& device, const BufferView& view);

}  // namespace firn
