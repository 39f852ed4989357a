// Plots of the panel.
#include "engine/window/plot.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "engine/window/panel_theme.h"

namespace firn {
namespace {

/// Two labels may be so much closer than lines of text: digits have no descenders.
constexpr float kLeastOfLine = 0.8f;
constexpr float kPlotHeight = 64, kTickHeight = 18, kTickMargin = 3;  // pixels at scale 1

/// Colours that differ in lightness too, for those who see no red or green: after Okabe and Ito,
/// Color Universal Design (2008).
ImU32 series_colour(size_t index) {
    static constexpr ImU32 kOnDark[] = {IM_COL32(86, 180, 233, 255),  IM_COL32(230, 159, 0, 255),
                                        IM_COL32(0, 190, 140, 255),   IM_COL32(240, 228, 66, 255),
                                        IM_COL32(204, 121, 167, 255), IM_COL32(213, 94, 0, 255)};
    static constexpr ImU32 kOnLight[] = {IM_COL32(0, 114, 178, 255),  IM_COL32(213, 94, 0, 255),
                                         IM_COL32(0, 130, 95, 255),   IM_COL32(150, 120, 0, 255),
                                         IM_COL32(170, 80, 130, 255), IM_COL32(86, 150, 200, 255)};
    return (is_light_theme() ? kOnLight : kOnDark)[index % std::size(kOnDark)];
}

std::string number_text(double value, int digits = 4) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*g", digits, value == 0 ? 0.0 : value);  // not -0
    return text;
}

/// Of the first number so that it differs from the second.
int digits_of(double value, double other) {
    const double apart = std::abs(value - other);
    const double largest = std::max(std::abs(value), std::abs(other));
    return apart > 0 ? std::clamp(static_cast<int>(std::log10(largest / apart)) + 2, 4, 9) : 4;
}

std::string line_text(const Plot& plot, const PlotSeries& series, size_t index) {
    const std::string value =
        index < series.values.size() ? number_text(static_cast<double>(series.values[index])) : "-";
    const std::string unit = plot.options.unit.empty() ? "" : " " + plot.options.unit;
    return (series.name.empty() ? "" : series.name + " ") + value + unit;
}

bool has_x_axis(const Plot& plot) { return plot.options.x_first != 0 || plot.options.x_step != 1; }

size_t count_of(const Plot& plot) {
    size_t count = 0;
    for (const PlotSeries& series : plot.series) count = std::max(count, series.values.size());
    return count;
}

struct PlotFrame {
    ImVec2 from, to;
    PlotAxis axis;
    /// Half a column for bars; lines reach both sides.
    float x(size_t index, size_t count, bool bars) const {
        const float columns = static_cast<float>(std::max<size_t>(count, 2)) - (bars ? 0.0f : 1.0f);
        return from.x + (to.x - from.x) * (static_cast<float>(index) + (bars ? 0.5f : 0)) / columns;
    }
    float y(double value) const {
        return to.y - (to.y - from.y) * static_cast<float>(axis.place(value));
    }
};

void draw_ticks(const PlotFrame& frame, float scale) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float height = frame.to.y - frame.from.y, margin = kTickMargin * scale;
    const int most = std::max(2, static_cast<int>(height / (kTickHeight * scale)));
    const std::vector<double> ticks = round_ticks(frame.axis, most);
    const int digits = ticks.size() > 1 ? digits_of(ticks.back(), ticks[ticks.size() - 2]) : 7;
    const float line = ImGui::GetTextLineHeight();
    std::vector<float> tops;
    for (double tick : ticks)
        tops.push_back(std::clamp(frame.y(tick) - line / 2, frame.from.y, frame.to.y - line));
    for (double tick : ticks)
        draw.AddLine({frame.from.x, frame.y(tick)}, {frame.to.x, frame.y(tick)}, faint_line(0.09f));
    for (size_t k : labels_apart(tops, kLeastOfLine * line))
        draw.AddText({frame.from.x + margin, tops[k]},
                     ImGui::GetColorU32(ImGuiCol_TextDisabled, 0.7f),
                     number_text(ticks[k], digits).c_str());
}

/// Segment by segment: joined ones vanish where they turn sharply.
void draw_segments(const std::vector<ImVec2>& run, ImU32 colour, float width) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    if (run.size() == 1) draw.AddCircleFilled(run[0], width, colour);
    for (size_t k = 1; k < run.size(); ++k) draw.AddPolyline(&run[k - 1], 2, colour, 0, width);
}

