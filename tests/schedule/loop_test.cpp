// Recorded loops run inside a kernel, or as steps of kernels with rotating buffers.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/program/walk_steps.h"
#include "tests/schedule/compile_helpers.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

/// Bodies in which only an index differs: `reach` 0 reads the element itself, 1 its neighbour.
auto relaxed(int reach) {
    return [reach](const Tensors& a) {
        Tensor x = a[0];
        for (Tensor iteration : loop(10)) {
            auto [i, j] = indices<2>(x.shape());
            x = 0.5f * x + 0.5f * x(i, j + reach);
        }
        return Tensors{x};
    };
}

TEST(Loop, ABodyOfItsOwnElementStaysInOneKernel) {
    ProgramStats s = stats(*program_for(cpu_profile(), relaxed(0), {f32(64, 64)}), {});
    EXPECT_EQ(s.kernels, 1);
    EXPECT_EQ(s.dispatches, 1);
    EXPECT_EQ(s.peak_bytes, 0);
}

TEST(Loop, ABodyThatReadsANeighbourIsALoopOfKernelsWithTwoBuffers) {
    auto program = program_for(cpu_profile(), relaxed(1), {f32(640, 640)});
    ProgramStats s = stats(*program, {});
    EXPECT_EQ(s.kernels, 1);
    EXPECT_EQ(s.dispatches, 10);
    EXPECT_EQ(s.peak_bytes, 640 * 640 * 4);  // beside the result's own memory
}

TEST(Loop, ItsBodyWritesConstantsThatItBeginsWith) {
    auto counted = [](const Tensors& a) {
        Tensor x = a[0], zero = zeros({640, 640}), sums = zero;
        for (Tensor k : loop(10)) {
            auto [i, j] = indices<2>(x.shape());
            x = select(x < zero, zero, x(i, j + 1));
            sums += x;
        }
        return Tensors{x, sums};
    };
    auto program = program_for(cpu_profile(), counted, {f32(640, 640)});
    const std::string& step = program->kernels.back().artefact.text;
    // The tensor itself, its neighbours, and the sums: no tensor of zeros.
    size_t loaded = 0;
    for (size_t at = 0; (at = step.find(" readonly uniform imageBuffer", at)) != step.npos; ++at)
        ++loaded;
    EXPECT_EQ(loaded, 3u) << step;
}

TEST(Loop, LeapfrogRotatesTwoBuffersAndWritesOverTheOldest) {
    auto leapfrog = [](const Tensors& a) {
        Tensor before = a[0], now = a[1];
        for (Tensor iteration : loop(7)) {
            auto [i, j] = indices<2>(now.shape());
            Tensor next = 2.0f * now - before + 0.1f * (now(i, j - 1) + now(i, j + 1));
            before = now;
            now = next;
        }
        return Tensors{before, now};
    };
    ProgramStats s =
        stats(*program_for(cpu_profile(), leapfrog, {f32(640, 640), f32(640, 640)}), {});
    EXPECT_EQ(s.kernels, 1);
    EXPECT_EQ(s.dispatches, 7);
    EXPECT_EQ(s.peak_bytes, 0);  // beside the two results
}

/// The second update reads neighbours of the first one's result.
Tensors staggered(const Tensors& a) {
    Tensor u = a[0], v = a[1];
    for (Tensor iteration : loop(10)) {
        auto [i, j] = indices<2>(u.shape());
        v = v + 0.1f * u;
        u = u + 0.1f * (v(i, j - 1) + v(i, j + 1) + v(i - 1, j) + v(i + 1, j));
    }
    return Tensors{u, v};
}

TEST(Loop, WhatNeighboursReadIsComputedAgainWhereThatIsLessThanALaunch) {
    auto program = program_for(cpu_profile(), staggered, {f32(192, 192), f32(192, 192)});
    EXPECT_EQ(stats(*program, {}).dispatches, 10);
    const auto again = [](const VerdictInfo& v) {
        return v.reason == "carried-by-loop, recomputed-at-neighbours";
    };
    EXPECT_EQ(std::count_if(program->verdicts.begin(), program->verdicts.end(), again), 1);
}

TEST(Loop, WhatNeighboursReadIsLoadedWhereThatIsMoreThanALaunch) {
    auto program = program_for(cpu_profile(), staggered, {f32(2048, 2048), f32(2048, 2048)});
    EXPECT_GE(stats(*program, {}).dispatches, 20);
}

/// Copies among steps, those in repeats counted once.
int copies_in(const std::vector<Step>& steps) {
    int copies = 0;
    for (const Step& step : steps) {
        copies += std::holds_alternative<CopyStep>(step.step);
        if (const auto* repeat = std::get_if<RepeatStep>(&step.step))
            copies += copies_in(repeat->body);
    }
    return copies;
}

TEST(Loop, AnInnerLoopGoesOnInTheMemoryOfTheOuterOne) {
    auto nested = [](const Tensors& a) {
        Tensor x = a[0];
        for (Tensor cycle : loop(3)) x = relaxed(1)({x})[0] + 1.0f;
        return Tensors{x};
    };
    // The only copy is of the argument, which must not change.
    EXPECT_EQ(copies_in(program_for(cpu_profile(), nested, {f32(640, 640)})->steps), 1);
}

TEST(Loop, AnInnerLoopLeavesWhatTheOuterOneAsksForAgain) {
    auto nested = [](const Tensors& a) {
        Tensor x = a[0];
        for (Tensor cycle : loop(3)) x = relaxed(1)({x})[0] + x(0, 0);
        return Tensors{x};
    };
    EXPECT_EQ(copies_in(program_for(cpu_profile(), nested, {f32(640, 640)})->steps), 2);
}

