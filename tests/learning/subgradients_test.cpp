// Derivatives at points where a function has several or none, and nan, beside PyTorch's:
// compiler/learning/subgradients.md has the table, from the library itself. FIRN_WRITE_README=1
// writes the page anew.
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "tests/habits/page.h"
#include "tests/learning/learning_session.h"

namespace firn {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

Floats joined(const Tensors& all) {
    Floats out;
    for (const Tensor& each : all)
        for (float number : each.to_vector<float>()) out.push_back(number);
    return out;
}

template <class F>
Floats gradient(const F& f, const Floats& at) {
    const Tensor x = tensor(at);
    const Tensor y = f(x), slope = grad(sum(y), x);
    return slope.to_vector<float>();
}
template <class F>
Floats gradients(const F& f, const std::vector<Floats>& at) {
    Tensors xs;
    for (const Floats& each : at) xs.push_back(tensor(each));
    const Tensor y = f(xs);
    return joined(grad(sum(y), xs));
}

Tensor pooled(const Tensor& x) { return max_pool1d(reshape(x, {1, 1, -1}), 2); }

Floats clipped() {
    const Variable a({1}, constant_init(0), true), b({1}, constant_init(0), true);
    const SGD optimizer({{"a", a}, {"b", b}}, {.lr = 1.0f});
    optimizer.clip_norm(1.0f);
    optimizer.step(std::vector<Tensor>{tensor({kNan}), tensor({100.0f})});
    return joined({a.value(), b.value()});
}

struct Case {
    const char* name;
    const char* what;
    std::function<Floats()> numbers;
    const char* reason = "";  ///< of a difference
};
#define FIRN_SLOPE(name, text, f, ...)                                                      \
    Case {                                                                                  \
        name, text, [] { return gradient([](const Tensor& x) { return f; }, __VA_ARGS__); } \
    }
#define FIRN_SLOPES(name, text, f, ...)                                                       \
    Case {                                                                                    \
        name, text, [] { return gradients([](const Tensors& x) { return f; }, __VA_ARGS__); } \
    }
#define FIRN_VALUE(name, text, f)                               \
    Case {                                                      \
        name, text, [] { return Tensor(f).to_vector<float>(); } \
    }
Case because(Case row, const char* reason) {
    row.reason = reason;
    return row;
}

const Case kCases[] = {
    FIRN_SLOPE("abs", "`abs(x)` at 0", abs(x), {0}),
    FIRN_SLOPE("sign", "`sign(x)` at 0", sign(x), {0}),
    FIRN_SLOPE("floor", "`floor(x)` at 1", floor(x), {1}),
    FIRN_SLOPE("sqrt", "`sqrt(x)` at 0", sqrt(x), {0}),
    FIRN_SLOPE("rsqrt", "`rsqrt(x)` at 0", rsqrt(x), {0}),
    FIRN_SLOPE("log", "`log(x)` at 0", log(x), {0}),
    FIRN_SLOPE("pow_half", "`pow(x, 0.5f)` at 0", pow(x, 0.5f), {0}),
    FIRN_SLOPE("pow_zero", "`pow(x, 0.0f)` at 0", pow(x, 0.0f), {0}),
    FIRN_SLOPE("pow_exponent", "`pow(0, y)` by y at 0, 2, -1", pow(zeros({3}), x), {0, 2, -1}),
    FIRN_SLOPE("asin", "`asin(x)` at 1, -1", asin(x), {1, -1}),
    FIRN_SLOPE("acos", "`acos(x)` at 1", acos(x), {1}),
    FIRN_SLOPE("acosh", "`acosh(x)` at 1", acosh(x), {1}),
    because(FIRN_SLOPES("atan2", "`atan2(y, x)` at (0, 0)", atan2(x[0], x[1]), {{0}, {0}}),
            "a pixel in the centre keeps a gradient"),
    because(FIRN_SLOPES("hypot", "`hypot(x, y)` at (0, 0)", hypot(x[0], x[1]), {{0}, {0}}),
            "as `norm`, `length` and `distance`"),
    FIRN_SLOPES("max_of_two", "`max(a, b)` of equals", max(x[0], x[1]), {{1}, {1}}),
    FIRN_SLOPES("min_of_two", "`min(a, b)` of equals", min(x[0], x[1]), {{1}, {1}}),
    FIRN_SLOPES("max_of_three", "`max(a, b, c)` of equals", max(x[0], x[1], x[2]), {{1}, {1}, {1}}),
    FIRN_SLOPE("max_over_axis", "`max(x)` of 1, 3, 3, 2", max(x), {1, 3, 3, 2}),
    FIRN_SLOPE("min_over_axis", "`min(x)` of 1, 1, 3, 1", min(x), {1, 1, 3, 1}),
    FIRN_SLOPE("clamp", "`clamp(x, 0, 1)` at -1, 0, 0.5, 1, 2", clamp(x, 0, 1),
               {-1, 0, 0.5f, 1, 2}),
    FIRN_SLOPES("clamp_bounds", "`clamp(x, a, b)` of 0, 0, 1 by a = 0, 1, 0, then by b = 1, 2, 1",
                clamp(tensor({0.0f, 0.0f, 1.0f}), x[0], x[1]), {{0, 1, 0}, {1, 2, 1}}),
    FIRN_SLOPES("logaddexp", "`logaddexp(a, b)` of equals", logaddexp(x[0], x[1]), {{1}, {1}}),
    because(FIRN_SLOPES("logaddexp_of_infinities", "`logaddexp(a, b)` of -inf, -inf",
                        logaddexp(x[0], x[1]), {{-kInf}, {-kInf}}),
            "equals share"),
    FIRN_SLOPE("norm", "`norm(x)` of 0, 0", norm(x), {0, 0}),
    FIRN_SLOPE("norm_of_order_3", "`norm(x, {.order = 3})` of 0, 0", norm(x, {.order = 3}), {0, 0}),
    FIRN_SLOPE("norm_of_order_infinity", "`norm(x, {.order = INFINITY})` of 2, -2",
               norm(x, {.order = INFINITY}), {2, -2}),
    FIRN_SLOPE("stddev", "`stddev(x, {.correction = 1})` of 1, 1", stddev(x, {.correction = 1}),
               {1, 1}),
    FIRN_SLOPE("prod", "`prod(x)` of 0, 2, 3", prod(x), {0, 2, 3}),
    FIRN_SLOPE("logsumexp", "`logsumexp(x)` of -inf, 1", logsumexp(x), {-kInf, 1}),
    FIRN_SLOPE("softmax", "`softmax(x)(1)` of -inf, 1", softmax(x)(1), {-kInf, 1}),
    because(FIRN_SLOPE("sigmoid", "`sigmoid(x)` at 60", sigmoid(x), {60}), "1 - y has its digits"),
    because(FIRN_SLOPE("tanh", "`tanh(x)` at 20", tanh(x), {20}), "1 - y y has its digits"),
    FIRN_SLOPE("relu", "`relu(x)` at 0, nan", relu(x), {0, kNan}),
    FIRN_SLOPE("leaky_relu", "`leaky_relu(x, 0.25f)` at 0", leaky_relu(x, 0.25f), {0}),
    FIRN_SLOPE("elu", "`elu(x, 0.5f)` at 0", elu(x, 0.5f), {0}),
    FIRN_SLOPE("hardswish", "`hardswish(x)` at -3, 3", hardswish(x), {-3, 3}),
    FIRN_SLOPE("softplus", "`softplus(x)` at 0", softplus(x), {0}),
    FIRN_SLOPE("l1_loss", "`l1_loss(x, 0)` at 0", l1_loss(x, zeros({1})), {0}),
    FIRN_SLOPE("huber_loss", "`huber_loss(x, 0)` at -1, 0, 1",
               huber_loss(x, zeros({3}), {.reduction = Reduction::Sum}), {-1, 0, 1}),
    because(FIRN_SLOPE("bce_sure_and_right", "`binary_cross_entropy(sigmoid(x), 1)` at 17, 200",
                       binary_cross_entropy(sigmoid(x), ones({2}), {.reduction = Reduction::Sum}),
                       {17, 200}),
            "as `sigmoid`"),
    because(FIRN_SLOPE("bce_of_1", "`binary_cross_entropy(p, 1)` at 1",
                       binary_cross_entropy(x, ones({1})), {1}),
            "the derivative of -log p"),
    because(FIRN_SLOPE("bce_of_1_wrong", "`binary_cross_entropy(p, 0)` at 1",
                       binary_cross_entropy(x, zeros({1})), {1}),
            "the logarithm is cut at -100: beyond, nothing changes"),
    FIRN_SLOPE("max_pool", "`max_pool1d(x, 2)` of 1, 1, 2, 2", pooled(x), {1, 1, 2, 2}),
    FIRN_VALUE("value_relu", "value: `relu(nan)`", relu(tensor({kNan}))),
    FIRN_VALUE("value_elu", "value: `elu(nan)`", elu(tensor({kNan}))),
    FIRN_VALUE("value_hardswish", "value: `hardswish(nan)`", hardswish(tensor({kNan}))),
    FIRN_VALUE("value_silu", "value: `silu(-inf)`", silu(tensor({-kInf}))),
    because(FIRN_VALUE("value_clamp", "value: `clamp(nan, 0, 1)`", clamp(tensor({kNan}), 0, 1)),
            "as GLSL's; `clip` keeps nan"),
    because(FIRN_VALUE("value_min", "value: `min(nan, 1)`", min(tensor({kNan}), 1.0f)),
            "as C's and GLSL's"),
    because(
        FIRN_VALUE("value_max_over_axis", "value: `max(x)` of nan, 1", max(tensor({kNan, 1.0f}))),
        "as `max` of two"),
    FIRN_VALUE("value_max_pool", "value: `max_pool1d(x, 2)` of nan, 1, 2, nan",
               pooled(tensor({kNan, 1.0f, 2.0f, kNan}))),
    Case{"clip_norm", "parameters from 0, after a step of `clip_norm(1)` by gradients nan, 100",
         clipped},
};

std::map<std::string, Floats> torch_numbers() {
    std::map<std::string, Floats> out;
    std::ifstream in(FIRN_SOURCE_DIR "/tests/learning/subgradients_expected.txt");
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string name, number;
        words >> name;
        while (words >> number) out[name].push_back(std::strtof(number.c_str(), nullptr));
    }
    return out;
}

