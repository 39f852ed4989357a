// Loops that end because of a carried count.
#include <gtest/gtest.h>

#include "compiler/driver/compile.h"
#include "compiler/language.h"

namespace firn {
namespace {

/// Halves until it is small, and `counted` times at the most.
Tensor halved(const Tensor& x, float begin, float step, float most, DType type) {
    Tensor value = x, count = Tensor(begin).as(type);
    while_([&] { return (value > 0.25f) & (count < Tensor(most).as(type)); },
           [&] {
               value = value * 0.5f;
               count += Tensor(step).as(type);
           });
    return value + count.as(f32) * 1000.0f;
}

/// The most iterations of the only loop of all kernels, -1: it has none.
int64_t back_edges(Tensor (*function)(const Tensor&)) {
    SessionScope scope(Session::interpreter());
    const auto program = compile([=](Tensor x) { return function(x); }, {f32(4096)}).program();
    return program->kernels.size() == 1 ? program->kernels[0].back_edges : -1;
}

template <class F>
void expect_oracle(F function) {
    const auto values = [&](const Session& session) {
        SessionScope scope(session);
        return Tensor(function((arange(4096) % 97).as(f32))).template to_vector<float>();
    };
    EXPECT_EQ(values(Session::interpreter()), values(Session::oracle()));
}

TEST(EndByCounts, ACountBelowAConstantIsABound) {
    EXPECT_EQ(back_edges([](const Tensor& x) { return halved(x, 0, 1, 5, i32); }), 6);
    EXPECT_EQ(back_edges([](const Tensor& x) { return halved(x, -3, 2, 6, i32); }), 6);
    expect_oracle([](const Tensor& x) { return halved(x, 0, 1, 5, i32); });
    expect_oracle([](const Tensor& x) { return halved(x, -3, 2, 6, i32); });
    expect_oracle([](const Tensor& x) { return halved(x, 0, 1, 0, i32); });
}

TEST(EndByCounts, SumsOfFloatsMayGainHalfOfAStep) {
    EXPECT_EQ(back_edges([](const Tensor& x) { return halved(x, 0, 0.5f, 5, f32); }), 21);
    expect_oracle([](const Tensor& x) { return halved(x, 0, 0.1f, 0.7f, f32); });
}

TEST(EndByCounts, WhatDoesNotGainGivesNone) {
    EXPECT_EQ(back_edges([](const Tensor& x) { return halved(x, 0, -1, 5, i32); }), -1);
    // 1e9 + 1 is 1e9.
    EXPECT_EQ(back_edges([](const Tensor& x) { return halved(x, 1e9f, 1, 2e9f, f32); }), -1);
}

Tensor counts_some(const Tensor& x) {
    Tensor value = x, count = 0;
    while_([&] { return (value > 0.25f) & (count < 5); },
           [&] {
               value = value * 0.5f;
               if_(value > 3.0f, [&] { count += 1; });
           });
    return value + count.as(f32) * 1000.0f;
}

TEST(EndByCounts, ACountThatSomeIterationsLeaveIsNone) {
    EXPECT_EQ(back_edges(counts_some), -1);
    expect_oracle(counts_some);
}

Tensor one_of_two(const Tensor& x) {
    Tensor value = x, count = 0;
    while_([&] { return (value > 0.25f) | (count < 5); },
           [&] {
               value = value * 0.5f;
               count += 1;
           });
    return value + count.as(f32) * 1000.0f;
}

TEST(EndByCounts, ACountThatIsOneOfTwoReasonsIsNone) {
    EXPECT_EQ(back_edges(one_of_two), -1);
    expect_oracle(one_of_two);
}

}  // namespace
}  // namespace firn
