// Loops side by side that compute much the same become one, and give the same.
#include "compiler/mapping/before/fuse_loops.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/driver/compile.h"
#include "compiler/language.h"
#include "tests/emitting.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

/// Loops in the text of all kernels.
template <class F>
int loops_of(F function, const std::vector<ArgSpec>& specs) {
    SessionScope scope(emitting());
    auto program = compile([&](const Tensors& a) { return function(a); }, specs).program();
    int count = 0;
    for (const KernelInfo& kernel : program->kernels)
        for (size_t at = kernel.artefact.text.find("for (int "); at != std::string::npos;
             at = kernel.artefact.text.find("for (int ", at + 1))
            ++count;
    return count;
}

/// The pull of all on each, coordinate by coordinate.
Tensors pulls(const Tensors& a) {
    Size n = a[0].size(0);
    auto away = [&](const Tensor& v) { return reshape(v, {1, n}) - reshape(v, {n, 1}); };
    Tensor dx = away(a[0]), dy = away(a[1]), square = dx * dx + dy * dy + 1.0f;
    Tensor weight = 1.0f / (square * sqrt(square));
    return {sum(weight * dx, {.axis = 1}), sum(weight * dy, {.axis = 1})};
}

/// The same of one tensor of places.
Tensors pulls_at(const Tensors& a) {
    Size n = a[0].size(0);
    Tensor away = reshape(a[0], {1, n, 3}) - reshape(a[0], {n, 1, 3});
    Tensor square = sum(away * away, {.axis = 2, .keep_dims = true}) + 1.0f;
    return {sum(away / (square * sqrt(square)), {.axis = 1})};
}

Tensors whole(const Tensors& a) {
    Tensor x = a[0];
    return {sum(abs(x) * 3.0f, {.axis = {0, 2}}), max(abs(x) * 3.0f, {.axis = {0, 2}}),
            sum(abs(x), {.axis = 1})};
}

template <class F>
void expect_the_oracles_values(F function, const std::vector<Shape>& shapes) {
    auto run = [&](const Session& session) {
        SessionScope scope(session);
        Tensors args;
        for (const Shape& shape : shapes)
            args.push_back(rand(shape, {.seed = 3, .stream = uint32_t(args.size())}));
        std::vector<std::vector<float>> out;
        for (const Tensor& t : function(args)) out.push_back(t.template to_vector<float>());
        return out;
    };
    const auto got = run(Session::interpreter()), expected = run(Session::oracle());
    ASSERT_EQ(got.size(), expected.size());
    for (size_t k = 0; k < got.size(); ++k) {
        ASSERT_EQ(got[k].size(), expected[k].size());
        for (size_t i = 0; i < got[k].size(); ++i)
            EXPECT_NEAR(got[k][i], expected[k][i], 1e-5f * (1 + std::abs(expected[k][i])))
                << k << " " << i;
    }
}

TEST(FuseLoops, SumsOverOneProductAreOneLoop) {
    const ArgSpec each = f32(4096);
    EXPECT_EQ(loops_of(pulls, {each, each}), 1);
}

TEST(FuseLoops, CoordinatesOfOneTensorAreOneLoop) {
    EXPECT_EQ(loops_of(pulls_at, {f32(4096, 3)}), 1);
}

TEST(FuseLoops, ASumThatNeedsAnotherComesAfterIt) {
    auto spread = [](const Tensors& a) {
        Tensor away = a[0] - mean(a[0], {.axis = 1, .keep_dims = true});
        return Tensors{sum(away * away, {.axis = 1})};
    };
    EXPECT_GE(loops_of(spread, {f32("n", "m")}), 2);
    expect_the_oracles_values(spread, {{64, 16}});
}

TEST(FuseLoops, ProductsThatShareLittleStayApart) {
    auto products = [](const Tensors& a) {
        return Tensors{matmul(a[0], a[1]), matmul(a[2], a[3])};
    };
    const ArgSpec square = f32(64, 64);
    EXPECT_EQ(loops_of(products, {square, square, square, square}), 2);
}

TEST(FuseLoops, TheValuesStayTheSame) {
    for (int n : {1, 5, 36}) {
        expect_the_oracles_values(pulls, {{n}, {n}});
        expect_the_oracles_values(pulls_at, {{n, 3}});
        expect_the_oracles_values(whole, {{n, 3, 7}});
    }
}

}  // namespace
}  // namespace firn
