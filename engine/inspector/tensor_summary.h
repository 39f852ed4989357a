// What there is to see of a tensor: counts, a histogram, a line and a heat map of few cells.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/program/dtype.h"

namespace firn {

/// Which row is read as a line, counted over all leading axes, and from which element on.
struct LinePick {
    int64_t row = 0, first = 0;
    bool operator==(const LinePick&) const = default;
};

struct TensorSummary {
    int64_t elements = 0, nans = 0, infinities = 0;
    double smallest = 0, largest = 0, mean = 0;  // of the finite ones; 0 where there are none
    std::vector<float> histogram;                // counts in equal steps from smallest to largest
    /// Elements of the last axis from `pick` on, at most `kLine`; the tensor has `line_rows` of
    /// such rows, of `line_elements` each.
    std::vector<float> line;
    LinePick pick;
    int64_t line_rows = 0, line_elements = 0;
    /// Rows of the last two axes (of the last three, where the last is of at most 4 channels, their
    /// mean), thinned out to at most `kCells` a side; nan where one of the elements is.
    std::vector<float> cells;
    int rows = 0, columns = 0;
    int64_t all_rows = 0, all_columns = 0;  // of the tensor
    static constexpr int kCells = 48, kBins = 32, kLine = 256;

    /// Where the first bin of the histogram begins, and how wide each is: bins of values that are
    /// all equal lie about them.
    double first_bin() const;
    double bin_width() const;
};

/// `bytes` are elements in storage form. A pick beyond the tensor is moved to its end.
TensorSummary summarise(DType dtype, const std::vector<int64_t>& shape,
                        std::span<const std::byte> bytes, const LinePick& pick = {});

}  // namespace firn
