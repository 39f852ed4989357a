// Values that are equal are values of their own to gradients, as in PyTorch.
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

class EqualValues : public ::testing::TestWithParam<bool> {
  protected:
    Session session_ = GetParam() ? Session::interpreter() : Session::oracle();
    SessionScope scope_{session_};
    /// The gradients of sum(2 a + 3 b) by a and by b, one element of each, and that they are the
    /// same forwards.
    static Floats of(const Tensor& a, const Tensor& b) {
        const Tensor y = sum(a * 2.0f + b * 3.0f);
        const std::vector<Tensor> both = grad(y, {a, b});
        Floats out{both[0].to_vector<float>().at(0), both[1].to_vector<float>().at(0)};
        EXPECT_EQ(grad(y, a).to_vector<float>().at(0), out[0]);
        EXPECT_EQ(grad(y, b).to_vector<float>().at(0), out[1]);
        const float share = 1.0f / static_cast<float>(a.to_vector<float>().size());
        EXPECT_EQ(jvp(y, {a}, {full_like(a, share)}).item<float>(), out[0]);
        EXPECT_EQ(jvp(y, {b}, {full_like(b, share)}).item<float>(), out[1]);
        return out;
    }
};
INSTANTIATE_TEST_SUITE_P(Executors, EqualValues, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "compiled" : "oracle"; });
const Floats kOwn{2, 3};

TEST_P(EqualValues, ANumberIsNotTheLiteralThatIsWrittenLikeIt) {
    Tensor w = 0.5f;
    EXPECT_EQ(grad(square(w) * 0.5f, w).item<float>(), 0.5f);
    Tensor x = tensor({1.0f, 2.0f}), early = x * 0.25f;
    Tensor v = 0.25f;
    EXPECT_EQ(grad(sum(early + v), v).item<float>(), 2);
    EXPECT_EQ(jvp(sum(early + v), {v}, {1.0f}).item<float>(), 2);
}

TEST_P(EqualValues, OfCreations) {
    const auto twice = [](auto make) {
        Tensor a = make(), b = make();
        return of(a, b);
    };
    EXPECT_EQ(twice([] { return zeros({2}); }), kOwn);
    EXPECT_EQ(twice([] { return ones({2, 2}); }), kOwn);
    EXPECT_EQ(twice([] { return full({2}, 0.1f); }), kOwn);
    EXPECT_EQ(twice([] { return eye(2); }), kOwn);
    EXPECT_EQ(twice([] { return arange(3).as(f32); }), kOwn);
    EXPECT_EQ(twice([] { return linspace(0, 1, 3); }), kOwn);
    EXPECT_EQ(twice([] { return Tensor(0.5f); }), kOwn);
    EXPECT_EQ(twice([] { return Tensor(1).as(f32); }), kOwn);
    EXPECT_EQ(twice([] { return zeros_like(ones({2})); }), kOwn);
    EXPECT_EQ(twice([] { return tensor({1.0f, 1.0f}); }), kOwn);
    EXPECT_EQ(twice([] { return rand({2}, {.seed = 7}); }), kOwn);
    EXPECT_EQ(twice([] {
                  Tensor assigned;
                  assigned = 0.5f;
                  return assigned;
              }),
              kOwn);
}

TEST_P(EqualValues, OfValuesThatAreComputedTwice) {
    Tensor w = tensor({1.0f, 2.0f});
    const auto twice = [](auto make) {
        Tensor a = make(), b = make();
        return of(a, b);
    };
    EXPECT_EQ(twice([&] { return square(w); }), kOwn);
    EXPECT_EQ(twice([&] { return w * 2.0f; }), kOwn);
    EXPECT_EQ(twice([&] { return sum(w); }), kOwn);
    EXPECT_EQ(twice([&] { return Tensor(w(0)); }), kOwn);
    EXPECT_EQ(twice([&] { return w(range(0, 1)); }), kOwn);
    EXPECT_EQ(twice([&] { return select(w > 0.0f, w, 0.0f); }), kOwn);
    EXPECT_EQ(twice([&] { return grad(sum(square(w)), w); }), kOwn);
    EXPECT_EQ(twice([&] {
                  Tensor stored = w;
                  stored(0) = 5.0f;
                  return stored;
              }),
              kOwn);
    EXPECT_EQ(twice([&] {
                  Tensor chosen = w;
                  if_(w > 1.0f, [&] { chosen = 2.0f * w; });
                  return chosen;
              }),
              kOwn);
    EXPECT_EQ(twice([&] {
                  Tensor total = w;
                  for (Tensor i : loop(3)) total = total * 0.5f + i.as(f32);
                  return total;
              }),
              kOwn);
    Tensor early = square(w) * 2.0f, late = square(w);
    EXPECT_EQ(grad(sum(early + late * 3.0f), late).to_vector<float>(), (Floats{3, 3}));
}

TEST_P(EqualValues, ACopyIsTheValueItself) {
    Tensor w = tensor({1.0f, 2.0f});
    Tensor a = square(w), b = a;
    EXPECT_EQ(of(a, b), (Floats{5, 5}));
}

TEST_P(EqualValues, WhereTheyWereReadOnTheWay) {
    Tensor w = tensor({1.0f, 2.0f});
    Tensor a = square(w), b = square(w);
    a.to_vector<float>();
    EXPECT_EQ(of(a, b), kOwn);
    Tensor c = zeros({2}), d = zeros({2});
    realize(c, d);
    EXPECT_EQ(of(c, d), kOwn);
    Tensor e = square(w), f = square(w), y = sum(e * 2.0f + f * 3.0f);
    w.to_vector<float>();
    realize(y, f);
    EXPECT_EQ(grad(y, e).to_vector<float>(), (Floats{2, 2}));
    EXPECT_EQ(grad(y, f).to_vector<float>(), (Floats{3, 3}));
    EXPECT_EQ(grad(y, w).to_vector<float>(), (Floats{10, 20}));
}

