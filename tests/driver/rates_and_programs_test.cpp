// Programs for rates that lie a step apart, as two measurements of one device may: no step decides
// between programs that differ by factors.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "compiler/language.h"
#include "compiler/learning/activations.h"
#include "compiler/learning/losses.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;
using Function = std::function<Tensors(const Tensors&)>;

/// Steps of two by which the rates of bytes, operations and launches differ from the class's.
using Steps = std::array<int, 3>;

double operations(const Function& function, const std::vector<ArgSpec>& arguments,
                  const Steps& steps) {
    const auto times = [&](int k) { return std::exp2(steps[static_cast<size_t>(k)]); };
    DeviceProfile profile = cpu_profile();
    profile.bytes_per_second *= times(0);
    profile.operations_per_second *= times(1);
    profile.seconds_per_load /= times(1);
    profile.seconds_per_launch *= times(2);
    const SessionScope scope(Session::interpreter(profile));
    return static_cast<double>(compile(function, arguments).stats().operations);
}

/// Times as many operations as at the class's rates, or times fewer, at the most.
double worst_factor(const Function& function, const std::vector<ArgSpec>& arguments,
                    const std::vector<Steps>& all) {
    const double of_class = operations(function, arguments, {});
    double worst = 1;
    for (const Steps& steps : all) {
        const double factor = operations(function, arguments, steps) / of_class;
        worst = std::max({worst, factor, 1 / factor});
    }
    return worst;
}

const std::vector<Steps> kOneRate{{-1, 0, 0}, {1, 0, 0},  {0, -1, 0},
                                  {0, 1, 0},  {0, 0, -1}, {0, 0, 1}};
const std::vector<Steps> kAllRates{{-1, -1, -1}, {-1, -1, 1}, {-1, 1, -1}, {-1, 1, 1},
                                   {1, -1, -1},  {1, -1, 1},  {1, 1, -1},  {1, 1, 1}};

/// The first `by` arguments a step further.
Function step(const std::function<Tensor(const Tensors&)>& loss, size_t by) {
    return [=](const Tensors& x) {
        Tensors out;
        const Tensors weights(x.begin(), x.begin() + static_cast<long>(by));
        for (const Tensor& slope : grad(loss(x), weights))
            out.push_back(weights[out.size()] - 0.1f * slope);
        return out;
    };
}

void expect_steady(const Function& function, const std::vector<ArgSpec>& arguments) {
    EXPECT_LE(worst_factor(function, arguments, kOneRate), 1.5);
    EXPECT_LE(worst_factor(function, arguments, kAllRates), 3);
}

TEST(RatesAndPrograms, OfAPerceptronsTrainingStep) {
    const auto loss = [](const Tensors& x) {
        const Tensor h = tanh(matmul(tanh(matmul(x[6], x[0]) + x[1]), x[2]) + x[3]);
        return mse_loss(matmul(h, x[4]) + x[5], x[7]);
    };
    expect_steady(step(loss, 6), {f32(2, 32), f32(32), f32(32, 32), f32(32), f32(32, 3), f32(3),
                                  f32(256, 2), f32(256, 3)});
}

TEST(RatesAndPrograms, OfATrainingStepThatReadsAPicture) {
    const auto loss = [](const Tensors& x) {
        const Tensor at = x[2] * 63.0f, corner = floor(at), f = at - corner;
        const Tensor channel = unsqueeze(arange(4), 0);
        const auto part = [](const Tensor& of, int axis) {
            return slice(of, {.axis = 1, .begin = axis, .end = axis + 1});
        };
        const Tensor i = part(corner, 0).as(i32), j = part(corner, 1).as(i32);
        const auto row = [&](const Tensor& above) {
            return x[0](above, j, channel) * (1.0f - part(f, 1)) +
                   x[0](above, j + 1, channel) * part(f, 1);
        };
        const Tensor read = row(i) * (1.0f - part(f, 0)) + row(i + 1) * part(f, 0);
        return mean(square(matmul(relu(matmul(read, x[1])), x[3]) - x[4]));
    };
    expect_steady(step(loss, 2),
                  {f32(64, 64, 4), f32(4, 32), f32(4096, 2), f32(32, 3), f32(4096, 3)});
}

TEST(RatesAndPrograms, OfAttention) {
    const auto loss = [](const Tensors& x) {
        const Tensor scores = matmul(x[0], transpose(x[1])) * 0.125f;
        return mean(square(matmul(softmax(scores, {.axis = 1}), x[2])));
    };
    expect_steady(step(loss, 3), {f32(128, 64), f32(128, 64), f32(128, 64)});
}

}  // namespace
}  // namespace firn
