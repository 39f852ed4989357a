// Values that are joined from parts are stored part by part, by one kernel that computes them once.
#include <gtest/gtest.h>

#include "tests/emitting.h"
#include "tests/schedule/compile_helpers.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

/// Nine waves that share an expensive value.
Tensors waves(const Tensor& x) {
    Tensor shared = sin(x) * cos(2.0f * x);
    Tensors out;
    for (int k = 0; k < 9; ++k) out.push_back(sin(float(k) * x) + shared);
    return out;
}

std::vector<float> numbers(int64_t count) {
    std::vector<float> out;
    for (int64_t k = 0; k < count; ++k) out.push_back(float(k % 97) / 31.0f - 1.5f);
    return out;
}

/// Returns the result of `f` for numbers of `shape` by the oracle and by kernels for `profile`.
template <class F>
void expect_agreement(F f, const Shape& shape) {
    const auto run = [&](const Session& session) {
        SessionScope scope(session);
        const int64_t count = element_count(shape).constant();
        return Tensor(f(tensor(numbers(count), shape))).to_vector<float>();
    };
    const std::vector<float> expected = run(Session::oracle());
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        const std::vector<float> got = run(Session::interpreter(profile));
        ASSERT_EQ(got.size(), expected.size());
        for (size_t k = 0; k < got.size(); ++k)
            ASSERT_NEAR(got[k], expected[k], 1e-4) << k << " for " << profile.name;
    }
}

TEST(StoreParts, OneKernelComputesWhatPartsShareOnce) {
    const auto f = [](const Tensors& a) { return Tensors{stack(waves(a[0]))}; };
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        const auto program = program_for(profile, f, {f32(1024, 1024)});
        EXPECT_EQ(program->kernels.size(), 1u) << profile.name;
        EXPECT_EQ(stats(*program, {}).bytes_written, 9 * 4 << 20) << profile.name;
        const std::string& glsl = program->kernels[0].artefact.text;
        EXPECT_EQ(glsl.find("<", glsl.find("main")), std::string::npos)
            << "a part is chosen, or guarded, by its index:\n"
            << glsl;
    }
}

TEST(StoreParts, GivesWhatAChoiceGives) {
    expect_agreement([](const Tensor& x) { return stack(waves(x)); }, {256, 128});
    expect_agreement([](const Tensor& x) { return stack(waves(x), {.axis = 1}); }, {128, 256});
    expect_agreement([](const Tensor& x) { return concat(waves(x)); }, {33, 1001});
    expect_agreement([](const Tensor& x) { return concat(waves(x), {.axis = -1}); }, {101, 300});
}

TEST(StoreParts, OfAnySize) {
    SessionScope scope(emitting());
    const auto f = compile([](Tensor x) { return concat(waves(x), {.axis = 1}); }, {f32("h", "w")});
    for (const auto& [h, w] : {std::pair{300, 200}, {1, 40000}, {40000, 1}, {7, 3}, {0, 5}}) {
        const Tensor x = tensor(numbers(int64_t(h) * w), {h, w});
        const std::vector<float> got = f(x).to_vector<float>();
        SessionScope oracle(Session::oracle());
        const std::vector<float> expected =
            concat(waves(tensor(numbers(int64_t(h) * w), {h, w})), {.axis = 1}).to_vector<float>();
        ASSERT_EQ(got.size(), expected.size());
        for (size_t k = 0; k < got.size(); ++k)
            ASSERT_NEAR(got[k], expected[k], 1e-4) << h << " x " << w << " at " << k;
    }
}

TEST(StoreParts, WhatALoopOfKernelsCarries) {
    expect_agreement(
        [](const Tensor& x) {
            Tensor state = stack({x, x, x, x});
            for (Tensor k : loop(3)) {
                auto [i, j] = indices<2>({state.size(1), state.size(2)});
                Tensor mean = 0.25f * (state(0, i, j) + wrap(state)(1, i - 1, j));
                Tensors next;
                for (int part = 0; part < 4; ++part)
                    next.push_back(sin(float(part) * mean) + roll(mean, part, {.axis = 0}));
                state = stack(next);
            }
            return state;
        },
        {200, 300});
}

TEST(StoreParts, PartsThatNeighboursDoNotShareStayAChoice) {
    // Elements of parts lie side by side: each load of four has four parts.
    const auto f = [](const Tensors& a) { return Tensors{stack(waves(a[0]), {.axis = -1})}; };
    const auto program = program_for(cpu_profile(), f, {f32(1024, 1024)});
    EXPECT_EQ(verdict_of(*program, "Scatter f32[1024, 1024, 9]"), "none");
}

TEST(StoreParts, OfAKernelThatComputesNothingElseNeedNotBeDear) {
    // 9 x 4 KiB: far less work than a launch.
    const auto alone = [](const Tensors& a) {
        return Tensors{stack(waves(a[0])), stack(waves(a[0] + 1.0f))};
    };
    const auto beside = [](const Tensors& a) {
        const Tensor all = stack(waves(a[0]));
        return Tensors{all, exp(all)};
    };
    const auto of_parts = program_for(cpu_profile(), alone, {f32(16, 64)});
    EXPECT_NE(verdict_of(*of_parts, "Scatter f32[9, 16, 64]"), "none");
    EXPECT_EQ(of_parts->kernels.size(), 1u);
    const auto of_both = program_for(cpu_profile(), beside, {f32(16, 64)});
    EXPECT_EQ(verdict_of(*of_both, "Scatter f32[9, 16, 64]"), "none");
    EXPECT_EQ(of_both->kernels.size(), 1u);
}