bool same(const Floats& a, const Floats& b) {
    if (a.size() != b.size()) return false;
    for (size_t k = 0; k < a.size(); ++k)
        if (!(std::isnan(a[k]) && std::isnan(b[k])) && a[k] != b[k] &&
            !(std::abs(a[k] - b[k]) <= 1e-6f * std::abs(b[k])))
            return false;
    return true;
}

std::string listed(const Floats& numbers) {
    std::ostringstream out;
    out.precision(3);
    for (size_t k = 0; k < numbers.size(); ++k)
        out << (k ? ", " : "") << (std::isnan(numbers[k]) ? kNan : numbers[k] + 0.0f);
    return out.str();
}

TEST(Subgradients, AreTorchsWhereNoReasonIsGiven) {
    const std::map<std::string, Floats> torch = torch_numbers();
    for (const Session& session : {Session::oracle(), Session::interpreter()}) {
        SessionScope scope(session);
        for (const Case& each : kCases) {
            const Floats got = each.numbers();
            EXPECT_EQ(same(got, torch.at(each.name)), each.reason[0] == 0)
                << each.name << ": " << listed(got) << ", torch's " << listed(torch.at(each.name));
        }
    }
}

TEST(Subgradients, ThePageHasBoth) {
    const std::map<std::string, Floats> torch = torch_numbers();
    SessionScope scope(Session::oracle());
    std::ostringstream out;
    out << R"(# Derivatives by choice

This page lists the derivatives of functions at points with no derivative or with several, and at nan: those of the library and of
PyTorch 1.13. `tests/learning` computes them and writes this page. An infinite derivative is stated as infinite.

| derivative | Firn | PyTorch | they differ because |
|---|---|---|---|
)";
    for (const Case& each : kCases)
        out << "| " << each.what << " | " << listed(each.numbers()) << " | "
            << listed(torch.at(each.name)) << " | " << each.reason << " |\n";
    expect_page("compiler/learning/subgradients.md", out.str());
}

