// Memory of executors on the host.
#include "compiler/host/host_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "compiler/base/error.h"
#include "compiler/base/physical_memory.h"

namespace firn {
namespace {

/// From here on a block that is free is kept: the system clears fresh memory page by page, which
/// takes as long as a kernel that writes it once.
constexpr uint64_t kLarge = 256 << 10;
/// Free blocks that are kept have no more bytes than this or than the memory that is held,
/// whichever is more.
constexpr uint64_t kAlwaysKept = 64 << 20;
/// Part of the machine's memory that is kept at the most.
constexpr uint64_t kKeptPart = 16;
/// From here on memory is asked for in large pages.
constexpr uint64_t kLargePage = 2 << 20;

/// The bytes of a block with its margins.
uint64_t room_of(uint64_t bytes) {
    const uint64_t lines = std::max<uint64_t>(1, (bytes + kHostLine - 1) / kHostLine) + 2;
    const uint64_t step = lines * kHostLine >= kLarge ? 4096 : kHostLine;
    return (lines * kHostLine + step - 1) / step * step;
}

std::byte* new_room(uint64_t room) {
    const uint64_t alignment = room >= 2 * kLargePage ? kLargePage : kHostLine;
    void* begin = std::aligned_alloc(alignment, (room + alignment - 1) / alignment * alignment);
    if (!begin) return nullptr;
    if (alignment == kLargePage) madvise(begin, room, MADV_HUGEPAGE);  // slower without, no worse
    return static_cast<std::byte*>(begin);
}

}  // namespace

HostPool::~HostPool() { drop_kept_beyond(0); }

void HostPool::drop_kept_beyond(uint64_t most) {
    size_t dropped = 0;
    for (; dropped < kept_.size() && kept_bytes_ > most; ++dropped) {
        kept_bytes_ -= kept_[dropped].room;
        std::free(kept_[dropped].data - kHostLine);
    }
    kept_.erase(kept_.begin(), kept_.begin() + static_cast<ptrdiff_t>(dropped));
}

std::byte* HostPool::take(uint64_t bytes) {
    // Asking for more than the machine has may succeed and end the process at the first touch.
    const uint64_t physical = physical_memory();
    if (bytes > physical) return nullptr;
    uint64_t room = room_of(bytes);
    std::byte* data = nullptr;
    {
        const std::lock_guard lock(mutex_);
        if (bytes > physical - std::min(physical, held_)) return nullptr;
        if (room >= kLarge) {
            auto best = kept_.end();
            for (auto at = kept_.begin(); at != kept_.end(); ++at)
                if (at->room >= room && at->room <= room + room / 4 &&
                    (best == kept_.end() || at->room < best->room))
                    best = at;
            if (best != kept_.end()) {
                data = best->data, room = best->room;
                kept_bytes_ -= room;
                kept_.erase(best);
            } else {
                const uint64_t others = std::min(physical, held_ + room);
                drop_kept_beyond(physical - others);
            }
        }
        held_ += bytes;
    }
    if (!data) {
        data = new_room(room);
        if (!data) {
            const std::lock_guard lock(mutex_);
            drop_kept_beyond(0);
            data = new_room(room);
        }
        if (!data) {
            const std::lock_guard lock(mutex_);
            held_ -= bytes;
            return nullptr;
        }
        data += kHostLine;
    }
    if (fill_) std::memset(data - kHostLine, static_cast<int>(*fill_), room);
    std::memcpy(data - kHostLine, &room, sizeof room);  // for give_back: nothing else writes there
    return data;
}

void HostPool::give_back(std::byte* data, uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    held_ -= bytes;
    if (room_of(bytes) < kLarge) {
        std::free(data - kHostLine);
        return;
    }
    Kept kept{data, 0};
    std::memcpy(&kept.room, data - kHostLine, sizeof kept.room);
    kept_.push_back(kept);
    kept_bytes_ += kept.room;
    drop_kept_beyond(std::min(physical_memory() / kKeptPart, std::max(kAlwaysKept, held_)));
}

uint64_t HostPool::held() const {
    const std::lock_guard lock(mutex_);
    return held_;
}

uint64_t HostPool::free() const {
    const uint64_t physical = physical_memory();
    return physical - std::min(physical, held());
}

HostBlock::HostBlock(std::shared_ptr<HostPool> pool, uint64_t bytes, const std::string& name)
    : pool_(std::move(pool)), data_(pool_->take(bytes)), bytes_(bytes) {
    if (data_) return;
    const uint64_t free = pool_->free();
    throw DeviceError("out of memory: " + std::to_string(bytes) + " bytes were asked for '" + name +
                      "', " + std::to_string(pool_->held()) +
                      " bytes are held by this executor and at most " +
                      std::to_string(bytes <= free ? 0 : free) +
                      " are free; release tensors or use smaller ones");
}

}  // namespace firn