/// A quarter of x four times, each with its own wave, as a picture of two rows of two.
Tensor quarters(const Tensor& x) {
    const auto one = [&](int k) { return cos(float(k + 1) * x); };
    return concat({concat({one(0), one(1)}, {.axis = 1}), concat({one(2), one(3)}, {.axis = 1})},
                  {.axis = 0});
}

TEST(StoreParts, WhatIsJoinedAlongTwoAxesIsOneKernel) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        const auto program = program_for(
            profile, [](const Tensors& a) { return Tensors{quarters(a[0])}; }, {f32(512, 512)});
        ASSERT_EQ(program->kernels.size(), 1u) << profile.name;
        const std::string& glsl = program->kernels[0].artefact.text;
        EXPECT_EQ(glsl.find("<", glsl.find("main")), std::string::npos) << glsl;
    }
    expect_agreement(quarters, {64, 48});
    expect_agreement(
        [](const Tensor& x) {
            const Tensors w = waves(x);
            return stack({stack({w[1], w[2]}), stack({w[3], w[4]}), stack({w[5], w[6]})});
        },
        {96, 80});
}

TEST(StoreParts, AnAxisMoreAroundWhatIsJoined) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        SessionScope scope(emitting(profile));
        auto f = compile(
            [](const Tensors& a) {
                const Tensors w = waves(a[0]);
                return Tensors{unsqueeze(stack(w, {.axis = 1}), 1), stack({w[0], w[1]})};
            },
            std::vector<ArgSpec>{f32(256, 256)});
        const Tensor x = tensor(numbers(256 * 256), {256, 256});
        const Tensors got = f.call({x});
        const Tensors w = waves(x);
        EXPECT_NEAR(got[0](7, 0, 3, 5).item<float>(), w[3](7, 5).item<float>(), 1e-4);
        EXPECT_NEAR(got[1](1, 7, 5).item<float>(), w[1](7, 5).item<float>(), 1e-4);
    }
}

TEST(StoreParts, NumbersThatAreStacked) {
    expect_agreement(
        [](const Tensor& x) {
            return stack({sum(x), max(x), sum(x) + 1.0f, mean(x)});
        },
        {300});
}

TEST(StoreParts, UnlikePartsOfPartsStayOne) {
    expect_agreement(
        [](const Tensor& x) {
            const Tensors w = waves(x);
            const Tensor below = reshape(concat({w[2], w[3]}), {64, 128});
            return concat({concat({w[0], w[1]}, {.axis = 1}), below});
        },
        {64, 64});
}

/// A step of particles: places [n, 2], rotations [n, 2, 2] and weights [n] of the values around
/// them.
Tensors moved(const Tensor& x) {
    Tensor p = arange(x.size(0)), a = x(p, 0), b = x(p, 1), found = 0.0f;
    for (int k = 1; k < 12; ++k) found += sin(float(k) * a) * cos(float(k) * b);
    Tensor rows = stack(
        {stack({found, found * a}, {.axis = 1}), stack({found * b, 1.0f - found}, {.axis = 1})},
        {.axis = 1});
    return {stack({a + found, b - found}, {.axis = 1}), rows, found * found};
}

TEST(StoreParts, ValuesWhosePartsAlternateShareTheKernelOfTheirPositions) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()})
        EXPECT_EQ(
            program_for(profile, [](const Tensors& a) { return moved(a[0]); }, {f32(16384, 2)})
                ->kernels.size(),
            1u)
            << profile.name;
    const auto run = [](const Session& session) {
        SessionScope scope(session);
        auto f = compile([](const Tensors& a) { return moved(a[0]); },
                         std::vector<ArgSpec>{f32(1001, 2)});
        std::vector<std::vector<float>> out;
        for (const Tensor& t : f.call({tensor(numbers(2002), {1001, 2})}))
            out.push_back(t.to_vector<float>());
        return out;
    };
    const auto expected = run(Session::oracle());
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        const auto got = run(Session::interpreter(profile));
        for (size_t k = 0; k < 3; ++k)
            for (size_t e = 0; e < expected[k].size(); ++e)
                ASSERT_NEAR(got[k][e], expected[k][e], 1e-4) << k << " at " << e;
    }
}

TEST(StoreParts, APictureOfChannelsStaysAChoice) {
    // Copies know their channel, and are stored as blocks.
    const auto program = program_for(
        cpu_profile(),
        [](const Tensors& a) {
            return Tensors{stack({sin(a[0]), cos(a[0]), a[0], 1.0f - a[0]}, {.axis = -1})};
        },
        {f32(256, 256)});
    ASSERT_EQ(program->kernels.size(), 1u);
    EXPECT_NE(program->kernels[0].artefact.text.find("= vec4("), std::string::npos)
        << program->kernels[0].artefact.text;
}

}  // namespace
}  // namespace firn
