// Expensive work in loops that few iterations need is deferred until every lane needs it.
#include "compiler/mapping/before/defer_conditional_work.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/driver/compile.h"
#include "compiler/language.h"
#include "tests/host_functions.h"

namespace firn {
namespace {

constexpr int64_t kBalls = 777;

/// An expensive value.
Tensor dear(const Tensor& x) { return sin(x * 3.0f) + exp(-x * x) * cos(x) + sqrt(abs(sin(x))); }

/// A ball between two walls adds up the values at its bounces, and is lost at last.
Tensor bounces(const Tensor& start, const Tensor&) {
    Tensor x = start, v = 0.07f + 0.1f * start, sum = 0.0f;
    for (Tensor iteration : loop(70)) {
        Tensor next = x + v, out = abs(next) > 1.0f;
        sum = where(out, sum + dear(next), sum);
        v = where(out, -0.9f * v, v);
        x = where(out, x, next);
        if_((sum > 4.0f) | (abs(v) < 0.01f), [&] { break_(); });
    }
    return sum + x;
}

/// The same by branches, with marks that a table has by the number of the iteration.
Tensor marks(const Tensor& start, const Tensor& table) {
    Tensor out = zeros(start.shape());
    kernel(start.shape(), [&](Tensor i) {
        Tensor x = start(i), sum = 0.0f;
        for (Tensor iteration : loop(table.size(0))) {
            x = 1.0f - 1.9f * x * x;
            if_(x > 0.95f, [&] { sum += dear(x + table(iteration)); });
            if_(sum > 30.0f, [&] { break_(); });
        }
        out(i) = sum;
    });
    return out;
}

/// Expensive if the condition does not hold; its reads depend on the iteration.
Tensor otherwise(const Tensor& start, const Tensor& table) {
    Tensor x = start, sum = 0.0f;
    for (Tensor iteration : loop(40)) {
        x = 1.0f - 1.8f * x * x;
        sum = where(x < 0.9f, sum, sum * 0.5f + dear(x * table(iteration % table.size(0))));
        if_(sum > 2.4f, [&] { break_(); });
    }
    return sum;
}

/// It goes on only where there is something to do.
Tensor until_done(const Tensor& start, const Tensor&) {
    Tensor x = start, sum = 0.0f;
    for (Tensor iteration : loop(50)) {
        Tensor going = x > 0.1f;
        sum = where(going, sum + dear(x), sum);
        x = where(going, x * 0.8f, x);
    }
    return sum;
}

/// Terms of a sum, in any order.
Tensor terms(const Tensor& start, const Tensor& table) {
    Tensor sum = 0.0f;
    for (Tensor k : loop(table.size(0)))
        sum += where(table(k) > start, dear(table(k) - start), 0.0f);
    return sum;
}

using Function = Tensor (*)(const Tensor&, const Tensor&);

std::vector<float> values(Function function, int64_t table, const Session& session) {
    SessionScope scope(session);
    return function(rand({kBalls}, {.seed = 3}), rand({table}, {.seed = 4})).to_vector<float>();
}

/// Returns the depth of nested loops.
int depth_in(const KernelCode& code, RegionId region) {
    int out = 0;
    const KernelRegion& body = code[region];
    for (const std::vector<NodeId>& ids : {body.order, body.effects})
        for (NodeId id : ids) {
            const KernelNode& n = code[id];
            if (const auto* own = n.get_if<BodyAttr>())
                out = std::max(out, (n.op == KernelOp::For) + depth_in(code, own->region));
        }
    return out;
}
int depth(Function function, int64_t table, const DeviceProfile& profile = cpu_profile()) {
    SessionScope scope(Session::interpreter(profile));
    const auto program =
        compile([=](Tensor x, Tensor y) { return function(x, y); }, {f32(kBalls), f32(table)})
            .program();
    EXPECT_EQ(program->kernels.size(), 1u);
    return depth_in(*program->kernels[0].code, kRoot);
}

void expect_equal_values(Function function, int64_t table) {
    EXPECT_EQ(values(function, table, with_host_functions()),
              values(function, table, Session::oracle()));
}

TEST(DeferConditionalWork, EventsThatChangeWhatGoesOn) {
    EXPECT_EQ(depth(bounces, 1), 2);
    expect_equal_values(bounces, 1);
}

TEST(DeferConditionalWork, TheNumberOfTheIteration) {
    for (int64_t table : {17, 32, 100}) {
        EXPECT_EQ(depth(marks, table), 2);
        expect_equal_values(marks, table);
    }
}

TEST(DeferConditionalWork, WhereAConditionDoesNotHold) {
    EXPECT_EQ(depth(otherwise, 30), 2);
    expect_equal_values(otherwise, 30);
}

/// A short body, of which an invocation has four.
Tensor drops(const Tensor& start, const Tensor&) {
    Tensor x = start, sum = 0.0f;
    for (Tensor iteration : loop(60)) {
        x = 1.0f - 1.9f * x * x;
        sum = where(x > 0.95f, sum + sin(sum + x), sum);
        if_(sum > 3.0f, [&] { break_(); });
    }
    return sum;
}

TEST(DeferConditionalWork, ElementsSideBySideDoNotWait) {
    SessionScope scope(Session::interpreter());
    const auto program = compile([](Tensor x) { return drops(x, x); }, {f32(1 << 12)}).program();
    EXPECT_NE(program->kernels.at(0).mapping.find("tile 4"), std::string::npos)
        << program->kernels[0].mapping;
    EXPECT_EQ(depth_in(*program->kernels[0].code, kRoot), 1);
}

TEST(DeferConditionalWork, AGpuBranches) { EXPECT_EQ(depth(bounces, 1, gpu_profile()), 1); }

TEST(DeferConditionalWork, WhatALoopGoesOnByIsNotAwaited) {
    EXPECT_EQ(depth(until_done, 1), 1);
    expect_equal_values(until_done, 1);
}

TEST(DeferConditionalWork, ShortLoopsAndSumsStay) {
    EXPECT_EQ(depth(marks, 16), 1);
    EXPECT_EQ(depth(terms, 100), 1);
}

TEST(DeferConditionalWork, MoreBackEdgesThanADriverTakes) {
    EXPECT_EQ(depth(marks, 3000), 2);
    EXPECT_EQ(depth(marks, 5000), 1);
}

}  // namespace
}  // namespace firn
