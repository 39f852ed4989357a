// Device memory: buffers cut from few allocations and reused, with the accounting behind
// out-of-memory errors.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "compiler/program/executor.h"
#include "compiler/program/program.h"
#include "engine/gpu/device.h"

namespace firn {

/// The part of a buffer that descriptors and copies need: plain values, no ownership.
struct BufferRange {
    VkBuffer buffer = VK_NULL_HANDLE;
    uint64_t offset = 0;
    uint64_t bytes = 0;
    /// Number of the allocation, never used again: a VkBuffer handle may be. 0 for foreign buffers.
    uint64_t allocation = 0;
    /// Size and usage of the whole VkBuffer, as it was made.
    uint64_t buffer_bytes = 0;
    VkBufferUsageFlags usage = 0;
    friend bool operator==(const BufferRange&, const BufferRange&) = default;
    friend auto operator<=>(const BufferRange&, const BufferRange&) = default;
};

/// Returns whether they share a byte.
inline bool overlap(const BufferRange& a, const BufferRange& b) {
    return a.buffer == b.buffer && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

/// The memory of a buffer.
enum class BufferPlace : uint8_t {
    Device,  // for kernels; mapped too where the device shares its memory with the host
    Host,    // mapped and cached: staging and readback
    Filled,  // for kernels and mapped, if slower: what the host writes where nothing is submitted
};
inline constexpr size_t kBufferPlaces = 3;

struct MemoryBlock;

/// A range of device memory; given back to the pool when destroyed. The device may still be at work
/// on it then: reuse on the device is ordered by the one queue, reuse by the host waits for
/// `busy_until`.
class Buffer : public Memory {
  public:
    ~Buffer() override;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    uint64_t bytes() const override { return range_.bytes; }
    const BufferRange& range() const { return range_; }
    const std::string& name() const { return name_; }
    Device& device() const { return *device_; }
    const std::shared_ptr<Device>& owner() const { return device_; }
    /// The first byte as the host sees it; null where the memory is not mapped.
    std::byte* mapped() const { return mapped_; }

    /// The newest submission that reads or writes it, and the newest that writes it. Code that
    /// submits commands on a buffer notes it by `used_at`.
    TimelinePoint busy_until() const { return busy_until_; }
    TimelinePoint written_at() const { return written_at_; }
    void used_at(TimelinePoint point, bool written);

  private:
    friend class MemoryPool;
    Buffer() = default;

    std::shared_ptr<Device> device_;
    std::string name_;
    BufferRange range_;
    std::byte* mapped_ = nullptr;
    MemoryBlock* block_ = nullptr;
    uint64_t held_bytes_ = 0;  // the size in the pool: range_.bytes rounded up
    std::map<uint64_t, uint64_t>::node_type free_range_;  // so that freeing it allocates nothing
    std::atomic<TimelinePoint> busy_until_{0}, written_at_{0};
};

/// The content of new memory if DeviceOptions::fill_memory is set: nan as floats of 16 and 32 bits,
/// a number that programs do not compute as integers of any size, and neither false nor true as a
/// bool.
constexpr uint32_t kFilledWord = 0xffc1ffc1;

/// Uninitialised memory of at least `bytes`; a range is never empty and starts at a multiple of 256
/// and of every alignment that the device requires of a binding. Throws DeviceError that says how
/// much was requested, held and free.
std::shared_ptr<Buffer> create_buffer(const std::shared_ptr<Device>& device, uint64_t bytes,
                                      const std::string& name,
                                      BufferPlace place = BufferPlace::Device);

/// Host to buffer, ordered after all work submitted so far. Copies `data` before it returns.
void write_buffer(Buffer& buffer, uint64_t offset, std::span<const std::byte> data);
/// Buffer to host; waits for the last write to it.
void read_buffer(const Buffer& buffer, uint64_t offset, std::span<std::byte> data);

/// The view format by which a kernel loads `width` (1 or 4) elements of `dtype`.
/// Throws InternalError for types that have none.
VkFormat texel_format(DType dtype, int width);
/// A view for a Texel binding. The caller destroys it (Device::defer). Throws UserError where
/// `range` has more texels than the device's limit, or starts between its steps.
VkBufferView create_texel_view(const Device& device, const BufferRange& range, DType dtype,
                               int width, const std::string& name);

/// The request does not fit: the message says how much was requested, held and free.
struct OutOfMemory : DeviceError {
    using DeviceError::DeviceError;
};

struct MemoryUse {
    uint64_t used = 0;         // in live buffers
    uint64_t held = 0;         // allocated from Vulkan
    uint64_t free = 0;         // free bytes of the heap, as far as the driver says
    uint64_t allocations = 0;  // vkAllocateMemory calls so far, ever
};

/// All memory of a device. Small buffers share blocks; a freed large one is kept for the next of
/// its size, until many others were allocated without using it.
class MemoryPool {
  public:
    explicit MemoryPool(Device& device);
    ~MemoryPool();
    MemoryUse use() const;
    /// Returns memory that no buffer holds to the driver.
    void trim();

  private:
    friend class Buffer;
    friend std::shared_ptr<Buffer> create_buffer(const std::shared_ptr<Device>&, uint64_t,
                                                 const std::string&, BufferPlace);
    struct Type {
        uint32_t index = 0, heap = 0;
        uint64_t heap_bytes = 0;
        bool mapped = false;
    };
    std::shared_ptr<Buffer> take(const std::shared_ptr<Device>& device, uint64_t bytes,
                                 const std::string& name, BufferPlace place);
    void give_back(Buffer& buffer);
    MemoryBlock* find_block(uint64_t bytes, BufferPlace place, uint64_t& offset);
    MemoryBlock* add_block(uint64_t bytes, BufferPlace place, const std::string& name);
    void release_unused(uint64_t idle);
    uint64_t heap_free(BufferPlace place) const;
    /// `failed`: the call that failed, with its result.
    [[noreturn]] void throw_out_of_memory(uint64_t bytes, BufferPlace place,
                                          const std::string& name, const std::string& failed) const;

    Device& device_;
    Type types_[kBufferPlaces];  // by BufferPlace
    uint64_t max_allocation_ = 0;
    uint64_t host_bytes_ = 0;  // CPU drivers: free memory of the machine at the start
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<MemoryBlock>> blocks_;
    uint64_t used_ = 0, held_ = 0, allocations_ = 0;
    uint64_t taken_ = 0;  // buffers so far
};

}  // namespace firn
