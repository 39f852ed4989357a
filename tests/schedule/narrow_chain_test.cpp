// Chains of small products with few columns at the end cost no more than with many, regardless of
// what stands before and behind them: no row asks its producer once for each of its elements.
#include <gtest/gtest.h>

#include "compiler/algorithms/noise.h"
#include "compiler/frontend/statistics.h"
#include "tests/schedule/compile_helpers.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

constexpr int64_t kSide = 128, kRows = kSide * kSide, kWidth = 16;

/// A function of rows, then matrices.
using Function = std::function<Tensors(const Tensors&)>;

/// Operations for one row of `layers` products of 16 columns and a last one of `outputs` columns.
double operations(const DeviceProfile& profile, const Function& program, const ArgSpec& rows,
                  int layers, int64_t outputs) {
    std::vector<ArgSpec> specs{rows};
    for (int k = 0; k < layers; ++k) specs.push_back(f32(kWidth, kWidth));
    specs.push_back(f32(kWidth, outputs));
    const ProgramStats of = stats(*program_for(profile, program, specs), {{"n", kRows}});
    return static_cast<double>(of.operations) / kRows;
}

/// Products with all but the first argument, with tanh between them.
Tensor chain(Tensor x, const Tensors& a) {
    for (size_t k = 1; k + 1 < a.size(); ++k) x = tanh(matmul(x, a[k]));
    return matmul(x, a.back());
}

/// Expects `program` with few columns to take no longer than with 16.
void expect_narrow(const Function& program, const ArgSpec& rows) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        const double wide = operations(profile, program, rows, 4, kWidth);
        for (int64_t outputs : {1, 3, 8})
            EXPECT_LE(operations(profile, program, rows, 4, outputs), 1.01 * wide)
                << profile.name << ", outputs: " << outputs;
    }
}

TEST(NarrowChains, OfAnyLengthCostNoMoreThanWideOnes) {
    const auto program = [](const Tensors& a) { return Tensors{chain(a[0], a)}; };
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()})
        for (int layers : {1, 2, 3, 4, 6}) {
            const double wide = operations(profile, program, f32(kRows, kWidth), layers, kWidth);
            for (int64_t outputs : {1, 2, 3, 4, 5, 6, 7, 8})
                EXPECT_LE(operations(profile, program, f32(kRows, kWidth), layers, outputs),
                          1.01 * wide)
                    << profile.name << ", layers: " << layers << ", outputs: " << outputs;
        }
}

const ArgSpec any_rows = f32("n", kWidth);

TEST(NarrowChains, OfAnyNumberOfRows) {
    const auto program = [](const Tensors& a) { return Tensors{chain(a[0], a)}; };
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()})
        for (int layers : {1, 4}) {
            const double wide = operations(profile, program, any_rows, layers, kWidth);
            for (int64_t outputs : {1, 2, 3, 4, 5, 6, 7, 8})
                EXPECT_LE(operations(profile, program, any_rows, layers, outputs), 1.01 * wide)
                    << profile.name << ", layers: " << layers << ", outputs: " << outputs;
        }
}

// Also the columns are known by the call alone: a program of all sizes.
TEST(NarrowChains, OfAnySizes) {
    const auto program = [](const Tensors& a) { return Tensors{chain(a[0], a)}; };
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        std::vector<ArgSpec> specs{f32("n", "k")};
        for (int k = 0; k < 4; ++k) specs.push_back(f32("k", "k"));
        specs.push_back(f32("k", "m"));
        const auto compiled = program_for(profile, program, specs);
        const auto of = [&](int64_t outputs) {
            return stats(*compiled, {{"n", kRows}, {"k", kWidth}, {"m", outputs}}).operations;
        };
        for (int64_t outputs : {1, 2, 3, 4, 5, 6, 7, 8})
            EXPECT_LE(of(outputs), of(kWidth)) << profile.name << ", outputs: " << outputs;
        // Five products and four tanh of twelve operations each.
        EXPECT_LE(of(kWidth), 1.1 * kRows * (5.0 * 2 * 16 * 16 + 4 * 12 * 16)) << profile.name;
    }
}

TEST(NarrowChains, InATrainingStep) {
    const auto step = [](const Tensors& a) {
        const Tensors weights(a.begin() + 1, a.end());
        return grad(mean(square(chain(a[0], a))), weights);
    };
    expect_narrow(step, f32(kRows, kWidth));
    expect_narrow(step, any_rows);
}

/// Operations for a row where `few` sees so many columns of 16.
void expect_few_of_many(const std::function<Tensor(const Tensor&, int64_t)>& few,
                        const ArgSpec& rows) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        const auto of = [&](int64_t columns) {
            const auto program = [&](const Tensors& a) {
                return Tensors{few(chain(a[0], a), columns)};
            };
            return operations(profile, program, rows, 4, kWidth);
        };
        const double all = of(kWidth);
        for (int64_t columns : {1, 2, 3, 4, 5, 6, 7, 8})
            EXPECT_LE(of(columns), 1.01 * all) << profile.name << ", columns: " << columns;
    }
}

TEST(NarrowChains, WhoseResultIsSliced) {
    for (const ArgSpec& rows : {f32(kRows, kWidth), any_rows})
        expect_few_of_many(
            [](const Tensor& y, int64_t columns) { return slice(y, {.axis = 1, .end = columns}); },
            rows);
}

TEST(NarrowChains, WhoseColumnsAreAskedOneByOne) {
    const auto sum_of_columns = [](const Tensor& y, int64_t columns) {
        Tensor sum = 0.0f;
        for (int64_t k = 0; k < columns; ++k)
            sum = sum + y(all, static_cast<int>(k)) * static_cast<float>(k + 1);
        return sum;
    };
    for (const ArgSpec& rows : {f32(kRows, kWidth), any_rows})
        expect_few_of_many(sum_of_columns, rows);
}

TEST(NarrowChains, BehindTextureSamples) {
    const auto program = [](const Tensors& a) {
        auto [i, j] = indices<2>({kSide, kSide});
        const Tensor u = unsqueeze(i * 0.37f, 2), v = unsqueeze(j * 0.41f, 2), c = arange(kWidth);
        const Tensor x = floor(u).as(i32), y = floor(v).as(i32), f = u - floor(u), g = v - floor(v);
        const auto row = [&](const Tensor& at) {
            return a[0](at, y, c) * (1.0f - g) + a[0](at, y + 1, c) * g;
        };
        const Tensor sample = row(x) * (1.0f - f) + row(x + 1) * f;
        return Tensors{chain(reshape(sample, {kRows, kWidth}), a)};
    };
    expect_narrow(program, f32(64, 64, kWidth));
}

TEST(NarrowChains, BehindNoise) {
    const auto program = [](const Tensors& a) {
        auto [i, j, c] = indices<3>({kSide, kSide, kWidth});
        const Tensor noise = perlin_noise(vec2(i * 0.05f + a[0](0), j * 0.05f + c * 7.3f));
        return Tensors{chain(reshape(noise, {kRows, kWidth}), a)};
    };
    expect_narrow(program, f32(4));
}

}  // namespace
}  // namespace firn