/// Of what has more points than pixels: what it covers of each column of them.
void draw_dense(const std::vector<ImVec2>& run, ImU32 colour, float width) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    for (size_t k = 0; k < run.size();) {
        const float column = std::floor(run[k].x);
        const size_t first = k == 0 ? 0 : k - 1;  // joined to the column before
        float top = run[first].y, bottom = top;
        for (; k < run.size() && std::floor(run[k].x) <= column; ++k)
            top = std::min(top, run[k].y), bottom = std::max(bottom, run[k].y);
        const float half = std::max(width - (bottom - top), 0.0f) / 2;
        draw.AddRectFilled({column, top - half}, {column + 1, bottom + half}, colour);
    }
}

void draw_line(const PlotFrame& frame, const PlotSeries& series, ImU32 colour, float scale) {
    const size_t count = series.values.size();
    const bool dense = static_cast<float>(count) > frame.to.x - frame.from.x;
    std::vector<ImVec2> run;
    const auto finish = [&] {
        dense ? draw_dense(run, colour, 1.5f * scale) : draw_segments(run, colour, 1.5f * scale);
        run.clear();
    };
    for (size_t k = 0; k < count; ++k) {
        const float y = frame.y(static_cast<double>(series.values[k]));
        if (std::isfinite(y))
            run.push_back({frame.x(k, count, false), y});
        else
            finish();
    }
    finish();
}

void draw_bars(const PlotFrame& frame, const PlotSeries& series, ImU32 colour) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const size_t count = series.values.size();
    const float half =
        0.45f * (frame.to.x - frame.from.x) / static_cast<float>(std::max<size_t>(count, 2));
    const float zero = frame.axis.log ? frame.to.y : frame.y(0);
    for (size_t k = 0; k < count; ++k) {
        const float x = frame.x(k, count, true), y = frame.y(static_cast<double>(series.values[k]));
        if (std::isfinite(y))
            draw.AddRectFilled({x - half, std::min(y, zero)}, {x + half, std::max(y, zero)},
                               colour);
    }
}

/// Where the mouse is: a line, and what the values are there.
void draw_hovered(const PlotFrame& frame, const Plot& plot) {
    const size_t count = count_of(plot);
    if (count == 0 || !ImGui::IsItemHovered()) return;
    const float part = (ImGui::GetIO().MousePos.x - frame.from.x) / (frame.to.x - frame.from.x);
    const float columns = static_cast<float>(count) - (plot.has_bars() ? 0.0f : 1.0f);
    const float at = std::clamp(std::floor(part * columns + (plot.has_bars() ? 0.0f : 0.5f)), 0.0f,
                                static_cast<float>(count - 1));
    const auto index = static_cast<size_t>(at);
    const float x = frame.x(index, count, plot.has_bars());
    ImGui::GetWindowDrawList()->AddLine({x, frame.from.y}, {x, frame.to.y}, faint_line(0.27f));
    ImGui::BeginTooltip();
    ImGui::TextColored(dim_text(), "%s", x_text(plot, index, count).c_str());
    for (size_t k = 0; k < plot.series.size(); ++k)
        ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(series_colour(k)), "%s",
                           line_text(plot, plot.series[k], index).c_str());
    ImGui::EndTooltip();
}

/// The ends of the x axis, below the plot.
void draw_x_ends(const Plot& plot, float width) {
    const size_t count = count_of(plot);
    if (plot.kind == PlotKind::History || count == 0 || !has_x_axis(plot)) return;
    const size_t steps = plot.has_bars() ? count : count - 1;
    const PlotOptions& options = plot.options;
    const float left = ImGui::GetCursorPosX();
    ImGui::TextColored(dim_text(), "%s", number_text(options.x_first).c_str());
    const std::string end =
        number_text(options.x_first + static_cast<double>(steps) * options.x_step);
    ImGui::SameLine();
    ImGui::SetCursorPosX(left + width - ImGui::CalcTextSize(end.c_str()).x);
    ImGui::TextColored(dim_text(), "%s", end.c_str());
}

/// Which colour is whose, and the newest value of a history.
void draw_legend(const Plot& plot) {
    for (size_t k = 0; k < plot.series.size() && !plot.has_bars(); ++k) {
        const PlotSeries& series = plot.series[k];
        const std::string text = plot.kind == PlotKind::Lines
                                     ? series.name
                                     : line_text(plot, series, series.values.size() - 1);
        if (!text.empty())
            ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(series_colour(k)), "%s",
                               text.c_str());
    }
}

}  // namespace

void append(Plot& plot, const std::string& name, float value) {
    auto at = std::find_if(plot.series.begin(), plot.series.end(),
                           [&](const PlotSeries& series) { return series.name == name; });
    if (at == plot.series.end()) at = plot.series.insert(at, {name, {}});
    const auto most = static_cast<size_t>(std::max(plot.options.length, 1));
    if (at->values.size() >= most)
        at->values.erase(at->values.begin(),
                         at->values.end() - static_cast<std::ptrdiff_t>(most - 1));
    at->values.push_back(value);
}

