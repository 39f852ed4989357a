// The window of tensors: joins the session's memory to the engine's window.
#include "engine/firn/window.h"

#include <algorithm>
#include <cmath>

#include "compiler/frontend/create.h"
#include "compiler/frontend/realize.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/run_graph.h"
#include "engine/firn/device_session.h"
#include "engine/firn/drawing.h"
#include "engine/firn/inspector_tools.h"
#include "engine/runtime/vulkan_executor.h"
#include "engine/window/view_binding.h"

namespace firn {
namespace {

/// The executor whose device the window is on.
std::shared_ptr<VulkanExecutor> window_executor() {
    std::shared_ptr<SessionState> session = current_session().state();
    executor_of(*session);
    if (auto executor = std::dynamic_pointer_cast<VulkanExecutor>(session->executor))
        return executor;
    return std::static_pointer_cast<VulkanExecutor>(device_session().state()->executor);
}

/// The view itself, or a copy where its memory is not the device's.
BufferView on_device(VulkanExecutor& executor, BufferView view) {
    auto* buffer = dynamic_cast<const Buffer*>(view.memory.get());
    if (!view.memory || (buffer && &buffer->device() == &executor.device())) return view;
    std::vector<std::byte> bytes(static_cast<size_t>(elements_of(view) * view.dtype.bytes()));
    current_session().state()->executor->read(*view.memory, view.offset, bytes);
    view.memory = executor.allocate(bytes.size(), "shown tensor");
    view.offset = 0;
    executor.write(*view.memory, 0, bytes);
    return view;
}

/// Errors of `check` say where in the program.
template <class F>
void at_line(SourceLine line, const F& check) {
    try {
        check();
    } catch (const UserError& error) {
        throw UserError(error.what() + (" (" + text(line) + ")"));
    }
}

}  // namespace

Window::Window(const WindowOptions& options) : ViewWindow(window_executor(), options) {
    set_inspector_tools(inspector_tools());
}

void Window::show(const Tensor& x, const ShowOptions& options, SourceLine line) {
    TensorMemory tensor = memory_of(x, line);
    BufferView view{tensor.memory, 0, tensor.dtype, tensor.shape};
    at_line(line, [&] { check_showable(view); });
    ViewWindow::show(on_device(executor(), std::move(view)), options);
}

void Window::show(const Tensor& x, Colormap map, ValueRange range, SourceLine line) {
    show(x, ShowOptions{.colormap = map, .range = range}, line);
}

void Window::show(const Drawing& drawing, SourceLine line) {
    DrawScene scene = drawing.scene(line);
    const auto move = [&](BufferView& view) { view = on_device(executor(), std::move(view)); };
    move(scene.picture);
    for (DrawLayer& layer : scene.layers)
        for (BufferView* view : {&layer.places, &layer.vectors, &layer.colours, &layer.sizes})
            move(*view);
    at_line(line, [&] { show_scene(scene); });
}

Tensor load_image(const std::string& path, SourceLine line) {
    Picture picture = read_picture(path);
    size_t pixels = picture.rgba.size() / 4;
    std::vector<float> values;
    values.reserve(3 * pixels);
    for (size_t pixel = 0; pixel < pixels; ++pixel) {
        for (size_t channel = 0; channel < 3; ++channel) {
            values.push_back(static_cast<float>(picture.rgba[4 * pixel + channel]) / 255.0f);
        }
    }
    return tensor(values, {picture.height, picture.width, 3}, line);
}

void save_image(const std::string& path, const Tensor& x, SourceLine line) {
    TensorMemory memory = memory_of(x, line);
    check_showable({memory.memory, 0, memory.dtype, memory.shape});
    Picture picture{static_cast<int>(memory.shape[1]), static_cast<int>(memory.shape[0]), {}};
    size_t channels = memory.shape.size() == 3 ? static_cast<size_t>(memory.shape[2]) : 1;
    std::vector<float> values = x.to_vector<float>(line);
    float scale = memory.dtype == u8 ? 1.0f : 255.0f;
    for (size_t pixel = 0; pixel < values.size() / channels; ++pixel) {
        for (size_t channel = 0; channel < 4; ++channel) {
            bool opaque = channel == 3 && channels < 4;
            float value = opaque
                              ? 255.0f
                              : values[pixel * channels + std::min(channel, channels - 1)] * scale;
            // The comparison is false for nan, which becomes black.
            picture.rgba.push_back(
                value > 0 ? static_cast<uint8_t>(std::lround(std::min(value, 255.0f))) : 0);
        }
    }
    at_line(line, [&] { write_picture(path, picture); });
}

}  // namespace firn
