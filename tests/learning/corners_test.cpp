// Values and derivatives over the whole range of every float type, within what compiler/accuracy.md
// promises. FIRN_CORNERS=1 prints the largest errors; FIRN_WRITE_README=1 writes the page anew.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/habits/page.h"
#include "tests/learning/row_corners.h"
#include "tests/learning/stored_numbers.h"

namespace firn {
namespace {

using corners::kRows;
using corners::Row;

const DType kFloatTypes[] = {f64, f32, f16, bf16};

TEST(Corners, FormulasAreWhatFiftyDigitsGive) {
    std::ifstream in(FIRN_SOURCE_DIR "/tests/learning/corners_expected.txt");
    const std::vector<double> x = corners::points(f64), y = corners::partners(x);
    std::string name, which, data;
    int lines = 0;
    for (; in >> name >> which >> data; ++lines) {
        const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                      [&](const Row& each) { return each.name == name; });
        ASSERT_NE(row, std::end(kRows)) << name;
        const corners::Formula formula = which == "value"  ? row->value
                                         : which == "by_x" ? row->by_x
                                                           : row->by_y;
        const std::vector<double> expected = decoded(data);
        ASSERT_EQ(expected.size(), x.size());
        for (size_t i = 0; i < x.size(); ++i) {
            if (!std::isfinite(x[i]) || (row->by_y && !std::isfinite(y[i]))) continue;
            const long double got = formula(x[i], y[i]);
            if (std::isnan(row->value(x[i], y[i]))) continue;
            // If the function is infinite or nan, so is its derivative, or there is none.
            if (!std::isfinite(expected[i]) && !std::isfinite(double(got))) continue;
            EXPECT_LE(corners::error_in_units(expected[i], got, f64), 2)
                << name << " " << which << " at " << x[i] << ", " << y[i] << ": " << double(got)
                << " instead of " << expected[i];
        }
    }
    EXPECT_GE(lines, 70);
}

class CornersOf : public ::testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(Rows, CornersOf, ::testing::ValuesIn(kRows),
                         [](const auto& row) { return row.param.name; });

TEST_P(CornersOf, StayWithinTheirBounds) {
    SessionScope scope(Session::oracle());
    for (DType type : kFloatTypes) corners::expect_within(GetParam(), type);
}

TEST_P(CornersOf, StayWithinTheirBoundsAsKernels) {
    SessionScope scope(Session::interpreter());
    for (DType type : {f32, f16}) corners::expect_within(GetParam(), type);
}

/// The derivative once more, against differences of the formula.
TEST_P(CornersOf, HaveSecondDerivatives) {
    const Row& row = GetParam();
    SessionScope scope(Session::oracle());
    std::vector<double> px, py;
    for (int k = 0; k < 40; ++k) {
        px.push_back(std::ldexp(double((k * 37 + 11) % 101) - 50.2, k % 3 - 4));
        py.push_back(px.back() * 0.375 + 0.8);
    }
    const Tensor x = tensor(px), y = tensor(py);
    const std::vector<double> got =
        corners::elements(grad(grad(row.f(x, y), x), x, {.allow_unused = true}));
    for (size_t i = 0; i < px.size(); ++i) {
        const long double h = 1e-5L * fmaxl(1, fabsl(px[i]));
        const long double expected =
            (row.by_x(px[i] + h, py[i]) - row.by_x(px[i] - h, py[i])) / (2 * h);
        // Next to a pole differences are not near it.
        if (!(fabsl(expected) < 1000)) continue;
        EXPECT_NEAR(got[i], double(expected), 1e-6 * std::max(1.0, std::abs(double(expected))))
            << row.name << " at " << px[i];
    }
}

std::string bound(double units) {
    std::ostringstream out;
    out << std::fabs(units) << (units < 0 ? " *" : "");
    return out.str();
}

TEST(Corners, ThePageHasTheBounds) {
    std::ostringstream out;
    out << R"(# Accuracy

`tests/learning` holds every function to these errors, at 400 points over the whole range of each type (subnormal numbers, 0 and -0, every exponent,
the neighbours of 1, infinities, nan), against formulas that agree with 60 digits; `tests/device` does on the device.
Errors are in units in the last place, of the value and of the derivative (of the worse one, of two operands). Results and arguments below the
smallest normal number, and products with them, may be 0, because devices may flush them. *: the unit is that of 1, or of the
largest operand, where that is larger (`logaddexp` cancels next to 0; `gelu` of f64 is made from `1 + erf`).
The column f64 holds on the host; a device computes functions of f64 by their definitions in kernel code, whose errors are those of
`kernel/functions/functions.def`: at most 3.8 units.
`%`, `fmod` and `remainder` of floats are exact, but for the one sum that gives a rest the divisor's sign. A divisor below the smallest normal number
leaves 0 on a device that takes such numbers as 0, and the exact rest elsewhere, as in the interpreters.

| | f64 | f32 | f16, bf16 | derivative: f64 | f32 | f16, bf16 |
|---|---|---|---|---|---|---|
)";
    const auto line = [&](const std::string& name, const corners::Bounds& bounds) {
        out << "| `" << name << "`";
        for (bool slope : {false, true})
            for (DType type : {f64, f32, f16})
                out << " | " << bound(slope ? bounds.slope(type) : bounds.value(type));
        out << " |\n";
    };
    for (const Row& row : kRows) line(row.name, row.bounds);
    out << R"(
`right_logit` and `wrong_logit` are `binary_cross_entropy_with_logits` of targets 1 and 0, `right_probability` and
`wrong_probability` are `binary_cross_entropy` of targets 1 and 0, `divergence` is `kl_div` by the
logarithm, `mse`, `l1` and `huber` are the losses of these names.

Functions of rows, of four numbers of one scale over the whole range, of equal ones, with one that is far larger than the
others, and with infinities (the derivative of the sum with weights 1, -1/2, 1/4 and 2; labels of all classes). The unit of what
cancels is that of its largest term: of `log_softmax` and the losses that of 1, of `logsumexp` that of the largest operand,
of a derivative of softmax p (w - sum(p w)) that of 2 p, of the losses by the logit of a target that of the target. An
exponential of a difference d is off by d / 2 units, because the difference is rounded.

| | f64 | f32 | f16, bf16 | derivative: f64 | f32 | f16, bf16 |
|---|---|---|---|---|---|---|
)";
    for (const corners::RowFunction& row : corners::kRowFunctions) line(row.name, row.bounds);
    out << R"(
A gradient of f16 or bf16 that several statements contribute to is their sum in f32, rounded once; PyTorch rounds at every
addition, which stalls at 2048 equal parts of f16.
)";
    expect_page("compiler/accuracy.md", out.str());
}

}  // namespace
}  // namespace firn
