// Values and derivatives of functions of rows over the whole range of every float type, within what
// compiler/accuracy.md promises. FIRN_CORNERS=1 prints the largest errors.
#include "tests/learning/row_corners.h"

#include <fstream>

#include "tests/learning/stored_numbers.h"

namespace firn {
namespace {

using corners::ExactRow;
using corners::kRowFunctions;
using corners::RowFunction;

TEST(RowCorners, FormulasAreWhatSixtyDigitsGive) {
    std::ifstream in(FIRN_SOURCE_DIR "/tests/learning/row_corners_expected.txt");
    const std::vector<ExactRow> rows = corners::exact_rows(corners::row_points(f64));
    std::string name, which, data;
    int lines = 0;
    for (; in >> name >> which >> data; ++lines) {
        const auto f = std::find_if(std::begin(kRowFunctions), std::end(kRowFunctions),
                                    [&](const RowFunction& each) { return each.name == name; });
        ASSERT_NE(f, std::end(kRowFunctions)) << name;
        const bool is_value = which == "value";
        const size_t each = is_value && f->gives_one ? 1 : 4;
        const std::vector<double> expected = decoded(data);
        // The rows with infinities come last, and are not stored.
        ASSERT_EQ(expected.size() / each, rows.size() - 6);
        for (size_t i = 0; i < expected.size(); ++i) {
            const ExactRow& row = rows[i / each];
            const long double got = (is_value ? f->value : f->slope)(row, i % each),
                              unit = (is_value ? f->value_unit : f->slope_unit)(row, i % each);
            EXPECT_LE(corners::error_in_units(expected[i], got, f64, double(unit)), 2)
                << name << " " << which << " " << i << ": " << double(got) << " instead of "
                << expected[i];
        }
    }
    EXPECT_EQ(lines, 10);
}

class RowCornersOf : public ::testing::TestWithParam<RowFunction> {};
INSTANTIATE_TEST_SUITE_P(Functions, RowCornersOf, ::testing::ValuesIn(kRowFunctions),
                         [](const auto& f) { return f.param.name; });

TEST_P(RowCornersOf, StayWithinTheirBounds) {
    SessionScope scope(Session::oracle());
    for (DType type : {f64, f32, f16, bf16}) corners::expect_within(GetParam(), type);
}

TEST_P(RowCornersOf, StayWithinTheirBoundsAsKernels) {
    SessionScope scope(Session::interpreter());
    for (DType type : {f32, f16}) corners::expect_within(GetParam(), type);
}

}  // namespace
}  // namespace firn
