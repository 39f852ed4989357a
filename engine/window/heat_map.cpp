// Heat maps of the panel.
#include "engine/window/heat_map.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "engine/window/colour_map.h"
#include "engine/window/number_text.h"
#include "engine/window/panel_theme.h"

namespace firn {
namespace {

/// The least side, however long the other one is, as a share of a line of text.
constexpr float kThinnest = 0.75f;

ImU32 square_colour(const HeatMap& map, const ValueRange& range, size_t index) {
    const float part = (map.values[index] - range.low) / (range.high - range.low);
    const auto [red, green, blue] = mapped_colour(map.options.colormap, part);
    return ImGui::GetColorU32({red, green, blue, 1});
}

}  // namespace

ValueRange shown_range(const HeatMap& map) {
    ValueRange range = map.options.range;
    if (range.low != range.high) return range;
    range = {INFINITY, -INFINITY};
    for (float value : map.values) {
        if (!std::isfinite(value)) continue;
        range.low = std::min(range.low, value), range.high = std::max(range.high, value);
    }
    if (range.low > range.high) return {0, 1};
    if (is_diverging(map.options.colormap)) {
        range.high = std::max(-range.low, range.high);
        range.low = -range.high;
    }
    // If all values are equal, each has the colour in the middle.
    if (range.low < range.high) return range;
    const float half = std::max(0.5f, std::abs(range.low) / 2);
    return {range.low - half, range.low + half};
}

std::string square_text(const HeatMap& map, int row, int column) {
    const auto first = [](int index, int shown, int64_t all) {
        return std::to_string(all > shown ? index * all / shown : index);
    };
    const float value = map.values[static_cast<size_t>(row * map.columns + column)];
    const std::string unit = map.options.unit.empty() ? "" : " " + map.options.unit;
    const bool is_mean = map.all_rows > map.rows || map.all_columns > map.columns;
    return "[" + first(row, map.rows, map.all_rows) + ", " +
           first(column, map.columns, map.all_columns) + (is_mean ? "] block mean " : "] = ") +
           number_text(static_cast<double>(value), 5) + unit + (std::isnan(value) ? kNanNote : "");
}

std::pair<float, float> heat_map_size(const HeatMap& map, float width, float most_height,
                                      float least) {
    const auto columns = static_cast<float>(std::max<int64_t>({map.all_columns, map.columns, 1}));
    const auto rows = static_cast<float>(std::max<int64_t>({map.all_rows, map.rows, 1}));
    const float side = std::min(width / columns, most_height / rows);
    return {std::max(side * columns, std::min(least, width)),
            std::max(side * rows, std::min(least, most_height))};
}

void draw_heat_map(const std::string& id, const HeatMap& map, float width, float most_height) {
    const auto [size_x, size_y] =
        heat_map_size(map, width, most_height, kThinnest * ImGui::GetTextLineHeight());
    const ImVec2 from = ImGui::GetCursorScreenPos(), size{size_x, size_y};
    const ImVec2 side{size.x / static_cast<float>(std::max(map.columns, 1)),
                      size.y / static_cast<float>(std::max(map.rows, 1))};
    ImGui::InvisibleButton(id.c_str(), size);
    if (map.values.empty() || !ImGui::IsItemVisible()) return;
    const ValueRange range = shown_range(map);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.PushClipRect(from, {from.x + size.x, from.y + size.y}, true);
    for (int i = 0; i < map.rows; ++i)
        for (int j = 0; j < map.columns; ++j) {
            const ImVec2 corner{from.x + side.x * static_cast<float>(j),
                                from.y + side.y * static_cast<float>(i)};
            const auto index = static_cast<size_t>(i * map.columns + j);
            draw.AddRectFilled(corner, {corner.x + side.x, corner.y + side.y},
                               square_colour(map, range, index));
        }
    draw.PopClipRect();
    if (!ImGui::IsItemHovered()) return;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const auto at = [&](float place, float one, int count) {
        return std::clamp(static_cast<int>(place / one), 0, count - 1);
    };
    ImGui::SetTooltip("%s", square_text(map, at(mouse.y - from.y, side.y, map.rows),
                                        at(mouse.x - from.x, side.x, map.columns))
                                .c_str());
}

}  // namespace firn
