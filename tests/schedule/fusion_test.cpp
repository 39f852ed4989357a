// Fusion, by counted kernels and operations.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/schedule/compile_helpers.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

Tensors wave(const Tensors& a) {
    Tensor u = a[0], v = a[1], dt = a[2];
    auto [i, j] = indices<2>(u.shape());
    Tensor next = v + dt * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0f * u);
    return {u + dt * next, next};
}

Tensors softmax(const Tensors& a) {
    Tensor most = max(a[0], {.axis = 1, .keep_dims = true});
    Tensor e = exp(a[0] - most);
    return {e / sum(e, {.axis = 1, .keep_dims = true})};
}

/// Counts kernels without those that fill the targets of stores.
int kernels_that_write(const Program& program) {
    const auto fills = [](const KernelInfo& k) { return k.bindings.size() == 1; };
    return int(program.kernels.size()) -
           int(std::count_if(program.kernels.begin(), program.kernels.end(), fills));
}

TEST(Fusion, TheWaveIsOneKernelWithTwoResults) {
    auto program = program_for(cpu_profile(), wave, {f32("n", "m"), f32("n", "m"), f32()});
    EXPECT_EQ(program->kernels.size(), 1u);
}

TEST(Fusion, TheWaveHasNoGuardButItsTail) {
    auto program = program_for(cpu_profile(), wave, {f32(1000, 1000), f32(1000, 1000), f32()});
    EXPECT_EQ(stats(*program, {}).guards, 1);
}

TEST(Fusion, TheWaveNeedsNoGuardWhereGroupsCoverIt) {
    auto program = program_for(cpu_profile(), wave, {f32(1024, 1024), f32(1024, 1024), f32()});
    EXPECT_EQ(stats(*program, {}).guards, 0);
}

TEST(Fusion, AChainOfElementwiseOperationsReadsAndWritesOnce) {
    auto chain = [](const Tensors& a) {
        Tensor x = a[0];
        for (int k = 0; k < 4; ++k) x = sin(x) * 1.5f;
        return Tensors{x};
    };
    ProgramStats s = stats(*program_for(cpu_profile(), chain, {f32(4096)}), {});
    EXPECT_EQ(s.kernels, 1);
    EXPECT_EQ(s.operations, 8 * 4096);
    EXPECT_EQ(s.bytes_read, 4 * 4096);
    EXPECT_EQ(s.bytes_written, 4 * 4096);
}

/// Three tensors read at a place that is expensive to compute; `further` chooses the other reads of
/// it.
template <class Further>
std::shared_ptr<const Program> sampled_program(Further further) {
    auto sampled = [&](const Tensors& a) {
        Tensor place = exp(tanh(sin(a[3]))) * 100.0f;
        auto [i, j] = indices<2>(place.shape());
        Tensors out;
        for (size_t k = 0; k < 3; ++k) out.push_back(a[k](i, cast<int>(place)));
        further(place, out);
        return out;
    };
    const ArgSpec field = f32(512, 512);
    return program_for(cpu_profile(), sampled, {field, field, field, field});
}

TEST(Fusion, WhatOnlyItsOwnKernelReadsIsNotStored) {
    auto program = sampled_program([](const Tensor&, Tensors&) {});
    EXPECT_EQ(program->kernels.size(), 1u);
    EXPECT_EQ(stats(*program, {}).bytes_written, 3 * 4 * 512 * 512);
    EXPECT_EQ(verdict_of(*program, "Cast i32[512, 512]"), "inlined: asked-in-its-kernel");
}

TEST(Fusion, WhatNeighboursReadTooIsStored) {
    auto program = sampled_program([](const Tensor& place, Tensors& out) {
        auto [i, j] = indices<2>(place.shape());
        out.push_back(place(i - 1, j) + place(i + 1, j));
    });
    EXPECT_EQ(program->kernels.size(), 2u);
    EXPECT_EQ(stats(*program, {}).bytes_written, 5 * 4 * 512 * 512);
}

