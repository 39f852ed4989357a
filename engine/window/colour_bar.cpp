// The ticks of colour bars.
#include "engine/window/colour_bar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "engine/gpu/commands.h"

namespace firn {
namespace {

constexpr int64_t kTicks = 24;            // as in colour_bar.comp
constexpr float kTickHeight = 40;         // pixels at scale 1: the least distance of ticks
constexpr float kTick = 4, kTextGap = 8;  // beyond the bar
constexpr std::array<float, 4> kBarInk{0.82f, 0.85f, 0.9f, 1};
constexpr int64_t kShades = 256;

/// The push constants of colour_bar.comp.
struct BarPush {
    float low, high;
    int32_t kind, most;
    float line_from, line_to, text;
};

}  // namespace

ColourBars::ColourBars(std::shared_ptr<Device> device, uint32_t slots)
    : device_(std::move(device)), slots_(slots) {
    std::vector<float> shades;
    for (int64_t k = kShades - 1; k >= 0; --k)
        shades.push_back(static_cast<float>(k) / static_cast<float>(kShades - 1));
    auto buffer = create_buffer(device_, shades.size() * sizeof(float), "shades of a colour bar");
    write_buffer(*buffer, 0, std::as_bytes(std::span(shades)));
    ramp_ = {buffer, 0, f32, {kShades, 1}};
}

ColourBars::~ColourBars() {
    device_->defer([device = device_.get(), pipeline = pipeline_] {
        device->vk().vkDestroyPipeline(device->handle(), pipeline, nullptr);
    });
}

DrawScene ColourBars::ticks(VkCommandBuffer commands, uint32_t slot, const ShownRange& range,
                            const BarPlace& place) {
    if (used_ == bars_.size())
        bars_.push_back(
            {std::make_unique<StorageSets>(*device_, 2, slots_, sizeof(BarPush), "colour bar"),
             create_buffer(device_, 7 * kTicks * sizeof(float), "ticks of a colour bar")});
    const Bar& bar = bars_[used_++];
    if (!pipeline_)
        pipeline_ =
            create_compute_pipeline(*device_, "colour_bar.comp", bar.sets->layout(), "colour bar");
    const auto& ramp = static_cast<const Buffer&>(*ramp_.memory);  // if there is no range
    const BufferRange& found = (range.found ? *range.found : ramp).range();
    bar.sets->bind(slot, 0, found.buffer, found.offset, 8);
    bar.sets->bind(slot, 1, bar.ticks->range().buffer, bar.ticks->range().offset,
                   bar.ticks->bytes());
    const float width = place.bar.width / place.scale;
    const int most = static_cast<int>(place.bar.height / (kTickHeight * place.scale));
    const BarPush push{
        range.low, range.high,    range.kind,      std::clamp(most, 1, int{kTicks} - 2),
        width,     width + kTick, width + kTextGap};
    barrier_all(*device_, commands);
    const VolkDeviceTable& vk = device_->vk();
    vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
    VkDescriptorSet set = (*bar.sets)[slot];
    vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, bar.sets->layout(), 0, 1,
                               &set, 0, nullptr);
    bar.sets->push(commands, &push);
    vk.vkCmdDispatch(commands, 1, 1, 1);
    constexpr uint64_t row = kTicks * sizeof(float);
    DrawScene scene;
    DrawLayer& lines = scene.layers.emplace_back();
    lines.shape = DrawShape::Lines;
    lines.places = {bar.ticks, 3 * row, f32, {kTicks, 2, 2}};
    lines.colour = kBarInk;
    DrawLayer& numbers = scene.layers.emplace_back();
    numbers.shape = DrawShape::Numbers;
    numbers.places = {bar.ticks, row, f32, {kTicks, 2}};
    numbers.values = {bar.ticks, 0, f32, {kTicks}};
    numbers.text.align = {0, 0.5f};
    numbers.colour = kBarInk;
    numbers.size = 15;
    return scene;
}

}  // namespace firn
