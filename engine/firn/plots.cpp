// Plots of tensors: made small where they are, and read behind the frames.
#include <utility>

#include "compiler/algorithms/histogram.h"
#include "compiler/algorithms/images.h"
#include "compiler/algorithms/nan_reduce.h"
#include "compiler/base/error.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/realize.h"
#include "engine/firn/window.h"
#include "engine/window/view.h"

namespace firn {
namespace {

/// The number of values of a line that a plot draws, and of cells on a side of a heat map: about
/// one for each pixel of the panel.
constexpr int64_t kPlottedValues = 1024;
constexpr int64_t kPlottedCells = 48;

[[noreturn]] void refuse_plot(const std::string& what, const std::string& name, const Tensor& x,
                              const std::string& why, SourceLine line) {
    throw UserError(what + " '" + name + "': a tensor " + x.dtype().name() + " of rank " +
                    std::to_string(x.rank()) + " " + why + " (" + text(line) + ")");
}

/// The smallest and the largest of `width` values, one after the other.
Tensor extremes_of(const Tensor& x, int64_t size, int64_t width) {
    const auto parts = static_cast<int>((size + width - 1) / width);
    // Beyond the end the last one is read again.
    const Tensor places = reshape(arange(parts * static_cast<int>(width)), {parts, -1});
    const Tensor values = x(places);
    const Tensor low = nanmin(values, {.axis = 1, .keep_dims = true}),
                 high = nanmax(values, {.axis = 1, .keep_dims = true});
    return reshape(concat({low, high}, {.axis = 1}), {2 * parts});
}

/// The ends of what is counted, and the counts.
Tensor counts_of(const Tensor& x, const HistogramPlotOptions& options) {
    const Tensor wide = x.as(f32), value = select(abs(wide) < INFINITY, wide, NAN);
    Tensor low = options.range.low, high = options.range.high;
    if (options.range.low == options.range.high) {
        low = nanmin(value), high = nanmax(value);
        // Equal values are counted in the middle.
        const Tensor half = select(low == high, max(0.5f * abs(low), 0.5f), 0.0f);
        low = low - half, high = high + half;
    }
    const Tensor counts = histogram(value, options.bins, {.low = low, .high = high});
    return concat({unsqueeze(low, 0), unsqueeze(high, 0), counts.as(f32)});
}

}  // namespace

void Window::read_later(const Tensor& x, Callback<void(const std::vector<float>&)> take,
                        SourceLine line) {
    read_later({view_of(x, line)},
               [take](const std::vector<std::vector<float>>& values) { take(values.front()); });
}

void Window::plot(const std::string& name, const Tensor& x, const PlotOptions& options,
                  SourceLine line) {
    plot(name, std::vector<PlotTensor>{{"", x}}, options, line);
}

void Window::plot(const std::string& name, const std::vector<PlotTensor>& lines,
                  const PlotOptions& options, SourceLine line) {
    const int rank = lines.empty() ? 0 : lines.front().value.rank();
    for (const PlotTensor& each : lines) {
        if (each.value.rank() > 1)
            refuse_plot("plot", name, each.value,
                        "is no line; give a number (rank 0), which is appended, or a line (rank 1)",
                        line);
        if (each.value.rank() != rank)
            refuse_plot("plot", name, each.value,
                        "stands beside others of another rank; give numbers, or whole lines", line);
    }
    Gui panel = gui();
    if (rank == 0)
        panel.plot(name, std::vector<PlotValue>{}, options);
    else if (!panel.find(name))
        panel.lines(name, {}, options);
    if (rank == 0 ? !advances() : !shows_panel()) return;
    LineScope at(line);
    std::vector<Tensor> values;
    for (const PlotTensor& each : lines) values.push_back(each.value);
    realize(values, line);
    PlotOptions shown = options;
    std::vector<BufferView> views;
    for (Tensor& value : values) {
        BufferView view = view_of(value, line);
        const int64_t size = rank == 0 ? 1 : view.shape[0];
        if (size > kPlottedValues) {
            const int64_t width = (2 * size + kPlottedValues - 1) / kPlottedValues;
            view = view_of(extremes_of(value, size, width), line);
            shown.x_step = options.x_step * static_cast<double>(width) / 2;
        }
        views.push_back(std::move(view));
    }
    ViewWindow::read_later(views, [=](const std::vector<std::vector<float>>& read) mutable {
        std::vector<PlotValue> last;
        std::vector<PlotLine> whole;
        for (size_t k = 0; k < read.size(); ++k) {
            if (rank == 0)
                last.push_back({lines[k].name, read[k][0]});
            else
                whole.push_back({lines[k].name, read[k]});
        }
        rank == 0 ? panel.plot(name, last, shown) : panel.lines(name, whole, shown);
    });
}

void Window::histogram(const std::string& name, const Tensor& x,
                       const HistogramPlotOptions& options, SourceLine line) {
    if (options.bins < 1)
        throw UserError("histogram '" + name + "': it has " + std::to_string(options.bins) +
                        " bins; ask for 1 or more (" + text(line) + ")");
    PlotOptions shown{.log = options.log, .group = options.group, .help = options.help};
    Gui panel = gui();
    if (!panel.find(name)) panel.bars(name, {}, shown);
    if (!shows_panel()) return;
    LineScope at(line);
    read_later(
        counts_of(x, options),
        [=](const std::vector<float>& read) mutable {
            shown.x_first = static_cast<double>(read[0]);
            shown.x_step = static_cast<double>(read[1] - read[0]) / options.bins;
            panel.bars(name, {read.begin() + 2, read.end()}, shown);
        },
        line);
}

void Window::heat_map(const std::string& name, const Tensor& x, const HeatMapOptions& options,
                      SourceLine line) {
    if (x.rank() != 2)
        refuse_plot("heat_map", name, x, "is no picture of values; give [height, width]", line);
    HeatMap map;
    map.options = options;
    Gui panel = gui();
    if (!panel.find(name)) panel.heat_map(name, map);
    if (!shows_panel()) return;
    LineScope at(line);
    BufferView view = view_of(x, line);
    map.all_rows = view.shape[0], map.all_columns = view.shape[1];
    if (map.all_rows == 0 || map.all_columns == 0) return panel.heat_map(name, map);
    map.rows = static_cast<int>(std::min(map.all_rows, kPlottedCells));
    map.columns = static_cast<int>(std::min(map.all_columns, kPlottedCells));
    if (map.rows < map.all_rows || map.columns < map.all_columns)
        view = view_of(resize(x, map.rows, map.columns, {.mode = ResizeMode::Area}), line);
    ViewWindow::read_later({view}, [=](const std::vector<std::vector<float>>& read) mutable {
        map.values = read[0];
        panel.heat_map(name, map);
    });
}

}  // namespace firn
