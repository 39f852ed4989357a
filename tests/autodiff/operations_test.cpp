// Gradients of elementwise operations against central differences.
#include <gtest/gtest.h>

#include "compiler/autodiff/derivatives.h"
#include "compiler/ir/op.h"
#include "tests/autodiff/derivatives_check.h"

namespace firn {
namespace {

struct Unary {
    const char* name;
    Tensor (*f)(const Tensor&);
    float low = -1.7f, high = 1.9f;
};
const Unary kUnary[] = {
    {"neg", [](const Tensor& x) { return Tensor(-x); }},
    {"abs", [](const Tensor& x) { return abs(x); }, 0.2f, 2},
    {"frac", [](const Tensor& x) { return frac(x); }, 0.1f, 0.9f},
    {"floor", [](const Tensor& x) { return x * floor(x); }, 0.1f, 0.9f},
    {"exp", [](const Tensor& x) { return exp(x); }},
    {"exp2", [](const Tensor& x) { return exp2(x); }},
    {"expm1", [](const Tensor& x) { return expm1(x); }},
    {"log", [](const Tensor& x) { return log(x); }, 0.2f, 3},
    {"log2", [](const Tensor& x) { return log2(x); }, 0.2f, 3},
    {"log1p", [](const Tensor& x) { return log1p(x); }, -0.7f, 3},
    {"sqrt", [](const Tensor& x) { return sqrt(x); }, 0.2f, 3},
    {"rsqrt", [](const Tensor& x) { return rsqrt(x); }, 0.3f, 3},
    {"rcp", [](const Tensor& x) { return rcp(x); }, 0.4f, 3},
    {"sin", [](const Tensor& x) { return sin(x); }},
    {"cos", [](const Tensor& x) { return cos(x); }},
    {"tan", [](const Tensor& x) { return tan(x); }, -1, 1},
    {"asin", [](const Tensor& x) { return asin(x); }, -0.8f, 0.8f},
    {"acos", [](const Tensor& x) { return acos(x); }, -0.8f, 0.8f},
    {"atan", [](const Tensor& x) { return atan(x); }},
    {"sinh", [](const Tensor& x) { return sinh(x); }},
    {"cosh", [](const Tensor& x) { return cosh(x); }},
    {"tanh", [](const Tensor& x) { return tanh(x); }},
    {"erf", [](const Tensor& x) { return erf(x); }},
    {"sigmoid", [](const Tensor& x) { return sigmoid(x); }},
    {"power", [](const Tensor& x) { return pow(x, 2.5f); }, 0.2f, 1.5f},
    {"cube", [](const Tensor& x) { return pow(x, 3.0f); }},
};

class UnaryGradients : public testing::TestWithParam<Unary> {};
INSTANTIATE_TEST_SUITE_P(Functions, UnaryGradients, testing::ValuesIn(kUnary),
                         [](const auto& row) { return row.param.name; });

TEST_P(UnaryGradients, AgreeWithDifferences) {
    expect_derivatives([](const Tensors& x) { return GetParam().f(x[0]); },
                       {some({7}, GetParam().low, GetParam().high)});
}

TEST(Gradients, OfEveryOperationOnFloats) {
    for (int k = 0; k < kOpCount; ++k) {
        const Op op = static_cast<Op>(k);
        const bool chooses = op == Op::Select || op == Op::Min || op == Op::Max;
        const bool gives_floats =
            info(op).result == ResultRule::Same || info(op).result == ResultRule::Float;
        if (!is_elementwise(op) || chooses || !gives_floats || !(info(op).types & kFloats))
            continue;
        for (int input = 0; input < info(op).arity; ++input)
            EXPECT_TRUE(partial_derivative(op, input)) << info(op).name;
    }
}

TEST(Gradients, OfTwoOperands) {
    const Tensor a = some({3, 4}), b = some({3, 4}, 0.8f, 2), row = some({4}, 0.4f, 1.3f);
    expect_derivatives([](const Tensors& x) { return x[0] * x[1] + x[0] - 2.0f * x[1]; }, {a, b});
    expect_derivatives([](const Tensors& x) { return x[0] / x[1]; }, {a, b});
    expect_derivatives([](const Tensors& x) { return x[0] % x[1]; }, {b + 2.013f, row}, false);
    expect_derivatives([](const Tensors& x) { return pow(x[1], x[0]); }, {a, b});
    expect_derivatives([](const Tensors& x) { return atan2(x[0], x[1]); }, {a, b});
    expect_derivatives([](const Tensors& x) { return min(x[0], x[1]) * max(x[0], x[1]); },
                       {a, row});
    expect_derivatives([](const Tensors& x) { return select(x[0] < x[1], x[0] * x[1], sin(x[0])); },
                       {a, b});
    expect_derivatives([](const Tensors& x) { return x[0] * x[0] * x[0]; }, {a});
}

}  // namespace
}  // namespace firn
