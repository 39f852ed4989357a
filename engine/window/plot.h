// Plots of the panel: lines of the last values, whole lines, or bars, over axes of round numbers.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/window/gui.h"

namespace firn {

struct PlotSeries {
    std::string name;           // empty: the plot has no other
    std::vector<float> values;  // the newest last
    /// Of a history: the number of each value, counted from the plot's first one. A line that gets
    /// fewer values than another one stands where the other one was.
    std::vector<int64_t> numbers = {};
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
/// Where the value with this index stands along x, and where its bar begins.
double x_of(const Plot& plot, const PlotSeries& series, size_t index);
/// All of x that has values; it is never empty.
PlotAxis x_axis_of(const Plot& plot);
/// The part of it that is shown: `seen` where the person has zoomed, else all. Zooms by so many
/// steps of the wheel about a place from 0 to 1, and shifts by so much of what is seen; nothing
/// beyond the ends is shown, and no less than two values.
struct PlotZoom {
    double low = 0, high = 0;  // equal: all
    /// What is seen reaches the newest value: it goes along with those that come.
    bool follows = false;
    PlotAxis seen(const PlotAxis& all) const;
    void near(const PlotAxis& all, double place, double steps, double least);
    void shift(const PlotAxis& all, double part);
    void go_along(const PlotAxis& all);
};

/// All finite values that stand within `x` are inside; it is never empty. Bars begin at 0.
PlotAxis axis_of(const Plot& plot, const PlotAxis& x);
PlotAxis axis_of(const Plot& plot);
/// Round values inside of the axis, 1, 2 or 5 times a power of ten apart, about `most` of them;
/// powers of ten where a logarithmic axis has two or more.
std::vector<double> round_ticks(const PlotAxis& axis, int most);
/// Those of labels that begin at these heights, from the lowest up (y grows downwards), which are
/// at least so far above the one before.
std::vector<size_t> labels_apart(const std::vector<float>& tops, float least);

/// Where a value of a whole line stands along x, or what a bar covers; or the number of a value and
/// how old it is.
std::string x_text(const Plot& plot, size_t index);
/// A line for each x, with the values of all series: `x,train,test`. Nothing where one has no
/// value.
std::string csv_text(const Plot& plot);

/// Draws it with its legend, as the next item of the panel; `scale` is that of the display. The
/// wheel zooms along x, dragging shifts, a double click shows all.
void draw_plot(const std::string& id, const Plot& plot, float width, float scale);

}  // namespace firn
