// Summarises a tensor for the inspector: counts, a histogram, a line and a small heat map.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/program/dtype.h"

namespace firn {

/// Selects the elements of the line: a row, counted over all leading axes, and its first element.
struct LinePick {
    int64_t row = 0, first = 0;
    bool operator==(const LinePick&) const = default;
};

struct TensorSummary {
    int64_t elements = 0, nans = 0, infinities = 0;
    double smallest = 0, largest = 0, mean = 0;  // of the finite elements; 0 if there are none
    std::vector<float> histogram;                // counts in equal steps from smallest to largest
    /// Elements of the last axis from `pick` on, at most `kLine`; the tensor has `line_rows` of
    /// such rows, of `line_elements` each.
    std::vector<float> line;
    LinePick pick;
    int64_t line_rows = 0, line_elements = 0;
    /// The last two axes as a picture of at most `kCells` a side (if the last axis has at most 4
    /// elements, the two before it, with the mean of those channels). A cell is nan if one of its
    /// elements is.
    std::vector<float> cells;
    int rows = 0, columns = 0;
    int64_t all_rows = 0, all_columns = 0;  // of the whole tensor
    static constexpr int kCells = 48, kBins = 32, kLine = 256;

    /// Begin of the histogram's first bin, and width of each bin. If all values are equal, the bins
    /// lie around that value.
    double first_bin() const;
    double bin_width() const;
};

/// `bytes` are elements in storage form. A pick beyond the tensor is moved to its end.
TensorSummary summarise(DType dtype, const std::vector<int64_t>& shape,
                        std::span<const std::byte> bytes, const LinePick& pick = {});

}  // namespace firn
