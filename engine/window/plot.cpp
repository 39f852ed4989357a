// Plots of the panel.
#include "engine/window/plot.h"

#include <imgui.h>
#include <imgui_internal.h>  // the wheel is the plot's

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "engine/window/number_text.h"
#include "engine/window/panel_theme.h"

namespace firn {
namespace {

/// The least distance of two labels in lines of text: digits have no descenders.
constexpr float kLeastOfLine = 0.8f;
constexpr float kPlotHeight = 64, kTickHeight = 18, kTickMargin = 3;  // pixels at scale 1
constexpr float kTickWidth = 42;
constexpr double kZoomStep = 0.2;  // of the zoom's logarithm, for each step of the wheel
/// The share of the visible range that counts as at the end.
constexpr double kAtEnd = 1e-3;

/// Returns the colour of a series. The colours differ in lightness too, for people who see no red
/// or green: after Okabe and Ito, Color Universal Design (2008).
ImU32 series_colour(size_t index) {
    static constexpr ImU32 kOnDark[] = {IM_COL32(86, 180, 233, 255),  IM_COL32(230, 159, 0, 255),
                                        IM_COL32(0, 190, 140, 255),   IM_COL32(240, 228, 66, 255),
                                        IM_COL32(204, 121, 167, 255), IM_COL32(213, 94, 0, 255)};
    static constexpr ImU32 kOnLight[] = {IM_COL32(0, 114, 178, 255),  IM_COL32(213, 94, 0, 255),
                                         IM_COL32(0, 130, 95, 255),   IM_COL32(150, 120, 0, 255),
                                         IM_COL32(170, 80, 130, 255), IM_COL32(86, 150, 200, 255)};
    return (is_light_theme() ? kOnLight : kOnDark)[index % std::size(kOnDark)];
}

std::string line_text(const Plot& plot, const PlotSeries& series, size_t index) {
    const std::string value =
        index < series.values.size() ? number_text(static_cast<double>(series.values[index])) : "-";
    const std::string unit = plot.options.unit.empty() ? "" : " " + plot.options.unit;
    return (series.name.empty() ? "" : series.name + " ") + value + unit;
}

bool counts_along_x(const Plot& plot) {
    return plot.options.x_step == 1 && plot.options.x_first == std::floor(plot.options.x_first);
}

struct PlotFrame {
    ImVec2 from, to;
    PlotAxis axis, along;  // upwards, and along x as it is seen
    float x(double at) const {
        return from.x + (to.x - from.x) * static_cast<float>(along.place(at));
    }
    float y(double value) const {
        return to.y - (to.y - from.y) * static_cast<float>(axis.place(value));
    }
    double x_at(float pixel) const {
        const double part = static_cast<double>((pixel - from.x) / (to.x - from.x));
        return along.low + part * (along.high - along.low);
    }
};

std::vector<double> ticks_of(const PlotFrame& frame, float scale) {
    const float height = frame.to.y - frame.from.y;
    return round_ticks(frame.axis, std::max(2, static_cast<int>(height / (kTickHeight * scale))));
}

void draw_ticks(const PlotFrame& frame, float scale) {
    for (double tick : ticks_of(frame, scale))
        ImGui::GetWindowDrawList()->AddLine({frame.from.x, frame.y(tick)},
                                            {frame.to.x, frame.y(tick)}, faint_line(0.09f));
}

/// Draws the numbers of the y axis; over bars, which would cover them, they have a ground of their
/// own.
void draw_y_numbers(const PlotFrame& frame, bool over_bars, float scale) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float margin = kTickMargin * scale;
    const std::vector<double> ticks = ticks_of(frame, scale);
    const int digits = ticks.size() > 1 ? digits_apart(ticks.back(), ticks[ticks.size() - 2]) : 7;
    const float line = ImGui::GetTextLineHeight();
    std::vector<float> tops;
    for (double tick : ticks)
        tops.push_back(std::clamp(frame.y(tick) - line / 2, frame.from.y, frame.to.y - line));
    for (size_t k : labels_apart(tops, kLeastOfLine * line)) {
        const std::string text = number_text(ticks[k], digits);
        const float x = frame.from.x + margin, wide = ImGui::CalcTextSize(text.c_str()).x;
        if (over_bars)
            draw.AddRectFilled({frame.from.x, tops[k]}, {x + wide + margin, tops[k] + line},
                               ImGui::GetColorU32(ImGuiCol_FrameBg, 0.75f));
        draw.AddText({x, tops[k]},
                     ImGui::GetColorU32(ImGuiCol_TextDisabled, over_bars ? 1.0f : 0.7f),
                     text.c_str());
    }
}

/// Draws a line segment by segment: joined segments vanish at sharp turns.
void draw_segments(const std::vector<ImVec2>& run, ImU32 colour, float width) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    if (run.size() == 1) draw.AddCircleFilled(run[0], width, colour);
    for (size_t k = 1; k < run.size(); ++k) draw.AddPolyline(&run[k - 1], 2, colour, 0, width);
}

