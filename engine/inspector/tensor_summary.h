// What there is to see of a tensor: counts, a histogram, a line and a heat map of few cells.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/program/dtype.h"

namespace firn {

struct TensorSummary {
    int64_t elements = 0, nans = 0, infinities = 0;
    double smallest = 0, largest = 0, mean = 0;  // of the finite ones; 0 where there are none
    std::vector<float> histogram;                // counts in equal steps from smallest to largest
    std::vector<float> line;                     // the first elements of the last axis
    /// Rows of the last two axes (of the last three, where the last is of at most 4 channels, their
    /// mean), thinned out to at most `kCells` a side; nan where one of the elements is.
    std::vector<float> cells;
    int rows = 0, columns = 0;
    static constexpr int kCells = 48, kBins = 32, kLine = 256;
};

/// `bytes` are elements in storage form.
TensorSummary summarise(DType dtype, const std::vector<int64_t>& shape,
                        std::span<const std::byte> bytes);

}  // namespace firn
