// The numbers behind a frame, read back from its memory.
#include "engine/firn/frame_numbers.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/files/stored_tensor.h"
#include "engine/runtime/vulkan_executor.h"
#include "engine/window/picture.h"

namespace firn {
namespace {

StoredTensor numbers_of(const Window& window, const BufferView& view) {
    return stored_from_memory("shown", view.dtype, view.shape, window.read(view));
}

/// Returns the numbers in Firn's own layout.
StoredTensor numbers_of(const Window& window, const std::optional<Tensor>& given) {
    if (given) return stored("picture", *given);
    const BufferView& view = window.shown();
    if (!view.memory)
        throw UserError(
            "nothing was shown, so there are no numbers to write; call window.show, or "
            "write a .png");
    return numbers_of(window, view);
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

size_t channels_of(const StoredTensor& x) {
    return x.shape.size() == 3 ? static_cast<size_t>(x.shape[2]) : 1;
}

float shown_element(const StoredTensor& x, size_t k) {
    const size_t width = static_cast<size_t>(file_bytes(x.dtype));
    const std::byte* at = &x.bytes[k * width];
    if (x.dtype.is_bool()) return static_cast<float>(*at);
    return static_cast<float>(load_scalar(x.dtype, at).as_double()) * shown_unit(x.dtype);
}

FloatPicture float_picture(const StoredTensor& from) {
    const size_t channels = channels_of(from),
                 taken = channels < 3 ? 1 : std::min<size_t>(channels, 4);
    FloatPicture out{static_cast<int>(from.shape[1]),
                     static_cast<int>(from.shape[0]),
                     {},
                     static_cast<int>(taken)};
    const size_t pixels = static_cast<size_t>(out.width) * static_cast<size_t>(out.height);
    out.values.resize(pixels * taken);
    if (from.dtype == f32 && taken == channels) {
        std::memcpy(out.values.data(), from.bytes.data(), from.bytes.size());
        return out;
    }
    for (size_t k = 0; k < out.values.size(); ++k)
        out.values[k] = shown_element(from, k / taken * channels + k % taken);
    return out;
}

FloatPicture linear_picture(const Window& window, const std::optional<Tensor>& given) {
    const StoredTensor from = numbers_of(window, given);
    const size_t rank = from.shape.size();
    if (rank < 2 || rank > 3 ||
        (rank == 3 && from.shape[2] != 1 && from.shape[2] != 3 && from.shape[2] != 4))
        throw UserError(
            "an .exr or .hdr holds [h, w], [h, w, 3] or [h, w, 4], and the numbers that the "
            "program gives have another shape; write a .npy");
    return float_picture(from);
}

void write_view(const std::string& path, const Window& window, const BufferView& view) {
    const StoredTensor numbers = numbers_of(window, view);
    if (ending_of(path) == ".exr")
        write_exr(path, float_picture(numbers));
    else
        write_npy(path, numbers);
}

void write_array(const std::string& path, const Window& window,
                 const std::optional<Tensor>& given) {
    write_npy(path, numbers_of(window, given));
}

}  // namespace firn
