// Verdicts follow the profile's rates, and say why.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "compiler/driver/explain.h"
#include "tests/schedule/compile_helpers.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

/// A blur of a value that costs something: recomputed at five places, or kept in memory.
Tensors blurred(const Tensors& a) {
    Tensor value = exp(a[0]) * tanh(a[0]);
    auto [i, j] = indices<2>(value.shape());
    return {value(i - 1, j) + value(i + 1, j) + value(i, j - 1) + value(i, j + 1)};
}

TEST(Verdict, AValueDearToRecomputeIsMaterialised) {
    auto program = program_for(cpu_profile(), blurred, {f32(512, 512)});
    EXPECT_EQ(verdict_of(*program, "Mul f32[512, 512]"), "materialised: dearer-recomputed");
}

TEST(Verdict, SlowMemoryMakesRecomputingCheaper) {
    DeviceProfile profile = cpu_profile();
    profile.bytes_per_second = 1e8;
    auto program = program_for(profile, blurred, {f32(512, 512)});
    EXPECT_EQ(verdict_of(*program, "Mul f32[512, 512]"), "inlined: cheaper-recomputed");
}

TEST(Verdict, DearLaunchesMakeRecomputingCheaper) {
    DeviceProfile profile = cpu_profile();
    profile.seconds_per_launch = 1;
    EXPECT_EQ(program_for(profile, blurred, {f32(512, 512)})->kernels.size(), 1u);
}

/// A value that is read at four places uses an expensive one twice.
Tensors blurred_of_two_uses(const Tensors& a) {
    Tensor word = exp(a[0]) * tanh(a[0]), value = max(word, 0.5f * word);
    auto [i, j] = indices<2>(value.shape());
    return {value(i - 1, j) + value(i + 1, j) + value(i, j - 1) + value(i, j + 1)};
}

TEST(Verdict, TheLastOfWhatServesItAloneIsMaterialised) {
    auto program = program_for(cpu_profile(), blurred_of_two_uses, {f32(512, 512)});
    EXPECT_EQ(verdict_of(*program, "Max f32[512, 512]"), "materialised: dearer-recomputed");
    EXPECT_EQ(program->kernels.size(), 2u);
}

/// Marks spread within a mask that three tensors make.
Tensors spread(const Tensors& a) {
    Tensor mask = max(a[1], a[2]) * a[3], x = a[0];
    for (Tensor sweep : loop(16)) {
        auto [i, j] = indices<2>(x.shape());
        x = min(mask, x + x(i - 1, j));
    }
    return {x};
}

TEST(Verdict, WhatSweepsReadFromMemoryIsOneTensorInsteadOfThree) {
    const ArgSpec large = f32(2048, 2048), small = f32(64, 64);
    auto program = program_for(cpu_profile(), spread, {large, large, large, large});
    EXPECT_EQ(verdict_of(*program, "Mul f32[2048, 2048]"), "materialised: dearer-recomputed");
    const int64_t passes = stats(*program, {}).bytes_read / (int64_t{4} * 2048 * 2048);
    EXPECT_EQ(passes, 1 + 3 + 16 * 2) << "a copy of what the loop starts with, the mask, sweeps";
    program = program_for(cpu_profile(), spread, {small, small, small, small});
    EXPECT_EQ(verdict_of(*program, "Mul f32[64, 64]"), "inlined: cheaper-recomputed");
}

/// The mask's parts are read anyway.
TEST(Verdict, WhatSweepsReadAnywayMakesNothingDearer) {
    const auto all = [](const Tensors& a) {
        Tensor mask = max(a[1], a[2]), x = a[0];
        for (Tensor sweep : loop(16)) {
            auto [i, j] = indices<2>(x.shape());
            x = min(mask, x + x(i - 1, j)) + a[1] * a[2];
        }
        return Tensors{x};
    };
    const ArgSpec large = f32(2048, 2048);
    auto program = program_for(cpu_profile(), all, {large, large, large});
    EXPECT_EQ(verdict_of(*program, "Max f32[2048, 2048]"), "inlined: cheaper-recomputed");
}

