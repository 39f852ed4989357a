// Paints scenes into rectangles of a frame.
#include "engine/window/scene_painter.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "engine/window/number_text.h"
#include "engine/window/plot.h"

namespace firn {
namespace {

constexpr std::array<float, 4> kInk{0.82f, 0.85f, 0.9f, 1};
constexpr float kLabelGap = 7, kCaptionGap = 12;  // pixels at scale 1
/// The size of a colour bar with its ticks; half a number may extend beyond its ends.
constexpr float kBarSheet = 84, kBarRim = 10;
/// Sizes of axes at scale 1: the distance between two numbers, the length of a tick, and the
/// distance from the axis to its numbers and words.
constexpr float kNumbersAlong = 60, kNumbersUp = 44, kAxisTick = 5, kAxisNumberGap = 8,
                kAxisWordGap = 32;
constexpr float kAxisWordSize = 16, kAxisNumberSize = 14;

}  // namespace

ScenePainter::ScenePainter(std::shared_ptr<Device> device, VkRenderPass pass, uint32_t slots)
    : device_(device),
      pictures_(device, pass, slots),
      scenes_(device, pass, slots),
      bars_(device, slots) {
    const float zero[2] = {0, 0};
    auto buffer = create_buffer(device, sizeof zero, "origin of texts");
    write_buffer(*buffer, 0, std::as_bytes(std::span(zero)));
    origin_ = {buffer, 0, f32, {1, 2}};
}

void ScenePainter::begin(uint32_t slot) {
    pictures_.begin();
    scenes_.begin(slot);
    bars_.begin();
    axes_used_ = 0;
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
                         const std::array<float, 2>& align, float scale, float size) const {
    DrawLayer& layer = sheet.scene.layers.emplace_back();
    layer.shape = DrawShape::Text;
    layer.places = origin_;
    layer.text.labels = {text};
    layer.text.align = align;
    layer.text.shift = {(x - sheet.cell.x) / scale, (y - sheet.cell.y) / scale};
    layer.colour = kInk;
    layer.size = size;
}

void ScenePainter::axes(Sheet& sheet, const DrawAxes& words, const DrawPlacement& at, float scale) {
    const Rectangle &area = at.area, &cell = sheet.cell;
    std::vector<float> ends;
    // Coordinates are shares of the cell.
    const auto line = [&](float x, float y, float to_x, float to_y) {
        for (const auto& [px, py] : {std::pair{x, y}, {to_x, to_y}}) {
            ends.push_back((px - cell.x) / cell.width);
            ends.push_back((py - cell.y) / cell.height);
        }
    };
    const float right = area.x + area.width, below = area.y + area.height;
    line(area.x, area.y, area.x, below);
    line(area.x, below, right, below);
    const auto ticks = [&](float from, float to, float pixels, float apart, const auto& place) {
        const PlotAxis axis{static_cast<double>(std::min(from, to)),
                            static_cast<double>(std::max(from, to))};
        const int most = std::max(1, static_cast<int>(pixels / (apart * scale)));
        const std::vector<double> all = round_ticks(axis, most);
        const int digits = all.size() > 1 ? digits_apart(all[1], all[0]) : 6;
        for (double tick : all) {
            const auto part = static_cast<float>(axis.place(tick));
            place(from < to ? part : 1 - part, number_text(tick, digits));
        }
    };
    const float tick = kAxisTick * scale, gap = kAxisNumberGap * scale;
    ticks(at.left, at.right, area.width, kNumbersAlong, [&](float part, const std::string& number) {
        const float x = area.x + part * area.width;
        line(x, below, x, below + tick);
        write(sheet, number, x, below + gap, {0.5f, 0}, scale, kAxisNumberSize);
    });
    ticks(at.top, at.bottom, area.height, kNumbersUp, [&](float part, const std::string& number) {
        const float y = area.y + part * area.height;
        line(area.x - tick, y, area.x, y);
        write(sheet, number, area.x - gap, y, {1, 0.5f}, scale, kAxisNumberSize);
    });
    if (!words.x.empty())
        write(sheet, words.x, area.x + area.width / 2, below + kAxisWordGap * scale, {0.5f, 0},
              scale, kAxisWordSize);
    if (!words.y.empty())
        write(sheet, words.y, area.x, area.y - kLabelGap * scale, {0, 1}, scale, kAxisWordSize);
    if (axes_used_ == axis_lines_.size()) axis_lines_.emplace_back();
    AxisLines& lines = axis_lines_[axes_used_++];
    if (lines.ends != ends) {
        auto buffer = create_buffer(device_, ends.size() * sizeof(float), "lines of axes");
        write_buffer(*buffer, 0, std::as_bytes(std::span(ends)));
        lines.view = {buffer, 0, f32, {static_cast<int64_t>(ends.size() / 4), 2, 2}};
        lines.ends = std::move(ends);
    }
    DrawLayer& layer = sheet.scene.layers.emplace_back();
    layer.shape = DrawShape::Lines;
    layer.places = lines.view;
    layer.colour = kInk;
    layer.size = 1.5f;
}

void ScenePainter::colour_bar(VkCommandBuffer commands, uint32_t slot, const ColourBar& bar,
                              const ShownRange& range, const BarPlace& place) {
    const Rectangle& at = place.bar;
    const ShowOptions shades{.colormap = bar.colormap, .range = {0, 1}};
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
                           const FlatZoom& zoom, const SceneLayout& layout, float scale) {
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
        bar = ColourBar{options.colormap.value_or(Colormap::Grey), {}, options.label};
        range = pictures_.range(slot, number);
    };
    if (scene.picture.memory) show(scene.picture, scene.options);
    shapes(commands, slot, scene, placement, scale);
    if (scene.overlay.memory) show(scene.overlay, scene.overlay_options);
    Sheet sheet{layout.cell, {}};
    if (layout.has_bar && bar) {
        const Rectangle at = colour_bar_of(scene, layout, scale);
        colour_bar(commands, slot, *bar, range, {at, scale});
        const float right = at.x + std::round(kBarSheet * scale) - kLabelGap * scale;
        if (!bar->label.empty())
            write(sheet, bar->label, right, at.y - kLabelGap * scale, {1, 1}, scale, kAxisWordSize);
    }
    if (layout.has_axes) axes(sheet, *scene.axes, placement, scale);
    if (layout.has_caption)
        write(sheet, scene.caption, layout.frame.x + layout.frame.width / 2,
              layout.frame.y + layout.frame.height + layout.below + kCaptionGap * scale,
              {0.5f, 0.5f}, scale, kAxisWordSize);
    shapes(commands, slot, sheet.scene, {layout.cell}, scale);
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
