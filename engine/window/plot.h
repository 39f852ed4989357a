// Plots of the panel: lines of the last values, whole lines, or bars, over round numbers.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/window/gui.h"

namespace firn {

struct PlotSeries {
    std::string name;           // empty: the plot has no other
    std::vector<float> values;  // the newest last
};
/// What comes in: values one by one, or all of them at once.
enum class PlotKind : uint8_t { History, Lines, Bars };
struct Plot {
    std::vector<PlotSeries> series;
    PlotKind kind = PlotKind::History;
    bool has_bars() const { return kind == PlotKind::Bars; }
    PlotOptions options;
};

/// Appends a value to the series of that name, made where there is none; the oldest go.
void append(Plot& plot, const std::string& series, float value);

/// What an axis shows, as the plot counts: powers of ten where it is logarithmic.
struct PlotAxis {
    double low = 0, high = 1;
    bool log = false;
    /// From 0 to 1; nan for a value that has no place, such as 0 on a logarithmic axis.
    double place(double value) const;
};
/// All finite values are inside; it is never empty. Bars begin at 0.
PlotAxis axis_of(const Plot& plot);
/// Round values inside of the axis, 1, 2 or 5 times a power of ten apart, about `most` of them;
/// powers of ten where a logarithmic axis has two or more.
std::vector<double> round_ticks(const PlotAxis& axis, int most);
/// Those of labels that begin at these heights, from the lowest up (y grows downwards), which are
/// at least so far above the one before.
std::vector<size_t> labels_apart(const std::vector<float>& tops, float least);

/// Where a value of a whole line stands along x, or what a bar covers; or how old a value is.
std::string x_text(const Plot& plot, size_t index, size_t count);

/// Draws it with its legend, as the next item of the panel; `scale` is that of the display.
void draw_plot(const std::string& id, const Plot& plot, float width, float scale);

}  // namespace firn
