// Keeps the driver's data of compiled pipelines, in memory and between runs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/gpu/vulkan.h"

namespace firn {

class Device;

/// Begins with the data that earlier processes stored for this driver, and stores its own at its
/// end. In memory and on disk it is no larger than kMostBytes plus a few pipelines: beyond that, it
/// begins anew.
class PipelineCache {
  public:
    static constexpr uint64_t kMostBytes = uint64_t{64} << 20;  // thousands of kernels
    static constexpr uint64_t kLookEvery = 64;  // pipelines between looks at the size

    /// `directory` empty: nothing is kept between runs. `of_host`: a cache of a host, which is used
    /// as it is and kept by the host. The device must outlive it.
    PipelineCache(const Device& device, std::string directory,
                  VkPipelineCache of_host = VK_NULL_HANDLE);
    ~PipelineCache();
    PipelineCache(const PipelineCache&) = delete;
    PipelineCache& operator=(const PipelineCache&) = delete;

    using Handle = std::shared_ptr<const VkPipelineCache>;
    /// Returns a cache to make one pipeline with; held until it is made. May be called by several
    /// threads at once.
    Handle take();

  private:
    using Bytes = std::vector<std::byte>;
    Handle make(const std::optional<Bytes>& bytes) const;
    uint64_t size() const;
    Bytes data() const;
    void store() const;

    const Device& device_;
    const std::string directory_, name_;
    const bool belongs_to_host_;
    std::mutex mutex_;
    Handle cache_;
    uint64_t taken_ = 0;
};

}  // namespace firn
