// Products and convolutions of vectors against numpy.
#include "tests/algorithms/numpy_cases.h"

namespace firn {
namespace {

using NumpyProducts = ::testing::TestWithParam<NumpyRow>;
TEST_P(NumpyProducts, Agrees) { expect_numpy(GetParam()); }

using In = const Tensors&;
Tensors dot_one(In in) { return {tensordot(in[0], in[1], 1)}; }
Tensors dot_two(In in) { return {tensordot(in[0], in[1])}; }
Tensors all_pairs(In in) { return {outer(in[0], in[1])}; }
Tensors inner_of(In in) { return {inner(in[0], in[1])}; }
Tensors vdot_of(In in) { return {vdot(in[0], in[1])}; }
Tensors kron_of(In in) { return {kron(in[0], in[1])}; }
Tensors cross_of(In in) { return {cross(in[0], in[1])}; }
template <int Power>
Tensors power_of(In in) {
    return {matrix_power(in[0], Power)};
}

const NumpyRow kProducts[] = {
    {"tensordot", dot_one, 1e-5},
    {"tensordot_two", dot_two, 1e-5},
    {"tensordot_pairs",
     [](In in) {
         return Tensors{tensordot(in[0], in[1], {1, 2}, {1, 0})};
     },
     1e-5},
    {"tensordot_none", [](In in) { return Tensors{tensordot(in[0], in[1], 0)}; }, 1e-6},
    {"tensordot_all", dot_two, 1e-5},
    {"tensordot_empty", dot_one},
    {"tensordot_ints", dot_one},
    {"outer", all_pairs, 1e-6},
    {"outer_shaped", all_pairs, 1e-6},
    {"outer_nan", all_pairs, 1e-6},
    {"inner", inner_of, 1e-5},
    {"inner_matrices", inner_of, 1e-5},
    {"inner_number", inner_of, 1e-6},
    {"vdot", vdot_of, 1e-5, false},  // of equal sizes only when they are known
    {"vdot_none", vdot_of},
    {"kron", kron_of, 1e-6},
    {"kron_ranks", kron_of, 1e-6},
    {"kron_empty", kron_of},
    {"kron_ints", kron_of},
    {"cross", cross_of, 1e-5, false},
    {"cross_row", cross_of, 1e-5, false},
    {"cross_ints", cross_of, 0, false},
    {"matrix_power_minus_2", power_of<-2>, 1e-4},
    {"matrix_power_minus_1", power_of<-1>, 1e-4},
    {"matrix_power_0", power_of<0>},
    {"matrix_power_1", power_of<1>},
    {"matrix_power_2", power_of<2>, 1e-5},
    {"matrix_power_5", power_of<5>, 1e-5},
    {"matrix_power_batch", power_of<3>, 1e-5},
    {"matrix_power_ints", power_of<3>},
};
INSTANTIATE_TEST_SUITE_P(Products, NumpyProducts, ::testing::ValuesIn(kProducts), name_of_row);

template <ConvolveMode Mode>
Tensors convolved(In in) {
    return {convolve(in[0], in[1], Mode)};
}
template <ConvolveMode Mode>
Tensors correlated(In in) {
    return {correlate(in[0], in[1], Mode)};
}

#define OF_SIZES(sizes)                                                  \
    {"convolve_full_" sizes, convolved<ConvolveMode::Full>, 1e-5},       \
        {"convolve_same_" sizes, convolved<ConvolveMode::Same>, 1e-5},   \
        {"convolve_valid_" sizes, convolved<ConvolveMode::Valid>, 1e-5}, \
        {"correlate_full_" sizes, correlated<ConvolveMode::Full>, 1e-5}, \
        {"correlate_same_" sizes, correlated<ConvolveMode::Same>, 1e-5}, \
        {"correlate_valid_" sizes, correlated<ConvolveMode::Valid>, 1e-5},
const NumpyRow kConvolutions[] = {
    OF_SIZES("9_3") OF_SIZES("9_4") OF_SIZES("3_8") OF_SIZES("4_8") OF_SIZES("1_1") OF_SIZES("5_5")
        OF_SIZES("1_4") OF_SIZES("4_4")  //
    {"convolve_ints", [](In in) { return Tensors{convolve(in[0], in[1])}; }},
    {"convolve_nan", [](In in) { return Tensors{convolve(in[0], in[1])}; }, 1e-5},
};
#undef OF_SIZES
INSTANTIATE_TEST_SUITE_P(Convolutions, NumpyProducts, ::testing::ValuesIn(kConvolutions),
                         name_of_row);

TEST(Products, RefuseWithTheWayOut) {
    expect_message(error_of([] {
                       tensordot(zeros({3, 4}), zeros({3, 4}), 1);
                   }),
                   {"tensordot", "[3, 4]", "equal sizes", "numpy_products_test.cpp:"});
    expect_message(error_of([] { tensordot(zeros({3}), zeros({3}), 2); }),
                   {"tensordot", "smaller"});
    expect_message(error_of([] {
                       tensordot(zeros({3, 3}), zeros({3, 3}), {0, 0}, {0, 1});
                   }),
                   {"tensordot", "twice"});
    expect_message(error_of([] { cross(zeros({4, 2}), zeros({4, 3})); }), {"[4, 2]", "3"});
    expect_message(error_of([] { matrix_power(zeros({2, 3}), 2); }), {"matrix_power", "[2, 3]"});
    expect_message(error_of([] { convolve(zeros({0}), zeros({3})); }), {"convolve", "[0]", "[3]"});
    expect_message(error_of([] {
                       correlate(zeros({2, 2}), zeros({3}));
                   }),
                   {"correlate", "one axis"});
}

TEST(Products, HaveGradients) {
    SessionScope scope(Session::oracle());
    const Tensor x = tensor(random_floats(9, 3), {3, 3}), y = tensor(random_floats(9, 4), {3, 3});
    auto check = [](const Callback<Tensor(const Tensors&)>& f, const Tensors& xs) {
        const GradientCheck found = check_gradients(f, xs);
        EXPECT_TRUE(found) << found.where;
    };
    check([](In in) { return tensordot(in[0], in[1], {0}, {1}); }, {x, y});
    check([](In in) { return kron(in[0], in[1]); }, {x, y});
    check([](In in) { return cross(in[0], in[1]); }, {x, y});
    check([](In in) { return matrix_power(in[0], 3); }, {x});
    check([](In in) { return convolve(in[0](0), in[1](1), ConvolveMode::Same); }, {x, y});
}

}  // namespace
}  // namespace firn