/// Four expensive numbers of each chosen cell.
Tensors chosen_rows(const Tensors& a) {
    std::vector<Tensor> parts;
    for (int k = 1; k <= 4; ++k) parts.push_back(max(exp(a[0] * float(k)) / a[1], tanh(a[1])));
    const Size cells = a[0].size(0) * a[0].size(1);
    return {compact(reshape(stack(parts, {.axis = 2}), {cells, 4}), reshape(a[0] > 1.0f, {cells}))};
}

TEST(Verdict, APartOfARowIsAskedWhereItStands) {
    auto program = program_for(cpu_profile(), chosen_rows, {f32(1000, 1000), f32(1000, 1000)});
    EXPECT_EQ(verdict_of(*program, "Max f32[1000, 1000]"), "inlined: asked-once");
}

/// The same of two tensors with two numbers each.
Tensors chosen_pairs(const Tensors& a) {
    const Tensor first = max(exp(a[0]) / a[1], tanh(a[1])), second = exp(a[1]) / a[0];
    const Size cells = a[0].size(0);
    return {compact(concat({first, second}, {.axis = 1}), indices<1>({cells})[0] % 3 == 0)};
}

TEST(Verdict, PartsAreNotAskedWhereOthersStand) {
    auto program = program_for(cpu_profile(), chosen_pairs, {f32(1000000, 2), f32(1000000, 2)});
    EXPECT_EQ(verdict_of(*program, "Max f32[1000000, 2]"), "inlined: cheaper-recomputed");
}

/// Sweeps over openings between cells: each is asked for at its own place and one further, and in
/// their sum.
Tensors swept(const Tensors& a) {
    Tensor x = a[0], left = a[1];
    for (Tensor iteration : loop(40)) {
        auto [i, j] = indices<2>(x.shape());
        Tensor right = zero(left)(i, j + 1);
        x = x + left * x(i, j - 1) + right * x(i, j + 1) - (left + right) * x;
    }
    return {x};
}

TEST(Verdict, WhatIsLoadedNextToWhatIsLoadedIsNotStored) {
    auto program = program_for(cpu_profile(), swept, {f32(512, 512), f32(512, 512)});
    EXPECT_EQ(program->kernels.size(), 1u) << explain(*program);
    const auto beside = [](const VerdictInfo& v) { return v.reason == "from-what-is-loaded"; };
    EXPECT_TRUE(std::any_of(program->verdicts.begin(), program->verdicts.end(), beside))
        << explain(*program);
}

/// A recurrence with rows of one tensor as weights.
Tensors weighed(const Tensors& a) {
    Tensor x = a[0];
    for (Tensor iteration : loop(1000)) x = tanh(x * a[1](2) + a[1](3)) / sum(x);
    return {x};
}

TEST(Verdict, RowsOfATensorAreReadWhereTheyLie) {
    DeviceProfile profile = cpu_profile();
    profile.seconds_per_launch = 0;  // a copy would cost next to nothing
    auto program = program_for(profile, weighed, {f32(14), f32(4, 14)});
    for (const VerdictInfo& v : program->verdicts)
        if (v.value == "Gather f32[14]") {
            EXPECT_EQ(v.verdict, "inlined") << explain(*program);
        }
    EXPECT_NE(verdict_of(*program, "Gather f32[14]"), "none");
}

/// A recurrence with the input of every step.
Tensors recurrent(const Tensors& a) {
    Tensor state = zeros({32, 512});
    for (Tensor iteration : loop(64))
        state = tanh(matmul(a[0](iteration), a[1]) + matmul(state, a[2]));
    return {state};
}

TEST(Verdict, APartAtOneNumberIsReadWhereItLies) {
    auto program =
        program_for(cpu_profile(), recurrent, {f32(64, 32, 128), f32(128, 512), f32(512, 512)});
    EXPECT_EQ(verdict_of(*program, "Gather f32[32, 128]").substr(0, 7), "inlined")
        << explain(*program);
}

