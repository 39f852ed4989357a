// Elements side by side whose loops end at different iterations.
#include <gtest/gtest.h>

#include "compiler/driver/compile.h"
#include "compiler/language.h"
#include "tests/emitting.h"

namespace firn {
namespace {

constexpr int64_t kElements = 1 << 16;  // enough for four in an invocation

/// Its iterations as Collatz counts them, in the form of numpy: all together, under a mask.
Tensor steps_to_one(const Tensor& x) {
    Tensor n = x, steps = zeros(x.shape(), i32);
    for (Tensor iteration : loop(60)) {
        const Tensor open = n > 1, half = n / 2, next = select(n == half * 2, half, n * 3 + 1);
        n = where(open, next, n);
        steps = where(open, steps + 1, steps);
    }
    return steps * 1000 + n;
}

/// The same, by stores under the mask.
Tensor stored_steps_to_one(const Tensor& x) {
    Tensor n = x, steps = zeros(x.shape(), i32);
    for (Tensor iteration : loop(60)) {
        const Tensor open = n > 1, half = n / 2, next = select(n == half * 2, half, n * 3 + 1);
        n(open) = next;
        steps(open) += 1;
    }
    return steps * 1000 + n;
}

/// A condition that holds in one iteration alone: an element that has ended must not go on.
Tensor until_its_turn(const Tensor& x) {
    Tensor sum = zeros(x.shape(), i32);
    for (Tensor iteration : loop(40)) {
        if_(iteration == x % 50, [&] { break_(); });
        sum += iteration * iteration;
    }
    return sum;
}

template <class F>
void expect_elements_side_by_side(F function) {
    const auto run = [&](const Session& session) {
        SessionScope scope(session);
        return function(arange(kElements) % 971).template to_vector<int>();
    };
    EXPECT_EQ(run(Session::interpreter()), run(Session::oracle()));
    SessionScope scope(emitting());
    const auto program = compile([=](Tensor x) { return function(x); }, {i32(kElements)}).program();
    ASSERT_EQ(program->kernels.size(), 1u);
    const std::string& text = program->kernels[0].artefact.text;
    EXPECT_NE(text.find("] = ivec4("), std::string::npos) << text;  // four are stored together
    EXPECT_NE(text.find("break;"), std::string::npos) << text;
    EXPECT_EQ(text.find("break;"), text.rfind("break;")) << text;  // of one loop
}

TEST(EndTogether, MasksOfArrays) { expect_elements_side_by_side(steps_to_one); }

TEST(EndTogether, StoresUnderMasks) { expect_elements_side_by_side(stored_steps_to_one); }

TEST(EndTogether, WhatHasEndedStays) { expect_elements_side_by_side(until_its_turn); }

TEST(EndTogether, ElementsThatReadWhereValuesSayEndAlone) {
    SessionScope scope(emitting());
    const auto length = [](Tensor next, Tensor x) {
        Tensor out = zeros(x.shape(), i32);
        kernel(x.shape(), [&](Tensor i) {
            Tensor at = x(i), steps = 0;
            while_([&] { return at > 0; }, [&] { at = next(at), steps += 1; });
            out(i) = steps;
        });
        return out;
    };
    const auto program = compile(length, {i32(kElements), i32(kElements)}).program();
    int loops = 0;
    for (const KernelInfo& kernel : program->kernels) {
        if (kernel.artefact.text.find("break;") == std::string::npos) continue;
        EXPECT_EQ(kernel.artefact.text.find("= ivec4("), std::string::npos) << kernel.artefact.text;
        ++loops;
    }
    EXPECT_EQ(loops, 1);
}

/// The place at which a loop ends by a value that it finds, and the nearest value there: a short
/// loop beside it.
Tensor nearest_at_the_end(const Tensor& x) {
    Tensor at = x, steps = zeros(x.shape());
    for (Tensor iteration : loop(50)) {
        const Tensor going = at > 4.0f;
        at = where(going, at * 0.75f, at);
        steps = where(going, steps + 1.0f, steps);
    }
    std::vector<Tensor> apart;
    for (int k = 0; k < 6; ++k) apart.push_back(square(at - 1.1f * float(k)) + 0.1f * float(k));
    return steps + argmin(stack(apart), {.axis = 0}).as(f32);
}

TEST(EndTogether, AShortLoopBesideThemIsWrittenOut) {
    const auto run = [](const Session& session) {
        SessionScope scope(session);
        return nearest_at_the_end((arange(kElements) % 971).as(f32)).to_vector<float>();
    };
    EXPECT_EQ(run(Session::interpreter()), run(Session::oracle()));
    SessionScope scope(emitting());
    const auto program =
        compile([](Tensor x) { return nearest_at_the_end(x); }, {f32(kElements)}).program();
    ASSERT_EQ(program->kernels.size(), 1u);
    const std::string& text = program->kernels[0].artefact.text;
    EXPECT_NE(text.find("for ("), std::string::npos) << text;
    EXPECT_EQ(text.find("for ("), text.rfind("for (")) << text;
}

TEST(EndTogether, OnAGpuElementsEndAlone) {
    SessionScope scope(emitting(gpu_profile()));
    const auto program =
        compile([](Tensor x) { return steps_to_one(x); }, {i32(64 * kElements)}).program();
    EXPECT_EQ(program->kernels[0].artefact.text.find("ivec4("), std::string::npos);
}

}  // namespace
}  // namespace firn
