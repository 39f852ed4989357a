// The numbers behind a frame, read back from its memory.
#include "engine/firn/frame_numbers.h"

#include <algorithm>
#include <span>
#include <utility>

#include "compiler/files/stored_tensor.h"
#include "compiler/program/error.h"
#include "engine/runtime/vulkan_executor.h"

namespace firn {
namespace {

/// As Firn keeps it in memory.
StoredTensor numbers_of(const Window& window, const std::optional<Tensor>& given) {
    if (given) return stored("picture", *given);
    const BufferView& view = window.shown();
    if (!view.memory)
        throw UserError(
            "nothing was shown, so there are no numbers to write; call window.show, or "
            "write a .png");
    size_t elements = 1;
    for (int64_t size : view.shape) elements *= static_cast<size_t>(size);
    std::vector<std::byte> memory(elements * static_cast<size_t>(view.dtype.bytes()));
    window.executor().read(*view.memory, view.offset, memory);
    return stored_from_memory("shown", view.dtype, view.shape, std::move(memory));
}

}  // namespace

StoredTensor stored_from_memory(const std::string& name, DType dtype,
                                const std::vector<int64_t>& shape, std::vector<std::byte> memory) {
    StoredTensor out{name, dtype, shape, {}};
    if (dtype != boolean) {
        out.bytes = std::move(memory);
        return out;
    }
    const auto width = static_cast<size_t>(boolean.bytes());
    for (size_t at = 0; at < memory.size(); at += width)  // a file has one byte for each
        out.bytes.push_back(static_cast<std::byte>(load_scalar(boolean, &memory[at]).i != 0));
    return out;
}

LinearPicture linear_picture(const Window& window, const std::optional<Tensor>& given) {
    const StoredTensor from = numbers_of(window, given);
    const size_t rank = from.shape.size();
    if (rank < 2 || rank > 3 || (rank == 3 && (from.shape[2] < 1 || from.shape[2] == 2)))
        throw UserError(
            "an .exr holds [h, w], [h, w, 3] or [h, w, 4], and the numbers that the "
            "program gives have another shape; write a .npy");
    const size_t channels = rank == 3 ? static_cast<size_t>(from.shape[2]) : 1;
    const auto width = static_cast<size_t>(file_bytes(from.dtype));
    LinearPicture out{static_cast<int>(from.shape[1]), static_cast<int>(from.shape[0]), {}};
    const float unit = from.dtype == u8 ? 1.0f / 255 : 1.0f;  // as they are shown
    const size_t pixels = static_cast<size_t>(out.width) * static_cast<size_t>(out.height);
    for (size_t pixel = 0; pixel < pixels; ++pixel)
        for (size_t c = 0; c < 3; ++c) {
            const std::byte* at =
                &from.bytes[(pixel * channels + std::min(c, channels - 1)) * width];
            out.rgb.push_back(from.dtype == boolean
                                  ? static_cast<float>(*at)
                                  : static_cast<float>(load_scalar(from.dtype, at).as_double()) *
                                        unit);
        }
    return out;
}

void write_array(const std::string& path, const Window& window,
                 const std::optional<Tensor>& given) {
    write_npy(path, numbers_of(window, given));
}

}  // namespace firn
