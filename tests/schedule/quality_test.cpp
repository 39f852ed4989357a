// The fusion of whole programs, counted: kernels and operations of the shapes that people write.
#include <gtest/gtest.h>

#include <array>

#include "compiler/algorithms/conv.h"
#include "compiler/frontend/statistics.h"
#include "compiler/learning/pooling.h"
#include "tests/schedule/compile_helpers.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

/// The tanh form.
Tensor gelu(const Tensor& x) {
    return 0.5f * x * (1.0f + tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
}

TEST(Quality, GeluIsNotEvaluatedForEveryProductOfAMatmul) {
    auto layer = [](const Tensors& a) { return Tensors{matmul(gelu(a[0]), a[1])}; };
    auto program = program_for(cpu_profile(), layer, {f32(512, 512), f32(512, 512)});
    EXPECT_LE(stats(*program, {}).operations, 275'000'000);
}

/// Seven operations for each cell.
Tensor stencil(const Tensor& u) {
    auto [i, j] = indices<2>(u.shape());
    return u + 0.1f * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0f * u);
}

TEST(Quality, ThreeStencilStepsDoTheirWorkOnce) {
    auto steps = [](const Tensors& a) { return Tensors{stencil(stencil(stencil(a[0])))}; };
    auto program = program_for(cpu_profile(), steps, {f32(256, 256)});
    EXPECT_LE(stats(*program, {}).operations, 1'450'000);
}

TEST(Quality, ALayernormIsOneKernel) {
    auto norm = [](const Tensors& a) {
        Tensor centred = a[0] - mean(a[0], {.axis = 1, .keep_dims = true});
        Tensor spread = mean(centred * centred, {.axis = 1, .keep_dims = true});
        return Tensors{centred * rsqrt(spread + 1e-5f) * a[1] + a[2]};
    };
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()})
        EXPECT_EQ(program_for(profile, norm, {f32(1024, 768), f32(768), f32(768)})->steps.size(),
                  1u)
            << profile.name;
}

TEST(Quality, SoftmaxAndLogsumexpAreOneKernelEach) {
    auto soft = [](const Tensors& a) { return Tensors{softmax(a[0])}; };
    auto sums = [](const Tensors& a) { return Tensors{logsumexp(a[0], {.axis = 1})}; };
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        EXPECT_EQ(program_for(profile, soft, {f32(1024, 768)})->steps.size(), 1u) << profile.name;
        EXPECT_EQ(program_for(profile, sums, {f32(1024, 768)})->steps.size(), 1u) << profile.name;
    }
}

/// Attention as a user would write it, over any leading dimensions.
Tensors attention(const Tensors& a, bool causal) {
    const int rank = static_cast<int>(a[0].shape().size());
    Tensor scores = matmul(a[0], transpose(a[1], rank - 2, rank - 1)) * (1.0f / 8.0f);
    if (causal) {
        const Size n = a[0].shape()[static_cast<size_t>(rank - 2)];
        scores = select(arange(n) <= reshape(arange(n), {n, 1}), scores, -1e30f);
    }
    return {matmul(softmax(scores), a[2])};
}

TEST(Quality, AttentionIsTwoKernels) {
    const std::vector<Shape> shapes = {{512, 64}, {100, 48}, {4, 8, 128, 32}, {2, 1024, 64}};
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()})
        for (const Shape& shape : shapes)
            for (const bool causal : {false, true}) {
                ArgSpec spec = f32(1);
                spec.shape = shape;
                auto program =
                    program_for(profile, [&](const Tensors& a) { return attention(a, causal); },
                                {spec, spec, spec});
                EXPECT_LE(program->steps.size(), 2u)
                    << profile.name << " " << text(shape) << (causal ? " causal" : "");
            }
}

TEST(Quality, AttentionEvaluatesEachExponentialOnce) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        auto program = program_for(profile, [](const Tensors& a) { return attention(a, false); },
                                   {f32(512, 64), f32(512, 64), f32(512, 64)});
        // Two products; a scale, a maximum, a difference, an exponential, a sum and a quotient.
        EXPECT_LE(stats(*program, {}).operations, 2 * 2 * 512 * 512 * 64 + 6 * 512 * 512)
            << profile.name;
    }
}

TEST(Quality, AdamsUpdateOfASmallNetworkIsFewKernels) {
    const std::vector<Shape> shapes = {{784, 128}, {128}, {128, 64}, {64},
                                       {64, 32},   {32},  {32, 10},  {10}};
    std::vector<ArgSpec> specs;
    for (int what = 0; what < 4; ++what)  // weight, gradient, mean, mean of squares
        for (const Shape& s : shapes) specs.push_back(s.size() == 2 ? f32(s[0], s[1]) : f32(s[0]));
    specs.push_back(f32());
    auto update = [&](const Tensors& a) {
        const size_t n = shapes.size();
        const Tensor& rate = a[4 * n];
        Tensors weights, means, squares;
        for (size_t k = 0; k < n; ++k) {
            const Tensor &w = a[k], &g = a[n + k];
            Tensor m = 0.9f * a[2 * n + k] + 0.1f * g, v = 0.999f * a[3 * n + k] + 0.001f * g * g;
            weights.push_back(w - rate * m / (sqrt(v) + 1e-8f));
            means.push_back(m), squares.push_back(v);
        }
        weights.insert(weights.end(), means.begin(), means.end());
        weights.insert(weights.end(), squares.begin(), squares.end());
        return weights;
    };
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()})
        EXPECT_LE(program_for(profile, update, specs)->steps.size(), 2u) << profile.name;
}

