// Kernels by hand that store at the index along an axis of a tensor, `index(y, 0)`: inside of a
// kernel of the tensor's shape it is the invocation's own index.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/autodiff/derivatives_check.h"

namespace firn {
namespace {

Tensor doubled(const Tensors& x) {
    Tensor y = 0.0f * x[0];
    kernel(x[0].shape(), [&](Tensor i) { y(index(y, 0)) = 2.0f * x[0](i) * x[1](i); });
    return y;
}

/// The whole tensor stands for the invocation's element.
Tensor of_whole_tensors(const Tensors& x) {
    Tensor y = 0.0f * x[0];
    kernel(x[0].shape(), [&](Tensor) { y(index(y, 0)) = sin(x[0]) * x[1]; });
    return y;
}

Tensor turned_round(const Tensors& x) {
    Tensor y = x[1] * x[1];
    const Size n = x[0].size(0);
    kernel(x[0].shape(), [&](Tensor i) { y(n - 1 - index(y, 0)) = x[0](i) * x[0](i - 1); });
    return y * x[1];
}

Tensor in_place(const Tensors& x) {
    Tensor y = 1.0f * x[0];
    kernel(x[0].shape(), [&](Tensor i) { y(index(y, 0)) = y(index(y, 0)) * y(i) * x[1](i); });
    return y;
}

Tensor where_it_is_large(const Tensors& x) {
    Tensor y = x[1] * x[0];
    kernel(x[0].shape(), [&](Tensor i) {
        if_(x[0](index(y, 0)) > 0.1f, [&] { y(index(y, 0)) = square(x[0](i)); });
    });
    return y;
}

Tensor summed_up(const Tensors& x) {
    Tensor y = x[1] * x[0];
    kernel(x[0].shape(), [&](Tensor i) { atomic_add(y(index(y, 0) / 2), x[0](i) * x[1](i)); });
    return y;
}

/// The index along the last axis, of a row, is that of every row.
Tensor of_two_axes(const Tensors& x) {
    const Tensor grid = outer(x[0], x[1]);
    Tensor y = 0.0f * grid;
    kernel(grid.shape(), [&](Tensor i, Tensor j) {
        y(index(y, 0), index(x[1], 0)) = grid(i, j) * x[0](j) + x[1](index(grid, 1));
    });
    return y;
}

struct IndexRow {
    const char* name;
    Tensor (*f)(const Tensors&);
    friend std::ostream& operator<<(std::ostream& out, const IndexRow& row) {
        return out << row.name;
    }
};

class OwnIndex : public ::testing::TestWithParam<IndexRow> {
  protected:
    static Tensors arguments(int n) { return {some({n}, -0.8f, 1.3f), some({n}, -0.9f, 1.1f)}; }
};
INSTANTIATE_TEST_SUITE_P(
    Kernels, OwnIndex,
    ::testing::Values(IndexRow{"doubled", doubled}, IndexRow{"of_whole_tensors", of_whole_tensors},
                      IndexRow{"turned_round", turned_round}, IndexRow{"in_place", in_place},
                      IndexRow{"where_it_is_large", where_it_is_large},
                      IndexRow{"summed_up", summed_up}, IndexRow{"of_two_axes", of_two_axes}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(OwnIndex, HasDerivatives) {
    SessionScope scope(Session::oracle());
    for (const int n : {1, 3, 6}) {
        Tensors at = arguments(n);
        for (Tensor& x : at) x = x.as(f64);
        expect_derivatives([&](const Tensors& x) { return GetParam().f(x); }, at);
    }
}

/// Values, gradients, changes forwards and batches of one function, in one row.
std::vector<float> everything(const IndexRow& row, const Tensors& at) {
    const Tensor y = row.f(at);
    std::vector<Tensor> all = grad(sum(sin(y)), at);
    all.push_back(y);
    all.push_back(jvp(y, at, {cos(at[0]), at[1]}));
    const Callback<Tensor(const Tensors&)> f = [&](const Tensors& x) { return row.f(x); };
    all.push_back(vmap(f, {stack({at[0], at[1], at[0]}), stack({at[1], at[1], at[0]})}));
    std::vector<float> out;
    for (const Tensor& each : all)
        for (float value : flat(each)) out.push_back(value);
    return out;
}

TEST_P(OwnIndex, IsTheSameByKernels) {
    for (const int n : {1, 3, 70}) {
        const auto by = [&](const Session& session) {
            SessionScope scope(session);
            return everything(GetParam(), arguments(n));
        };
        const std::vector<float> expected = by(Session::oracle()), got = by(Session::interpreter());
        ASSERT_EQ(got.size(), expected.size());
        for (size_t k = 0; k < got.size(); ++k)
            ASSERT_NEAR(got[k], expected[k], 2e-5 * std::max(1.0f, std::abs(expected[k])))
                << k << " of " << n;
    }
}

TEST_P(OwnIndex, IsTheSameByKernelsOfAnySize) {
    const auto by = [&](const Session& session, int n) {
        SessionScope scope(session);
        const auto f = compile(
            [&](const Tensors& x) {
                const Tensor y = GetParam().f(x);
                Tensors out = grad(sum(sin(y)), x);
                out.push_back(y);
                out.push_back(jvp(y, x, {cos(x[0]), x[1]}));
                return out;
            },
            {f32("n"), f32("n")});
        std::vector<float> out;
        for (const Tensor& each : f(arguments(n)))
            for (float value : flat(each)) out.push_back(value);
        return out;
    };
    for (const int n : {1, 3, 70}) {
        const std::vector<float> expected = by(Session::oracle(), n),
                                 got = by(Session::interpreter(), n);
        ASSERT_EQ(got.size(), expected.size());
        for (size_t k = 0; k < got.size(); ++k)
            ASSERT_NEAR(got[k], expected[k], 2e-5 * std::max(1.0f, std::abs(expected[k])))
                << k << " of " << n;
    }
}

TEST_P(OwnIndex, IsThatOfEachSample) {
    SessionScope scope(Session::oracle());
    const Tensors at = arguments(5), more{some({5}, 0.1f, 0.9f), some({5}, -1.3f, 0.4f)};
    const Callback<Tensor(const Tensors&)> f = [&](const Tensors& x) { return GetParam().f(x); };
    const Tensor batched = vmap(f, {stack({at[0], more[0]}), stack({at[1], more[1]})});
    std::vector<float> expected = flat(GetParam().f(at));
    for (float value : flat(GetParam().f(more))) expected.push_back(value);
    EXPECT_EQ(flat(batched), expected);
}

/// A place is each invocation's own only if the subtracted number is the same for all.
TEST(OwnIndexIsRefused, WhereADifferenceMayBeTheSame) {
    SessionScope scope(Session::oracle());
    const auto refusal = [](const Callback<Tensor(const Tensor&, const Tensor&)>& place) {
        const Tensor x = some({3});
        Tensor y = 0.0f * x;
        return error_of([&] {
            kernel({3}, [&](Tensor i) { y(place(y, i)) = x(i); });
            grad(sum(y), x);
        });
    };
    EXPECT_EQ(refusal([](const Tensor& y, const Tensor& i) { return 2 * i - index(y, 0); }),
              "none");
    const char* const said = "other invocations may store too";
    EXPECT_NE(refusal([](const Tensor& y, const Tensor& i) { return i - index(y, 0); }).find(said),
              std::string::npos);
    const Tensor taken = tensor({0, 1, 2});
    EXPECT_NE(
        refusal([&](const Tensor&, const Tensor& i) { return i - clamp(taken, 0, 2); }).find(said),
        std::string::npos);
    EXPECT_EQ(refusal([&](const Tensor&, const Tensor& i) { return i - clamp(taken(1), 0, 2); }),
              "none");
}

}  // namespace
}  // namespace firn