/// Returns the seconds of a launch from which on `count` results of one expensive value, and of its
/// neighbours, are one kernel.
double launch_worth_recomputing(int count) {
    const auto results = [count](const Tensors& a) {
        Tensor dear = exp(a[0]) * tanh(a[0]);
        auto [i, j] = indices<2>(dear.shape());
        Tensors out;
        Tensor sum = 0.0f;
        for (int k = 0; k < count; ++k) {
            out.push_back(dear + static_cast<float>(k));
            sum = sum + out.back()(i - 1, j) + out.back()(i + 1, j);
        }
        out.push_back(sum);
        return out;
    };
    DeviceProfile profile = cpu_profile();
    for (profile.seconds_per_launch = 1e-6; profile.seconds_per_launch < 1;
         profile.seconds_per_launch *= 1.1)
        if (program_for(profile, results, {f32(512, 512)})->kernels.size() == 1)
            return profile.seconds_per_launch;
    return 1;
}

TEST(Fusion, WhatIsRecomputedForSeveralIsRecomputedOnce) {
    const double one = launch_worth_recomputing(1), three = launch_worth_recomputing(3);
    EXPECT_NEAR(three, one, 0.3 * one);
}

TEST(Fusion, SumsThatShareATermLeaveOneKernel) {
    auto sums = [](const Tensors& a) { return Tensors{a[0] + a[1] + a[2], a[0] + a[1] + a[3]}; };
    auto program =
        program_for(cpu_profile(), sums, {f32(64, 64), f32(64, 64), f32(64, 64), f32(64, 64)});
    EXPECT_EQ(program->kernels.size(), 1u);
    EXPECT_EQ(stats(*program, {}).operations, 3 * 64 * 64);
}

TEST(Fusion, ASoftmaxOverARowIsOneKernel) {
    EXPECT_EQ(program_for(cpu_profile(), softmax, {f32(4096, 4096)})->kernels.size(), 1u);
}

TEST(Fusion, ASoftmaxOfOneLongRowIsNotDoneByOneInvocation) {
    EXPECT_GT(program_for(cpu_profile(), softmax, {f32(1, 1 << 20)})->kernels.size(), 1u);
}

TEST(Fusion, AnActivationIsTheEpilogueOfTheMatmul) {
    auto layer = [](const Tensors& a) { return Tensors{tanh(matmul(a[0], a[1]))}; };
    auto program = program_for(cpu_profile(), layer, {f32(512, 512), f32(512, 512)});
    EXPECT_EQ(program->kernels.size(), 1u);
    EXPECT_EQ(stats(*program, {}).operations, 2 * 512 * 512 * 512 + 512 * 512);
}

TEST(Fusion, WhatGoesOnFromAProductIsStoredByItsKernel) {
    auto both = [](const Tensors& a) {
        Tensor product = matmul(a[0], a[1]), states = zeros({4, 512, 512});
        states(a[2]) = product;
        return Tensors{product, tanh(product), states};
    };
    auto program = program_for(cpu_profile(), both, {f32(512, 512), f32(512, 512), i32()});
    EXPECT_EQ(kernels_that_write(*program), 1) << explain(*program);
    // Combining stores have a kernel of their own form, and values that need all of them come
    // behind.
    auto others = [](const Tensors& a) {
        Tensor product = matmul(a[0], a[1]), count = zeros({8});
        scatter_add(count(cast<int>(product)), 1.0f);
        return Tensors{product, count, product + sum(product, {.axis = 0})};
    };
    program = program_for(cpu_profile(), others, {f32(512, 512), f32(512, 512)});
    EXPECT_EQ(kernels_that_write(*program), 4) << explain(*program);
}

TEST(Fusion, CostlyOperandsOfAMatmulAreNotEvaluatedPerProduct) {
    auto product = [](const Tensors& a) { return Tensors{matmul(sin(a[0]), cos(a[1]))}; };
    ProgramStats s =
        stats(*program_for(cpu_profile(), product, {f32(512, 512), f32(512, 512)}), {});
    EXPECT_LE(s.operations, 275'000'000);
}

