// The points in time that the submissions of a queue reach, in order.
#include "engine/gpu/timeline.h"

#include <algorithm>

#include "engine/gpu/device.h"

namespace firn {

Timeline::Timeline(const Device& device, bool semaphores) : device_(device) {
    if (!semaphores) return;
    VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type};
    check(device.vk().vkCreateSemaphore(device.handle(), &info, device.allocator(), &semaphore_),
          "vkCreateSemaphore", "the timeline");
    device.set_name(semaphore_, VK_OBJECT_TYPE_SEMAPHORE, "timeline");
}

Timeline::~Timeline() {
    const VolkDeviceTable& vk = device_.vk();
    if (semaphore_) vk.vkDestroySemaphore(device_.handle(), semaphore_, device_.allocator());
    for (const Pending& pending : pending_)
        vk.vkDestroyFence(device_.handle(), pending.fence, device_.allocator());
    for (VkFence fence : fences_) vk.vkDestroyFence(device_.handle(), fence, device_.allocator());
}

VkFence Timeline::take_fence() {
    if (semaphore_) return VK_NULL_HANDLE;
    std::lock_guard lock(mutex_);
    fences_.reserve(fences_.size() + pending_.size() + 1);  // so that giving back needs no memory
    if (!fences_.empty()) {
        VkFence fence = fences_.back();
        fences_.pop_back();
        return fence;
    }
    VkFenceCreateInfo info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence = VK_NULL_HANDLE;
    device_.check(device_.vk().vkCreateFence(device_.handle(), &info, device_.allocator(), &fence),
                  "vkCreateFence", "the timeline");
    device_.set_name(fence, VK_OBJECT_TYPE_FENCE, "timeline");
    return fence;
}

void Timeline::give_back(VkFence fence) noexcept {
    if (!fence) return;
    std::lock_guard lock(mutex_);
    fences_.push_back(fence);
}

void Timeline::submitted(TimelinePoint point, VkFence fence) {
    if (!fence) return;
    std::lock_guard lock(mutex_);
    pending_.push_back({point, fence});
}

/// Takes the fences of submissions that have ended back, oldest first.
VkResult Timeline::collect_locked() {
    const VolkDeviceTable& vk = device_.vk();
    while (!pending_.empty()) {
        const Pending& first = pending_.front();
        VkResult result = vk.vkGetFenceStatus(device_.handle(), first.fence);
        if (result == VK_NOT_READY) return VK_SUCCESS;
        if (result == VK_SUCCESS) result = vk.vkResetFences(device_.handle(), 1, &first.fence);
        if (result != VK_SUCCESS) return result;
        reached_ = first.point;
        fences_.push_back(first.fence);
        pending_.pop_front();
    }
    return VK_SUCCESS;
}

VkResult Timeline::completed(TimelinePoint& point) {
    if (semaphore_)
        return device_.vk().vkGetSemaphoreCounterValue(device_.handle(), semaphore_, &point);
    std::lock_guard lock(mutex_);
    const VkResult result = collect_locked();
    point = reached_;
    return result;
}

VkResult Timeline::wait(TimelinePoint point, uint64_t nanoseconds) {
    const VolkDeviceTable& vk = device_.vk();
    if (semaphore_) {
        VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
        info.semaphoreCount = 1;
        info.pSemaphores = &semaphore_;
        info.pValues = &point;
        return vk.vkWaitSemaphores(device_.handle(), &info, nanoseconds);
    }
    std::lock_guard lock(mutex_);  // nobody resets the fence meanwhile
    const auto at = std::find_if(pending_.begin(), pending_.end(),
                                 [&](const Pending& pending) { return pending.point >= point; });
    if (reached_ >= point || at == pending_.end()) return VK_SUCCESS;
    return vk.vkWaitForFences(device_.handle(), 1, &at->fence, VK_TRUE, nanoseconds);
}

}  // namespace firn
