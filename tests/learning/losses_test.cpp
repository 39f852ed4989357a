// Losses and activations: their values against plain C++, their gradients against differences.
#include <functional>
#include <limits>

#include "tests/learning/learning_session.h"

namespace firn {
namespace {

double log_softmax_of(const Floats& x, size_t row, size_t classes, size_t at) {
    double total = 0, high = -1e30;
    for (size_t k = 0; k < classes; ++k) high = std::max(high, double(x[row * classes + k]));
    for (size_t k = 0; k < classes; ++k) total += std::exp(double(x[row * classes + k]) - high);
    return double(x[row * classes + at]) - high - std::log(total);
}

/// The mean of `term` over pairs.
double mean_of(const Floats& a, const Floats& b,
               const std::function<double(double, double)>& term) {
    double total = 0;
    for (size_t k = 0; k < a.size(); ++k) total += term(a[k], b[k]);
    return total / double(a.size());
}

TEST(Losses, OfPairsOfFloats) {
    SessionScope scope(Session::interpreter());
    const Floats p = numbers(12, -2, 2), t = numbers(12, 0.05f, 0.9f), q = numbers(12, 0.1f, 0.8f);
    const Tensor x = tensor(p, {3, 4}), y = tensor(t, {3, 4}), z = tensor(q, {3, 4});
    const auto value = [](const Tensor& loss) { return loss.item<float>(); };
    EXPECT_NEAR(value(mse_loss(x, y)),
                mean_of(p, t, [](double a, double b) { return (a - b) * (a - b); }), 1e-5);
    EXPECT_NEAR(value(mse_loss(x, y, {.reduction = Reduction::Sum})),
                12 * mean_of(p, t, [](double a, double b) { return (a - b) * (a - b); }), 1e-4);
    EXPECT_EQ(Shape(mse_loss(x, y, {.reduction = Reduction::None}).shape()), (Shape{3, 4}));
    EXPECT_NEAR(value(l1_loss(x, y)),
                mean_of(p, t, [](double a, double b) { return std::abs(a - b); }), 1e-5);
    EXPECT_NEAR(value(huber_loss(x, y, {.delta = 0.7f})),
                mean_of(p, t,
                        [](double a, double b) {
                            const double d = std::abs(a - b);
                            return d <= 0.7 ? d * d / 2 : 0.7 * (d - 0.35);
                        }),
                1e-5);
    const auto cross = [](double a, double b) {
        return -(b * std::log(a) + (1 - b) * std::log(1 - a));
    };
    EXPECT_NEAR(value(binary_cross_entropy(z, y)), mean_of(q, t, cross), 1e-5);
    EXPECT_NEAR(value(binary_cross_entropy_with_logits(x, y)),
                mean_of(p, t, [&](double a, double b) { return cross(1 / (1 + std::exp(-a)), b); }),
                1e-5);
    EXPECT_NEAR(
        value(kl_div(log(z), y)),
        4 * mean_of(q, t, [](double a, double b) { return b * (std::log(b) - std::log(a)); }),
        1e-5);
}

TEST(Losses, OfWhatIsNoProbabilityAreErrors) {
    for (const Session& session : {Session::oracle(), Session::interpreter()}) {
        SessionScope scope(session);
        const auto of = [](float p) {
            return user_error([&] {
                binary_cross_entropy(tensor({0.5f, p}), tensor({1.0f, 0.0f})).item<float>();
            });
        };
        for (float p : {1.5f, -0.25f, std::numeric_limits<float>::quiet_NaN()})
            expect_parts(of(p), {"binary_cross_entropy", "probabilit", "losses_test.cpp:"});
        EXPECT_TRUE(std::isnan(
            binary_cross_entropy(tensor({1.5f}), tensor({0.0f}), {.check_probabilities = false})
                .item<float>()));
    }
}

TEST(Losses, DoNotOverflow) {
    SessionScope scope(Session::interpreter());
    const Tensor x = tensor({-300.0f, 300.0f, 0.0f}), t = tensor({0.0f, 1.0f, 0.0f});
    EXPECT_NEAR(binary_cross_entropy_with_logits(x, t).item<float>(), std::log(2.0) / 3, 1e-6);
    EXPECT_EQ(binary_cross_entropy(t, t).item<float>(), 0);
    EXPECT_NEAR(binary_cross_entropy(1.0f - t, t).item<float>(), 100, 1e-3);
    const Tensor half = tensor({0.5f, 0.5f}, {1, 2}), one = tensor({0.0f, 1.0f}, {1, 2});
    EXPECT_NEAR(kl_div(log(half), one).item<float>(), std::log(2.0), 1e-6);
    EXPECT_NEAR(cross_entropy(tensor({900.0f, -900.0f}, {1, 2}), tensor({1})).item<float>(), 1800,
                1e-2);
    for (float value : softplus(tensor({-200.0f, 200.0f})).to_vector<float>())
        EXPECT_TRUE(value == 0 || value == 200);
}

TEST(Losses, CrossEntropyOfLabelsAndOfProbabilities) {
    SessionScope scope(Session::interpreter());
    const Floats logits = numbers(15, -3, 3);
    const std::vector<int> labels{2, 0, 4};
    double expected = 0, smoothed = 0;
    for (size_t row = 0; row < 3; ++row) {
        expected -= log_softmax_of(logits, row, 5, size_t(labels[row])) / 3;
        for (size_t k = 0; k < 5; ++k)
            smoothed -=
                (0.02 + (int(k) == labels[row]) * 0.9) * log_softmax_of(logits, row, 5, k) / 3;
    }
    const Tensor x = tensor(logits, {3, 5}), t = tensor(labels);
    EXPECT_NEAR(cross_entropy(x, t).item<float>(), expected, 1e-5);
    EXPECT_NEAR(cross_entropy(x, one_hot(t, 5)).item<float>(), expected, 1e-5);
    EXPECT_NEAR(cross_entropy(x, t, {.label_smoothing = 0.1f}).item<float>(), smoothed, 1e-5);
    EXPECT_NEAR(cross_entropy(x, one_hot(t, 5), {.label_smoothing = 0.1f}).item<float>(), smoothed,
                1e-5);
    // Further axes are positions.
    const Tensor grid = permute(reshape(x, {1, 3, 5}), {0, 2, 1});
    EXPECT_NEAR(cross_entropy(grid, reshape(t, {1, 3})).item<float>(), expected, 1e-5);
}

TEST(Losses, RefuseTargetsThatDoNotFit) {
    SessionScope scope(Session::interpreter());
    const Tensor x = some({3, 5});
    expect_parts(user_error([&] {
                     mse_loss(x, full({3, 5}, 1));
                 }),
                 {"mse_loss", "f32[3, 5]", "i32[3, 5]", ".as(f32)", "losses_test.cpp:"});
    expect_parts(user_error([&] { l1_loss(x, some({5})); }), {"l1_loss", "f32[5]", "one shape"});
    expect_parts(user_error([&] { cross_entropy(x, tensor({1, 2})); }), {"integer labels [3]"});
    expect_parts(user_error([&] { cross_entropy(x, some({3})); }),
                 {"cross_entropy", "integer labels [3]"});
    for (int wrong : {-1, 5})
        expect_parts(user_error([&] {
                         cross_entropy(x, tensor({1, wrong, 2})).item<float>();
                     }),
                     {"a label is not one of the 5 classes", "losses_test.cpp:", "[1]"});
    EXPECT_TRUE(
        std::isnan(cross_entropy(x, tensor({1, 7, 2}), {.check_labels = false}).item<float>()));
    EXPECT_FALSE(
        std::isnan(cross_entropy(x, tensor({1, 4, 2}), {.check_labels = false}).item<float>()));
}

TEST(Losses, LabelsMayHaveATypeThatDoesNotHoldTheNumberOfClasses) {
    SessionScope scope(Session::interpreter());
    const Tensor x = some({2, 300}, -3, 3);
    const Tensor narrow = tensor(std::vector<uint8_t>{100, 10}),
                 small = tensor(std::vector<int8_t>{100, 10}), same = tensor({100, 10});
    for (bool check : {true, false}) {
        const CrossEntropyOptions options{.label_smoothing = 0.1f, .check_labels = check};
        const float expected = cross_entropy(x, same, options).item<float>();
        EXPECT_EQ(cross_entropy(x, narrow, options).item<float>(), expected);
        EXPECT_EQ(cross_entropy(x, small, options).item<float>(), expected);
    }
    const Tensor wrong = tensor(std::vector<int8_t>{5, -1}),
                 beyond = tensor(std::vector<int64_t>{5, int64_t{1} << 32});
    for (const Tensor& labels : {wrong, beyond}) {
        expect_parts(user_error([&] { cross_entropy(x, labels).item<float>(); }),
                     {"a label is not one of the 300 classes", "[1]"});
        EXPECT_TRUE(std::isnan(cross_entropy(x, labels, {.check_labels = false}).item<float>()));
    }
}

TEST(Losses, LeaveOutTheLabelsThatAreIgnored) {
    SessionScope scope(Session::interpreter());
    const Tensor x = some({4, 5}, -3, 3), labels = tensor({1, -100, 4, -100});
    const Tensor others = stack({x(0), x(2)}), of_others = tensor({1, 4});
    const auto near = [](const Tensor& got, const Tensor& expected) {
        const Floats a = got.to_vector<float>(), b = expected.to_vector<float>();
        ASSERT_EQ(a.size(), b.size());
        for (size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-6);
    };
    for (float smoothing : {0.0f, 0.1f})
        for (bool check : {true, false}) {
            CrossEntropyOptions options{.label_smoothing = smoothing, .check_labels = check};
            const auto with = [&](Reduction reduction, bool ignores) {
                options.reduction = reduction;
                options.ignore_index = ignores ? std::optional(-100) : std::nullopt;
                return options;
            };
            for (Reduction reduction : {Reduction::Mean, Reduction::Sum}) {
                const Tensor loss = cross_entropy(x, labels, with(reduction, true));
                near(loss, cross_entropy(others, of_others, with(reduction, false)));
                const Tensor slope = grad(loss, x);
                near(stack({slope(0), slope(2)}),
                     grad(cross_entropy(others, of_others, with(reduction, false)), others));
                EXPECT_EQ(sum(abs(slope(1)) + abs(slope(3))).item<float>(), 0);
            }
            const Floats each =
                cross_entropy(x, labels, with(Reduction::None, true)).to_vector<float>();
            EXPECT_EQ(each.at(1), 0);
            EXPECT_GT(each.at(2), 0);
            EXPECT_TRUE(std::isnan(
                cross_entropy(x, full({4}, -100), with(Reduction::Mean, true)).item<float>()));
        }
    // A class may be left out, an infinite row too; a type may have no such label.
    near(cross_entropy(x, tensor({1, 0, 4, 0}), {.ignore_index = 0}),
         cross_entropy(others, of_others));
    Tensor infinite = x;
    infinite(1, 2) = INFINITY;
    const Tensor slope = grad(cross_entropy(infinite, labels, {.ignore_index = -100}), infinite);
    EXPECT_FALSE(any(is_nan(slope)).item<bool>());
    const Tensor narrow = tensor(std::vector<uint8_t>{1, 0, 4, 156});
    expect_parts(
        user_error([&] { cross_entropy(x, narrow, {.ignore_index = -100}).item<float>(); }),
        {"a label is not one of the 5 classes", "ignore_index", "[3]"});
    expect_parts(
        user_error([&] {
            cross_entropy(x, tensor({1, -100, 7, 2}), {.ignore_index = -100}).item<float>();
        }),
        {"a label is not one of the 5 classes", "[2]"});
    expect_parts(user_error([&] { cross_entropy(x, x, {.ignore_index = -100}); }),
                 {"cross_entropy", "probabilities"});
}

TEST(Losses, OfNoElementsAreNan) {
    SessionScope scope(Session::interpreter());
    const Tensor none = zeros({0, 3});
    EXPECT_TRUE(std::isnan(mse_loss(none, none).item<float>()));
    EXPECT_TRUE(std::isnan(cross_entropy(none, zeros({0}, i32)).item<float>()));
    EXPECT_TRUE(std::isnan(kl_div(none, none).item<float>()));
    expect_parts(user_error([] { kl_div(Tensor(0.5f), Tensor(0.5f)); }),
                 {"kl_div", "[batch, ..]", "losses_test.cpp"});
}

TEST(Losses, HaveTheGradientsOfDifferences) {
    const Tensor x = some({3, 5}, -2, 2), t = some({3, 5}, 0.1f, 0.9f),
                 p = some({3, 5}, 0.15f, 0.8f);
    const auto check = [](const auto& f, const Tensors& at) {
        const GradientCheck found = check_gradients(f, at);
        EXPECT_TRUE(found) << found.where;
    };
    check([](const Tensors& a) { return mse_loss(a[0], a[1]); }, {x, t});
    check([](const Tensors& a) { return l1_loss(a[0], a[1]); }, {x, t});
    check([](const Tensors& a) { return huber_loss(a[0], a[1], {.delta = 0.5f}); }, {x, t});
    check([](const Tensors& a) { return binary_cross_entropy(a[0], a[1]); }, {p, t});
    check([](const Tensors& a) { return binary_cross_entropy_with_logits(a[0], a[1]); }, {x, t});
    check([](const Tensors& a) { return kl_div(log(a[0]), a[1]); }, {p, t});
    check([](const Tensors& a) { return cross_entropy(a[0], tensor({4, 0, 2})); }, {x});
    check([](const Tensors& a) { return cross_entropy(a[0], a[1], {.label_smoothing = 0.2f}); },
          {x, t});
}

struct ActivationRow {
    const char* name;
    Tensor (*f)(const Tensor&);
    double (*expected)(double);
};
double logistic(double x) { return 1 / (1 + std::exp(-x)); }
const ActivationRow kActivationRows[] = {
    {"relu", [](const Tensor& x) { return relu(x); }, [](double x) { return x > 0 ? x : 0; }},
    {"leaky_relu", [](const Tensor& x) { return leaky_relu(x, 0.1f); },
     [](double x) { return x > 0 ? x : double(0.1f) * x; }},
    {"elu", [](const Tensor& x) { return elu(x, 0.5f); },
     [](double x) { return x > 0 ? x : 0.5 * std::expm1(x); }},
    {"gelu", [](const Tensor& x) { return gelu(x); },
     [](double x) { return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0))); }},
    {"silu", [](const Tensor& x) { return silu(x); }, [](double x) { return x * logistic(x); }},
    {"softplus", [](const Tensor& x) { return softplus(x); },
     [](double x) { return std::log1p(std::exp(x)); }},
    {"log_sigmoid", [](const Tensor& x) { return log_sigmoid(x); },
     [](double x) { return std::log(logistic(x)); }},
    {"mish", [](const Tensor& x) { return mish(x); },
     [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
    {"hardswish", [](const Tensor& x) { return hardswish(x); },
     [](double x) { return x * std::min(6.0, std::max(0.0, x + 3)) / 6; }},
};
class Activations : public testing::TestWithParam<ActivationRow> {};
INSTANTIATE_TEST_SUITE_P(Functions, Activations, testing::ValuesIn(kActivationRows),
                         [](const auto& row) { return row.param.name; });
TEST_P(Activations, AreWhatTheyAre) {
    const Floats values = numbers(17, -4.1f, 4.3f);
    const GradientCheck found =
        check_gradients([](const Tensors& a) { return GetParam().f(a[0]); }, {tensor(values)});
    EXPECT_TRUE(found) << found.where;
    SessionScope scope(Session::interpreter());
    Floats expected;
    for (float x : values) expected.push_back(float(GetParam().expected(x)));
    expect_near(GetParam().f(tensor(values)).to_vector<float>(), expected, 3e-6);
}

TEST(Initialisers, HaveTheSpreadOfTheirFans) {
    SessionScope scope(Session::interpreter());
    const Shape shape{64, 16, 3};  // fan in 48, fan out 192
    const RandomOptions random{.seed = 5};
    const auto deviation = [&](const Initialiser& init) {
        return stddev(init(shape, random)).item<float>();
    };
    EXPECT_NEAR(deviation(xavier_uniform()), std::sqrt(2.0 / 240), 0.003);
    EXPECT_NEAR(deviation(xavier_normal()), std::sqrt(2.0 / 240), 0.003);
    EXPECT_NEAR(deviation(he_uniform()), std::sqrt(2.0 / 48), 0.006);
    EXPECT_NEAR(deviation(he_normal(1.0f)), std::sqrt(1.0 / 48), 0.005);
    EXPECT_LE(max(abs(xavier_uniform()(shape, random))).item<float>(), std::sqrt(6.0 / 240));
    EXPECT_NEAR(deviation(normal_init(0.5f)), 0.5, 0.015);
    for (const Shape& each : {Shape{6, 4}, Shape{3, 2, 4}}) {
        const Tensor w = reshape(orthogonal(2.0f)(each, random), {each[0], -1});
        const bool wide = each.size() == 3;
        const Tensor gram = wide ? matmul(w, transpose(w)) : matmul(transpose(w), w);
        const int n = wide ? 3 : 4;
        expect_near(gram.to_vector<float>(), (4.0f * eye(n)).to_vector<float>(), 1e-5);
    }
    expect_parts(user_error([&] { he_normal()({5}, {}); }), {"no fans", "[5]"});
}

}  // namespace
}  // namespace firn