/// Draws a line with more points than pixels: the part of each column of pixels that it covers.
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

/// Returns the visible values, and one beyond either side, from and to which lines go.
std::pair<size_t, size_t> seen_of(const PlotFrame& frame, const Plot& plot,
                                  const PlotSeries& series) {
    size_t first = 0, last = series.values.size();
    const double one = plot.has_bars() ? std::abs(plot.options.x_step) : 0;
    const auto is_seen = [&](size_t k) {
        const double at = x_of(plot, series, k);
        return at + one >= frame.along.low && at - one <= frame.along.high;
    };
    while (first < last && !is_seen(first)) ++first;
    while (last > first && !is_seen(last - 1)) --last;
    if (first == last) return {0, 0};
    return {first - std::min<size_t>(first, 1), std::min(last + 1, series.values.size())};
}

void draw_line(const PlotFrame& frame, const Plot& plot, const PlotSeries& series, ImU32 colour,
               float scale) {
    const auto [first, last] = seen_of(frame, plot, series);
    const bool dense = static_cast<float>(last - first) > frame.to.x - frame.from.x;
    std::vector<ImVec2> run;
    const auto finish = [&] {
        if (plot.options.x_step < 0) std::reverse(run.begin(), run.end());
        dense ? draw_dense(run, colour, 1.5f * scale) : draw_segments(run, colour, 1.5f * scale);
        run.clear();
    };
    for (size_t k = first; k < last; ++k) {
        const float y = frame.y(static_cast<double>(series.values[k]));
        if (std::isfinite(y))
            run.push_back({frame.x(x_of(plot, series, k)), y});
        else
            finish();
    }
    finish();
}

void draw_bars(const PlotFrame& frame, const Plot& plot, const PlotSeries& series, ImU32 colour) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float zero = frame.axis.log ? frame.to.y : frame.y(0);
    const auto [first, last] = seen_of(frame, plot, series);
    for (size_t k = first; k < last; ++k) {
        const float y = frame.y(static_cast<double>(series.values[k]));
        if (!std::isfinite(y)) continue;
        const double at = x_of(plot, series, k);
        const float x = frame.x(at), end = frame.x(at + plot.options.x_step);
        const float gap = 0.05f * (end - x);
        draw.AddRectFilled({std::min(x, end) + std::abs(gap), std::min(y, zero)},
                           {std::max(x, end) - std::abs(gap), std::max(y, zero)}, colour);
    }
}

/// Returns the index of the value nearest to a place, or of the bar that covers it.
size_t index_near(const Plot& plot, const PlotSeries& series, double at) {
    const double step = plot.options.x_step;
    const double count = (at - plot.options.x_first) / step;
    const double place = plot.has_bars() ? std::floor(count) : std::floor(count + 0.5);
    if (series.numbers.empty())
        return static_cast<size_t>(
            std::clamp(place, 0.0, static_cast<double>(series.values.size() - 1)));
    size_t best = 0;
    for (size_t k = 1; k < series.numbers.size(); ++k)
        if (std::abs(static_cast<double>(series.numbers[k]) - count) <
            std::abs(static_cast<double>(series.numbers[best]) - count))
            best = k;
    return best;
}

