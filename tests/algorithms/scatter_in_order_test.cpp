// Sums of floats in the order of their positions, against loops on the host.
#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

struct Meeting {
    Ints rows = random_ints(300, 1, -2, 6), columns = random_ints(300, 2, -1, 4);
    Floats values = random_floats(300, 3, -100, 100), start = random_floats(20, 4);

    template <class Combine>
    Floats expected(const Combine& combine) const {
        Floats out = start;
        for (size_t k = 0; k < rows.size(); ++k)
            if (rows[k] >= 0 && rows[k] < 5 && columns[k] >= 0 && columns[k] < 4) {
                float& there = out[static_cast<size_t>(rows[k] * 4 + columns[k])];
                there = combine(there, values[k]);
            }
        return out;
    }
    Tensor target() const { return tensor(start, {5, 4}); }
};

TEST(ScatterInOrder, AddsInRowMajorOrderOfThePositions) {
    const Meeting m;
    expect_values(
        [&] {
            Tensor x = m.target();
            scatter_add(x(tensor(m.rows), tensor(m.columns)), tensor(m.values),
                        {.deterministic = true});
            return x;
        },
        m.expected([](float a, float b) { return a + b; }));
}

TEST(ScatterInOrder, Multiplies) {
    const Meeting m;
    expect_values(
        [&] {
            Tensor x = m.target();
            scatter_mul(x(tensor(m.rows), tensor(m.columns)), tensor(m.values),
                        {.deterministic = true});
            return x;
        },
        m.expected([](float a, float b) { return a * b; }));
}

TEST(ScatterInOrder, WithoutTheOptionItIsAnyOrder) {
    expect_values(
        [] {
            Tensor x = zeros({2});
            scatter_add(x(tensor({0, 1, 0})), 1.0f, {});
            return x;
        },
        Floats{2, 1});
}

TEST(ScatterInOrder, WholeRowsAndHalves) {
    expect_values(
        [] {
            Tensor x = ones({3, 2}, f16);
            scatter_add(x(tensor({2, 0, 2})), tensor({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, {3, 2}),
                        {.deterministic = true});
            return x;
        },
        Floats{4, 5, 1, 1, 7, 9});
}

TEST(ScatterInOrder, OnlyWhereAConditionHolds) {
    expect_values(
        [] {
            Tensor x = zeros({2}), i = arange(6);
            for (int k = 0; k < 2; ++k)
                if_(sum(i) == 15 + k,
                    [&] { scatter_add(x(i % 2), i.as(f32) + 1.0f, {.deterministic = true}); });
            return x;
        },
        Floats{9, 12});
}

TEST(ScatterInOrder, UnderAShapedConditionIsAnError) {
    expect_message(error_of([] {
                       Tensor x = zeros({2}), i = arange(6);
                       if_(i < 4, [&] { scatter_add(x(i % 2), 1.0f, {.deterministic = true}); });
                   }),
                   {"scatter_add", "condition of shape [6]", "scatter_in_order_test.cpp:"});
}

TEST(ScatterInOrder, InEveryIterationOfALoop) {
    expect_values(
        [] {
            Tensor x = zeros({3});
            for (Tensor t : loop(4))
                scatter_add(x((arange(5) + t) % 3), 0.5f, {.deterministic = true});
            return x;
        },
        Floats{3.5f, 3.5f, 3});
}

TEST(ScatterInOrder, OfASymbolicSize) {
    expect_values(
        [] {
            auto f = compile(
                [](Tensor x, Tensor at) {
                    scatter_add(x(at), at.as(f32), {.deterministic = true});
                    return x;
                },
                {f32("n"), i32("m")});
            return f(zeros({3}), tensor({2, 1, 2, 5}));
        },
        Floats{0, 1, 4});
}

TEST(ScatterInOrder, WeightedBincount) {
    const Meeting m;
    Floats expected(5);
    for (size_t k = 0; k < m.rows.size(); ++k)
        if (m.rows[k] >= 0 && m.rows[k] < 5)
            expected[static_cast<size_t>(m.rows[k])] += m.values[k];
    expect_values(
        [&] { return bincount(tensor(m.rows), 5, tensor(m.values), {.deterministic = true}); },
        expected);
}

TEST(ScatterInOrder, InsideAKernelIsAnError) {
    expect_message(error_of([] {
                       Tensor x = zeros({4});
                       kernel({4},
                              [&](Tensor i) { scatter_add(x(i), 1.0f, {.deterministic = true}); });
                   }),
                   {"scatter_add", "kernel(...)", "scatter_in_order_test.cpp:"});
}

/// Returns explain's text for a function that adds 1 at each of 64 places of 8.
std::string explained(DType type, const CombineOptions& options) {
    SessionScope scope(Session::interpreter());
    auto f = compile(
        [&](Tensor at, Tensor value) {
            Tensor x = zeros({100000}, type);
            scatter_add(x(at), value, options);
            return x;
        },
        {i32("n"), type("n")});
    f(arange(5000) * 7 % 8, ones({5000}, type));
    return f.explain();
}

TEST(ScatterInOrder, ExplainSaysWhereTheDeviceDecides) {
    const char* words = "the device decides in which order floats are combined";
    EXPECT_NE(explained(f32, {}).find(words), std::string::npos);
    EXPECT_NE(explained(f32, {}).find("scatter_in_order_test.cpp:"), std::string::npos);
    EXPECT_EQ(explained(i32, {}).find(words), std::string::npos);
    EXPECT_EQ(explained(f32, {.deterministic = true}).find(words), std::string::npos);
}

}  // namespace
}  // namespace firn
