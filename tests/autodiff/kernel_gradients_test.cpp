// Derivatives and batches of kernels by hand: their values, and reasons for refusals.
#include <gtest/gtest.h>

#include <string>

#include "tests/autodiff/derivatives_check.h"

namespace firn {
namespace {

Tensor scaled_neighbours(const Tensors& x) {
    Tensor out = x[0] * 0.0f;
    const Size n = x[0].size(0);
    kernel({n},
           [&](Tensor i) { out(i) = x[0](i) * x[1](i) + sin(x[0](i - 1)) * wrap(x[1])(i + 2); });
    return out;
}

Tensor only_some(const Tensors& x) {
    Tensor out = x[1] * x[1];
    kernel({x[0].size(0)},
           [&](Tensor i) { if_(x[0](i) > 0.2f, [&] { out(i) = out(i) * x[0](i); }); });
    return out;
}

Tensor counted_loop(const Tensors& x) {
    Tensor out = x[0] * 0.0f;
    kernel({x[0].size(0)}, [&](Tensor i) {
        Tensor at = x[0](i);
        for (Tensor k : loop(3)) at = at * x[1](k) + sin(at);
        out(i) = at;
    });
    return out;
}

Tensor left_early(const Tensors& x) {
    Tensor out = x[0] * 0.0f;
    kernel({x[0].size(0)}, [&](Tensor i) {
        Tensor at = x[0](i) * x[0](i) + 0.3f;
        for (Tensor k : loop(6)) {
            if_(at > 2.5f, [] { break_(); });
            at = at * 1.7f + x[1](i) * 0.1f;
        }
        out(i) = at;
    });
    return out;
}

Tensor tiled_product(const Tensors& x) {
    const Tensor &a = x[0], &b = x[1];
    const Size n = a.size(0), m = b.size(1), inner = a.size(1);
    Tensor c = expand(sum(a) * 0.0f, {n, m});
    kernel({n, m}, {.group = {4, 4}}, [&](Tensor i, Tensor j) {
        Shared left = shared(a.dtype(), {4, 4}), right = shared(a.dtype(), {4, 4});
        const Tensor row = local_index(0), column = local_index(1);
        Tensor sum = 0.0f * zero(a)(i, 0);
        for (Tensor t : loop(0, inner, 4)) {
            left(row, column) = zero(a)(i, t + column);
            right(row, column) = zero(b)(t + row, j);
            barrier();
            for (Tensor q : loop(4)) sum += left(row, q) * right(q, column);
            barrier();
        }
        c(i, j) = sum;
    });
    return c;
}

Tensor own_array(const Tensors& x) {
    Tensor out = x[0] * 0.0f;
    kernel({x[0].size(0)}, [&](Tensor i) {
        Local kept = local(x[0].dtype(), 3);
        for (Tensor k : loop(3)) kept(k) = x[0](i) * x[1](k);
        Tensor all = x[0](i);
        for (Tensor k : loop(3)) all = all * kept(2 - k) + kept(k);
        out(i) = all;
    });
    return out;
}

Tensor counted_into(const Tensors& x) {
    Tensor out = x[1] * x[1];
    kernel({x[0].size(0)}, [&](Tensor i) { atomic_add(out(i % 3), x[0](i) * x[0](i) * x[1](0)); });
    return out;
}

Tensor two_of_pairs(const Tensors& x) {
    Tensor out = x[0] * 1.0f, other = x[1] * 1.0f;
    kernel({x[0].size(0) / 2}, [&](Tensor i) {
        const Tensor low = x[0](2 * i), high = x[0](2 * i + 1);
        out(2 * i) = low * high;
        out(2 * i + 1) = low - high * x[1](i);
        other(i) = cos(high);
    });
    return out + sum(other * x[1]);
}

Tensor in_a_loop(const Tensors& x) {
    Tensor u = x[0];
    for (Tensor t : loop(3)) {
        Tensor next = u;
        kernel({u.size(0)}, [&](Tensor i) {
            next(i) = u(i) + x[1](i) * (wrap(u)(i - 1) - 2.0f * u(i) + wrap(u)(i + 1)) * u(i);
        });
        u = next;
    }
    return u;
}

Tensor one_behind_another(const Tensors& x) {
    Tensor y = x[0] * 0.0f, z = x[1] * 0.0f;
    const Size n = x[0].size(0);
    kernel({n}, [&](Tensor i) { y(i) = x[0](i); });
    kernel({n}, [&](Tensor i) { z(i) = x[1](i) * y(i); });
    return z;
}

Tensor values_between(const Tensors& x) {
    Tensor y = x[0] * 1.0f, z = x[1] * 0.5f, out = x[0] * x[1];
    const Size n = x[0].size(0);
    kernel({n}, [&](Tensor i) { y(i) = sin(x[0](i)) + wrap(x[1])(i + 1); });
    const Tensor between = y * y + sum(y);
    kernel({n / 2}, [&](Tensor i) { z(2 * i) = between(2 * i) * x[1](i) - y(i); });
    const Tensor turned = flip(z) * y;
    kernel({n}, [&](Tensor i) { out(i) = out(i) * turned(i - 1) + z(i) * x[0](i); });
    return out + 0.5f * y;
}

Tensor stores_to_the_same(const Tensors& x) {
    Tensor y = x[0] * 1.0f;
    const Size n = x[0].size(0);
    kernel({n}, [&](Tensor i) { y(i) = y(i) * x[1](i); });
    kernel({n / 2}, [&](Tensor i) { y(2 * i) = sin(y(2 * i)) * x[1](i + 1); });
    kernel({n}, [&](Tensor i) { if_(y(i) > 0.1f, [&] { y(i) = y(i) * y(i); }); });
    return y;
}

/// Invocations beyond the end of the tensors that they read and store, and stores from the end.
Tensor from_the_end(const Tensors& x) {
    Tensor y = x[0] * 1.0f, z = x[1] * 1.0f;
    const Size n = x[0].size(0);
    kernel({n + 5}, [&](Tensor i) {
        const Tensor before = y(i);
        y(i) = before * before + 0.5f;
        z(n + 4 - i) = before * wrap(x[1])(i);
    });
    kernel({n}, [&](Tensor i) {
        const Tensor a = y(i);
        if_(
            a > 0.6f, [&] { z(n - 1 - i) = a * z(n - 1 - i); },
            [&] { z(n - 1 - i) = a * a + z(n - 1 - i); });
    });
    return y * z;
}

Tensor groups_and_atomics(const Tensors& x) {
    Tensor y = x[0] * 0.0f, bins = x[1] * 0.0f, out = x[0] * 1.0f;
    const Size n = x[0].size(0);
    const auto shifted = [&](const Tensor& from, Tensor& to) {
        kernel({n}, {.group = {4}}, [&](Tensor i) {
            Shared row = shared(from.dtype(), 4);
            row(local_index(0)) = zero(from)(i);
            barrier();
            to(i) = row((local_index(0) + 1) % 4) * wrap(x[1])(i);
        });
    };
    shifted(x[0], y);
    kernel({n}, [&](Tensor i) { atomic_add(bins(i % 3), y(i) * x[0](n - 1 - i)); });
    shifted(bins(index(y, 0) % 3) + y, out);
    kernel({n}, [&](Tensor i) { atomic_add(out(i / 2), y(i) * wrap(bins)(i)); });
    return out;
}

Tensor loops_and_branches(const Tensors& x) {
    Tensor y = x[0] * 1.0f, z = x[1] * 1.0f;
    const Size n = x[0].size(0);
    kernel({n}, [&](Tensor i) { y(i) = cos(x[0](i)) * x[1](i); });
    for (Tensor t : loop(2)) {
        Tensor next = y;
        kernel({n}, [&](Tensor i) { next(i) = 0.7f * y(i - 1) + z(i) * wrap(y)(i + 1); });
        if_(sum(y) > -0.5f, [&] {
            kernel({n}, [&](Tensor i) {
                Tensor all = 0.0f * x[0](i);
                for (Tensor k : loop(3)) all += next(k) * z(i);
                z(i) = sin(all);
            });
        });
        y = next;
    }
    kernel({n}, [&](Tensor i) {
        Local kept = local(x[0].dtype(), 2);
        kept(0) = y(i), kept(1) = z(i - 1);
        z(i) = kept(1) * kept(0);
    });
    return z + y;
}

struct KernelRow {
    const char* name;
    Tensor (*f)(const Tensors&);
    Shape first, second;
};
const KernelRow kKernelRows[] = {{"neighbours", scaled_neighbours, {6}, {6}},
                                 {"conditions", only_some, {6}, {6}},
                                 {"a_loop", counted_loop, {5}, {3}},
                                 {"a_loop_left_early", left_early, {5}, {5}},
                                 {"shared_arrays", tiled_product, {5, 6}, {6, 7}},
                                 {"own_arrays", own_array, {4}, {3}},
                                 {"atomics", counted_into, {7}, {3}},
                                 {"two_tensors_by_pairs", two_of_pairs, {6}, {6}},
                                 {"kernels_in_a_loop", in_a_loop, {6}, {6}},
                                 {"one_behind_another", one_behind_another, {3}, {3}},
                                 {"values_between", values_between, {6}, {6}},
                                 {"stores_to_the_same", stores_to_the_same, {6}, {6}},
                                 {"from_the_end", from_the_end, {7}, {7}},
                                 {"groups_and_atomics", groups_and_atomics, {7}, {3}},
                                 {"loops_and_branches", loops_and_branches, {5}, {5}}};

class KernelGradients : public testing::TestWithParam<KernelRow> {};
INSTANTIATE_TEST_SUITE_P(Rows, KernelGradients, testing::ValuesIn(kKernelRows),
                         [](const auto& row) { return row.param.name; });

TEST_P(KernelGradients, AreThoseOfDifferences) {
    SessionScope scope(Session::oracle());
    const KernelRow& row = GetParam();
    const Tensors at{some(row.first, -0.8f, 1.3f), some(row.second, -0.9f, 1.1f)};
    expect_derivatives(row.f, at);
}

/// Checks compiled kernels.
TEST_P(KernelGradients, AreThoseOfTheOracle) {
    const KernelRow& row = GetParam();
    const auto gradients = [&](const Session& session) {
        SessionScope scope(session);
        const Tensors at{some(row.first, -0.8f, 1.3f), some(row.second, -0.9f, 1.1f)};
        std::vector<float> out;
        for (const Tensor& g : grad(sum(sin(row.f(at))), at))
            for (float value : g.to_vector<float>()) out.push_back(value);
        return out;
    };
    const std::vector<float> expected = gradients(Session::oracle());
    const std::vector<float> got = gradients(Session::interpreter());
    ASSERT_EQ(got.size(), expected.size());
    for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], expected[k], 2e-5) << k;
}