/// Returns the series with the most values, by which the place of the mouse is found.
const PlotSeries* longest(const Plot& plot) {
    const auto at = std::max_element(
        plot.series.begin(), plot.series.end(),
        [](const PlotSeries& a, const PlotSeries& b) { return a.values.size() < b.values.size(); });
    return at == plot.series.end() || at->values.empty() ? nullptr : &*at;
}

/// Draws a line at the mouse and the values there.
void draw_hovered(const PlotFrame& frame, const Plot& plot) {
    const PlotSeries* main = longest(plot);
    if (!main || !ImGui::IsItemHovered()) return;
    const size_t index = index_near(plot, *main, frame.x_at(ImGui::GetIO().MousePos.x));
    const double at = x_of(plot, *main, index);
    const float x = frame.x(at + (plot.has_bars() ? plot.options.x_step / 2 : 0));
    ImGui::GetWindowDrawList()->AddLine({x, frame.from.y}, {x, frame.to.y}, faint_line(0.27f));
    ImGui::BeginTooltip();
    ImGui::TextColored(dim_text(), "%s", x_text(plot, index).c_str());
    for (size_t k = 0; k < plot.series.size(); ++k) {
        const PlotSeries& series = plot.series[k];
        const size_t own =
            series.numbers.empty() || series.values.empty() ? index : index_near(plot, series, at);
        ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(series_colour(k)), "%s",
                           line_text(plot, series, own).c_str());
    }
    ImGui::EndTooltip();
}

/// Draws the numbers of the x axis below the plot, as far as they do not touch each other.
void draw_x_ticks(const PlotFrame& frame, const Plot& plot, float scale) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float width = frame.to.x - frame.from.x;
    const int most = std::max(1, static_cast<int>(width / (kTickWidth * scale)));
    std::vector<double> ticks = round_ticks(frame.along, most);
    if (counts_along_x(plot))  // no value stands at a half
        std::erase_if(ticks, [](double tick) { return tick != std::round(tick); });
    const int digits = ticks.size() > 1 ? digits_apart(ticks.back(), ticks[ticks.size() - 2]) : 7;
    float free_from = frame.from.x;
    for (double tick : ticks) {
        const std::string text = number_text(tick, digits);
        const float wide = ImGui::CalcTextSize(text.c_str()).x, x = frame.x(tick);
        draw.AddLine({x, frame.to.y}, {x, frame.to.y + kTickMargin * scale}, faint_line(0.3f));
        const float left =
            std::clamp(x - wide / 2, frame.from.x, std::max(frame.from.x, frame.to.x - wide));
        if (left < free_from) continue;
        draw.AddText({left, frame.to.y + kTickMargin * scale},
                     ImGui::GetColorU32(ImGuiCol_TextDisabled, 0.7f), text.c_str());
        free_from = left + wide + 2 * kTickMargin * scale;
    }
}

/// Returns the part to which the person has zoomed, which Dear ImGui keeps for the item.
PlotAxis take_zoom(const std::string& id, const Plot& plot, float width) {
    const PlotAxis all = x_axis_of(plot);
    ImGuiStorage& kept = *ImGui::GetStateStorage();
    float& seen = *kept.GetFloatRef(ImGui::GetID((id + " seen").c_str()));
    float& high = *kept.GetFloatRef(ImGui::GetID((id + " high").c_str()));
    bool& follows = *kept.GetBoolRef(ImGui::GetID((id + " follows").c_str()));
    const auto end = static_cast<double>(high);
    PlotZoom zoom{end - static_cast<double>(seen), end, follows};
    if (plot.kind == PlotKind::History) zoom.go_along(all);
    const ImGuiIO& io = ImGui::GetIO();
    if (ImGui::IsItemHovered()) {
        ImGui::SetItemUsingMouseWheel();  // the panel does not scroll
        const double place =
            static_cast<double>((io.MousePos.x - ImGui::GetItemRectMin().x) / width);
        if (io.MouseWheel != 0)
            zoom.near(all, place, static_cast<double>(io.MouseWheel),
                      2 * std::abs(plot.options.x_step));
        if (ImGui::IsMouseDoubleClicked(0)) zoom = {};
    }
    if (ImGui::IsItemActive() && io.MouseDelta.x != 0)
        zoom.shift(all, static_cast<double>(-io.MouseDelta.x / width));
    seen = static_cast<float>(zoom.high - zoom.low), high = static_cast<float>(zoom.high);
    follows = zoom.follows;
    return zoom.seen(all);
}