TEST(Verdict, AnExplanationShowsTheCompetingCostsAndTheLine) {
    auto program = program_for(cpu_profile(), blurred, {f32(512, 512)});
    std::string report = explain(*program);
    EXPECT_NE(report.find("materialised: dearer-recomputed"), std::string::npos) << report;
    EXPECT_NE(report.find("materialise "), std::string::npos) << report;
    EXPECT_NE(report.find("verdict_test.cpp:"), std::string::npos) << report;
}

TEST(Verdict, WideningIsPartOfALoadOnAGpu) {
    auto product = [](const Tensors& a) { return Tensors{matmul(exp(a[0]), a[1])}; };
    const std::vector<ArgSpec> specs{f16(512, 512), f16(512, 512)};
    auto on_gpu = program_for(gpu_profile(), product, specs),
         on_cpu = program_for(cpu_profile(), product, specs);
    EXPECT_EQ(verdict_of(*on_gpu, "Cast f32[512, 512]"), "inlined: asked-once");
    EXPECT_EQ(verdict_of(*on_gpu, "Exp f16[512, 512]"), "materialised: dearer-recomputed");
    EXPECT_EQ(verdict_of(*on_cpu, "Cast f32[512, 512]"), "materialised: dearer-recomputed");
}

TEST(Verdict, ARowsMaximumIsStaged) {
    auto shifted = [](const Tensors& a) {
        return Tensors{a[0] - max(a[0], {.axis = 1, .keep_dims = true})};
    };
    auto program = program_for(cpu_profile(), shifted, {f32(4096, 512)});
    EXPECT_EQ(verdict_of(*program, "Reduce f32[4096]"), "staged: once-per-row");
}

using Number = Tensor (*)(const Tensor&, const Tensor&);

TEST(HostNumbers, WhatDependsOnNoIndexIsComputedOncePerCall) {
    auto decayed = [](const Tensors& a) {
        Tensor decay = exp(-a[1] * a[2]) / Tensor(a[0].size(0)).as(f32);
        return Tensors{a[0] * decay, a[0](index(a[0], 0) - 1) + decay};
    };
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        const auto program = program_for(profile, decayed, {f32("n"), f32(), f32()});
        EXPECT_EQ(program->steps.size(), 1u) << profile.name;
        EXPECT_EQ(program->host_scalars.size(), 7u);  // two arguments, a size, four operations
        for (const KernelInfo& kernel : program->kernels)
            EXPECT_EQ(kernel.artefact.text.find("exp"), std::string::npos) << kernel.artefact.text;
    }
}

TEST(HostNumbers, WhatCostsLessThanAParameterStays) {
    auto scaled = [](const Tensors& a) { return Tensors{a[0] * (a[1] * 2.0f + 1.0f)}; };
    EXPECT_TRUE(program_for(cpu_profile(), scaled, {f32("n"), f32()})->host_scalars.empty());
}

TEST(HostNumbers, HaveTheOraclesBits) {
    const Number numbers[] = {
        [](const Tensor& x, const Tensor& y) { return exp(x) + sqrt(y); },
        [](const Tensor& x, const Tensor& y) { return sin(x) * cos(y) - tan(x); },
        [](const Tensor& x, const Tensor& y) { return log(abs(x)) / exp2(y); },
        [](const Tensor& x, const Tensor& y) { return pow(x, y) + rsqrt(y); },
        [](const Tensor& x, const Tensor& y) { return tanh(min(x, y)) * max(x, log2(y)); },
        [](const Tensor& x, const Tensor& y) { return floor(x / y) - 1.0f / -y; },
    };
    for (const Number& number : numbers)
        for (const auto& [x, y] : std::vector<std::pair<float, float>>{
                 {0.7f, 3.1f}, {-2.5f, 0.3f}, {0, 0}, {-0.0f, -1}, {3e38f, 1e-30f}}) {
            const auto bits = [&](const Session& session) {
                SessionScope scope(session);
                auto f = compile(
                    [&](Tensor a, Tensor b, Tensor c) { return select(a > 0.0f, number(b, c), a); },
                    {f32(3), f32(), f32()});
                std::vector<uint32_t> out;
                for (float value : f(tensor({1.0f, 0.0f, 2.0f}), x, y).to_vector<float>())
                    out.push_back(std::isnan(value) ? 0 : std::bit_cast<uint32_t>(value));
                EXPECT_TRUE(!f.program() || !f.program()->host_scalars.empty());
                return out;
            };
            EXPECT_EQ(bits(Session::interpreter()), bits(Session::oracle()))
                << x << " " << y << " " << &number - numbers;
        }
}

