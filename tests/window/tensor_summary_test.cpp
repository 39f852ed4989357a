// The inspector's summary of a tensor's elements.
#include "engine/inspector/tensor_summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace firn {
namespace {

template <class T>
TensorSummary summary_of(DType dtype, const std::vector<T>& values,
                         const std::vector<int64_t>& shape) {
    return summarise(dtype, shape, std::as_bytes(std::span(values)));
}

TEST(TensorSummary, CountsWhatIsNotFiniteApart) {
    const float inf = std::numeric_limits<float>::infinity();
    const TensorSummary s = summary_of<float>(f32, {1, NAN, 3, -inf, NAN}, {5});
    EXPECT_EQ(s.nans, 2);
    EXPECT_EQ(s.infinities, 1);
    EXPECT_EQ(s.smallest, 1);
    EXPECT_EQ(s.largest, 3);
    EXPECT_EQ(s.mean, 2);
    EXPECT_TRUE(std::isnan(s.cells.at(1)));
}
TEST(TensorSummary, CountsValuesInEqualSteps) {
    std::vector<float> values(64);
    for (size_t k = 0; k < 64; ++k) values[k] = float(k);
    const TensorSummary s = summary_of(f32, values, {64});
    for (float bin : s.histogram) EXPECT_EQ(bin, 2);
    EXPECT_EQ(s.line, values);
}
TEST(TensorSummary, ThinsOutRowsAndColumns) {
    std::vector<int32_t> values(96 * 10);
    for (size_t k = 0; k < values.size(); ++k) values[k] = int32_t(k / 10);  // the row
    const TensorSummary s = summary_of(i32, values, {96, 10});
    EXPECT_EQ(s.rows, 48);
    EXPECT_EQ(s.columns, 10);
    EXPECT_EQ(s.cells.at(0), 0.5f);
    EXPECT_EQ(s.cells.back(), 94.5f);
}
TEST(TensorSummary, OfChannelsTheMeanIsShown) {
    const TensorSummary s = summary_of<float>(f32, {0, 3, 6, 9, 9, 9}, {1, 2, 3});
    EXPECT_EQ(s.columns, 2);
    EXPECT_EQ(s.cells, (std::vector<float>{3, 9}));
}
TEST(TensorSummary, ARowIsReadFromAnyElementOn) {
    std::vector<float> values(2 * 3 * 1000);
    for (size_t k = 0; k < values.size(); ++k) values[k] = float(k);
    const auto picked = [&](const LinePick& pick) {
        return summarise(f32, {2, 3, 1000}, std::as_bytes(std::span(values)), pick);
    };
    EXPECT_EQ(picked({}).line.size(), 256u);
    EXPECT_EQ(picked({}).line_rows, 6);
    EXPECT_EQ(picked({}).line_elements, 1000);
    EXPECT_EQ(picked({4, 100}).line.front(), 4100);
    const TensorSummary last = picked({9, 5000});  // beyond the end
    EXPECT_EQ(last.pick, (LinePick{5, 999}));
    EXPECT_EQ(last.line, std::vector<float>{5999});
}
TEST(TensorSummary, BinsHaveARange) {
    const TensorSummary s = summary_of<float>(f32, {-1, 3}, {2});
    EXPECT_EQ(s.first_bin(), -1);
    EXPECT_EQ(s.first_bin() + s.bin_width() * TensorSummary::kBins, 3);
    const TensorSummary same = summary_of<float>(f32, {5, 5}, {2});
    const double bin = same.first_bin() + same.bin_width() * TensorSummary::kBins / 2;
    EXPECT_EQ(same.histogram[TensorSummary::kBins / 2], 2);
    EXPECT_LE(bin, 5);
    EXPECT_GT(bin + same.bin_width(), 5);
}
TEST(TensorSummary, TakesAnySize) {
    EXPECT_EQ(summary_of<float>(f32, {}, {0, 4}).elements, 0);
    EXPECT_EQ(summary_of<float>(f32, {7}, {}).cells, std::vector<float>{7});
    const TensorSummary s = summary_of<float>(f32, {NAN}, {1});
    EXPECT_EQ(s.smallest, 0);
    EXPECT_EQ(s.nans, 1);
}

}  // namespace
}  // namespace firn
