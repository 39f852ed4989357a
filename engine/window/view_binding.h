// A view as a shader binds it.
#pragma once
#include "engine/gpu/buffer.h"
#include "engine/window/view.h"

namespace firn {

/// Where to bind, as the device aligns it, and the element of the view's type at which it begins
/// there.
struct ViewBinding {
    VkBuffer buffer = VK_NULL_HANDLE;
    uint64_t offset = 0, bytes = 0;
    uint32_t first = 0;
};

int64_t elements_of(const BufferView& view);
/// The view's memory. Throws UserError where it is another device's.
Buffer& buffer_of(const Device& device, const BufferView& view);
/// Throws UserError where it is another device's, or more than this one binds.
ViewBinding bind_view(const Device& device, const BufferView& view);

}  // namespace firn
