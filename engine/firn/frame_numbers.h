// The numbers behind a frame, in the form of files; internal.
#pragma once
#include <optional>
#include <string>

#include "compiler/files/stored_tensor.h"
#include "engine/app/exr.h"
#include "engine/firn/window.h"

namespace firn {

// These functions take the numbers of `given`, or else of the tensor that the window shows, before
// range and colour map. UserError if the window has shown nothing.

/// Elements in the storage form of memory as a file has them.
StoredTensor stored_from_memory(const std::string& name, DType dtype,
                                const std::vector<int64_t>& shape, std::vector<std::byte> memory);
/// The number of channels of a picture [h, w] or [h, w, channels].
size_t channels_of(const StoredTensor& x);
/// Element k as the window shows it (shown_unit).
float shown_element(const StoredTensor& x, size_t k);
/// The picture as floats with 1, 3 or 4 channels, as the tensor has them.
FloatPicture float_picture(const StoredTensor& from);
FloatPicture linear_picture(const Window& window, const std::optional<Tensor>& given);
/// Writes a .npy file of the tensor's own type and shape, whole or not at all.
void write_array(const std::string& path, const Window& window, const std::optional<Tensor>& given);
/// Writes the numbers that a window shows, by the path's ending: as an .exr of float_picture, or as
/// a .npy.
void write_view(const std::string& path, const Window& window, const BufferView& view);

}  // namespace firn