TEST(Quality, AnArgmaxIsOneKernel) {
    auto most = [](const Tensors& a) { return Tensors{argmax(a[0], {.axis = 1})}; };
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()})
        EXPECT_EQ(program_for(profile, most, {f32(1024, 768)})->steps.size(), 1u) << profile.name;
}

TEST(Quality, ConvolutionBiasNormAndActivationAreOneKernel) {
    auto block = [](const Tensors& a) {
        auto channel = [&](size_t k) { return reshape(a[k], {1, 16, 1, 1}); };
        Tensor y = conv2d(a[0], a[1], {.padding = 1}) + channel(2);
        y = (y - channel(3)) * rsqrt(channel(4) + 1e-5f) * channel(5) + channel(6);
        return Tensors{max(y, 0.0f)};
    };
    auto program = program_for(
        cpu_profile(), block,
        {f32(4, 8, 64, 64), f32(16, 8, 3, 3), f32(16), f32(16), f32(16), f32(16), f32(16)});
    EXPECT_EQ(program->steps.size(), 1u);
}

TEST(Quality, ResultsOfALoopWithALongBodyAreOneKernel) {
    auto rolled = [](const Tensors& a) {
        std::array<Tensor, 3> v{a[0], a[0] + 1.0f, a[0] + 2.0f};
        for (Tensor iteration : loop(4))
            for (size_t k = 0; k < 800; ++k) v[k % 3] = v[k % 3] * 0.5f + v[(k + 1) % 3];
        return Tensors{a[0] + v[0], a[0] + v[1], a[0] + v[2]};
    };
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()})
        EXPECT_EQ(program_for(profile, rolled, {f32(64, 64)})->steps.size(), 1u) << profile.name;
}

TEST(Quality, SumsOverAllPairsLeaveFewPartialSums) {
    DeviceProfile cpu = cpu_profile();
    cpu.subgroup_shuffle = false;
    for (const DeviceProfile& profile : {cpu, cpu_profile(), gpu_profile()}) {
        auto program = program_for(profile,
                                   [](const Tensors& x) {
                                       Tensor d = unsqueeze(x[0], 1) - unsqueeze(x[0], 0);
                                       return Tensors{sum(d * d)};
                                   },
                                   {f32(65536)});
        for (const BufferInfo& buffer : program->buffers)
            EXPECT_LE(buffer.elements.constant(), 1 << 22) << profile.name;
    }
}

/// The sum of products of `count` pairs of matrices, [k, m]^T and [k, n] each. `chosen`: only terms
/// whose right factor is not 0, as behind a select in a gradient.
ProgramStats stats_of_summed_products(const DeviceProfile& profile, int64_t count, int64_t m,
                                      int64_t k, int64_t n, bool chosen = false) {
    const auto function = [=](const Tensors& a) {
        Tensor out = 0.0f;
        for (size_t p = 0; p < a.size(); p += 2) {
            if (chosen) {
                auto [i, j, t] = indices<3>({m, n, k});
                const Tensor left = a[p](t, i), right = a[p + 1](t, j);
                out = out + sum(select(right == 0.0f, 0.0f, left * right), {.axis = 2});
            } else {
                out = out + matmul(transpose(a[p]), a[p + 1]);
            }
        }
        return Tensors{out};
    };
    std::vector<ArgSpec> specs;
    for (int64_t p = 0; p < count; ++p) specs.insert(specs.end(), {f32(k, m), f32(k, n)});
    return stats(*program_for(profile, function, specs), {});
}

TEST(Quality, EachOfSeveralLargeProductsHasAKernelOfItsOwn) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        const ProgramStats summed = stats_of_summed_products(profile, 5, 1024, 1024, 1024);
        EXPECT_EQ(summed.dispatches, 5) << profile.name;
        // The first stores, the others add to the stored value.
        EXPECT_EQ(summed.kernels, 2) << profile.name;
        EXPECT_EQ(stats_of_summed_products(profile, 5, 32, 32, 32).dispatches, 1) << profile.name;
        EXPECT_EQ(stats_of_summed_products(profile, 5, 1024, 1024, 1024, true).dispatches, 5)
            << profile.name;
    }
}