/// Sweeps with weights of their own, in a loop of kernels.
Tensors relaxed_field(const Tensors& a) {
    auto [i, j] = indices<2>(a[0].shape());
    Tensor x = a[0];
    for (Tensor outer : loop(2))
        for (Tensor iteration : loop(outer, outer + a[1]))
            x += (x(i - 1, j) + x(i, j + 1) - x) /
                 (2.0f + cos((2 * iteration + 1).as(f32) / a[1].as(f32)) * exp(a[2]));
    return {x};
}

TEST(HostNumbers, ThoseOfATurnAreComputedByTheHost) {
    const auto program = program_for(cpu_profile(), relaxed_field, {f32(512, 512), i32(), f32()});
    int in_loops = 0;
    for_dispatches(program->steps, [&](const DispatchStep& step) {
        for (const ParamInfo& param : step.params) in_loops += param.scalar >= 3;
    });
    EXPECT_EQ(in_loops, 1);
    for (const KernelInfo& kernel : program->kernels)
        EXPECT_EQ(kernel.artefact.text.find("cos"), std::string::npos) << kernel.artefact.text;
}

TEST(HostNumbers, ThoseOfATurnAreRightInLoopsOfKernelsAndInSequences) {
    for (const auto& [n, steps] : std::vector<std::pair<int64_t, bool>>{{300, true}, {9, false}}) {
        const auto run = [&, n = n, loops = steps](const Session& session) {
            SessionScope scope(session);
            auto f = compile(
                [](Tensor x, Tensor iterations, Tensor rate) {
                    return relaxed_field({x, min(iterations, 20), rate})[0];
                },
                {f32(n, n), i32(), f32()});
            std::vector<float> out;
            for (int iterations : {3, 0, 2}) {
                const std::vector<float> next =
                    f(full({n, n}, 0.25f) * arange(n).as(f32), iterations, 0.3f).to_vector<float>();
                out.insert(out.end(), next.begin(), next.end());
            }
            if (f.program()) {
                const auto is_loop = [](const Step& step) {
                    return std::holds_alternative<RepeatStep>(step.step);
                };
                EXPECT_EQ(
                    std::any_of(f.program()->steps.begin(), f.program()->steps.end(), is_loop),
                    loops)
                    << n;
            }
            return out;
        };
        const std::vector<float> ours = run(Session::interpreter()),
                                 oracles = run(Session::oracle());
        ASSERT_EQ(ours.size(), oracles.size());
        for (size_t k = 0; k < ours.size(); ++k)
            ASSERT_NEAR(ours[k], oracles[k], 1e-5f + 1e-5f * std::abs(oracles[k]))
                << n << " at " << k;
    }
}

TEST(HostNumbers, TurnsOfALoopWithAnUnknownEndAreNoneOfThem) {
    const auto ended = [](const Session& session) {
        SessionScope scope(session);
        auto f = compile(
            [](Tensor x) {
                Tensor iteration = 0;
                while_([&] { return max(abs(x)) > 1.0f; },
                       [&] {
                           auto [i, j] = indices<2>(x.shape());
                           x = (x(i, j + 1) + x) * (0.3f + 0.1f * cos(iteration.as(f32)));
                           iteration += 1;
                       });
                return x;
            },
            {f32(64, 64)});
        return f(full({64, 64}, 100.0f)).to_vector<float>();
    };
    const std::vector<float> ours = ended(Session::interpreter()),
                             oracles = ended(Session::oracle());
    for (size_t k = 0; k < ours.size(); ++k) ASSERT_NEAR(ours[k], oracles[k], 1e-5f) << k;
}

