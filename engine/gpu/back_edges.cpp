// Finds out whether the driver ends long loops, by running one.
#include <algorithm>
#include <cstring>
#include <span>

#include "compiler/base/disk_cache.h"
#include "compiler/program/spirv_format.h"
#include "engine/gpu/buffer.h"
#include "engine/gpu/commands.h"
#include "engine/gpu/pipeline.h"
#include "engine/gpu/profile.h"
#include "engine/gpu/shader_library.h"

namespace firn {
namespace {

constexpr uint32_t kTrialIterations = 70000;
constexpr const char* kBackEdgesCache = "back_edges";

uint32_t run_loop(const std::shared_ptr<Device>& owner) {
    Device& device = *owner;
    KernelInfo kernel;
    kernel.name = "back edge probe";
    std::span<const uint32_t> spirv = shader_module("back_edges.comp");
    kernel.artefact.format = kSpirvFormat;
    kernel.artefact.words.assign(spirv.begin(), spirv.end());
    kernel.group_size = {8, 1, 1};
    kernel.bindings = {{BindingForm::Storage, u32, 1, true}};
    kernel.param_types = {u32};
    Pipeline pipeline(device, kernel);
    auto memory = create_buffer(owner, 32, "back edge counts");
    SetRequest request{&pipeline, {memory->range()}, {&memory->name()}};
    DescriptorSets sets(device, {&request, 1}, kernel.name);
    const VolkDeviceTable& vk = device.vk();
    TimelinePoint point = submit_once(device, [&](VkCommandBuffer commands) {
        vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle());
        vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout(), 0,
                                   1, sets.sets().data(), 0, nullptr);
        vk.vkCmdPushConstants(commands, pipeline.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, 4,
                              &kTrialIterations);
        vk.vkCmdDispatch(commands, 1, 1, 1);
    });
    memory->used_at(point, true);
    uint32_t iterations[8];
    read_buffer(*memory, 0, std::as_writable_bytes(std::span(iterations)));
    return *std::min_element(std::begin(iterations), std::end(iterations));
}

}  // namespace

uint32_t probe_back_edges(const std::shared_ptr<Device>& device,
                          const std::string& cache_directory) {
    std::string name = cache_hash(driver_key(device->instance().functions(), device->physical()));
    uint32_t iterations = 0;
    auto bytes = cache_load(cache_directory, kBackEdgesCache, name);
    if (bytes && bytes->size() == sizeof iterations) {
        std::memcpy(&iterations, bytes->data(), sizeof iterations);
    } else if (!device->may_probe()) {
        return device->profile().max_back_edges;
    } else {
        iterations = run_loop(device);
        cache_store(cache_directory, kBackEdgesCache, name,
                    std::as_bytes(std::span(&iterations, 1)));
    }
    return iterations < kTrialIterations ? iterations : 0;
}

}  // namespace firn
