// The window of tensors: joins the session's memory to the engine's window.
#include "engine/firn/window.h"

#include "compiler/frontend/realize.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/run_graph.h"
#include "engine/firn/at_line.h"
#include "engine/firn/device_session.h"
#include "engine/firn/drawing.h"
#include "engine/firn/frame_numbers.h"
#include "engine/firn/inspector_tools.h"
#include "engine/runtime/vulkan_executor.h"
#include "engine/window/view_binding.h"

namespace firn {
namespace {

/// The executor of the session.
std::shared_ptr<Executor> session_executor() {
    std::shared_ptr<SessionState> session = current_session().state();
    executor_of(*session);
    return session->executor;
}

}  // namespace

Window::Window(const WindowOptions& options)
    : ViewWindow(session_executor(), executor_for_frames, options) {
    set_inspector_tools(inspector_tools());
    set_tensor_writer(
        [this](const BufferView& view, const std::string& path) { write_view(path, *this, view); });
}

BufferView Window::on_device(BufferView view) {
    const std::shared_ptr<Executor> from = current_session().state()->executor;
    if (!view.memory || from.get() == &runs()) return view;
    std::vector<std::byte> bytes(static_cast<size_t>(elements_of(view) * view.dtype.bytes()));
    from->read(*view.memory, view.offset, bytes);
    view.memory = runs().allocate(bytes.size(), "shown tensor");
    view.offset = 0;
    runs().write(*view.memory, 0, bytes);
    return view;
}

BufferView Window::view_of(const Tensor& x, SourceLine line) {
    const TensorMemory tensor = memory_of(x, line);
    return on_device({tensor.memory, 0, tensor.dtype, tensor.shape});
}

void Window::show(const Tensor& x, const ShowOptions& options, SourceLine line) {
    TensorMemory tensor = memory_of(x, line);
    BufferView view{tensor.memory, 0, tensor.dtype, tensor.shape};
    at_line(line, [&] { check_showable(view); });
    ViewWindow::show(on_device(std::move(view)), options);
}

void Window::show(const Tensor& x, Colormap map, ValueRange range, SourceLine line) {
    show(x, ShowOptions{.colormap = map, .range = range}, line);
}

void Window::show(const Tensor& x, Colormap map, const MapOptions& options, SourceLine line) {
    show(x, show_options(map, options), line);
}

void Window::show(const Drawing& drawing, SourceLine line) { show_grid({drawing}, {}, line); }

void Window::show_grid(const std::vector<Drawing>& views, const SceneGrid& grid, SourceLine line) {
    std::vector<DrawScene> scenes = scenes_of(views, line);
    for (DrawScene& scene : scenes)
        scene.for_tensors([&](BufferView& view) { view = on_device(std::move(view)); });
    at_line(line, [&] { show_scenes(scenes, grid); });
}

BrushStroke stroke_of(const Mouse& mouse) {
    return {mouse.i - mouse.di, mouse.j - mouse.dj, mouse.i, mouse.j};
}

}  // namespace firn