// --- more than one fact of the table
// ---------------------------------------------------------------

TEST(Subgradients, OfMaxPoolGoToTheFirstOfEveryWindow) {
    for (const Session& session : {Session::oracle(), Session::interpreter()}) {
        SessionScope scope(session);
        // Windows that overlap and are padded.
        const Tensor x = zeros({1, 1, 3, 3}) + 1.0f;
        const Tensor y = max_pool2d(x, 2, {.stride = 1, .padding = 1});
        EXPECT_EQ(grad(sum(y), x).to_vector<float>(), (Floats{4, 2, 2, 2, 1, 1, 2, 1, 1}));
    }
}

TEST(Subgradients, NanPassesThroughEveryActivationAndLoss) {
    SessionScope scope(Session::interpreter());
    const Tensor x = tensor({kNan, 1.0f}), zero = zeros({2}), one = ones({2});
    for (const Tensor& y :
         {relu(x), leaky_relu(x), elu(x), gelu(x), silu(x), softplus(x), log_sigmoid(x), mish(x),
          hardswish(x), sigmoid(x), tanh(x), softmax(x), log_softmax(x)})
        EXPECT_TRUE(std::isnan(y.to_vector<float>()[0]));
    for (const Tensor& t : {zero, one, x})
        for (const Tensor& loss :
             {mse_loss(x, t), l1_loss(x, t), huber_loss(x, t),
              binary_cross_entropy_with_logits(x, t), kl_div(x, t), kl_div(t, x)})
            EXPECT_TRUE(std::isnan(loss.item<float>()));
}

TEST(Subgradients, AChoiceLeavesOutASlopeThatIsNone) {
    SessionScope scope(Session::interpreter());
    const Tensor x = tensor({0.0f, kNan, 4.0f});
    const auto kept = [&](const Tensor& y) {
        return grad(sum(select(x > 1, y, 0)), x).to_vector<float>();
    };
    for (const Tensor& y :
         {sqrt(x), cbrt(x), sigmoid(x), softplus(x), acosh(x), logaddexp(x, x), gelu(x)}) {
        const Floats g = kept(y);
        EXPECT_EQ(g[0], 0);
        EXPECT_EQ(g[1], 0);
        EXPECT_GT(g[2], 0);
    }
}

}  // namespace
}  // namespace firn
