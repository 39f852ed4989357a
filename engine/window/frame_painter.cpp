// Draws frames to the window or to a picture.
#include "engine/window/frame_painter.h"

#include <utility>

namespace firn {
namespace {

/// Marks the buffers that the frame reads, so that nothing writes to them before it is done.
void mark_read(const DrawScene& scene, TimelinePoint until) {
    const auto mark = [&](const BufferView& view) {
        if (view.memory) static_cast<Buffer&>(*view.memory).used_at(until, false);
    };
    mark(scene.picture);
    mark(scene.overlay);
    for (const DrawLayer& layer : scene.layers) {
        mark(layer.places);
        mark(layer.vectors);
        mark(layer.colours);
        mark(layer.sizes);
        mark(layer.values);
    }
}

}  // namespace

std::vector<Rectangle> cells_of(const Frame& frame, VkExtent2D extent) {
    const Rectangle all{0, 0, static_cast<float>(extent.width), static_cast<float>(extent.height)};
    return cells_of(frame.views.size(), frame.grid, all, frame.scale);
}

std::vector<SceneLayout> layouts_of(const Frame& frame, VkExtent2D extent) {
    SceneRoom room;
    for (const SceneView& view : frame.views) room = joined(room, room_of(view.scene, frame.scale));
    std::vector<SceneLayout> out;
    for (const Rectangle& cell : cells_of(frame, extent))
        out.push_back(layout_of(frame.views[out.size()].scene, cell, frame.scale, room));
    return out;
}

DrawPlacement placement_of(const Frame& frame, size_t view, VkExtent2D extent) {
    const SceneView& seen = frame.views[view];
    return placement_of(seen.scene, layouts_of(frame, extent)[view].frame, seen.zoom);
}

FramePainter::FramePainter(std::shared_ptr<Device> device, const OsWindow* window)
    : device_(std::move(device)), window_(window), commands_(*device_, "frames") {}

FramePainter::FramePainter(std::shared_ptr<Device> device, const OsWindow* window, bool vsync,
                           const FontAtlas& atlas)
    : FramePainter(std::move(device), window) {
    if (window_) {
        swapchain_ = std::make_unique<Swapchain>(device_, *window_, vsync);
        format_ = swapchain_->format();
        present_pass_ = create_render_pass(*device_, format_, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
        for (Slot& slot : slots_) {
            VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
            check(
                device_->vk().vkCreateSemaphore(device_->handle(), &info, nullptr, &slot.acquired),
                "vkCreateSemaphore", "acquired");
            device_->set_name(slot.acquired, VK_OBJECT_TYPE_SEMAPHORE, "acquired");
        }
    }
    picture_pass_ = create_render_pass(*device_, format_, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    scene_painter_ = std::make_unique<ScenePainter>(device_, picture_pass_, kSlots + 1);
    gui_renderer_ = std::make_unique<GuiRenderer>(device_, picture_pass_, kSlots + 1, atlas);
}

FramePainter::~FramePainter() {
    if (!device_->is_here()) {
        (void)swapchain_.release();
        return;
    }
    device_->wait_until_idle();
    swapchain_.reset();
    const VolkDeviceTable& vk = device_->vk();
    for (const Slot& slot : slots_)
        vk.vkDestroySemaphore(device_->handle(), slot.acquired, nullptr);
    vk.vkDestroyRenderPass(device_->handle(), present_pass_, nullptr);
    vk.vkDestroyRenderPass(device_->handle(), picture_pass_, nullptr);
}

void FramePainter::record(VkCommandBuffer commands, uint32_t slot, const Frame& frame,
                          VkRenderPass pass, VkFramebuffer framebuffer, VkExtent2D extent) {
    const VolkDeviceTable& vk = device_->vk();
    scene_painter_->begin(slot);
    const std::vector<SceneLayout> layouts = layouts_of(frame, extent);
    for (size_t k = 0; k < layouts.size(); ++k)
        scene_painter_->prepare(commands, slot, frame.views[k].scene, frame.views[k].zoom,
                                layouts[k], frame.scale);
    VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    begin.renderPass = pass;
    begin.framebuffer = framebuffer;
    begin.renderArea = {{0, 0}, extent};
    begin.clearValueCount = 1;
    begin.pClearValues = &kFrameBackground;
    vk.vkCmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
    scene_painter_->draw(commands, slot);
    if (frame.gui) gui_renderer_->draw(commands, slot, *frame.gui, extent);
    vk.vkCmdEndRenderPass(commands);
}

void FramePainter::present(const Frame& frame) {
    Slot& slot = slots_[next_slot_];
    device_->wait(slot.busy_until);
    present_drawn();
    if (!slot.image) slot.image = swapchain_->acquire(*window_, present_pass_, slot.acquired);
    if (!slot.image) {
        device_->flush();  // what was enqueued for the frame must run all the same
        return;
    }
    CommandBuffer& commands = commands_.take();
    begin(*device_, commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    record(commands.handle, next_slot_, frame, present_pass_, swapchain_->framebuffer(*slot.image),
           swapchain_->extent());
    end(*device_, commands);
    SemaphoreWait wait{slot.acquired, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT};
    SemaphoreSignal rendered{swapchain_->rendered(*slot.image)};
    slot.busy_until = device_->submit({&commands.handle, 1}, {&wait, 1}, {&rendered, 1});
    commands.busy_until = slot.busy_until;
    for (const SceneView& view : frame.views) mark_read(view.scene, slot.busy_until);
    drawn_ = std::exchange(slot.image, std::nullopt);
    drawn_until_ = slot.busy_until;
    next_slot_ = (next_slot_ + 1) % kSlots;
    present_drawn();
}

void FramePainter::present_drawn() {
    if (!drawn_) return;
    // CPU drivers wait inside this call, during which nothing could serve the window.
    if (device_->profile().device_class == DeviceClass::CpuDriver) device_->wait(drawn_until_);
    swapchain_->present(*drawn_);
    drawn_.reset();
}

Picture FramePainter::picture(const Frame& frame, VkExtent2D extent) {
    bool fits = image_ && image_->extent().width == extent.width &&
                image_->extent().height == extent.height;
    if (!fits) image_ = std::make_unique<OffscreenImage>(device_, format_, extent, picture_pass_);
    CommandBuffer& commands = commands_.take();
    begin(*device_, commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    record(commands.handle, kPictureSlot, frame, picture_pass_, image_->framebuffer(), extent);
    image_->record_read(commands.handle);
    end(*device_, commands);
    commands.busy_until = device_->submit({&commands.handle, 1});
    device_->wait(commands.busy_until);
    return image_->picture();
}

}  // namespace firn