TEST_P(EqualValues, OfSecondDerivatives) {
    Tensor a = 0.5f, b = 0.5f;
    const Tensor y = a * a * b;
    EXPECT_EQ(grad(grad(y, a), b).item<float>(), 1);
    EXPECT_EQ(grad(grad(y, a), a).item<float>(), 1);
    EXPECT_EQ(hessian_product(y, {a, b}, {1.0f, 0.0f})[0].item<float>(), 1);
    EXPECT_EQ(jacobian(stack({a * 2.0f, b * 3.0f}), {a, b})[1].to_vector<float>(), (Floats{0, 3}));
    const GradientCheck check =
        check_gradients([](const std::vector<Tensor>& x) { return sum(x[0] * 2.0f + x[1] * 3.0f); },
                        {zeros({2}), zeros({2})});
    const auto at =
        value_and_grad([](const std::vector<Tensor>& x) { return sum(x[0] * 2.0f + x[1] * 3.0f); },
                       {zeros({2}), zeros({2})});
    EXPECT_EQ(at.gradients[0].to_vector<float>(), (Floats{2, 2}));
    EXPECT_EQ(at.gradients[1].to_vector<float>(), (Floats{3, 3}));
}

TEST_P(EqualValues, InLoops) {
    Tensor a = zeros({2}), b = zeros({2});
    Tensor s = a, t = b;
    for (Tensor i : loop(3)) {
        s = s * 2.0f + 1.0f;
        t = t * 3.0f + i.as(f32);
    }
    const std::vector<Tensor> by = grad(sum(s + t), {a, b});
    EXPECT_EQ(by[0].to_vector<float>(), (Floats{8, 8}));
    EXPECT_EQ(by[1].to_vector<float>(), (Floats{27, 27}));
    Tensor found = zeros({2}), w = tensor({1.0f, 2.0f});
    for (Tensor i : loop(3)) {
        Tensor c = square(w), d = square(w);
        found += grad(sum(c * 2.0f + d * 3.0f), d) * i.as(f32);
    }
    EXPECT_EQ(found.to_vector<float>(), (Floats{9, 9}));
}

TEST_P(EqualValues, InCompiledFunctions) {
    const auto gradients = [](Tensor x) {
        Tensor a = zeros({2}), b = zeros({2}), c = square(x), d = square(x);
        const std::vector<Tensor> by =
            grad(sum(a * 2.0f + b * 3.0f + c * 5.0f + d * 7.0f), {a, b, c, d});
        return std::vector<Tensor>{by[0], by[1], by[2], by[3]};
    };
    const auto values = [](const std::vector<Tensor>& each) {
        Floats out;
        for (const Tensor& x : each) out.push_back(x.to_vector<float>().at(0));
        return out;
    };
    const Floats expected{2, 3, 5, 7};
    EXPECT_EQ(values(compile(gradients, {f32(2)})(tensor({1.0f, 2.0f}))), expected);
    EXPECT_EQ(values(jit(gradients)(tensor({1.0f, 2.0f}))), expected);
    // The results of a call, of which two are equal.
    auto both = compile(
        [](Tensor x) {
            return std::vector<Tensor>{square(x), square(x)};
        },
        {f32(2)});
    const std::vector<Tensor> made = both(tensor({1.0f, 2.0f}));
    EXPECT_EQ(of(made[0], made[1]), kOwn);
    // Captured ones.
    Tensor e = zeros({2}), f = zeros({2});
    auto captures = compile(
        [&](Tensor x) {
            const std::vector<Tensor> by = grad(sum(e * 2.0f * x + f * 3.0f), {e, f});
            return std::vector<Tensor>{by[0], by[1]};
        },
        {f32(2)});
    EXPECT_EQ(values(captures(tensor({1.0f, 2.0f}))), kOwn);
}

TEST_P(EqualValues, InVmapAndKernels) {
    const Tensor found = vmap(
        [](const std::vector<Tensor>& x) {
            Tensor a = x[0] * 2.0f, b = x[0] * 2.0f;
            return grad(sum(a * 2.0f + b * 3.0f), b);
        },
        {zeros({2, 3})});
    EXPECT_EQ(found.to_vector<float>(), Floats(6, 3.0f));
    Tensor x = tensor({1.0f, 2.0f}), out = zeros({2});
    kernel({2}, [&](Tensor i) {
        Tensor own = x(i), a = own * own, b = own * own;
        out(i) = grad(a * 2.0f + b * 3.0f, a);
    });
    EXPECT_EQ(out.to_vector<float>(), (Floats{2, 2}));
}

TEST_P(EqualValues, HaveOneSizeWhereTheDataSaysIt) {
    Tensor x = tensor({1.0f, 2.0f, 3.0f, 4.0f});
    const auto large = [&] { return compact(x, square(x) % 2.0f == 0.0f); };
    EXPECT_EQ((large() * large()).to_vector<float>(), (Floats{4, 16}));
    Tensor total = x;
    for (Tensor i : loop(2)) total = total + i.as(f32);
    const auto of_loop = [&] { return compact(total, square(total) > 9.5f); };
    EXPECT_EQ((of_loop() + of_loop()).to_vector<float>(), (Floats{8, 10}));
}

}  // namespace
}  // namespace firn
