// The numbers behind a frame, as files have them; internal.
#pragma once
#include <optional>
#include <string>

#include "compiler/files/stored_tensor.h"
#include "engine/app/exr.h"
#include "engine/firn/window.h"

namespace firn {

// Of `given`, or else of the tensor that the window shows, as it was before range and colour map.
// UserError where nothing was shown.

/// Elements in the storage form of memory as a file has them.
StoredTensor stored_from_memory(const std::string& name, DType dtype,
                                const std::vector<int64_t>& shape, std::vector<std::byte> memory);
/// Of a picture [h, w] or [h, w, channels].
size_t channels_of(const StoredTensor& x);
/// An element as it is shown (shown_unit).
float shown_element(const StoredTensor& x, size_t k);
/// With 1, 3 or 4 channels, as the tensor has them.
FloatPicture float_picture(const StoredTensor& from);
FloatPicture linear_picture(const Window& window, const std::optional<Tensor>& given);
/// Writes a .npy file of the tensor's own type and shape, whole or not at all.
void write_array(const std::string& path, const Window& window, const std::optional<Tensor>& given);
/// Those of what a window shows, by the path's ending: an .exr, as float_picture has them, or a
/// .npy.
void write_view(const std::string& path, const Window& window, const BufferView& view);

}  // namespace firn
