// Keeps the driver's data of compiled pipelines, in memory and between runs.
#include "engine/gpu/pipeline_cache.h"

#include <utility>

#include "compiler/base/disk_cache.h"
#include "engine/gpu/device.h"
#include "engine/gpu/profile.h"

namespace firn {
namespace {

constexpr const char* kPipelinesCache = "pipelines";

}  // namespace

PipelineCache::PipelineCache(const Device& device, std::string directory, VkPipelineCache of_host)
    : device_(device),
      directory_(std::move(directory)),
      name_(cache_hash(driver_key(device.instance().functions(), device.physical()))),
      belongs_to_host_(of_host != VK_NULL_HANDLE),
      cache_(belongs_to_host_ ? std::make_shared<const VkPipelineCache>(of_host)
                              : make(cache_load(directory_, kPipelinesCache, name_))) {}

PipelineCache::~PipelineCache() {
    try {
        store();
    } catch (const std::exception&) {
        // A pipeline that is not stored is compiled again.
    }
}

PipelineCache::Handle PipelineCache::take() {
    std::lock_guard lock(mutex_);
    if (!belongs_to_host_ && ++taken_ % kLookEvery == 0 && size() > kMostBytes)
        cache_ = make(std::nullopt);
    return cache_;
}

PipelineCache::Handle PipelineCache::make(const std::optional<Bytes>& bytes) const {
    VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    if (bytes) {
        info.initialDataSize = bytes->size();
        info.pInitialData = bytes->data();
    }
    const auto destroy = [&device = device_](const VkPipelineCache* cache) {
        device.vk().vkDestroyPipelineCache(device.handle(), *cache, device.allocator());
        delete cache;
    };
    const std::shared_ptr<VkPipelineCache> made(new VkPipelineCache(VK_NULL_HANDLE), destroy);
    const VkResult result = device_.vk().vkCreatePipelineCache(device_.handle(), &info,
                                                               device_.allocator(), made.get());
    // The driver refuses data that it wrote itself, so the cache starts empty.
    if (result != VK_SUCCESS && bytes) return make(std::nullopt);
    device_.check(result, "vkCreatePipelineCache", device_.info().name);
    device_.set_name(*made, VK_OBJECT_TYPE_PIPELINE_CACHE, "pipeline cache");
    return made;
}

/// 0 if the driver does not report it.
uint64_t PipelineCache::size() const {
    size_t bytes = 0;
    const VkResult result =
        device_.vk().vkGetPipelineCacheData(device_.handle(), *cache_, &bytes, nullptr);
    return result == VK_SUCCESS ? bytes : 0;
}

PipelineCache::Bytes PipelineCache::data() const {
    size_t bytes = size();
    Bytes out(bytes);
    if (device_.vk().vkGetPipelineCacheData(device_.handle(), *cache_, &bytes, out.data()) !=
        VK_SUCCESS)
        return {};
    out.resize(bytes);
    return out;
}

/// A failure only loses time.
void PipelineCache::store() const {
    if (directory_.empty() || belongs_to_host_) return;
    const auto old = cache_load(directory_, kPipelinesCache, name_);
    if (old && *old == data()) return;
    // Another process may have stored its pipelines meanwhile: they stay if there is room.
    if (old && old->size() + size() <= kMostBytes) {
        const Handle theirs = make(old);
        (void)device_.vk().vkMergePipelineCaches(device_.handle(), *cache_, 1, theirs.get());
    }
    if (const Bytes bytes = data(); !bytes.empty() && bytes.size() <= kMostBytes)
        cache_store(directory_, kPipelinesCache, name_, bytes);
}

}  // namespace firn
