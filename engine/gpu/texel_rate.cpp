// Finds out whether kernels load faster through texel views than from storage buffers, by timing
// both.
#include <algorithm>
#include <span>
#include <vector>

#include "compiler/base/disk_cache.h"
#include "engine/gpu/buffer.h"
#include "engine/gpu/measured_kernel.h"
#include "engine/gpu/pipeline.h"
#include "engine/gpu/profile.h"
#include "engine/gpu/stopwatch.h"

namespace firn {
namespace {

constexpr uint32_t kTexelGroup = 64, kTexelGroups = 256;
constexpr uint64_t kWords = 4096;  // held by caches
constexpr int32_t kTexelIterations = 128;
constexpr int kRounds = 15;      // timings: the fastest counts, because other work disturbs some
constexpr int kMoreRounds = 90;  // the same if the first ones are too close
constexpr double kWorth = 1.5;   // times as fast; less is not worth two forms of binding
constexpr const char* kTexelRateCache = "texel_rate";

/// The loads of one form, ready to run.
class Loads {
  public:
    Loads(const std::shared_ptr<Device>& device, BindingForm form, const char* shader)
        : device_(*device),
          words_(create_buffer(device, 4 * kWords, "words to load")),
          sums_(create_buffer(device, 4 * kTexelGroup * kTexelGroups, "sums of words")),
          pipeline_(*device,
                    measured_kernel(shader, kTexelGroup,
                                    {{form, u32, 1, false}, {BindingForm::Storage, u32, 1, true}})),
          request_{
              &pipeline_, {words_->range(), sums_->range()}, {&words_->name(), &sums_->name()}, {}},
          sets_(*device, {&request_, 1}, shader) {
        write_buffer(*words_, 0, std::vector<std::byte>(4 * kWords));
    }

    /// A driver on the CPU is measured in processor time, to which other processes add little.
    double seconds(Stopwatch& watch) {
        const Timing taken = watch.time(
            [&](VkCommandBuffer commands) {
                bind_measured(device_, commands, pipeline_, sets_.sets()[0], kTexelIterations);
                device_.vk().vkCmdDispatch(commands, kTexelGroups, 1, 1);
            },
            [&](TimelinePoint point) {
                words_->used_at(point, false);
                sums_->used_at(point, true);
            });
        const bool on_cpu = device_.profile().device_class == DeviceClass::CpuDriver;
        return on_cpu ? taken.processor_seconds : taken.seconds;
    }

  private:
    Device& device_;
    std::shared_ptr<Buffer> words_, sums_;
    Pipeline pipeline_;
    SetRequest request_;
    DescriptorSets sets_;
};

bool are_faster(const std::shared_ptr<Device>& device) {
    Loads texels(device, BindingForm::View, "texel_rate.comp"),
        storage(device, BindingForm::Storage, "storage_rate.comp");
    Stopwatch watch(*device);
    texels.seconds(watch), storage.seconds(watch);  // some drivers compile at the first dispatch
    double texel_seconds = 1e9, storage_seconds = 1e9;
    // A busy machine may delay one more than the other, so rates near the limit are timed longer.
    const auto is_open = [&] {
        const double ratio = storage_seconds / texel_seconds / kWorth;
        return ratio > 1 / kWorth && ratio < kWorth;
    };
    for (int round = 0; round < kRounds || (round < kMoreRounds && is_open()); ++round) {
        texel_seconds = std::min(texel_seconds, texels.seconds(watch));
        storage_seconds = std::min(storage_seconds, storage.seconds(watch));
    }
    return kWorth * texel_seconds < storage_seconds;
}

}  // namespace

bool probe_texel_rate(const std::shared_ptr<Device>& device, const std::string& cache_directory) {
    const std::string name =
        cache_hash(driver_key(device->instance().functions(), device->physical()));
    if (const auto bytes = cache_load(cache_directory, kTexelRateCache, name);
        bytes && bytes->size() == 1)
        return bytes->front() != std::byte{0};
    const bool faster = are_faster(device);
    const std::byte byte{faster};
    cache_store(cache_directory, kTexelRateCache, name, std::span(&byte, 1));
    return faster;
}

}  // namespace firn