/// Checks kernels that serve every size.
TEST_P(KernelGradients, AreThoseOfTheOracleForAnySize) {
    const KernelRow& row = GetParam();
    const auto gradients = [&](const Session& session) {
        SessionScope scope(session);
        const Tensors at{some(row.first, -0.8f, 1.3f), some(row.second, -0.9f, 1.1f)};
        const auto spec = [&](const Shape& shape, const char* first, const char* last) {
            return shape.size() == 1 ? f32(shape == row.first ? first : last) : f32(first, last);
        };
        const auto f = compile(
            [&](const Tensors& x) {
                const Tensor y = row.f(x);
                Tensors out = grad(sum(sin(y)), x);
                out.push_back(jvp(y, x, {cos(x[0]), x[1]}));
                return out;
            },
            {spec(row.first, "n", "m"), spec(row.second, row.first.size() == 1 ? "n" : "m", "p")});
        std::vector<float> out;
        for (const Tensor& each : f(at))
            for (float value : each.to_vector<float>()) out.push_back(value);
        return out;
    };
    const std::vector<float> expected = gradients(Session::oracle());
    const std::vector<float> got = gradients(Session::interpreter());
    ASSERT_EQ(got.size(), expected.size());
    for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], expected[k], 2e-5) << k;
}

TEST_P(KernelGradients, SamplesAreBatched) {
    SessionScope scope(Session::oracle());
    const KernelRow& row = GetParam();
    Shape first = row.first, second = row.second;
    first.insert(first.begin(), Size(3));
    second.insert(second.begin(), Size(3));
    const Tensors all{some(first, -0.8f, 1.3f), some(second, -0.9f, 1.1f)};
    const Callback<Tensor(const Tensors&)> f = [&](const Tensors& x) { return row.f(x); };
    const Tensor batched = vmap(f, all);
    for (int sample = 0; sample < 3; ++sample) {
        const Tensors one{squeeze(take(all[0], tensor({sample}), {.axis = 0}), {0}),
                          squeeze(take(all[1], tensor({sample}), {.axis = 0}), {0})};
        EXPECT_EQ(take(batched, tensor({sample}), {.axis = 0}).to_vector<float>(),
                  row.f(one).to_vector<float>())
            << sample;
    }
}

