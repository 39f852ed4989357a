// Command buffers: recording, barriers, and a pool that hands out those that are no longer pending.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/gpu/device.h"

namespace firn {

/// A command buffer and the submission that runs it. It can be recorded again once that is done.
struct CommandBuffer {
    VkCommandBuffer handle = VK_NULL_HANDLE;
    TimelinePoint busy_until = 0;
    bool owned = false;  // acquired and not released
    bool open = false;   // begun and not ended
};

/// Owns a VkCommandPool. Used by one thread at a time; must end before its device.
class CommandPool {
  public:
    CommandPool(Device& device, const std::string& name);
    ~CommandPool();
    CommandPool(const CommandPool&) = delete;
    CommandPool& operator=(const CommandPool&) = delete;

    /// A command buffer that is not pending, for use at once. After 16 are in flight it waits for
    /// the oldest.
    CommandBuffer& take();
    /// The same, held by the caller until `release` (which may come while it is pending).
    CommandBuffer& acquire();
    void release(CommandBuffer& buffer);
    Device& device() const { return device_; }

  private:
    Device& device_;
    std::string name_;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    std::vector<std::unique_ptr<CommandBuffer>> buffers_;
};

/// Begins recording; a command buffer whose recording was abandoned is begun anew.
void begin(const Device& device, CommandBuffer& commands, VkCommandBufferUsageFlags usage);
void end(const Device& device, CommandBuffer& commands);

/// Makes all earlier writes visible to later kernels and copies, which may also overwrite memory
/// that was read before: the order between two submissions.
void barrier_all(const Device& device, VkCommandBuffer commands);
/// The same between kernels and copies within a program. `indirect`: also before the groups of
/// indirect dispatches are read.
void barrier_compute(const Device& device, VkCommandBuffer commands, bool indirect = false);
/// Makes writes of kernels and copies visible to `stages` with `access`: before a frame shows a
/// tensor.
void barrier_compute_to(const Device& device, VkCommandBuffer commands, VkPipelineStageFlags stages,
                        VkAccessFlags access);

/// Records with `record` into a command buffer of the device's own and submits it, ordered after
/// all work before it and before all work after it. Returns without waiting.
TimelinePoint submit_once(Device& device, const std::function<void(VkCommandBuffer)>& record);

}  // namespace firn
