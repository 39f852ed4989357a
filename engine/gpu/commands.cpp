// Command buffers: recording, barriers, and a pool that hands out those that are no longer pending.
#include "engine/gpu/commands.h"

#include <algorithm>

namespace firn {
namespace {

constexpr size_t kMostPending = 16;
constexpr VkPipelineStageFlags kWorkStages =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kWorkWrites = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
constexpr VkAccessFlags kWorkReads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;

void barrier(const Device& device, VkCommandBuffer commands, VkPipelineStageFlags before,
             VkAccessFlags written, VkPipelineStageFlags after, VkAccessFlags access) {
    VkMemoryBarrier memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, written, access};
    device.vk().vkCmdPipelineBarrier(commands, before, after, 0, 1, &memory, 0, nullptr, 0,
                                     nullptr);
}

}  // namespace

CommandPool::CommandPool(Device& device, const std::string& name) : device_(device), name_(name) {
    VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    info.queueFamilyIndex = device.queue_family();
    check(device.vk().vkCreateCommandPool(device.handle(), &info, device.allocator(), &pool_),
          "vkCreateCommandPool", name);
    device.set_name(pool_, VK_OBJECT_TYPE_COMMAND_POOL, name);
}

CommandPool::~CommandPool() {
    if (!device_.is_here()) return;
    TimelinePoint busy = 0;
    for (const auto& buffer : buffers_) busy = std::max(busy, buffer->busy_until);
    VkCommandPool pool = pool_;
    Device* device = &device_;
    auto destroy = [device, pool] {
        device->vk().vkDestroyCommandPool(device->handle(), pool, device->allocator());
    };
    if (busy == 0)
        destroy();
    else
        device_.defer(destroy);
}

CommandBuffer& CommandPool::take() {
    CommandBuffer* oldest = nullptr;
    TimelinePoint done = device_.completed();
    size_t pending = 0;
    for (const auto& buffer : buffers_) {
        if (buffer->owned) continue;
        ++pending;
        if (buffer->busy_until <= done) return *buffer;
        if (!oldest || buffer->busy_until < oldest->busy_until) oldest = buffer.get();
    }
    if (pending >= kMostPending) {
        device_.wait(oldest->busy_until);
        return *oldest;
    }
    VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    info.commandPool = pool_;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    const std::string name = name_ + " " + std::to_string(buffers_.size());
    auto buffer = std::make_unique<CommandBuffer>();
    buffers_.reserve(buffers_.size() + 1);
    check(device_.vk().vkAllocateCommandBuffers(device_.handle(), &info, &buffer->handle),
          "vkAllocateCommandBuffers", name_);
    device_.set_name(buffer->handle, VK_OBJECT_TYPE_COMMAND_BUFFER, name);
    buffers_.push_back(std::move(buffer));
    return *buffers_.back();
}

CommandBuffer& CommandPool::acquire() {
    CommandBuffer& buffer = take();
    buffer.owned = true;
    return buffer;
}

void CommandPool::release(CommandBuffer& buffer) { buffer.owned = false; }

void begin(const Device& device, CommandBuffer& commands, VkCommandBufferUsageFlags usage) {
    if (commands.open)
        check(device.vk().vkResetCommandBuffer(commands.handle, 0), "vkResetCommandBuffer",
              "a command buffer");
    commands.open = false;
    VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    info.flags = usage;
    check(device.vk().vkBeginCommandBuffer(commands.handle, &info), "vkBeginCommandBuffer",
          "a command buffer");
    commands.open = true;
}

void end(const Device& device, CommandBuffer& commands) {
    check(device.vk().vkEndCommandBuffer(commands.handle), "vkEndCommandBuffer",
          "a command buffer");
    commands.open = false;
}

void barrier_all(const Device& device, VkCommandBuffer commands) {
    barrier(device, commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
            kWorkStages | VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT,
            kWorkReads | kWorkWrites | VK_ACCESS_INDIRECT_COMMAND_READ_BIT);
}

void barrier_compute(const Device& device, VkCommandBuffer commands, bool indirect) {
    barrier(device, commands, kWorkStages, kWorkWrites,
            kWorkStages | (indirect ? VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT : 0),
            kWorkReads | kWorkWrites | (indirect ? VK_ACCESS_INDIRECT_COMMAND_READ_BIT : 0));
}

void barrier_compute_to(const Device& device, VkCommandBuffer commands, VkPipelineStageFlags stages,
                        VkAccessFlags access) {
    barrier(device, commands, kWorkStages, kWorkWrites, stages, access);
}

TimelinePoint submit_once(Device& device, const std::function<void(VkCommandBuffer)>& record) {
    CommandBuffer& commands = device.transfers().take();
    begin(device, commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    barrier_all(device, commands.handle);
    record(commands.handle);
    barrier_compute_to(device, commands.handle, VK_PIPELINE_STAGE_HOST_BIT,
                       VK_ACCESS_HOST_READ_BIT);
    end(device, commands);
    commands.busy_until = device.submit({&commands.handle, 1});
    return commands.busy_until;
}

}  // namespace firn
