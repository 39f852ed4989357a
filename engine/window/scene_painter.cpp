// Paints scenes into rectangles of a frame.
#include "engine/window/scene_painter.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

namespace firn {
namespace {

constexpr std::array<float, 4> kInk{0.82f, 0.85f, 0.9f, 1};
constexpr float kLabelGap = 7, kCaptionGap = 12;  // pixels at scale 1
/// Of a colour bar with its ticks; beyond its ends half a number is written.
constexpr float kBarSheet = 84, kBarRim = 10;

}  // namespace

ScenePainter::ScenePainter(std::shared_ptr<Device> device, VkRenderPass pass, uint32_t slots)
    : pictures_(device, pass, slots), scenes_(device, pass, slots), bars_(device, slots) {
    const float zero[2] = {0, 0};
    auto buffer = create_buffer(device, sizeof zero, "origin of texts");
    write_buffer(*buffer, 0, std::as_bytes(std::span(zero)));
    origin_ = {buffer, 0, f32, {1, 2}};
}

void ScenePainter::begin(uint32_t slot) {
    pictures_.begin();
    scenes_.begin(slot);
    bars_.begin();
    steps_.clear();
}

size_t ScenePainter::picture(VkCommandBuffer commands, uint32_t slot, const BufferView& view,
                             const ShowOptions& options, const Rectangle& area,
                             const DrawPlacement& seen) {
    const size_t number = pictures_.prepare(commands, slot, view, options, area);
    steps_.push_back({true, number, area, seen});
    return number;
}

void ScenePainter::shapes(VkCommandBuffer commands, uint32_t slot, const DrawScene& scene,
                          const DrawPlacement& placement, float scale) {
    if (scene.layers.empty()) return;
    steps_.push_back(
        {false, scenes_.prepare(commands, slot, scene, placement, scale), {}, placement});
}

void ScenePainter::write(Sheet& sheet, const std::string& text, float x, float y,
                         const std::array<float, 2>& align, float scale) const {
    DrawLayer& layer = sheet.scene.layers.emplace_back();
    layer.shape = DrawShape::Text;
    layer.places = origin_;
    layer.text.labels = {text};
    layer.text.align = align;
    layer.text.shift = {(x - sheet.cell.x) / scale, (y - sheet.cell.y) / scale};
    layer.colour = kInk;
    layer.size = 16;
}

void ScenePainter::colour_bar(VkCommandBuffer commands, uint32_t slot, const ColourBar& bar,
                              const ShownRange& range, const BarPlace& place) {
    const Rectangle& at = place.bar;
    const ShowOptions shades{.colormap = bar.colormap};
    picture(commands, slot, bars_.ramp(), shades, at, {at});
    const float rim = std::round(kBarRim * place.scale),
                width = std::round(kBarSheet * place.scale);
    const float beyond = rim / at.height;
    shapes(commands, slot, bars_.ticks(commands, slot, range, place),
           {{at.x, at.y - rim, width, at.height + 2 * rim},
            0,
            width / place.scale,
            1 + beyond,
            -beyond},
           place.scale);
}

void ScenePainter::prepare(VkCommandBuffer commands, uint32_t slot, const DrawScene& scene,
                           const FlatZoom& zoom, const Rectangle& cell, float scale) {
    const SceneLayout layout = layout_of(scene, cell, scale);
    const DrawPlacement placement = placement_of(scene, layout.frame, zoom);
    std::optional<ColourBar> bar = scene.colour_bar;
    ShownRange range;
    if (bar) range = {kGiven, bar->range.low, bar->range.high};
    const auto show = [&](const BufferView& view, const ShowOptions& options) {
        const Rectangle area = picture_area(scene, view, layout.frame, zoom);
        DrawPlacement seen = placement;
        if (scene.is_in_space()) seen.area = area;
        const size_t number = picture(commands, slot, view, options, area, seen);
        if (bar || !options.colour_bar) return;
        bar = ColourBar{options.colormap, {}, options.label};
        range = pictures_.range(slot, number);
    };
    if (scene.picture.memory) show(scene.picture, scene.options);
    shapes(commands, slot, scene, placement, scale);
    if (scene.overlay.memory) show(scene.overlay, scene.overlay_options);
    Sheet sheet{cell, {}};
    if (layout.has_bar && bar) {
        const Rectangle at = colour_bar_of(scene, layout, scale);
        colour_bar(commands, slot, *bar, range, {at, scale});
        const float right = at.x + std::round(kBarSheet * scale) - kLabelGap * scale;
        if (!bar->label.empty())
            write(sheet, bar->label, right, at.y - kLabelGap * scale, {1, 1}, scale);
    }
    if (layout.has_caption)
        write(sheet, scene.caption, layout.frame.x + layout.frame.width / 2,
              layout.frame.y + layout.frame.height + kCaptionGap * scale, {0.5f, 0.5f}, scale);
    shapes(commands, slot, sheet.scene, {cell}, scale);
}

void ScenePainter::draw(VkCommandBuffer commands, uint32_t slot) const {
    for (const Step& step : steps_) {
        if (step.is_picture)
            pictures_.draw(commands, slot, step.number, step.area, step.placement.area);
        else
            scenes_.draw(commands, slot, step.number, step.placement);
    }
}

}  // namespace firn
