// Statistics, searches and different elements against numpy.
#include <cmath>

#include "tests/algorithms/numpy_cases.h"

namespace firn {
namespace {

using NumpyStatistics = ::testing::TestWithParam<NumpyRow>;
TEST_P(NumpyStatistics, Agrees) { expect_numpy(GetParam()); }

using In = const Tensors&;

const NumpyRow kQuantiles[] = {
    {"quantile", [](In in) { return Tensors{quantile(in[0], in[1])}; }, 1e-6},
    {"quantile_axis", [](In in) { return Tensors{quantile(in[0], in[1], {.axis = 0})}; }, 1e-6},
    {"quantile_scalar", [](In in) { return Tensors{quantile(in[0], 0.3, {.axis = 1})}; }, 1e-6},
    {"quantile_keep",
     [](In in) { return Tensors{quantile(in[0], 0.25, {.axis = -1, .keep_dims = true})}; }, 1e-6},
    {"quantile_keep_all", [](In in) { return Tensors{quantile(in[0], 0.25, {.keep_dims = true})}; },
     1e-6},
    {"quantile_of_nan", [](In in) { return Tensors{quantile(in[0], in[1], {.axis = 1})}; }, 1e-6},
    {"quantile_of_one", [](In in) { return Tensors{quantile(in[0], in[1])}; }},
    {"quantile_of_none", [](In in) { return Tensors{quantile(in[0], in[1])}; }},
    {"quantile_of_ints", [](In in) { return Tensors{quantile(in[0], 0.4, {.axis = 1})}; }, 1e-6},
    {"quantile_f64", [](In in) { return Tensors{quantile(in[0], 0.3, {.axis = 1})}; }, 1e-14},
    {"quantile_f16", [](In in) { return Tensors{quantile(in[0], 0.4)}; }, 1e-3},
    {"quantile_grid", [](In in) { return Tensors{quantile(in[0], in[1], {.axis = 0})}; }, 1e-6},
    {"percentile", [](In in) { return Tensors{percentile(in[0], 37.5, {.axis = 0})}; }, 1e-6},
    {"percentile_several", [](In in) { return Tensors{percentile(in[0], in[1])}; }, 1e-6},
    {"median", [](In in) { return Tensors{median(in[0])}; }},
    {"median_axis", [](In in) { return Tensors{median(in[0], {.axis = 0})}; }},
    {"median_keep", [](In in) { return Tensors{median(in[0], {.axis = 1, .keep_dims = true})}; }},
    {"median_of_none", [](In in) { return Tensors{median(in[0])}; }},
    {"median_of_one", [](In in) { return Tensors{median(in[0])}; }},
    {"median_of_nan", [](In in) { return Tensors{median(in[0], {.axis = 1})}; }},
    {"median_of_infinite", [](In in) { return Tensors{median(in[0], {.axis = 1})}; }},
    {"median_of_ints", [](In in) { return Tensors{median(in[0])}; }},
    {"ptp", [](In in) { return Tensors{ptp(in[0], {.axis = 1})}; }},
    {"ptp_of_ints", [](In in) { return Tensors{ptp(in[0])}; }},
    {"ptp_of_nan", [](In in) { return Tensors{ptp(in[0], {.axis = 1, .keep_dims = true})}; }},
};
INSTANTIATE_TEST_SUITE_P(Quantiles, NumpyStatistics, ::testing::ValuesIn(kQuantiles), name_of_row);

#define NAN_ROWS(f)                                                                           \
    {#f, [](In in) { return Tensors{f(in[0])}; }, 1e-6},                                      \
        {#f "_axis", [](In in) { return Tensors{f(in[0], {.axis = 1})}; }, 1e-6},             \
        {#f "_keep", [](In in) { return Tensors{f(in[0], {.axis = 0, .keep_dims = true})}; }, \
         1e-6},                                                                               \
        {#f "_infinite", [](In in) { return Tensors{f(in[0], {.axis = 1})}; }, 1e-6},         \
        {#f "_ints", [](In in) { return Tensors{f(in[0], {.axis = 0})}; }, 1e-6},             \
        {#f "_f16", [](In in) { return Tensors{f(in[0])}; }, 2e-3},
const NumpyRow kNanReductions[] = {
    NAN_ROWS(nansum) NAN_ROWS(nanmean) NAN_ROWS(nanmin) NAN_ROWS(nanmax) NAN_ROWS(nanvar)
        NAN_ROWS(nanstd)  //
    {"nansum_of_none", [](In in) { return Tensors{nansum(in[0])}; }},
    {"nanmean_of_none", [](In in) { return Tensors{nanmean(in[0])}; }},
    {"nanvar_ddof", [](In in) { return Tensors{nanvar(in[0], {.axis = 1, .correction = 2})}; },
     1e-6},
};
#undef NAN_ROWS
INSTANTIATE_TEST_SUITE_P(NanReductions, NumpyStatistics, ::testing::ValuesIn(kNanReductions),
                         name_of_row);

const NumpyRow kCovariances[] = {
    {"average", [](In in) { return Tensors{average(in[0], in[1])}; }, 1e-6},
    {"average_even", [](In in) { return Tensors{average(in[0], {.axis = 0})}; }, 1e-6},
    {"average_axis", [](In in) { return Tensors{average(in[0], in[1], {.axis = 1})}; }, 1e-6},
    {"average_vector", [](In in) { return Tensors{average(in[0], in[1], {.axis = 1})}; }, 1e-6},
    {"average_ints", [](In in) { return Tensors{average(in[0], in[1])}; }, 1e-6},
    {"cov", [](In in) { return Tensors{cov(in[0])}; }, 1e-6},
    {"cov_columns", [](In in) { return Tensors{cov(in[0], {.row_var = false, .correction = 0})}; },
     1e-6},
    {"cov_vector", [](In in) { return Tensors{cov(in[0])}; }, 1e-6},
    {"cov_two", [](In in) { return Tensors{cov(in[0], in[1])}; }, 1e-6},
    {"cov_of_one", [](In in) { return Tensors{cov(in[0])}; }},
    {"cov_of_nan", [](In in) { return Tensors{cov(in[0])}; }, 1e-6},
    {"cov_of_ints", [](In in) { return Tensors{cov(in[0])}; }, 1e-6},
    {"corrcoef", [](In in) { return Tensors{corrcoef(in[0])}; }, 1e-6},
    {"corrcoef_two", [](In in) { return Tensors{corrcoef(in[0], in[1])}; }, 1e-6},
    {"corrcoef_vector", [](In in) { return Tensors{corrcoef(in[0])}; }, 1e-6},
    {"corrcoef_constant", [](In in) { return Tensors{corrcoef(in[0])}; }, 1e-6},
};
INSTANTIATE_TEST_SUITE_P(Covariances, NumpyStatistics, ::testing::ValuesIn(kCovariances),
                         name_of_row);

Tensors before(In in) { return {searchsorted(in[0], in[1])}; }
Tensors behind(In in) { return {searchsorted(in[0], in[1], {.right = true})}; }
Tensors between(In in) { return {interp(in[0], in[1], in[2])}; }
const NumpyRow kSearches[] = {
    {"searchsorted", before},
    {"searchsorted_right", behind},
    {"searchsorted_nan", before},
    {"searchsorted_nan_right", behind},
    {"searchsorted_none", before},
    {"searchsorted_one", before},
    {"searchsorted_for_none", before},
    {"searchsorted_ints", before},
    {"searchsorted_mixed", before},
    {"digitize", [](In in) { return Tensors{digitize(in[0], in[1])}; }},
    {"digitize_right", [](In in) { return Tensors{digitize(in[0], in[1], {.right = true})}; }},
    {"digitize_falling", [](In in) { return Tensors{digitize(in[0], in[1])}; }},
    {"digitize_falling_right",
     [](In in) { return Tensors{digitize(in[0], in[1], {.right = true})}; }},
    {"digitize_one", [](In in) { return Tensors{digitize(in[0], in[1])}; }},
    {"interp", between, 1e-6},
    {"interp_outside",
     [](In in) {
         return Tensors{interp(in[0], in[1], in[2], {.left = -7.0f, .right = std::nanf("")})};
     },
     1e-6},
    {"interp_one", between},
    {"interp_ints", between, 1e-6},
    {"interp_f64", between, 1e-14},
};
INSTANTIATE_TEST_SUITE_P(Searches, NumpyStatistics, ::testing::ValuesIn(kSearches), name_of_row);

Tensors values_of(In in) { return {unique(in[0])}; }
Tensors all_of_unique(In in) {
    const Unique out = unique_all(in[0]);
    return {out.values, out.indices, out.counts, out.inverse};
}
const NumpyRow kUnique[] = {
    {"unique_floats", values_of}, {"unique_all_floats", all_of_unique},
    {"unique_nan", values_of},    {"unique_all_nan", all_of_unique},
    {"unique_ints", values_of},   {"unique_all_ints", all_of_unique},
    {"unique_none", values_of},   {"unique_all_none", all_of_unique},
    {"unique_one", values_of},    {"unique_all_one", all_of_unique},
    {"unique_bools", values_of},  {"unique_all_bools", all_of_unique},
    {"unique_zeros", values_of},  {"unique_all_zeros", all_of_unique},
};
INSTANTIATE_TEST_SUITE_P(Different, NumpyStatistics, ::testing::ValuesIn(kUnique), name_of_row);

TEST(Statistics, AQuantileAtAWholePositionIsThatElement) {
    // numpy gives nan beside an infinity.
    expect_values(
        [] {
            return quantile(tensor({2.0f, INFINITY, 1.0f}), tensor({0.5f, 1.0f}));
        },
        Floats{2, INFINITY});
    expect_values([] { return quantile(tensor({INFINITY, INFINITY}), 0.3); }, Floats{INFINITY});
}

TEST(Statistics, RefuseWithTheWayOut) {
    expect_message(error_of([] { quantile(zeros({3}), 1.5); }),
                   {"quantile", "1.5", "0 to 1", "numpy_statistics_test.cpp:"});
    expect_message(error_of([] { percentile(zeros({3}), -1); }), {"percentile", "0 to 100"});
    expect_message(error_of([] { median(zeros({3}), {.axis = 1}); }), {"median", "axis 1"});
    expect_message(error_of([] {
                       average(zeros({3, 4}), zeros({3}));
                   }),
                   {"average", "[3, 4]", "[3]", ".axis"});
    expect_message(error_of([] { cov(zeros({2, 2, 2})); }), {"cov", "[2, 2, 2]", "observations"});
    expect_message(error_of([] {
                       searchsorted(zeros({2, 2}), zeros({3}));
                   }),
                   {"searchsorted", "[2, 2]", "reshape"});
    expect_message(error_of([] { interp(zeros({2}), zeros({3}), zeros({2})); }),
                   {"interp", "3", "2", "as many"});
    expect_message(error_of([] { interp(zeros({2}), zeros({0}), zeros({0})); }),
                   {"interp", "1 or"});
}

TEST(Statistics, TakeAxesInBraces) {
    SessionScope scope(Session::oracle());
    const Tensor x = select(arange(12) == 5, std::nanf(""), arange(12) * 1.0f);
    const Tensor cube = reshape(x, {2, 3, 2});
    EXPECT_EQ(nansum(cube, {0, 2}).to_vector<float>(), (Floats{14, 22, 25}));
    EXPECT_EQ(nanmean(cube, {0, 2}).to_vector<float>(), (Floats{3.5f, 5.5f, 25 / 3.0f}));
    EXPECT_EQ(nanmin(cube, {0, 2}).to_vector<float>(), (Floats{0, 2, 4}));
    EXPECT_EQ(nanmax(cube, {0, 2}).to_vector<float>(), (Floats{7, 9, 11}));
    EXPECT_EQ(nanstd(cube, {0, 2}).to_vector<float>(),
              sqrt(nanvar(cube, {.axis = {0, 2}})).to_vector<float>());
    EXPECT_EQ(nanvar(cube, {0, 2}).rank(), 1);
}

TEST(Statistics, HaveGradients) {
    SessionScope scope(Session::oracle());
    const Tensor x = tensor(random_floats(12, 3), {3, 4}), w = tensor(random_floats(12, 4), {3, 4});
    auto check = [](const Callback<Tensor(const Tensors&)>& f, const Tensors& xs) {
        const GradientCheck found = check_gradients(f, xs);
        EXPECT_TRUE(found) << found.where;
        EXPECT_EQ(found.not_smooth, 0);
    };
    check([](In in) { return quantile(in[0], 0.3, {.axis = 1}); }, {x});
    check([](In in) { return median(in[0], {.axis = 1}); }, {x});
    check([](In in) { return nanvar(in[0], {.axis = 0}); }, {x});
    check([](In in) { return average(in[0], in[1] + 2.0f, {.axis = 0}); }, {x, w});
    check([](In in) { return corrcoef(in[0]); }, {x});
    check([](In in) { return interp(in[0], arange(4), in[1](0)); }, {x * 1.5f + 1.5f, w});
}

TEST(Unique, CountsGoOnWithoutBeingReadBack) {
    // The number of different elements is known to the device alone, between two kernels of a loop.
    const Ints x = random_ints(60, 5, 0, 9);
    std::vector<int> counts(10);
    for (int each : x) ++counts[static_cast<size_t>(each)];
    int expected = 0;
    for (int each = 0; each < 10; ++each) expected += each * counts[static_cast<size_t>(each)];
    expect_values(
        [&] {
            auto f = compile(
                [](Tensor x) {
                    const Unique all = unique_all(x);
                    return sum(all.values * all.counts);
                },
                {i32("n")});
            return f(tensor(x));
        },
        Ints{expected});
}

}  // namespace
}  // namespace firn
