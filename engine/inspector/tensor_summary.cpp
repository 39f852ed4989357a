// Summaries of tensors for people to look at.
#include "engine/inspector/tensor_summary.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace firn {
namespace {

using Elements = std::vector<double>;

Elements doubles_of(DType dtype, std::span<const std::byte> bytes) {
    const auto width = static_cast<size_t>(dtype.bytes());
    Elements out(bytes.size() / width);
    for (size_t k = 0; k < out.size(); ++k) {
        if (dtype == f32) {  // most are finite, and a large tensor is read between two frames
            float value = 0;
            std::memcpy(&value, &bytes[k * width], sizeof value);
            out[k] = static_cast<double>(value);
        } else {
            out[k] = load_scalar(dtype, &bytes[k * width]).as_double();
        }
    }
    return out;
}

void count(TensorSummary& out, const Elements& x) {
    double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0;
    for (const double value : x) {
        if (std::isnan(value)) {
            ++out.nans;
        } else if (std::isinf(value)) {
            ++out.infinities;
        } else {
            low = std::min(low, value), high = std::max(high, value);
            sum += value;
        }
    }
    const int64_t finite = out.elements - out.nans - out.infinities;
    if (finite == 0) return;
    out.smallest = low, out.largest = high;
    out.mean = sum / static_cast<double>(finite);
}

void fill_histogram(TensorSummary& out, const Elements& x) {
    out.histogram.assign(TensorSummary::kBins, 0);
    const double range = out.largest - out.smallest;
    for (const double value : x) {
        if (!std::isfinite(value)) continue;
        const double part = range > 0 ? (value - out.smallest) / range : 0.5;
        const int bin =
            std::min(static_cast<int>(part * TensorSummary::kBins), TensorSummary::kBins - 1);
        ++out.histogram[static_cast<size_t>(bin)];
    }
}

void fill_cells(TensorSummary& out, const Elements& x, const std::vector<int64_t>& shape) {
    const size_t rank = shape.size();
    const bool coloured = rank >= 3 && shape.back() <= 4;
    const int64_t channels = coloured ? shape.back() : 1;
    const size_t axes = coloured ? rank - 1 : rank;
    const int64_t columns = axes > 0 ? shape[axes - 1] : 1;
    const int64_t rows = axes > 1 ? shape[axes - 2] : 1;  // of the first picture
    out.all_rows = rows, out.all_columns = columns;
    out.rows = static_cast<int>(std::min<int64_t>(rows, TensorSummary::kCells));
    out.columns = static_cast<int>(std::min<int64_t>(columns, TensorSummary::kCells));
    for (int64_t i = 0; i < out.rows; ++i)
        for (int64_t j = 0; j < out.columns; ++j) {
            double sum = 0;
            int64_t parts = 0;
            for (int64_t r = i * rows / out.rows; r < (i + 1) * rows / out.rows; ++r)
                for (int64_t c = j * columns / out.columns; c < (j + 1) * columns / out.columns;
                     ++c)
                    for (int64_t k = 0; k < channels; ++k, ++parts)
                        sum += x[static_cast<size_t>((r * columns + c) * channels + k)];
            out.cells.push_back(static_cast<float>(sum / static_cast<double>(parts)));
        }
}

void fill_line(TensorSummary& out, const Elements& x, const std::vector<int64_t>& shape,
               const LinePick& pick) {
    out.line_elements = shape.empty() ? 1 : shape.back();
    out.line_rows = out.elements / out.line_elements;
    out.pick.row = std::clamp<int64_t>(pick.row, 0, out.line_rows - 1);
    out.pick.first = std::clamp<int64_t>(pick.first, 0, out.line_elements - 1);
    const int64_t count =
        std::min<int64_t>(out.line_elements - out.pick.first, TensorSummary::kLine);
    const int64_t begin = out.pick.row * out.line_elements + out.pick.first;
    for (int64_t k = begin; k < begin + count; ++k)
        out.line.push_back(static_cast<float>(x[static_cast<size_t>(k)]));
}

}  // namespace

double TensorSummary::first_bin() const {
    return smallest < largest ? smallest : smallest - bin_width() * kBins / 2;
}

double TensorSummary::bin_width() const {
    const double range =
        smallest < largest ? largest - smallest : std::max(std::abs(smallest), 1.0);
    return range / kBins;
}

TensorSummary summarise(DType dtype, const std::vector<int64_t>& shape,
                        std::span<const std::byte> bytes, const LinePick& pick) {
    TensorSummary out;
    out.elements = 1;
    for (int64_t size : shape) out.elements *= size;
    if (out.elements == 0) return out;
    const Elements x =
        doubles_of(dtype, bytes.first(static_cast<size_t>(out.elements * dtype.bytes())));
    count(out, x);
    fill_histogram(out, x);
    fill_line(out, x, shape, pick);
    fill_cells(out, x, shape);
    return out;
}

}  // namespace firn
