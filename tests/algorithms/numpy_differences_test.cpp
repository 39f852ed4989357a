// Differences, integrals and comparisons against numpy.
#include "tests/algorithms/numpy_cases.h"

namespace firn {
namespace {

using NumpyDifferences = ::testing::TestWithParam<NumpyRow>;
TEST_P(NumpyDifferences, Agrees) { expect_numpy(GetParam()); }

using In = const Tensors&;
Tensors differences(In in) { return {diff(in[0])}; }
Tensors gradients(In in) { return {gradient(in[0])}; }
Tensors second_order(In in) { return {gradient(in[0], {.edge_order = 2})}; }
Tensors by_coordinates(In in) { return {gradient(in[0], {.spacing = in[1]})}; }
Tensors integral(In in) { return {trapz(in[0])}; }
Tensors running_integral(In in) { return {cumulative_trapezoid(in[0])}; }

const NumpyRow kDifferences[] = {
    {"diff", differences},
    {"diff_twice", [](In in) { return Tensors{diff(in[0], {.n = 2, .axis = 0})}; }, 1e-6},
    {"diff_never", [](In in) { return Tensors{diff(in[0], {.n = 0})}; }},
    {"diff_of_one", differences},
    {"diff_of_none", differences},
    {"diff_beyond", [](In in) { return Tensors{diff(in[0], {.n = 7})}; }},
    {"diff_of_ints", differences},
    {"diff_of_bools", differences},
    {"diff_of_nan", differences},
    {"gradient", [](In in) { return Tensors{gradient(in[0], {.axis = 1})}; }, 1e-6},
    {"gradient_axes",
     [](In in) {
         return gradient(in[0], {0, 1});
     },
     1e-6},
    {"gradient_spacing",
     [](In in) { return Tensors{gradient(in[0], {.axis = 0, .spacing = 0.25f})}; }, 1e-6},
    {"gradient_second",
     [](In in) { return Tensors{gradient(in[0], {.axis = 1, .spacing = 0.25f, .edge_order = 2})}; },
     1e-6},
    {"gradient_coordinates", by_coordinates, 1e-6},
    {"gradient_coordinates_first",
     [](In in) { return Tensors{gradient(in[0], {.axis = 0, .spacing = in[1]})}; }, 1e-6},
    {"gradient_coordinates_second",
     [](In in) { return Tensors{gradient(in[0], {.spacing = in[1], .edge_order = 2})}; }, 1e-6},
    {"gradient_of_two", gradients},
    {"gradient_of_two_coordinates", by_coordinates, 1e-6},
    {"gradient_of_three", second_order, 1e-6},
    {"gradient_of_ints", gradients, 1e-6},
    {"gradient_f64", [](In in) { return Tensors{gradient(in[0], {.spacing = 0.1})}; }, 1e-7},
    {"trapz", integral, 1e-6},
    {"trapz_spacing", [](In in) { return Tensors{trapz(in[0], {.dx = 0.5f, .axis = 0})}; }, 1e-6},
    {"trapz_coordinates", [](In in) { return Tensors{trapz(in[0], {.x = in[1]})}; }, 1e-6},
    {"trapz_shaped", [](In in) { return Tensors{trapz(in[0], {.x = in[1], .axis = 0})}; }, 1e-6},
    {"trapz_of_one", integral},
    {"trapz_of_none", integral},
    {"trapz_of_ints", integral, 1e-6},
    {"cumulative_trapezoid",
     [](In in) { return Tensors{cumulative_trapezoid(in[0], {.x = in[1]})}; }, 1e-6},
    {"cumulative_trapezoid_of_one", running_integral},
};
INSTANTIATE_TEST_SUITE_P(Differences, NumpyDifferences, ::testing::ValuesIn(kDifferences),
                         name_of_row);

Tensors closely(In in) { return {isclose(in[0], in[1])}; }
Tensors all_closely(In in) { return {allclose(in[0], in[1])}; }
Tensors equally(In in) { return {array_equal(in[0], in[1])}; }
const NumpyRow kComparisons[] = {
    {"isclose", closely},
    {"isclose_nan", [](In in) { return Tensors{isclose(in[0], in[1], {.equal_nan = true})}; }},
    {"isclose_wide",
     [](In in) { return Tensors{isclose(in[0], in[1], {.rtol = 0, .atol = 1e-3})}; }},
    {"isclose_row", closely},
    {"isclose_ints", closely},
    {"allclose_yes", all_closely},
    {"allclose_no", all_closely},
    {"allclose_none", all_closely},
    {"array_equal_yes", equally},
    {"array_equal_no", equally},
    {"array_equal_nan", equally},
    {"array_equal_both_nan",
     [](In in) { return Tensors{array_equal(in[0], in[1], {.equal_nan = true})}; }},
    {"array_equal_rows", equally},
    {"array_equal_broadcast", equally},
    {"array_equal_ranks", equally},
    {"array_equal_of_one", equally},
    {"array_equal_types", equally},
};
INSTANTIATE_TEST_SUITE_P(Comparisons, NumpyDifferences, ::testing::ValuesIn(kComparisons),
                         name_of_row);

TEST(Differences, RefuseWithTheWayOut) {
    expect_message(error_of([] { diff(zeros({3}), {.n = -1}); }),
                   {"diff", "-1", "0 or more", "numpy_differences_test.cpp:"});
    expect_message(error_of([] { gradient(zeros({1})); }), {"gradient", "[1]", "more than 1"});
    expect_message(error_of([] { gradient(zeros({4}), {.edge_order = 3}); }),
                   {"gradient", "edge_order is 3"});
    expect_message(error_of([] { gradient(zeros({4}), {.spacing = zeros({3})}); }),
                   {"gradient", "[3]", "4"});
    expect_message(error_of([] { trapz(zeros({4}), {.x = zeros({3})}); }),
                   {"trapz", "[4]", "[3]", "coordinates"});
}

TEST(Differences, HaveGradients) {
    SessionScope scope(Session::oracle());
    const Tensor x = tensor(random_floats(12, 3), {3, 4}), t = tensor({0.0f, 1.0f, 3.0f, 3.5f});
    auto check = [](const Callback<Tensor(const Tensors&)>& f, const Tensors& xs) {
        const GradientCheck found = check_gradients(f, xs);
        EXPECT_TRUE(found) << found.where;
    };
    check([](In in) { return diff(in[0], {.n = 2, .axis = 0}); }, {x});
    check([](In in) { return gradient(in[0], {.spacing = in[1]}); }, {x, t});
    check([](In in) { return cumulative_trapezoid(in[0], {.x = in[1]}); }, {x, t});
}

}  // namespace
}  // namespace firn
