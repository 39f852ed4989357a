// Pictures of frames that the host makes by itself, without a device.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "engine/window/frame_painter.h"
#include "engine/window/picture.h"

namespace firn {

/// Returns what a frame shows that the host cannot draw, such as "shapes"; empty: it can draw all
/// of it. It draws tensors, in the places and colours of FramePainter.
std::string not_on_host(const Frame& frame);

/// Draws a frame of which not_on_host() is empty. `bytes_of` returns the elements of a view.
Picture host_picture(const Frame& frame, VkExtent2D extent,
                     const std::function<std::vector<std::byte>(const BufferView&)>& bytes_of);

}  // namespace firn