TEST(Fusion, ALargeSumIsDoneInStages) {
    auto total = [](const Tensors& a) { return Tensors{sum(a[0])}; };
    auto program = program_for(cpu_profile(), total, {f32(1 << 24)});
    EXPECT_GE(program->steps.size(), 2u);
    EXPECT_LE(program->steps.size(), 4u);
}

bool lanes_share(const Program& program) {
    return std::all_of(
        program.kernels.begin(), program.kernels.end(), [](const KernelInfo& kernel) {
            return kernel.artefact.text.find("subgroupShuffleXor") != std::string::npos;
        });
}

TEST(Fusion, ALargeSumIsTwoStagesOfSubgroups) {
    auto total = [](const Tensors& a) { return Tensors{sum(a[0])}; };
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        auto program = program_for(profile, total, {f32(1 << 24)});
        EXPECT_EQ(program->steps.size(), 2u) << profile.name;
        EXPECT_TRUE(lanes_share(*program)) << profile.name;
    }
}

TEST(Fusion, LongRowsAreOneKernelWhoseLanesShare) {
    auto rows = [](const Tensors& a) { return Tensors{sum(a[0], {.axis = 1})}; };
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        auto program = program_for(profile, rows, {f32(4096, 4096)});
        EXPECT_EQ(program->kernels.size(), 1u) << profile.name;
        EXPECT_TRUE(lanes_share(*program)) << profile.name;
    }
}

TEST(Fusion, ASoftmaxOfLongRowsOnAGpuIsOneKernelWhoseLanesShare) {
    auto program = program_for(gpu_profile(), softmax, {f32(4096, 4096)});
    EXPECT_EQ(program->kernels.size(), 1u);
    EXPECT_TRUE(lanes_share(*program));
}

TEST(Fusion, SumsOfColumnsReadNeighboursTogether) {
    auto columns = [](const Tensors& a) { return Tensors{sum(a[0], {.axis = 0})}; };
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        auto program = program_for(profile, columns, {f32(65536, 64)});
        EXPECT_EQ(program->steps.size(), 2u) << profile.name;
        EXPECT_FALSE(lanes_share(*program)) << profile.name;
    }
}

TEST(Fusion, OnACpuColumnsThatWalkFromPageToPageAreSummedFewRowsAtATime) {
    auto columns = [](const Tensors& a) { return Tensors{sum(exp(a[0]), {.axis = 0})}; };
    EXPECT_EQ(program_for(cpu_profile(), columns, {f32(4096, 4096)})->steps.size(), 2u);
    EXPECT_EQ(program_for(cpu_profile(), columns, {f32(128, 4096)})->steps.size(), 1u);
    auto product = [](const Tensors& a) {
        return Tensors{sum(expand(a[0], {4096, 4096}) * expand(a[1], {4096, 4096}), {.axis = 0})};
    };
    EXPECT_EQ(program_for(cpu_profile(), product, {f32(4096, 1), f32(1, 4096)})->steps.size(), 1u);
}

/// Returns, by column of x and column of y, the sum over rows.
Tensors by_columns(const Tensors& a) { return {matmul(a[0].T(), a[1])}; }

TEST(Fusion, OnACpuProductsOfLongRowsThatGiveLittleAreSummedInRuns) {
    const auto kernels = [](const DeviceProfile& profile, int64_t rows, int64_t wide,
                            int64_t narrow) {
        return program_for(profile, by_columns, {f32(rows, wide), f32(rows, narrow)})
            ->kernels.size();
    };
    EXPECT_EQ(kernels(cpu_profile(), 10240, 2048, 10), 2u);
    EXPECT_EQ(kernels(gpu_profile(), 10240, 2048, 10), 1u);
    EXPECT_EQ(kernels(cpu_profile(), 10240, 2048, 1024), 1u) << "would leave as much behind";
    EXPECT_EQ(kernels(cpu_profile(), 10240, 64, 10), 1u) << "rows are short";
    EXPECT_EQ(kernels(cpu_profile(), 512, 2048, 10), 1u) << "rows are few";
}

