// Makers, borders and turns against numpy.
#include "tests/algorithms/numpy_cases.h"

namespace firn {
namespace {

using NumpyMakers = ::testing::TestWithParam<NumpyRow>;
TEST_P(NumpyMakers, Agrees) { expect_numpy(GetParam()); }

using In = const Tensors&;
template <int K>
Tensors eye_of(In) {
    return {eye(3, 5, K)};
}
template <int K>
Tensors diag_of(In in) {
    return {diag(in[0], {.offset = K})};
}
template <int K>
Tensors turned(In in) {
    return {rot90(in[0], {.k = K})};
}
template <PadMode Mode>
Tensors padded(In in) {
    return {pad(in[0], Mode, {.before = {1, 2}, .after = {2}})};
}
template <PadMode Mode>
Tensors padded_one(In in) {
    return {pad(in[0], Mode, {.before = {2}, .after = {1}})};
}
template <PadMode Mode>
Tensors padded_wide(In in) {
    return {pad(in[0], Mode, {.before = {7}, .after = {8}})};
}

const NumpyRow kMakers[] = {
    {"logspace", [](In) { return Tensors{logspace(-2, 3, 6)}; }, 1e-5},
    {"logspace_base", [](In in) { return Tensors{logspace(in[0], in[1], 5, 2)}; }, 1e-5},
    {"logspace_one", [](In) { return Tensors{logspace(1, 2, 1)}; }, 1e-5},
    {"geomspace", [](In) { return Tensors{geomspace(1, 1000, 7)}; }, 1e-5},
    {"geomspace_negative", [](In in) { return Tensors{geomspace(in[0], in[1], 5)}; }, 1e-5},
    {"geomspace_one", [](In) { return Tensors{geomspace(3, 5, 1)}; }},
    {"vander", [](In in) { return Tensors{vander(in[0])}; }, 1e-5},
    {"vander_columns", [](In in) { return Tensors{vander(in[0], 6, {.increasing = true})}; }, 1e-5},
    {"vander_none", [](In in) { return Tensors{vander(in[0], 0)}; }},
    {"vander_empty", [](In in) { return Tensors{vander(in[0], 3)}; }},
    {"vander_ints", [](In in) { return Tensors{vander(in[0], 3)}; }},
    {"vander_nan", [](In in) { return Tensors{vander(in[0], 3)}; }, 1e-5},
    {"eye_minus_2", eye_of<-2>},
    {"eye_0", eye_of<0>},
    {"eye_1", eye_of<1>},
    {"eye_7", eye_of<7>},
    {"diag_minus_2", diag_of<-2>},
    {"diag_0", diag_of<0>},
    {"diag_1", diag_of<1>},
    {"diag_7", diag_of<7>},
    {"diag_of_matrix_minus_2", diag_of<-2>},
    {"diag_of_matrix_0", diag_of<0>},
    {"diag_of_matrix_1", diag_of<1>},
    {"diag_of_matrix_7", diag_of<7>},
    {"diag_nan", diag_of<0>},
    {"diag_of_none", diag_of<0>},
};
INSTANTIATE_TEST_SUITE_P(Makers, NumpyMakers, ::testing::ValuesIn(kMakers), name_of_row);

const NumpyRow kMovements[] = {
    {"pad_edge", padded<PadMode::Edge>},
    {"pad_reflect", padded<PadMode::Reflect>},
    {"pad_symmetric", padded<PadMode::Symmetric>},
    {"pad_wrap", padded<PadMode::Wrap>},
    {"pad_one_edge", padded_one<PadMode::Edge>},
    {"pad_one_reflect", padded_one<PadMode::Reflect>},
    {"pad_one_symmetric", padded_one<PadMode::Symmetric>},
    {"pad_one_wrap", padded_one<PadMode::Wrap>},
    {"pad_wide_reflect", padded_wide<PadMode::Reflect>},
    {"pad_wide_symmetric", padded_wide<PadMode::Symmetric>},
    {"pad_wide_wrap", padded_wide<PadMode::Wrap>},
    {"roll_axes",
     [](In in) {
         return Tensors{roll(in[0], {1, -2}, {0, 1})};
     }},
    {"roll_same_axis",
     [](In in) {
         return Tensors{roll(in[0], {1, 1}, {1, 1})};
     }},
    {"fliplr", [](In in) { return Tensors{fliplr(in[0])}; }},
    {"flipud", [](In in) { return Tensors{flipud(in[0])}; }},
    {"rot90_minus_1", turned<-1>},
    {"rot90_0", turned<0>},
    {"rot90_1", turned<1>},
    {"rot90_2", turned<2>},
    {"rot90_3", turned<3>},
    {"rot90_axes", [](In in) { return Tensors{rot90(in[0], {.from = 2, .to = 0})}; }},
    {"rot90_empty", turned<1>},
};
INSTANTIATE_TEST_SUITE_P(Movements, NumpyMakers, ::testing::ValuesIn(kMovements), name_of_row);

TEST(Makers, RowsOfNoNumbersAreEmpty) {
    for (const Tensor& x : {linspace(0, 1, 0), logspace(0, 1, 0), geomspace(1, 5, 0)}) {
        EXPECT_EQ(Shape(x.shape()), Shape{0});
        EXPECT_EQ(x.dtype(), f32);
        EXPECT_TRUE(x.to_vector<float>().empty());
    }
    const auto row = compile([](Tensor x) { return linspace(1, 5, x.size(0)); }, {f32("n")});
    EXPECT_TRUE(Tensor(row(zeros({0}))).to_vector<float>().empty());
    EXPECT_EQ(Tensor(row(zeros({1}))).to_vector<float>(), std::vector<float>{1});
}

TEST(Makers, RefuseWithTheWayOut) {
    expect_message(error_of([] { geomspace(-1, 2, 5); }),
                   {"geomspace", "one sign", "numpy_makers_test.cpp:"});
    expect_message(error_of([] { linspace(0, 1, -1); }),
                   {"linspace", "-1", "numpy_makers_test.cpp:"});
    expect_message(error_of([] { logspace(0, 1, -1); }),
                   {"logspace", "-1", "numpy_makers_test.cpp:"});
    expect_message(error_of([] { geomspace(1, 5, -1); }),
                   {"geomspace", "-1", "numpy_makers_test.cpp:"});
    expect_message(error_of([] { vander(zeros({2, 2})); }), {"vander", "[2, 2]"});
    expect_message(error_of([] { diag(zeros({2, 2, 2})); }), {"diag", "[2, 2, 2]"});
    expect_message(error_of([] { pad(zeros({0}), PadMode::Edge, {.before = {1}}); }),
                   {"pad", "[0]", "elements"});
    expect_message(error_of([] {
                       pad(zeros({2}), PadMode::Wrap, {.before = {1, 1}});
                   }),
                   {"pad", "one per axis"});
    expect_message(error_of([] { roll(zeros({2, 2}), {1, 2, 3}, {0, 1}); }), {"roll", "3", "2"});
    expect_message(error_of([] { fliplr(zeros({2})); }), {"fliplr", "axis 1"});
    expect_message(error_of([] { rot90(zeros({2, 2}), {.from = 0, .to = -2}); }), {"rot90", "two"});
}

TEST(Makers, HaveGradients) {
    SessionScope scope(Session::oracle());
    const Tensor x = tensor(random_floats(4, 3));
    auto check = [](const Callback<Tensor(const Tensors&)>& f, const Tensors& xs) {
        const GradientCheck found = check_gradients(f, xs);
        EXPECT_TRUE(found) << found.where;
    };
    check([](In in) { return diag(in[0], {.offset = -1}); }, {x});
    check([](In in) { return vander(in[0], 3); }, {x});
    check([](In in) { return pad(in[0], PadMode::Reflect, {.before = {5}, .after = {2}}); }, {x});
}

}  // namespace
}  // namespace firn