/// Returns the nodes of a gradient through `steps` loops, branches and kernels.
size_t gradient_nodes(int steps) {
    const Tensor w = some({6});
    Tensor h = w;
    for (int k = 0; k < steps; ++k) {
        Tensor a = h;
        for (Tensor t : loop(3)) a = sin(a) + h;
        h = a;
        if_(sum(a) > 0.0f, [&] { h = h * a; });
        Tensor next = h;
        kernel({6}, [&](Tensor i) { next(i) = h(i) + 0.1f * a(i - 1); });
        h = next;
    }
    return topological({grad(sum(h), w).node()}).size();
}

TEST(KernelGradients, GrowWithTheNumberOfSteps) {
    SessionScope scope(Session::oracle());
    EXPECT_LT(gradient_nodes(8), 3 * gradient_nodes(4));
}

TEST(KernelGradients, OfWhatABranchReadsBehindALoop) {
    SessionScope scope(Session::oracle());
    Tensor y = some({3}), z = y;
    for (Tensor k : loop(3)) y = y * 0.9f;
    if_(sum(y) > -100.0f, [&] { z = y * y; });
    const std::vector<float> slopes = flat(grad(sum(z), y));
    EXPECT_EQ(slopes, flat(2.0f * y));
}

TEST(KernelGradients, StandInsideOfKernels) {
    for (const Session& session : {Session::oracle(), Session::interpreter()}) {
        SessionScope scope(session);
        const Tensor x = some({5});
        Tensor slopes = x * 0.0f, roots = x * 0.0f;
        kernel({5}, [&](Tensor i) {
            const Tensor v = x(i);
            slopes(i) = grad(v * v * v, v);
            Tensor at = 1.0f + 0.0f * v;
            for (Tensor k : loop(8)) {
                const Tensor f = at * at - abs(v);
                at = at - f / grad(f, at);
            }
            roots(i) = at;
        });
        for (float off : flat(slopes - 3.0f * x * x)) EXPECT_NEAR(off, 0, 1e-6);
        for (float off : flat(roots - sqrt(abs(x)))) EXPECT_NEAR(off, 0, 1e-6);
    }
}

