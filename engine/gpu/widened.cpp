// Finds out whether the driver compares integers that were widened to 64 bits right, by comparing
// some.
#include <array>
#include <cstring>
#include <span>

#include "compiler/program/disk_cache.h"
#include "engine/gpu/buffer.h"
#include "engine/gpu/commands.h"
#include "engine/gpu/pipeline.h"
#include "engine/gpu/profile.h"
#include "engine/gpu/shader_library.h"

namespace firn {
namespace {

constexpr const char* kWidenedCache = "widened";
constexpr std::array<int32_t, 8> kValues{-5, 7, 0, -1, 1, INT32_MIN, INT32_MAX, -2};

/// What shaders/widened.comp answers for x.
uint32_t expected(int64_t x) {
    return (x < 0 ? 1u : 0u) | (x < 1 ? 2u : 0u) | (x < -1 ? 4u : 0u) | (x <= 0 ? 8u : 0u) |
           (0 < x ? 16u : 0u) | (1 < x ? 32u : 0u) | (-1 < x ? 64u : 0u) | (0 <= x ? 128u : 0u);
}

bool compares_right(const std::shared_ptr<Device>& owner) {
    Device& device = *owner;
    KernelInfo kernel;
    kernel.name = "widened integer probe";
    std::span<const uint32_t> spirv = shader_module("widened.comp");
    kernel.spirv.assign(spirv.begin(), spirv.end());
    kernel.group_size = {8, 1, 1};
    kernel.bindings = {{BindingForm::Storage, i32, 1, false}, {BindingForm::Storage, u32, 1, true}};
    Pipeline pipeline(device, kernel);
    auto values = create_buffer(owner, sizeof kValues, "widened integers");
    auto answers = create_buffer(owner, sizeof kValues, "widened integer answers");
    write_buffer(*values, 0, std::as_bytes(std::span(kValues)));
    SetRequest request{
        &pipeline, {values->range(), answers->range()}, {values->name(), answers->name()}};
    DescriptorSets sets(device, {&request, 1}, kernel.name);
    const VolkDeviceTable& vk = device.vk();
    TimelinePoint point = submit_once(device, [&](VkCommandBuffer commands) {
        vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle());
        vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout(), 0,
                                   1, sets.sets().data(), 0, nullptr);
        vk.vkCmdDispatch(commands, 1, 1, 1);
    });
    values->used_at(point, false);
    answers->used_at(point, true);
    std::array<uint32_t, kValues.size()> got;
    read_buffer(*answers, 0, std::as_writable_bytes(std::span(got)));
    for (size_t k = 0; k < got.size(); ++k)
        if (got[k] != expected(kValues[k])) return false;
    return true;
}

}  // namespace

bool probe_widened_integers(const std::shared_ptr<Device>& device,
                            const std::string& cache_directory) {
    if (!device->profile().has_i64) return true;
    const std::string name =
        cache_hash(driver_key(device->instance().functions(), device->physical()));
    if (const auto kept = cache_load(cache_directory, kWidenedCache, name);
        kept && kept->size() == 1)
        return kept->front() == std::byte{1};
    const bool right = compares_right(device);
    const std::byte found{right};
    cache_store(cache_directory, kWidenedCache, name, {&found, 1});
    return right;
}

}  // namespace firn
