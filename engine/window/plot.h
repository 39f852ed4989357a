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
    /// The number of each value of a history, counted from the plot's first one. A line that gets
    /// values less often than another one has them at the newest number of the other one.
    std::vector<int64_t> numbers = {};
};
/// Tells whether values come one by one, or all at once.
enum class PlotKind : uint8_t { History, Lines, Bars };
struct Plot {
    std::vector<PlotSeries> series;
    PlotKind kind = PlotKind::History;
    bool has_bars() const { return kind == PlotKind::Bars; }
    PlotOptions options;
};

/// Appends a value to the series of that name, which is made if there is none; the oldest values
/// are removed.
void append(Plot& plot, const std::string& series, float value);

/// The range of an axis in the plot's units: powers of ten if it is logarithmic.
struct PlotAxis {
    double low = 0, high = 1;
    bool log = false;
    /// Returns a place from 0 to 1; nan for a value that has none, such as 0 on a logarithmic axis.
    double place(double value) const;
};
/// Returns the place along x of the value with this index, or of the begin of its bar.
double x_of(const Plot& plot, const PlotSeries& series, size_t index);
/// Returns the range of x that has values; it is never empty.
PlotAxis x_axis_of(const Plot& plot);
/// The visible part of x: `seen` if the person has zoomed, otherwise all. Zooms by so many steps of
/// the wheel about a place from 0 to 1, and shifts by shares of the visible part. Nothing beyond
/// the ends is shown, and no less than two values.
struct PlotZoom {
    double low = 0, high = 0;  // equal: all
    /// The visible part reaches the newest value, and follows new ones.
    bool follows = false;
    PlotAxis seen(const PlotAxis& all) const;
    void near(const PlotAxis& all, double place, double steps, double least);
    void shift(const PlotAxis& all, double part);
    void go_along(const PlotAxis& all);
};

/// Returns a range with all finite values at places within `x`; it is never empty. Bars begin at 0.
PlotAxis axis_of(const Plot& plot, const PlotAxis& x);
PlotAxis axis_of(const Plot& plot);
/// Returns round values inside the axis, 1, 2 or 5 times a power of ten apart, about `most` of
/// them; powers of ten if a logarithmic axis has two or more.
std::vector<double> round_ticks(const PlotAxis& axis, int most);
/// Returns the labels, of those that begin at these heights, from the lowest up (y grows
/// downwards), which are at least so far above the previous one.
std::vector<size_t> labels_apart(const std::vector<float>& tops, float least);

/// Returns the place along x of a value of a whole line, or the range of a bar; or the number of a
/// value and its step before the last one, as "7, step -2".
std::string x_text(const Plot& plot, size_t index);
/// Returns a line for each x, with the values of all series: `x,train,test`. A value that does not
/// exist is left empty.
std::string csv_text(const Plot& plot);

/// Draws the plot with its legend, as the next item of the panel; `scale` is the display's scale.
/// The wheel zooms along x, dragging shifts, a double click shows all.
void draw_plot(const std::string& id, const Plot& plot, float width, float scale);

}  // namespace firn