/// Draws the colour of each series, and the newest value of a history.
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
    // The number is one after the series' last one, and no less than that of the plot's newest
    // value.
    int64_t number = at->numbers.empty() ? 0 : at->numbers.back() + 1;
    for (const PlotSeries& series : plot.series)
        if (!series.numbers.empty()) number = std::max(number, series.numbers.back());
    const auto most = static_cast<size_t>(std::max(plot.options.length, 1));
    if (at->values.size() >= most) {
        const auto over = static_cast<std::ptrdiff_t>(at->values.size() - (most - 1));
        at->values.erase(at->values.begin(), at->values.begin() + over);
        at->numbers.erase(at->numbers.begin(), at->numbers.begin() + over);
    }
    at->values.push_back(value);
    at->numbers.push_back(number);
}

double x_of(const Plot& plot, const PlotSeries& series, size_t index) {
    const bool numbered = index < series.numbers.size();
    const auto number =
        numbered ? static_cast<double>(series.numbers[index]) : static_cast<double>(index);
    return plot.options.x_first + number * plot.options.x_step;
}

PlotAxis x_axis_of(const Plot& plot) {
    PlotAxis axis{std::numeric_limits<double>::infinity(),
                  -std::numeric_limits<double>::infinity()};
    for (const PlotSeries& series : plot.series) {
        if (series.values.empty()) continue;
        const double first = x_of(plot, series, 0);
        const double last = x_of(plot, series, series.values.size() - 1) +
                            (plot.has_bars() ? plot.options.x_step : 0);
        axis.low = std::min({axis.low, first, last});
        axis.high = std::max({axis.high, first, last});
    }
    if (axis.low > axis.high) return {0, 1};
    const double half = std::max(0.5 * std::abs(plot.options.x_step), 1e-9 * std::abs(axis.high));
    return axis.low < axis.high ? axis : PlotAxis{axis.low - half, axis.high + half};
}

PlotAxis PlotZoom::seen(const PlotAxis& all) const {
    const PlotAxis part{std::max(low, all.low), std::min(high, all.high)};
    return part.low < part.high ? part : all;
}

void PlotZoom::near(const PlotAxis& all, double place, double steps, double least) {
    const PlotAxis now = seen(all);
    const double width = now.high - now.low;
    const double wanted = std::max(width * std::exp(-kZoomStep * steps), least);
    if (wanted >= all.high - all.low) {
        *this = {};
        return;
    }
    // The point under the mouse stays there.
    low = std::clamp(now.low + place * (width - wanted), all.low, all.high - wanted);
    high = low + wanted;
    follows = high >= all.high - kAtEnd * wanted;
}

void PlotZoom::shift(const PlotAxis& all, double part) {
    if (low == high) return;
    const PlotAxis now = seen(all);
    const double width = now.high - now.low;
    low = std::clamp(now.low + part * width, all.low, all.high - width);
    high = low + width;
    follows = high >= all.high - kAtEnd * width;
}

void PlotZoom::go_along(const PlotAxis& all) {
    if (!follows || low == high) return;
    low = std::max(all.high - (high - low), all.low);
    high = all.high;
}

