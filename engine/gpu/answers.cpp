// Finds out whether the driver computes correctly where some drivers do not, by computations with
// known results.
#include <array>
#include <bit>
#include <cmath>
#include <span>
#include <vector>

#include "compiler/base/disk_cache.h"
#include "compiler/program/spirv_format.h"
#include "engine/gpu/buffer.h"
#include "engine/gpu/commands.h"
#include "engine/gpu/pipeline.h"
#include "engine/gpu/profile.h"
#include "engine/gpu/shader_library.h"

namespace firn {
namespace {

/// A shader of one group that reads words and answers with words.
struct Question {
    const char* shader;
    const char* kept_as;  // the name of the cached answer
    uint32_t invocations = 1;
    std::vector<uint32_t> words, expected;
};

bool answers_right(const std::shared_ptr<Device>& owner, const Question& question) {
    Device& device = *owner;
    KernelInfo kernel;
    kernel.name = question.kept_as;
    std::span<const uint32_t> spirv = shader_module(question.shader);
    kernel.artefact.format = kSpirvFormat;
    kernel.artefact.words.assign(spirv.begin(), spirv.end());
    kernel.group_size = {question.invocations, 1, 1};
    kernel.bindings = {{BindingForm::Storage, u32, 1, false}, {BindingForm::Storage, u32, 1, true}};
    Pipeline pipeline(device, kernel);
    auto words = create_buffer(owner, question.words.size() * 4, kernel.name + ": asked");
    auto answers = create_buffer(owner, question.expected.size() * 4, kernel.name + ": answered");
    std::vector<uint32_t> got(question.expected.size());
    write_buffer(*words, 0, std::as_bytes(std::span(question.words)));
    write_buffer(*answers, 0, std::as_bytes(std::span(got)));  // zeros if the shader writes nothing
    SetRequest request{
        &pipeline, {words->range(), answers->range()}, {&words->name(), &answers->name()}};
    DescriptorSets sets(device, {&request, 1}, kernel.name);
    const VolkDeviceTable& vk = device.vk();
    TimelinePoint point = submit_once(device, [&](VkCommandBuffer commands) {
        vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle());
        vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout(), 0,
                                   1, sets.sets().data(), 0, nullptr);
        vk.vkCmdDispatch(commands, 1, 1, 1);
    });
    words->used_at(point, false);
    answers->used_at(point, true);
    read_buffer(*answers, 0, std::as_writable_bytes(std::span(got)));
    return got == question.expected;
}

/// Runs a test, and keeps its result for the driver.
bool ask(const std::shared_ptr<Device>& device, const std::string& cache_directory,
         const Question& question) {
    const std::string name =
        cache_hash(driver_key(device->instance().functions(), device->physical()));
    if (const auto kept = cache_load(cache_directory, question.kept_as, name);
        kept && kept->size() == 1)
        return kept->front() == std::byte{1};
    if (!device->may_probe()) return false;
    const bool right = answers_right(device, question);
    const std::byte found{right};
    cache_store(cache_directory, question.kept_as, name, {&found, 1});
    return right;
}

constexpr std::array<int32_t, 8> kWidened{-5, 7, 0, -1, 1, INT32_MIN, INT32_MAX, -2};

/// Returns the expected result of shaders/widened.comp for x.
uint32_t compared(int64_t x) {
    return (x < 0 ? 1u : 0u) | (x < 1 ? 2u : 0u) | (x < -1 ? 4u : 0u) | (x <= 0 ? 8u : 0u) |
           (0 < x ? 16u : 0u) | (1 < x ? 32u : 0u) | (-1 < x ? 64u : 0u) | (0 <= x ? 128u : 0u);
}

/// The number of invocations of shaders/rounding.comp. A driver that multiplies by a reciprocal is
/// wrong in every fourth quotient of such fractions, and gives 0 if the divisor is beyond 2^126.
constexpr uint32_t kRoundings = 64;

/// Invocations of shaders/subgroup_numbers.comp: several subgroups, of every size that Vulkan
/// knows.
constexpr uint32_t kNumbered = 128;

}  // namespace

bool probe_subgroup_numbers(const std::shared_ptr<Device>& device,
                            const std::string& cache_directory) {
    const uint32_t lanes = device->profile().subgroup_size;
    if (!lanes_share(device->profile()) || kNumbered % lanes != 0) return false;
    Question question{"subgroup_numbers.comp", "subgroup_numbers", kNumbered, {lanes}, {}};
    for (uint32_t place = 0; place < kNumbered; ++place) question.expected.push_back(place + 1);
    return ask(device, cache_directory, question);
}

bool probe_widened_integers(const std::shared_ptr<Device>& device,
                            const std::string& cache_directory) {
    if (!device->profile().has_i64) return true;
    Question question{"widened.comp", "widened", kWidened.size(), {}, {}};
    for (int32_t x : kWidened) {
        question.words.push_back(static_cast<uint32_t>(x));
        question.expected.push_back(compared(x));
    }
    return ask(device, cache_directory, question);
}

bool probe_rounding(const std::shared_ptr<Device>& device, const std::string& cache_directory) {
    Question question{"rounding.comp", "rounding", kRoundings, {}, {}};
    uint32_t state = 1;
    const auto next = [&] { return state = state * 1664525u + 1013904223u; };
    for (uint32_t k = 0; k < kRoundings; ++k) {
        const float scale = k == 0 ? 0x1p126f : 1;
        const float x = scale * std::bit_cast<float>(0x3f800000u | next() >> 9);
        const float y = scale * std::bit_cast<float>(0x3f800000u | next() >> 9);
        for (float each : {x, y}) question.words.push_back(std::bit_cast<uint32_t>(each));
        for (float each : {x / y, std::sqrt(x)})
            question.expected.push_back(std::bit_cast<uint32_t>(each));
    }
    return ask(device, cache_directory, question);
}

}  // namespace firn
