// The neighbours that an element depends on, and Jacobians from few directions.
#include "compiler/autodiff/stencil.h"

#include <gtest/gtest.h>

#include "tests/autodiff/derivatives_check.h"

namespace firn {
namespace {

Tensor diffused(const Tensor& x) {
    auto [i, j] = indices<2>(x.shape());
    const Tensor near = x(i - 1, j) + x(i + 1, j) + x(i, j - 1) + x(i, j + 1);
    return x * near - 4.0f * sin(x);
}

Tensor around(const Tensor& x) {
    auto [i] = indices<1>(x.shape());
    return x * wrap(x)(i - 1) + square(wrap(x)(i + 2));
}

Tensor with_borders(const Tensor& x) {
    auto [i] = indices<1>(x.shape());
    return zero(x)(i - 2) * x + mirror(x)(i + 1) * cos(x) + fill(x, 3.0f)(i + 1);
}

Tensor inner(const Tensor& x) {
    return slice(x, {.begin = 2}) * slice(x, {.end = -2}) + slice(x, {.begin = 1, .end = -1});
}

Tensor padded(const Tensor& x) { return pad(square(x), {.before = {1}, .after = {2}}) + 1.0f; }

/// Each stencil of the others, one after the other.
Tensor twice(const Tensor& x) { return diffused(diffused(x)); }

Tensor summed(const Tensor& x) { return x * sum(x); }

struct StencilRow {
    const char* name;
    Tensor (*f)(const Tensor&);
    Shape shape;
    int64_t offsets = 0, colours = 0;  // 0: not seen to be a stencil
};
const StencilRow kStencilRows[] = {
    {"diffused", diffused, {5, 6}, 5, 5}, {"diffused_line", diffused, {1, 7}, 5, 5},
    {"around", around, {8}, 3, 4},        {"around_few", around, {3}, 3},
    {"around_prime", around, {7}, 3},     {"with_borders", with_borders, {9}, 4, 4},
    {"inner", inner, {9}, 3, 3},          {"padded", padded, {6}, 1, 1},
    {"twice", twice, {6, 7}, 13, 13},     {"summed", summed, {4}}};

class Stencils : public testing::TestWithParam<StencilRow> {};
INSTANTIATE_TEST_SUITE_P(Rows, Stencils, testing::ValuesIn(kStencilRows),
                         [](const auto& row) { return row.param.name; });

TEST_P(Stencils, HaveSoManyOffsetsAndColours) {
    SessionScope scope(Session::oracle());
    const StencilRow& row = GetParam();
    const Tensor x = some(row.shape);
    const auto stencil = stencil_of(row.f(x).node(), x.node());
    ASSERT_EQ(stencil.has_value(), row.offsets > 0);
    if (!stencil) return;
    EXPECT_EQ(static_cast<int64_t>(stencil->offsets.size()), row.offsets);
    const auto by = colours_of(*stencil, row.shape, element_count(row.shape).constant());
    EXPECT_EQ(by ? by->count : 0, row.colours);
}

/// Column by column, each from one direction.
TEST_P(Stencils, GiveTheDerivativesOfEveryElement) {
    for (const Session& session : {Session::oracle(), Session::interpreter()}) {
        SessionScope scope(session);
        const StencilRow& row = GetParam();
        const Tensor x = some(row.shape), y = row.f(x);
        const Size columns = element_count(row.shape), rows = element_count(y.shape());
        const Tensor all = reshape(jacobian(y, x), {rows, columns});
        for (int k = 0; k < columns.constant(); ++k) {
            const Tensor unit = reshape((arange(columns) == k).as(f32), row.shape);
            const std::vector<float> got = all(arange(rows), k).to_vector<float>(),
                                     expected = jvp(y, {x}, {unit}).to_vector<float>();
            for (size_t e = 0; e < got.size(); ++e)
                EXPECT_NEAR(got[e], expected[e], 1e-5f) << "element " << e << " by " << k;
        }
    }
}

/// A single program serves every size, with as many directions as taps.
TEST(Stencil, SymbolicSizesTakeAsFewDirections) {
    SessionScope scope(Session::interpreter());
    const auto f = compile([](Tensor x) { return jacobian(diffused(x), x); }, {f32("n", "m")});
    for (const Shape& shape : {Shape{3, 4}, {1, 1}, {5, 2}}) {
        const Tensor x = some(shape);
        const std::vector<float> got = f(x).to_vector<float>(),
                                 expected = jacobian(diffused(x), x).to_vector<float>();
        ASSERT_EQ(got.size(), expected.size());
        for (size_t e = 0; e < got.size(); ++e) EXPECT_NEAR(got[e], expected[e], 1e-5f) << e;
    }
    for (const Ref& node : topological(f.graph().results))
        if (node->op == Op::Loop) {
            EXPECT_EQ(node->inputs[1]->as<ConstantAttr>().value.i, 5);
        }
}

}  // namespace
}  // namespace firn