std::string x_text(const Plot& plot, size_t index) {
    const PlotSeries* main = longest(plot);
    if (!main) return "";
    const double step = plot.options.x_step, at = x_of(plot, *main, index);
    const int digits = digits_apart(at, at + step);
    const std::string begin = number_text(at, digits);
    if (plot.kind == PlotKind::History) {
        const size_t ago = main->values.size() - 1 - index;
        return begin + (ago == 0 ? ", the last" : ", step -" + std::to_string(ago));
    }
    const bool by_index = plot.options.x_first == 0 && step == 1;
    if (!plot.has_bars() || by_index) return begin;
    return begin + " to " + number_text(at + step, digits);
}

std::string csv_text(const Plot& plot) {
    const auto word = [](std::string text) {
        if (text.find_first_of(",\"\n") == std::string::npos) return text;
        for (size_t k = 0; (k = text.find('"', k)) != std::string::npos; k += 2)
            text.insert(k, 1, '"');
        return '"' + text + '"';
    };
    std::string out = "x";
    std::map<double, std::vector<std::string>> rows;
    for (size_t s = 0; s < plot.series.size(); ++s) {
        const PlotSeries& series = plot.series[s];
        out += "," + (series.name.empty() ? "value" : word(series.name));
        for (size_t k = 0; k < series.values.size(); ++k) {
            std::vector<std::string>& row = rows[x_of(plot, series, k)];
            row.resize(plot.series.size());
            row[s] = number_text(static_cast<double>(series.values[k]), 9);
        }
    }
    out += '\n';
    for (const auto& [x, row] : rows) {
        out += number_text(x, 12);
        for (const std::string& cell : row) out += "," + cell;
        out += '\n';
    }
    return out;
}

double PlotAxis::place(double value) const {
    if (log) value = value > 0 ? std::log10(value) : std::numeric_limits<double>::quiet_NaN();
    return (value - low) / (high - low);
}

PlotAxis axis_of(const Plot& plot) { return axis_of(plot, x_axis_of(plot)); }

PlotAxis axis_of(const Plot& plot, const PlotAxis& x) {
    PlotAxis axis{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                  plot.options.log};
    const auto include = [&](double value) {
        if (axis.log) value = value > 0 ? std::log10(value) : std::nan("");
        if (!std::isfinite(value)) return;
        axis.low = std::min(axis.low, value), axis.high = std::max(axis.high, value);
    };
    const double one = plot.has_bars() ? std::abs(plot.options.x_step) : 0;
    for (const PlotSeries& series : plot.series)
        for (size_t k = 0; k < series.values.size(); ++k) {
            const double at = x_of(plot, series, k);
            if (at + one >= x.low && at - one <= x.high)
                include(static_cast<double>(series.values[k]));
        }
    if (plot.has_bars() && !axis.log) include(0);
    if (axis.low > axis.high) return {0, 1, axis.log};
    // A constant value lies in the middle; otherwise there is a margin at the rim.
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
    const PlotAxis along = take_zoom(id, plot, width);
    const ImGuiStyle& style = ImGui::GetStyle();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const PlotFrame frame{
        corner, {corner.x + size.x, corner.y + size.y}, axis_of(plot, along), along};
    draw.AddRectFilled(frame.from, frame.to, ImGui::GetColorU32(ImGuiCol_FrameBg),
                       style.FrameRounding);
    draw.PushClipRect(frame.from, frame.to, true);
    draw_ticks(frame, scale);
    if (!plot.has_bars()) draw_y_numbers(frame, false, scale);
    for (size_t k = 0; k < plot.series.size(); ++k) {
        if (plot.has_bars())
            draw_bars(frame, plot, plot.series[k], series_colour(k));
        else
            draw_line(frame, plot, plot.series[k], series_colour(k), scale);
    }
    if (plot.has_bars()) draw_y_numbers(frame, true, scale);
    draw_hovered(frame, plot);
    draw.PopClipRect();
    draw_x_ticks(frame, plot, scale);
    ImGui::Dummy({width, ImGui::GetTextLineHeight()});  // of those numbers
    draw_legend(plot);
    ImGui::EndGroup();
}

}  // namespace firn