/// Kernels by hand of `places` reads each of an expensive value.
template <int kernels, int places>
Tensors read_by_hand(const Tensors& a) {
    const Tensor value = 2.0f * a[0] + 1.0f;
    Tensors out;
    for (int k = 0; k < kernels; ++k) {
        Tensor sums = zeros({4096});
        kernel({4096}, [&](Tensor i) {
            Tensor sum = 0.0f;
            for (int n = 0; n < places; ++n) sum += value(i + 4096 * n);
            sums(i) = sum * float(k + 1);
        });
        out.push_back(sums);
    }
    return out;
}

TEST(Verdict, AccessesAreFollowedKernelByKernel) {
    const std::vector<ArgSpec> specs{f32(64 * 4096)};
    const std::string value = "Add f32[262144]";
    const DeviceProfile profile = cpu_profile();
    EXPECT_EQ(verdict_of(*program_for(profile, read_by_hand<4, 16>, specs), value),
              "inlined: cheaper-recomputed");
    EXPECT_EQ(verdict_of(*program_for(profile, read_by_hand<1, 64>, specs), value),
              "materialised: too-many-accesses");
    EXPECT_EQ(verdict_of(*program_for(profile, read_by_hand<20, 16>, specs), value),
              "materialised: too-many-accesses");
}

/// Each level reads four of the one before.
Tensors pyramid(const Tensors& a) {
    Tensor x = a[0];
    for (int level = 0; level < 5; ++level) {
        auto [i, j] = indices<2>({floor_div(x.size(0), 2), floor_div(x.size(1), 2)});
        x = sqrt(x(2 * i, 2 * j) + x(2 * i, 2 * j + 1) + x(2 * i + 1, 2 * j) +
                 x(2 * i + 1, 2 * j + 1));
    }
    return {x};
}

/// Returns the shapes of the values kept because they are read at too many places.
std::vector<std::string> kept_of_chain(Tensors (*chain)(const Tensors&), const ArgSpec& spec) {
    const auto program = program_for(cpu_profile(), chain, {spec});
    std::vector<std::string> out;
    for (const VerdictInfo& v : program->verdicts)
        if (v.reason == "too-many-accesses") out.push_back(v.value.substr(v.value.find(' ') + 1));
    return out;
}

/// The last level asks for 64 elements of the second, which are more than are followed: it is
/// cheaper to keep the third, of which it asks for 16.
TEST(Verdict, AChainIsCutWhereThatCostsLess) {
    EXPECT_EQ(kept_of_chain(pyramid, f32(2048, 2048)), std::vector<std::string>{"f32[256, 256]"});
}

/// Each level reads two of the first half of the one before, in two ways.
Tensors two_ways(const Tensors& a) {
    Tensor x = a[0];
    for (int level = 0; level < 7; ++level) {
        x = sin(slice(x, {.axis = 0, .begin = 0, .end = floor_div(x.size(0), 2)}));
        Tensor even = slice(x, {.axis = 0, .begin = 0, .step = 2}),
               odd = slice(x, {.axis = 0, .begin = 1, .step = 2});
        x = max(even + odd, even - odd);
    }
    return {x};
}

/// Neither the sums nor the differences alone lead to a value that is read at 64 places, and a half
/// is never kept by itself.
TEST(Verdict, AChainIsCutWhereAllOfItPasses) {
    EXPECT_EQ(kept_of_chain(two_ways, f32(1 << 22)), std::vector<std::string>{"f32[262144]"});
}

/// If they are small, one more launch costs more than the kept values.
TEST(Verdict, AChainOfSmallValuesIsCutWhereItHasToBe) {
    EXPECT_EQ(kept_of_chain(pyramid, f32(256, 256)), std::vector<std::string>{"f32[64, 64]"});
}

}  // namespace
}  // namespace firn