TEST(Quality, ProductsThatShareAFactorStayInOneKernel) {
    const auto gated = [](const Tensors& a) {
        return Tensors{max(matmul(a[0], a[1]), 0.0f) * matmul(a[0], a[2])};
    };
    const auto program =
        program_for(cpu_profile(), gated, {f32(512, 512), f32(512, 512), f32(512, 512)});
    EXPECT_EQ(program->steps.size(), 1u);
}

/// The gradient by weights and picture of a convolution whose window is one axis, or two.
ProgramStats stats_of_window(bool counted_as_one) {
    const auto f = [&](const Tensors& a) {
        const int k = 5, side = 8;
        Tensor y;
        if (counted_as_one) {
            auto [b, i, j, o, c, at] = indices<6>({32, side, side, 16, 4, k * k});
            y = sum(a[0](b, i + at % k, j + at / k, c) * a[1](o, c, at % k, at / k),
                    {.axis = {4, 5}});
        } else {
            auto [b, i, j, o, c, q, p] = indices<7>({32, side, side, 16, 4, k, k});
            y = sum(a[0](b, i + p, j + q, c) * a[1](o, c, p, q), {.axis = {4, 5, 6}});
        }
        return grad(sum(y * a[2]), {a[0], a[1]});
    };
    return stats(
        *program_for(cpu_profile(), f, {f32(32, 12, 12, 4), f32(16, 4, 5, 5), f32(32, 8, 8, 16)}),
        {});
}

TEST(Quality, AWindowThatIsCountedAsOneAxisCostsNoMoreThanTwo) {
    const ProgramStats one = stats_of_window(true), two = stats_of_window(false);
    EXPECT_LE(one.operations, two.operations * 1.001);
    EXPECT_EQ(one.dispatches, two.dispatches);
    EXPECT_EQ(one.bytes_read + one.bytes_written, two.bytes_read + two.bytes_written);
}

TEST(Quality, TheGradientOfPoolingReadsEachElementOnce) {
    const auto pooled = [](const Tensors& a) {
        return Tensors{grad(sum(max_pool2d(a[0], 2) * a[1]), a[0])};
    };
    for (const int64_t side : {14, 28}) {
        const auto program = program_for(cpu_profile(), pooled,
                                         {f32(8, 4, side, side), f32(8, 4, side / 2, side / 2)});
        EXPECT_LE(stats(*program, {}).operations, 8 * 4 * side * side * 20) << side;
    }
}

/// How long points of a Julia set stay near, in a loop that ends where a point leaves or a count
/// is reached.
Tensor steps_until_it_leaves(const Tensor& angle) {
    auto [i, j] = indices<2>({64, 32});
    const Tensor at = 0.2f * cos(angle);
    Tensor x = i.as(f32) / 16.0f - 2.0f, y = j.as(f32) / 16.0f - 1.0f, steps = zeros({64, 32}, i32);
    while_([&] { return (x * x + y * y < 400.0f) & (steps < 50); },
           [&] {
               const Tensor next = x * x - y * y - 0.8f;
               y = 2.0f * x * y + at, x = next, steps += 1;
           });
    return steps;
}

TEST(Quality, ALoopThatACountEndsIsOneKernel) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        const auto program = program_for(
            profile, [](const Tensors& a) { return steps_until_it_leaves(a[0]); }, {f32()});
        EXPECT_EQ(program->steps.size(), 1u) << profile.name;
    }
    const auto run = [](const Session& session) {
        SessionScope scope(session);
        return steps_until_it_leaves(full({}, 0.3f)).to_vector<int>();
    };
    EXPECT_EQ(run(Session::interpreter()), run(Session::oracle()));
}

/// Five layers that share their weights: the gradient of the mean square by those.
Tensor gradient_of_shared_weights(const Tensors& a, bool recorded) {
    Tensor x = a[0];
    if (recorded)
        for (Tensor k : loop(5)) x = tanh(matmul(x, a[1]) + a[2]);
    else
        for (int k = 0; k < 5; ++k) x = tanh(matmul(x, a[1]) + a[2]);
    return grad(mean(square(x)), a[1]);
}

TEST(Quality, TheGradientOfWeightsThatALoopSharesIsSummedOverSamplesFirst) {
    const auto counted = [](bool recorded) {
        const auto function = [=](const Tensors& a) {
            return Tensors{gradient_of_shared_weights(a, recorded)};
        };
        return stats(*program_for(cpu_profile(), function, {f32(2048, 64), f32(64, 64), f32(64)}),
                     {});
    };
    const ProgramStats loop = counted(true), plain = counted(false);
    // States, and the results of the layers' products.
    EXPECT_LE(loop.peak_bytes, plain.peak_bytes * 3 / 2);
    EXPECT_LE(loop.bytes_written, 2 * plain.bytes_written);
    EXPECT_LE(static_cast<double>(loop.operations), 1.1 * static_cast<double>(plain.operations))
        << "products are computed again";
}

}  // namespace
}  // namespace firn
