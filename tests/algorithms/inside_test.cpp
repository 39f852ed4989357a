// Algorithms inside loops, branches and compiled functions of symbolic sizes, on every type.
#include <functional>

#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

Tensor random(const Shape& shape) {
    return tensor(random_floats(static_cast<size_t>(element_count(shape).constant()), 9), shape);
}

struct Step {
    const char* name;
    Shape shape;
    std::function<Tensor(const Tensor& x, const Tensor& iteration)> run;
    friend std::ostream& operator<<(std::ostream& out, const Step& step) {
        return out << step.name;
    }
};

class Inside : public ::testing::TestWithParam<Step> {};

TEST_P(Inside, ALoop) {
    expect_agreement(
        [] {
            Tensor x = random(GetParam().shape);
            for (Tensor iteration : loop(3)) x = GetParam().run(x, iteration);
            return x;
        },
        1e-4);
}

TEST_P(Inside, ABranch) {
    expect_agreement(
        [] {
            Tensor x = random(GetParam().shape);
            if_(
                sum(x) < 1000.0f, [&] { x = GetParam().run(x, 1); }, [&] { x = x * 2.0f; });
            return x;
        },
        1e-4);
}

TEST_P(Inside, AFunctionOfSymbolicSizes) {
    expect_agreement(
        [] {
            bool matrix = GetParam().shape.size() == 2;
            auto f = compile([](Tensor x) { return GetParam().run(x, 2); },
                             {matrix ? f32("n", "n") : f32("n")});
            return f(random(GetParam().shape));
        },
        1e-4);
}

const std::vector<Step> kSteps = {
    {"sort", {37}, [](const Tensor& x, const Tensor&) { return sort(sin(x * 9.0f)); }},
    {"sort_rows",
     {9, 9},
     [](const Tensor& x, const Tensor&) { return sort(sin(x * 9.0f), {.axis = 0}); }},
    {"sort_by_digits",
     {37},
     [](const Tensor& x, const Tensor&) {
         return sort(sin(x * 9.0f), {.method = SortMethod::Radix});
     }},
    {"cumsum", {50}, [](const Tensor& x, const Tensor&) { return cumsum(x) * 0.1f; }},
    {"fft", {37}, [](const Tensor& x, const Tensor&) { return fft(x).im * 0.1f; }},
    {"inverse",
     {5, 5},
     [](const Tensor& x, const Tensor&) { return inverse(x + 3 * eye(x.size(0))); }},
    {"cholesky",
     {5, 5},
     [](const Tensor& x, const Tensor&) {
         return cholesky(matmul(x, transpose(x)) + eye(x.size(0)));
     }},
    {"qr", {5, 5}, [](const Tensor& x, const Tensor&) { return qr(x).q; }},
    {"rand",
     {20},
     [](const Tensor& x, const Tensor& iteration) {
         return x + rand(x.shape(), {.seed = iteration});
     }},
    {"shuffle",
     {20},
     [](const Tensor& x, const Tensor& iteration) { return shuffle(x, {.seed = iteration}); }},
    {"softmax", {5, 5}, [](const Tensor& x, const Tensor&) { return softmax(x * 3.0f); }},
    {"roll", {7}, [](const Tensor& x, const Tensor& iteration) { return roll(x, iteration + 1); }},
    {"argmax",
     {7},
     [](const Tensor& x, const Tensor&) { return select(index(x, 0) == argmax(x), 0, x); }},
    {"histogram",
     {30},
     [](const Tensor& x, const Tensor&) {
         return x * 0.5f + gather(histogram(x, 4, {.low = -1}), (x * 3.0f).as(i32)).as(f32);
     }},
    {"compact",
     {30},
     [](const Tensor& x, const Tensor&) { return compact_padded(x, x > 0.1f).values - 0.05f; }},
    {"conv1d",
     {12},
     [](const Tensor& x, const Tensor&) {
         Tensor weight = tensor({0.5f, 0.25f, -0.5f}, {1, 1, 3});
         return reshape(conv1d(reshape(x, {1, 1, x.size(0)}), weight, {.padding = 1}), x.shape());
     }},
};

INSTANTIATE_TEST_SUITE_P(Steps, Inside, ::testing::ValuesIn(kSteps),
                         [](const auto& info) { return std::string(info.param.name); });

class OfType : public ::testing::TestWithParam<DType> {};

TEST_P(OfType, SortsScansAndReductions) {
    DType type = GetParam();
    auto numbers = [=] { return (random({60}) * 60.0f + 64.0f).as(type); };
    double tolerance = type == bf16 ? 3e-2 : type == f16 ? 4e-3 : 1e-5;
    expect_agreement([=] { return sort(numbers()); });
    expect_agreement([=] { return cumsum(numbers()); }, tolerance);
    expect_agreement([=] { return cummax(numbers()); });
    expect_agreement([=] { return argmax(numbers()); });
    expect_agreement([=] { return var(numbers()); }, tolerance);
    expect_agreement([=] { return norm(numbers()); }, tolerance);
}

INSTANTIATE_TEST_SUITE_P(Types, OfType, ::testing::ValuesIn(kAllTypes),
                         [](const auto& info) { return std::string(info.param.name()); });

}  // namespace
}  // namespace firn
