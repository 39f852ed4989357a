// Memory of executors on the host: aligned blocks, which are kept for a while when they are free.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/program/executor.h"

namespace firn {

/// The alignment of a block, and the bytes in front of it and behind it that may be read.
inline constexpr uint64_t kHostLine = 64;

/// The blocks of an executor. Any thread may take and give back.
class HostPool {
  public:
    /// `fill` is the value of fresh bytes; none: they are undefined.
    explicit HostPool(std::optional<std::byte> fill) : fill_(fill) {}
    ~HostPool();
    HostPool(const HostPool&) = delete;
    HostPool& operator=(const HostPool&) = delete;

    /// Returns null where the machine does not have so much.
    std::byte* take(uint64_t bytes);
    /// `data` is from take(bytes).
    void give_back(std::byte* data, uint64_t bytes);
    /// Bytes that are taken, without margins.
    uint64_t held() const;
    /// Bytes that could be taken.
    uint64_t free() const;

  private:
    struct Kept {
        std::byte* data = nullptr;
        uint64_t room = 0;
    };
    void drop_kept_beyond(uint64_t most);

    const std::optional<std::byte> fill_;
    mutable std::mutex mutex_;
    uint64_t held_ = 0;
    std::vector<Kept> kept_;  // large blocks that are free, the oldest first
    uint64_t kept_bytes_ = 0;
};

/// Owns a block; an empty one has none.
class HostBlock {
  public:
    HostBlock() = default;
    /// Throws DeviceError, which says what was asked for `name`, and what is held and free.
    HostBlock(std::shared_ptr<HostPool> pool, uint64_t bytes, const std::string& name);
    HostBlock(HostBlock&& from) noexcept { swap(from); }
    HostBlock& operator=(HostBlock&& from) noexcept {
        swap(from);
        return *this;
    }
    ~HostBlock() {
        if (data_) pool_->give_back(data_, bytes_);
    }

    std::span<std::byte> bytes() const { return {data_, bytes_}; }

  private:
    void swap(HostBlock& other) {
        std::swap(pool_, other.pool_);
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
    }

    std::shared_ptr<HostPool> pool_;
    std::byte* data_ = nullptr;
    uint64_t bytes_ = 0;
};

/// A block as the memory of an executor; it may outlive that.
class HostMemory final : public Memory {
  public:
    HostMemory(HostBlock held, std::string called)
        : block(std::move(held)), name(std::move(called)) {}
    uint64_t bytes() const override { return block.bytes().size(); }

    HostBlock block;
    std::string name;
};

}  // namespace firn