TEST(Loop, BackEdgesStayBelowTheDriversLimit) {
    auto longer = [](const Tensors& a) {
        Tensor x = a[0];
        for (Tensor iteration : loop(1'000'000)) x = 0.5f * x + 1.0f;
        return Tensors{x};
    };
    auto program = program_for(cpu_profile(), longer, {f32(64)});
    for (const KernelInfo& kernel : program->kernels) {
        EXPECT_GE(kernel.back_edges, 0);
        EXPECT_LE(kernel.back_edges, 65535);
    }
}

TEST(Loop, ADriverWithoutALimitKeepsALongLoopWhole) {
    auto longer = [](const Tensors& a) {
        Tensor x = a[0];
        for (Tensor iteration : loop(1'000'000)) x = 0.5f * x + 1.0f;
        return Tensors{x};
    };
    EXPECT_EQ(stats(*program_for(gpu_profile(), longer, {f32(64)}), {}).dispatches, 1);
}

TEST(Loop, TurnsThatOnlyTheDataKnowsStayBelowTheDriversLimit) {
    auto counted = [](const Tensors& a) {
        Tensor x = 0.0f;
        for (Tensor iteration : loop(sum(a[0]))) x += 1.0f;
        return Tensors{x};
    };
    auto program = program_for(cpu_profile(), counted, {i32(8)});
    for (const KernelInfo& kernel : program->kernels) {
        EXPECT_GE(kernel.back_edges, 0);
        EXPECT_LE(kernel.back_edges, 65535);
    }
    EXPECT_FALSE(can_be_flat(*program, {}));
}

TEST(Loop, WithoutALimitIterationsThatOnlyTheDataKnowsStayInOneKernel) {
    auto counted = [](const Tensors& a) {
        Tensor x = a[1];
        for (Tensor iteration : loop(sum(a[0]))) x = x * 0.5f + 1.0f;
        return Tensors{x};
    };
    auto program = program_for(gpu_profile(), counted, {i32(8), f32(64)});
    EXPECT_TRUE(can_be_flat(*program, {}));
}

TEST(Loop, LevelsOfAPyramidShareKernels) {
    auto pyramid = [](const Tensors& a) {
        Tensor x = a[0];
        for (int level = 0; level < 3; ++level) {
            auto [i, j] = indices<2>({ceil_div(x.size(0), 2), ceil_div(x.size(1), 2)});
            x = matmul(x(2 * i, 2 * j) + x(2 * i + 1, 2 * j), x(2 * i, 2 * j));
        }
        return Tensors{x};
    };
    auto program = program_for(cpu_profile(), pyramid, {f32("n", "n")});
    EXPECT_LT(program->kernels.size(),
              static_cast<size_t>(stats(*program, {{"n", 4096}}).dispatches));
}

/// A loop whose body alone is as much as a kernel may hold.
Tensor large_loop(const Tensor& x, const Tensor& iterations) {
    Tensor y = x;
    for (Tensor iteration : loop(iterations))
        for (int k = 0; k < 800; ++k) y = sin(y) * (1.0f + 0.001f * float(k)) + x;
    return y;
}

TEST(Loop, WhatTheInnerIterationsAskOnceIsNotKeptForTheOuterOnes) {
    auto cycles = [](const Tensors& a) {
        Tensor x = a[0];
        auto [i, j] = indices<2>(x.shape());
        for (Tensor cycle : loop(a[1])) {
            Tensor source = x;
            for (Tensor sweep : loop(a[2])) {
                Tensor around =
                    0.2f * x(i, j - 1) + 0.3f * x(i, j + 1) + sqrt(x(i - 1, j)) + sqrt(x(i + 1, j));
                x += (around - source) / 4.0f;
            }
            x = x(j, i) + cast<float>(cycle);
        }
        return Tensors{x};
    };
    auto program = program_for(cpu_profile(), cycles, {f32(256, 256), i32(), i32()});
    for (const VerdictInfo& v : program->verdicts)
        EXPECT_NE(v.reason, "dearer-recomputed") << v.value;
}

TEST(Loop, ABoundThatTheHostKnowsStaysAParameterInALargeKernel) {
    auto large = [](const Tensors& a) {
        Tensor iterations = min(a[1], 12) + 1;
        return Tensors{large_loop(a[0], iterations)};
    };
    auto program = program_for(cpu_profile(), large, {f32(64), i32()});
    EXPECT_EQ(program->steps.size(), 1u);
    ASSERT_EQ(program->kernels.size(), 1u);
    EXPECT_EQ(program->kernels[0].back_edges, 13);
}

TEST(Loop, ABoundInMemoryKeepsItsInterval) {
    auto large = [](const Tensors& a) { return Tensors{large_loop(a[0], min(max(a[1]), 12))}; };
    auto program = program_for(cpu_profile(), large, {f32(64), i32(64)});
    EXPECT_EQ(program->kernels.back().back_edges, 12);
}

TEST(Loop, AllResultsOfALoopInAKernelLeaveOneKernel) {
    auto starts = [](const Tensors& a) {
        Tensor x = a[0], iterations = zeros({1024}, i32);
        for (Tensor iteration : loop(min(a[1], 900))) {
            x = x * x + a[0];
            iterations += 1;
            if_(x > 16.0f, [&] { break_(); });
        }
        auto [n, k] = indices<2>({1024, 32});
        Tensor spread = sin(x(n) + cast<float>(k)) * cast<float>(iterations(n));
        return Tensors{x, spread};
    };
    auto program = program_for(cpu_profile(), starts, {f32(1024), i32()});
    int holding = 0;  // kernels that run the iterations
    for (const KernelInfo& kernel : program->kernels) holding += kernel.back_edges > 0;
    EXPECT_EQ(holding, 1);
}

}  // namespace
}  // namespace firn
