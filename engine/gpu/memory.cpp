// The memory pool behind buffers: few allocations, cut, reused and counted.
#include <algorithm>
#include <fstream>
#include <sstream>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "engine/gpu/buffer.h"
#include "engine/gpu/commands.h"

namespace firn {

/// A VkBuffer with its memory, cut into ranges.
struct MemoryBlock {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    uint64_t bytes = 0;
    BufferPlace place = BufferPlace::Device;
    uint64_t number = 0;
    bool shared = false;  // holds several small buffers
    std::byte* mapped = nullptr;
    std::map<uint64_t, uint64_t> free;  // offset to bytes, never adjacent
    uint64_t live = 0;                  // how many buffers are in it
    uint64_t last_taken = 0;  // how many buffers the pool had given out before the last one in it
    TimelinePoint busy_until = 0;  // until then buffers that were in it are in use
};

namespace {

/// Buffers start at multiples of this, and their sizes are multiples of it: no device requires more
/// of a binding.
constexpr uint64_t kGranularity = 256;
constexpr uint64_t kSharedLimit = 1ull << 20;  // smaller buffers share blocks
constexpr uint64_t kSharedBytes = 8ull << 20;  // of this size
constexpr uint64_t kLargeStep = 64ull << 10;   // larger ones have a block each, rounded up to this
/// Unused blocks are kept up to this many bytes more than the used ones.
constexpr uint64_t kKeptBytes = 256ull << 20;
/// An unused block is kept for its size until the pool has given out this many buffers: a frame
/// takes some dozens. Not measured.
constexpr uint64_t kIdleTakes = 256;

constexpr VkBufferUsageFlags kUsage =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT |
    VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
    VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
    VK_BUFFER_USAGE_TRANSFER_DST_BIT;

constexpr VkMemoryPropertyFlags kMapped =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

uint64_t round_up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

std::string mebibytes(uint64_t bytes) {
    std::ostringstream out;
    out.precision(1);
    out << std::fixed << static_cast<double>(bytes) / (1 << 20) << " MiB";
    return out.str();
}

/// Returns the bytes that this machine has left; 0 if unknown. A driver on the CPU reports a heap
/// of any size, so this asks the system.
uint64_t host_available() {
    std::ifstream file("/proc/meminfo");
    std::string name, rest;
    for (uint64_t kibibytes = 0; file >> name >> kibibytes; std::getline(file, rest))
        if (name == "MemAvailable:") return kibibytes << 10;
    return 0;
}

/// Returns the first memory type that has one of the wanted sets of flags, in order of preference.
uint32_t find_type(const VkPhysicalDeviceMemoryProperties& memory, uint32_t allowed,
                   std::initializer_list<VkMemoryPropertyFlags> wanted) {
    for (VkMemoryPropertyFlags flags : wanted)
        for (uint32_t i = 0; i < memory.memoryTypeCount; ++i)
            if ((allowed >> i & 1) && (memory.memoryTypes[i].propertyFlags & flags) == flags)
                return i;
    throw DeviceError("Vulkan: the device has no memory type for storage buffers");
}

VkBufferUsageFlags usage_of(const Device& device) {
    VkBufferUsageFlags usage = kUsage;
    if (device.has_addresses()) usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    return usage;
}

VkResult make_buffer(const Device& device, uint64_t bytes, VkBuffer& buffer) {
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = bytes;
    info.usage = usage_of(device);
    info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
    return device.vk().vkCreateBuffer(device.handle(), &info, device.allocator(), &buffer);
}

void destroy(const Device& device, const MemoryBlock& block) {
    device.vk().vkDestroyBuffer(device.handle(), block.buffer, device.allocator());
    device.vk().vkFreeMemory(device.handle(), block.memory, device.allocator());
}

/// Takes the first `bytes` out of the free range at `offset`, as the node by which they are put
/// back.
std::map<uint64_t, uint64_t>::node_type take_free(std::map<uint64_t, uint64_t>& free,
                                                  uint64_t offset, uint64_t bytes) {
    const uint64_t length = free.at(offset);
    if (length > bytes) free[offset + bytes] = length - bytes;
    return free.extract(offset);
}

/// Puts a range back and merges it with its neighbours.
void add_free(std::map<uint64_t, uint64_t>& free, std::map<uint64_t, uint64_t>::node_type node,
              uint64_t bytes) noexcept {
    const uint64_t offset = node.key();
    auto after = free.lower_bound(offset);
    if (after != free.end() && offset + bytes == after->first) {
        bytes += after->second;
        after = free.erase(after);
    }
    if (after != free.begin()) {
        auto before = std::prev(after);
        if (before->first + before->second == offset) {
            before->second += bytes;
            return;
        }
    }
    node.mapped() = bytes;
    free.insert(std::move(node));
}

}  // namespace

MemoryPool::MemoryPool(Device& device) : device_(device) {
    const InstanceTable& vk = device.instance().functions();
    VkPhysicalDeviceMemoryProperties memory;
    vk.vkGetPhysicalDeviceMemoryProperties(device.physical(), &memory);
    VkPhysicalDeviceMaintenance3Properties maintenance{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
    VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                           &maintenance};
    vk.vkGetPhysicalDeviceProperties2(device.physical(), &properties);
    if (device.info().type == VK_PHYSICAL_DEVICE_TYPE_CPU) host_bytes_ = host_available();
    max_allocation_ = maintenance.maxMemoryAllocationSize;

    VkBuffer probe = VK_NULL_HANDLE;
    check(make_buffer(device, kGranularity, probe), "vkCreateBuffer", "memory type probe");
    VkMemoryRequirements requirements;
    device.vk().vkGetBufferMemoryRequirements(device.handle(), probe, &requirements);
    device.vk().vkDestroyBuffer(device.handle(), probe, device.allocator());

    // Mapped memory for kernels only where the host reads it at full speed; else copies through
    // staging.
    uint32_t device_type = find_type(
        memory, requirements.memoryTypeBits,
        {kMapped | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
         VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0});
    uint32_t host_type = find_type(memory, requirements.memoryTypeBits,
                                   {kMapped | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, kMapped});
    uint32_t filled_type = find_type(memory, requirements.memoryTypeBits,
                                     {kMapped | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, kMapped});
    for (auto [place, index] :
         {std::pair{BufferPlace::Device, device_type}, std::pair{BufferPlace::Host, host_type},
          std::pair{BufferPlace::Filled, filled_type}}) {
        Type& type = types_[static_cast<int>(place)];
        type.index = index;
        type.heap = memory.memoryTypes[index].heapIndex;
        type.heap_bytes = memory.memoryHeaps[type.heap].size;
        constexpr VkMemoryPropertyFlags kFast = kMapped | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
        VkMemoryPropertyFlags flags = memory.memoryTypes[index].propertyFlags;
        type.mapped =
            place != BufferPlace::Device || (device.map_memory() && (flags & kFast) == kFast);
    }
}

MemoryPool::~MemoryPool() {
    for (const auto& block : blocks_) destroy(device_, *block);
}

MemoryUse MemoryPool::use() const {
    std::lock_guard lock(mutex_);
    return {used_, held_, heap_free(BufferPlace::Device), allocations_};
}

void MemoryPool::trim() {
    std::lock_guard lock(mutex_);
    release_unused(0);
}

uint64_t MemoryPool::heap_free(BufferPlace place) const {
    const Type& type = types_[static_cast<int>(place)];
    // The system takes pages only when they are touched, so all held memory counts as used.
    if (host_bytes_ > 0)
        return std::min(host_available(), host_bytes_ > held_ ? host_bytes_ - held_ : 0);
    if (!device_.has_memory_budget()) return type.heap_bytes > held_ ? type.heap_bytes - held_ : 0;
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 properties{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, &budget};
    device_.instance().functions().vkGetPhysicalDeviceMemoryProperties2(device_.physical(),
                                                                        &properties);
    uint64_t limit = budget.heapBudget[type.heap], usage = budget.heapUsage[type.heap];
    return limit > usage ? limit - usage : 0;
}

/// Releases blocks that were idle for more than so many buffers. Waits for the device if it still
/// works on one.
void MemoryPool::release_unused(uint64_t idle) {
    const size_t before = blocks_.size();
    for (auto at = blocks_.begin(); at != blocks_.end();) {
        if ((*at)->live > 0 || (*at)->last_taken + idle > taken_) {
            ++at;
            continue;
        }
        device_.wait((*at)->busy_until);
        destroy(device_, **at);
        held_ -= (*at)->bytes;
        at = blocks_.erase(at);
    }
#ifdef __GLIBC__
    // A driver on the CPU takes its memory from the C library, which keeps freed memory.
    if (blocks_.size() < before && host_bytes_ > 0) malloc_trim(0);
#endif
}

MemoryBlock* MemoryPool::find_block(uint64_t bytes, BufferPlace place, uint64_t& offset) {
    bool small = bytes < kSharedLimit;
    MemoryBlock* best = nullptr;
    for (const auto& block : blocks_) {
        if (block->place != place || block->shared != small) continue;
        if (!small) {
            bool fits = block->live == 0 && block->bytes >= bytes &&
                        block->bytes <= bytes + bytes / 8 + kLargeStep;
            if (fits && (!best || block->bytes < best->bytes)) best = block.get();
            continue;
        }
        for (const auto& [start, length] : block->free)
            if (length >= bytes) {
                offset = start;
                return block.get();
            }
    }
    if (best) offset = 0;
    return best;
}

MemoryBlock* MemoryPool::add_block(uint64_t bytes, BufferPlace place, const std::string& name) {
    const Type& type = types_[static_cast<int>(place)];
    bool small = bytes < kSharedLimit;
    uint64_t block_bytes = small ? kSharedBytes : round_up(bytes, kLargeStep);
    auto block = std::make_unique<MemoryBlock>();
    block->place = place;
    block->shared = small;
    block->bytes = block_bytes;

    // The driver of a CPU device promises more memory than there is and the system then ends the
    // process, so the free memory is checked first.
    if (block_bytes > max_allocation_ || block_bytes > heap_free(place))
        throw_out_of_memory(bytes, place, name, "not asked of the driver");
    std::string block_name = small ? "memory shared by small buffers" : "memory of " + name;
    block->free[0] = block_bytes;
    blocks_.reserve(blocks_.size() + 1);
    const VolkDeviceTable& vk = device_.vk();
    const char* call = "vkCreateBuffer";
    VkResult result = make_buffer(device_, block_bytes, block->buffer);
    if (result == VK_SUCCESS) {
        VkMemoryRequirements requirements;
        vk.vkGetBufferMemoryRequirements(device_.handle(), block->buffer, &requirements);
        VkMemoryAllocateFlagsInfo flags{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
        flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
        VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
        if (device_.has_addresses()) info.pNext = &flags;
        info.allocationSize = requirements.size;
        info.memoryTypeIndex = type.index;
        call = "vkAllocateMemory";
        result = vk.vkAllocateMemory(device_.handle(), &info, device_.allocator(), &block->memory);
    }
    if (result == VK_SUCCESS) {
        call = "vkBindBufferMemory";
        result = vk.vkBindBufferMemory(device_.handle(), block->buffer, block->memory, 0);
    }
    if (result == VK_SUCCESS && type.mapped) {
        void* mapped = nullptr;
        call = "vkMapMemory";
        result = vk.vkMapMemory(device_.handle(), block->memory, 0, VK_WHOLE_SIZE, 0, &mapped);
        block->mapped = static_cast<std::byte*>(mapped);
    }
    if (result != VK_SUCCESS) {
        destroy(device_, *block);
        if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY)
            throw_out_of_memory(bytes, place, name, call + (": " + result_name(result)));
        check(result, call, block_name);
    }
    device_.set_name(block->buffer, VK_OBJECT_TYPE_BUFFER, block_name);
    device_.set_name(block->memory, VK_OBJECT_TYPE_DEVICE_MEMORY, block_name);
    held_ += block_bytes;
    block->number = ++allocations_;
    blocks_.push_back(std::move(block));
    return blocks_.back().get();
}

void MemoryPool::throw_out_of_memory(uint64_t bytes, BufferPlace place, const std::string& name,
                                     const std::string& failed) const {
    throw OutOfMemory("out of device memory: " + mebibytes(bytes) + " were asked for '" + name +
                      "', " + mebibytes(used_) + " are used (" + mebibytes(held_) + " held) and " +
                      mebibytes(heap_free(place)) + " are free on '" + device_.info().name +
                      "', one allocation holds at most " + mebibytes(max_allocation_) + " (" +
                      failed + "); release tensors or use smaller ones");
}

std::shared_ptr<Buffer> MemoryPool::take(const std::shared_ptr<Device>& device, uint64_t bytes,
                                         const std::string& name, BufferPlace place) {
    if (bytes > UINT64_MAX / 2)
        throw InternalError("memory of '" + name + "': the size is negative");
    uint64_t held = round_up(std::max<uint64_t>(bytes, 1), kGranularity);
    std::shared_ptr<Buffer> buffer(new Buffer);
    buffer->device_ = device;
    buffer->name_ = name;
    std::lock_guard lock(mutex_);
    uint64_t offset = 0;
    MemoryBlock* block = find_block(held, place, offset);
    ++taken_;
    if (!block) {
        release_unused(held_ > used_ + std::max(used_, kKeptBytes) ? 0 : kIdleTakes);
        try {
            block = add_block(held, place, name);
        } catch (const OutOfMemory&) {
            release_unused(0);
            block = add_block(held, place, name);
        }
    }
    buffer->free_range_ = take_free(block->free, offset, held);
    ++block->live;
    block->last_taken = taken_;
    used_ += held;
    buffer->block_ = block;
    buffer->held_bytes_ = held;
    buffer->range_ = {block->buffer, offset,       round_up(std::max<uint64_t>(bytes, 1), 16),
                      block->number, block->bytes, usage_of(device_)};
    buffer->mapped_ = block->mapped ? block->mapped + offset : nullptr;
    buffer->busy_until_ = buffer->written_at_ = block->busy_until;
    return buffer;
}

void MemoryPool::give_back(Buffer& buffer) {
    std::lock_guard lock(mutex_);
    MemoryBlock& block = *buffer.block_;
    block.busy_until = std::max<TimelinePoint>(block.busy_until, buffer.busy_until_);
    add_free(block.free, std::move(buffer.free_range_), buffer.held_bytes_);
    --block.live;
    used_ -= buffer.held_bytes_;
}

Buffer::~Buffer() {
    if (block_ && device_->is_here()) device_->memory().give_back(*this);
}

namespace {

void fill(Buffer& buffer) {
    Device& device = buffer.device();
    const BufferRange& range = buffer.range();
    buffer.used_at(submit_once(device,
                               [&](VkCommandBuffer commands) {
                                   device.vk().vkCmdFillBuffer(commands, range.buffer, range.offset,
                                                               range.bytes / 4 * 4, kFilledWord);
                               }),
                   true);
}

}  // namespace

std::shared_ptr<Buffer> create_buffer(const std::shared_ptr<Device>& device, uint64_t bytes,
                                      const std::string& name, BufferPlace place) {
    device->require_here();
    std::shared_ptr<Buffer> buffer = device->memory().take(device, bytes, name, place);
    if (device->fill_memory() && place == BufferPlace::Device) fill(*buffer);
    return buffer;
}

}  // namespace firn
