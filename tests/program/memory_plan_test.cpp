// Memory packed by lifetime: no overlap of lifetimes, and little waste.
#include <gtest/gtest.h>

#include <random>

#include "tests/program/program_builder.h"

namespace firn {
namespace {

using namespace test;

constexpr uint64_t kNone = UINT64_MAX;

struct Planned {
    FlatProgram flat;
    MemoryPlan plan;
};
Planned plan(const Program& program, const SizeEnv& env = {}) {
    FlatProgram flat = flatten(program, env);
    MemoryPlan plan = plan_memory(program, flat, env);
    return {std::move(flat), std::move(plan)};
}

/// A chain a0 -> a1 -> ... of temporaries of these element counts.
Program chain(const std::vector<int64_t>& elements) {
    Program p;
    int source = add_argument(p, "x", {4});
    for (int64_t count : elements) {
        int target = add_buffer(p, count);
        p.steps.push_back(dispatch(p, {source}, {target}));
        source = target;
    }
    p.steps.push_back(dispatch(p, {source}, {add_result(p, {4})}));
    return p;
}

/// Replays the plan: no step may write over memory that an earlier writer still needs, where what
/// runs between two barriers may run at the same time.
void expect_sound(const Program& program, const Planned& planned, const SizeEnv& env = {}) {
    struct Life {
        int first = -1, last = -1;
    };
    std::vector<Life> lives(program.buffers.size());
    int epoch = 0;
    for (const FlatStep& step : planned.flat.steps) {
        epoch += step.barrier_before;
        for (int slot : step.slots) {
            Life& life = lives[size_t(slot)];
            if (life.first < 0) life.first = epoch;
            life.last = epoch;
        }
    }
    auto bytes = [&](size_t slot) { return uint64_t(program.buffers[slot].bytes().evaluate(env)); };
    for (size_t a = 0; a < lives.size(); ++a) {
        if (planned.plan.offsets[a] == kNone) continue;
        EXPECT_EQ(planned.plan.offsets[a] % program.profile.buffer_alignment, 0u);
        EXPECT_LE(planned.plan.offsets[a] + bytes(a), planned.plan.bytes);
        for (size_t b = 0; b < a; ++b) {
            if (planned.plan.offsets[b] == kNone) continue;
            bool together = lives[a].first <= lives[b].last && lives[b].first <= lives[a].last;
            bool apart = planned.plan.offsets[a] + bytes(a) <= planned.plan.offsets[b] ||
                         planned.plan.offsets[b] + bytes(b) <= planned.plan.offsets[a];
            EXPECT_TRUE(!together || apart) << a << " and " << b;
        }
    }
}

TEST(MemoryPlan, ChainNeedsTwoBuffers) {
    Program p = chain({1024, 1024, 1024, 1024, 1024});
    EXPECT_EQ(plan(p).plan.bytes, 2 * 4096u);
}
TEST(MemoryPlan, ArgumentsAndResultsTakeNone) {
    Program p = chain({16});
    MemoryPlan made = plan(p).plan;
    EXPECT_EQ(made.offsets[0], kNone);
    EXPECT_EQ(made.offsets[2], kNone);
    EXPECT_EQ(made.bytes, 64u);
}
TEST(MemoryPlan, UnusedTemporaryTakesNone) {
    Program p = chain({16});
    add_buffer(p, 1000);
    EXPECT_EQ(plan(p).plan.bytes, 64u);
}
TEST(MemoryPlan, OffsetsAreAligned) {
    Program p = chain({1, 3, 5, 7});
    p.profile.buffer_alignment = 256;
    expect_sound(p, plan(p));
}
TEST(MemoryPlan, MemoryIsNotReusedWithoutABarrier) {
    Program p;
    int x = add_argument(p, "x", {16}), a = add_buffer(p, 16), b = add_buffer(p, 16);
    int r = add_result(p, {16}), s = add_result(p, {16});
    // The second pair depends on nothing of the first: only the barrier for `r` lies between.
    p.steps = {dispatch(p, {x}, {a}), dispatch(p, {a}, {r}), dispatch(p, {x}, {b}),
               dispatch(p, {b}, {s})};
    Planned planned = plan(p);
    expect_sound(p, planned);
    EXPECT_EQ(planned.plan.bytes, 128u);
}
TEST(MemoryPlan, LoopCarriedBuffersLiveThroughTheLoop) {
    Program p;
    int a = add_buffer(p, 64), b = add_buffer(p, 64), t = add_buffer(p, 64);
    p.steps = {dispatch(p, {}, {a}),
               repeat(4, {dispatch(p, {a}, {t}), dispatch(p, {t}, {b})}, {{a, b}, {b, a}}),
               dispatch(p, {a}, {add_result(p, {64})})};
    Planned planned = plan(p);
    expect_sound(p, planned);
    EXPECT_EQ(planned.plan.bytes, 3 * 256u);
}
TEST(MemoryPlan, CallerBindsTheSlotWhereTheResultEnds) {
    Program p;
    int a = add_result(p, {64}), b = add_buffer(p, 64);
    p.steps = {dispatch(p, {}, {a}),
               repeat(Size::symbol("n"), {dispatch(p, {a}, {b})}, {{a, b}, {b, a}})};
    MemoryPlan odd = plan(p, {{"n", 3}}).plan;
    EXPECT_EQ(odd.offsets[size_t(b)], kNone);
    EXPECT_EQ(odd.offsets[size_t(a)], 0u);
    MemoryPlan even = plan(p, {{"n", 2}}).plan;
    EXPECT_EQ(even.offsets[size_t(a)], kNone);
    EXPECT_EQ(even.offsets[size_t(b)], 0u);
}
TEST(MemoryPlan, SizesAreThoseOfTheCall) {
    Program p;
    int a = add_buffer(p, Size::symbol("n"));
    p.steps = {dispatch(p, {}, {a})};
    EXPECT_EQ(plan(p, {{"n", 100}}).plan.bytes, 448u);
}
TEST(MemoryPlan, EmptyTemporaryHasAPlace) {
    Program p;
    int a = add_buffer(p, 0), b = add_buffer(p, 0);
    p.steps = {dispatch(p, {}, {a, b})};
    MemoryPlan made = plan(p).plan;
    EXPECT_EQ(made.bytes, 128u);
    EXPECT_NE(made.offsets[size_t(a)], made.offsets[size_t(b)]);
}
TEST(MemoryPlan, EmptyProgramTakesNothing) {
    Program p;
    EXPECT_EQ(plan(p).plan.bytes, 0u);
}
TEST(MemoryPlan, PyramidIsTight) {
    // Multigrid: down to coarse levels and up again, each level kept until it is visited again.
    Program p;
    std::vector<int> levels;
    int x = add_argument(p, "x", {4});
    int source = x;
    for (int64_t size = 1 << 16; size >= 64; size /= 4) {
        levels.push_back(add_buffer(p, size));
        p.steps.push_back(dispatch(p, {source}, {levels.back()}));
        source = levels.back();
    }
    for (size_t k = levels.size() - 1; k-- > 0;) {
        int finer = add_buffer(p, p.buffers[size_t(levels[k])].elements);
        p.steps.push_back(dispatch(p, {levels[k], source}, {finer}));
        source = finer;
    }
    Planned planned = plan(p);
    expect_sound(p, planned);
    EXPECT_LE(double(planned.plan.bytes), 1.1 * double(planned.plan.largest_live));
}

/// Random programs of 40 steps with sizes over three orders of magnitude and mixed lifetimes.
class RandomPlan : public testing::TestWithParam<unsigned> {};
TEST_P(RandomPlan, IsSoundAndWithinATenthOfTheLargestLiveSet) {
    std::mt19937 random(GetParam());
    Program p;
    std::vector<int> alive{add_argument(p, "x", {4})};
    for (int step = 0; step < 40; ++step) {
        std::vector<int> reads;
        for (int k = 0; k < 3; ++k) {
            // Mostly recent values, now and then an old one.
            size_t reach = random() % 6 ? std::min<size_t>(alive.size(), 4) : alive.size();
            reads.push_back(alive[alive.size() - 1 - random() % reach]);
        }
        int64_t elements = 1 + random() % (64u << (random() % 10));
        int target = add_buffer(p, elements);
        p.steps.push_back(dispatch(p, reads, {target}));
        alive.push_back(target);
    }
    Planned planned = plan(p);
    expect_sound(p, planned);
    EXPECT_LE(double(planned.plan.bytes), 1.1 * double(planned.plan.largest_live));
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomPlan, testing::Range(0u, 40u));

}  // namespace
}  // namespace firn