std::string refusal(const Callback<void(Tensor&, const Tensor&, const Tensor&)>& body) {
    SessionScope scope(Session::oracle());
    const Tensor x = some({8});
    Tensor out = x * 1.0f;
    try {
        kernel({8}, {.group = {8}}, [&](Tensor i) { body(out, x, i); });
        grad(sum(out), x);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

TEST(KernelGradientsAreRefused, WhereInvocationsMayStoreAtOnePlace) {
    const std::string said =
        refusal([](Tensor& out, const Tensor& x, const Tensor& i) { out(i / 2) = x(i); });
    EXPECT_NE(said.find("other invocations may store too"), std::string::npos) << said;
    EXPECT_NE(said.find("kernel_gradients_test.cpp:"), std::string::npos) << said;
    EXPECT_NE(refusal([](Tensor& out, const Tensor& x, const Tensor& i) {
                  out(i) = x(i);
                  out(7 - i) = 2.0f * x(i);
              }),
              "");
}

TEST(KernelGradientsAreRefused, WhereAtomicsGiveWhatWasThere) {
    const std::string said = refusal([](Tensor& out, const Tensor& x, const Tensor& i) {
        Tensor total = tensor({0.0f});
        const Tensor before = atomic_add(out(0 * i), x(i));
        atomic_add(out(1 + 0 * i), before);
    });
    EXPECT_NE(said.find("value before is used"), std::string::npos) << said;
}

TEST(KernelGradientsAreRefused, InsideOfKernelsByWhatAllInvocationsRead) {
    const std::string said = refusal(
        [](Tensor& out, const Tensor& x, const Tensor& i) { out(i) = grad(x(i) * x(i), x)(i); });
    EXPECT_NE(said.find("tensor 1 is one for all invocations"), std::string::npos) << said;
    EXPECT_NE(said.find("kernel_gradients_test.cpp:"), std::string::npos) << said;
}

TEST(KernelGradientsAreRefused, InsideOfKernelsThroughWhatIsStored) {
    const std::string said = refusal([](Tensor& out, const Tensor& x, const Tensor& i) {
        const Tensor v = x(i);
        Local kept = local(f32, 2);
        kept(0) = v * v;
        out(i) = grad(kept(0) * 2.0f, v);
    });
    EXPECT_NE(said.find("through what was stored"), std::string::npos) << said;
}

TEST(KernelGradientsAreRefused, WhereLanesExchangeValues) {
    const std::string said =
        refusal([](Tensor& out, const Tensor& x, const Tensor& i) { out(i) = subgroup_add(x(i)); });
    EXPECT_NE(said.find("lanes exchange values"), std::string::npos) << said;
}

Tensor sparse_rows(const Tensors& x) {
    const Tensor start = tensor({0, 2, 2, 5}), column = tensor({0, 2, 1, 2, 0});
    Tensor out = zeros({3}, x[0].dtype());
    kernel({3}, [&](Tensor k) {
        Tensor sum = x[1](k) * 0.5f;
        for (Tensor e : loop(start(k), min(start(k + 1), start(k) + 4)))
            sum += x[0](e) * x[1](column(e));
        out(k) = sum;
    });
    return out;
}

/// Products need the states, and a bound of their number.
Tensor bounded_rows(const Tensors& x) {
    const Tensor count = tensor({2, 0, 3});
    Tensor out = zeros({3}, x[0].dtype());
    kernel({3}, [&](Tensor k) {
        Tensor product = x[1](k);
        for (Tensor e : loop(min(count(k), 4))) product = product * x[0](e) + sin(product);
        out(k) = product;
    });
    return out;
}

TEST(KernelGradients, GoThroughLoopsWithBoundsOfEachInvocation) {
    const Tensors at{tensor({0.5f, 1.5f, -1.0f, 2.0f, 0.25f}), tensor({1.0f, -2.0f, 0.5f})};
    EXPECT_TRUE(check_gradients(sparse_rows, at).agree);
    EXPECT_TRUE(check_gradients(bounded_rows, at).agree);
}

}  // namespace
}  // namespace firn