std::string x_text(const Plot& plot, size_t index, size_t count) {
    if (plot.kind == PlotKind::History) return "step -" + std::to_string(count - 1 - index);
    if (!has_x_axis(plot)) return std::to_string(index);
    const double step = plot.options.x_step;
    const double at = plot.options.x_first + static_cast<double>(index) * step;
    const int digits = digits_of(at, at + step);
    const std::string begin = number_text(at, digits);
    return plot.has_bars() ? begin + " to " + number_text(at + step, digits) : begin;
}

double PlotAxis::place(double value) const {
    if (log) value = value > 0 ? std::log10(value) : std::numeric_limits<double>::quiet_NaN();
    return (value - low) / (high - low);
}

PlotAxis axis_of(const Plot& plot) {
    PlotAxis axis{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                  plot.options.log};
    const auto include = [&](double value) {
        if (axis.log) value = value > 0 ? std::log10(value) : std::nan("");
        if (!std::isfinite(value)) return;
        axis.low = std::min(axis.low, value), axis.high = std::max(axis.high, value);
    };
    for (const PlotSeries& series : plot.series)
        for (float value : series.values) include(static_cast<double>(value));
    if (plot.has_bars() && !axis.log) include(0);
    if (axis.low > axis.high) return {0, 1, axis.log};
    // A value that does not change lies in the middle; one that does leaves the rim free.
    const double range = axis.high - axis.low;
    const double margin = range > 1e-9 * std::abs(axis.high)
                              ? 0.06 * range
                              : std::max(0.5 * std::abs(axis.high), 0.5);
    const bool from_zero = plot.has_bars() && !axis.log;
    if (!from_zero || axis.low < 0) axis.low -= margin;
    if (!from_zero || axis.high > 0 || axis.low == 0) axis.high += margin;
    return axis;
}

std::vector<double> round_ticks(const PlotAxis& axis, int most) {
    std::vector<double> out;
    const double range = axis.high - axis.low;
    if (axis.log) {
        const double first = std::ceil(axis.low), last = std::floor(axis.high);
        const double step = std::max(1.0, std::ceil((last - first + 1) / std::max(most, 1)));
        for (double power = first; power <= last; power += step) out.push_back(std::pow(10, power));
        if (out.size() >= 2) return out;
        out.clear();
        for (double power = std::floor(axis.low); power <= axis.high; ++power)
            for (double digit : {1, 2, 5}) {
                const double tick = digit * std::pow(10, power);
                if (axis.place(tick) >= 0 && axis.place(tick) <= 1) out.push_back(tick);
            }
        if (out.size() >= 2) return out;
        const PlotAxis plain{std::pow(10, axis.low), std::pow(10, axis.high), false};
        return round_ticks(plain, most);
    }
    const double rough = range / std::max(most, 1);
    const double unit = std::pow(10, std::floor(std::log10(rough)));
    const double times = rough / unit <= 1 ? 1 : rough / unit <= 2 ? 2 : rough / unit <= 5 ? 5 : 10;
    const double step = times * unit;
    for (double k = std::ceil(axis.low / step); k * step <= axis.high; ++k) out.push_back(k * step);
    return out;
}

std::vector<size_t> labels_apart(const std::vector<float>& tops, float least) {
    std::vector<size_t> out;
    for (size_t k = 0; k < tops.size(); ++k)
        if (out.empty() || tops[out.back()] - tops[k] >= least) out.push_back(k);
    return out;
}

void draw_plot(const std::string& id, const Plot& plot, float width, float scale) {
    const ImVec2 size{width, kPlotHeight * scale}, corner = ImGui::GetCursorScreenPos();
    ImGui::BeginGroup();
    ImGui::InvisibleButton(id.c_str(), size);
    const ImGuiStyle& style = ImGui::GetStyle();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const PlotFrame frame{corner, {corner.x + size.x, corner.y + size.y}, axis_of(plot)};
    draw.AddRectFilled(frame.from, frame.to, ImGui::GetColorU32(ImGuiCol_FrameBg),
                       style.FrameRounding);
    draw.PushClipRect(frame.from, frame.to, true);
    draw_ticks(frame, scale);
    for (size_t k = 0; k < plot.series.size(); ++k) {
        if (plot.has_bars())
            draw_bars(frame, plot.series[k], series_colour(k));
        else
            draw_line(frame, plot.series[k], series_colour(k), scale);
    }
    draw_hovered(frame, plot);
    draw.PopClipRect();
    draw_x_ends(plot, width);
    draw_legend(plot);
    ImGui::EndGroup();
}

}  // namespace firn