TEST(Fusion, OnACpuProductsOfManyRowsAreSummedInRunsThatACoreHolds) {
    const auto kernels = [](int64_t rows, int64_t a, int64_t b) {
        return program_for(cpu_profile(), by_columns, {f32(rows, a), f32(rows, b)})->kernels.size();
    };
    EXPECT_EQ(kernels(32768, 48, 128), 2u);
    EXPECT_EQ(kernels(32768, 128, 16), 2u);
    EXPECT_EQ(kernels(4096, 48, 128), 1u) << "a core holds most of it";
    EXPECT_EQ(kernels(32768, 128, 12), 1u) << "rows are read once, by one tile";
    EXPECT_EQ(kernels(32768, 1024, 1024), 1u) << "would leave too much behind";
}

TEST(Fusion, OnACpuRunsServeProductsBehindChoices) {
    // This is the gradient by weights if an activation leaves out some of the results.
    const auto by_weights = [](const Tensors& a) {
        return Tensors{grad(sum(square(max(matmul(a[0], a[1]), 0.0f))), {a[1]})[0]};
    };
    const auto program = program_for(cpu_profile(), by_weights, {f32(32768, 48), f32(48, 128)});
    EXPECT_EQ(program->kernels.size(), 3u) << "the cotangents, runs, and what these leave";
}

TEST(Fusion, RunsOfAProductGiveWhatTheWholeGives) {
    const auto run = [](Session session) {
        SessionScope scope(std::move(session));
        // 4 runs and a remainder; whole numbers, whose sums are exact.
        const auto whole = [](const Shape& shape) {
            return reshape(cast<float>(arange(element_count(shape).constant()) * 7 % 11 - 5),
                           shape);
        };
        std::vector<float> out;
        for (auto [rows, a, b] : {std::array{1031, 1025, 2}, std::array{16411, 48, 17}}) {
            const auto f = compile([](Tensor x, Tensor y) { return matmul(x.T(), y); },
                                   {f32(rows, a), f32(rows, b)});
            for (float x : f(whole({rows, a}), whole({rows, b})).to_vector<float>())
                out.push_back(x);
        }
        return out;
    };
    EXPECT_EQ(run(Session::interpreter(cpu_profile())), run(Session::oracle()));
}

TEST(Fusion, WhatRunsLeaveNeedsNoKernelOfItsOwn) {
    auto total = [](const Tensors& a) { return Tensors{sum(a[0])}; };
    EXPECT_EQ(program_for(cpu_profile(), total, {f32((1 << 24) + 7)})->steps.size(), 2u);
}

TEST(Fusion, ADiamondHasTheBarriersItNeeds) {
    // Two reductions of one matmul, met by a third kernel: one barrier before each rank of the
    // diamond.
    auto diamond = [](const Tensors& a) {
        Tensor product = matmul(a[0], a[0]);
        Tensor rows = matmul(product, a[0]), columns = matmul(a[0], product);
        return Tensors{matmul(rows, columns)};
    };
    auto program = program_for(cpu_profile(), diamond, {f32(64, 64)});
    EXPECT_EQ(stats(*program, {}).barriers, 2);
}

TEST(SplitReductions, LookAtAValueOnceHoweverManyWaysLeadToIt) {
    // 2^64 ways lead from the sum to the argument, which is another one's expansion.
    auto doubled = [](const Tensors& a) {
        Tensor x = expand(reshape(a[0], {1, 4096}), {8192, 4096});
        for (int k = 0; k < 64; ++k) x = sin(x) * x;
        return Tensors{sum(x, {.axis = 0})};
    };
    EXPECT_GT(stats(*program_for(cpu_profile(), doubled, {f32(4096)}), {}).operations, 0);
}

}  // namespace
}  // namespace firn
