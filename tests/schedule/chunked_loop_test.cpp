// Loops that a driver would cut short run in chunks, and give what whole ones give.
#include <gtest/gtest.h>

#include "compiler/language.h"

namespace firn {
namespace {

/// The values of `make` on the oracle, and compiled for a driver that allows `limit` back edges.
template <class F>
void expect_equal_values(F make, uint32_t limit = 50) {
    DeviceProfile short_breath = cpu_profile();
    short_breath.max_back_edges = limit;
    std::vector<float> expected, got;
    {
        SessionScope scope(Session::oracle());
        expected = make().template to_vector<float>();
    }
    {
        SessionScope scope(Session::interpreter(short_breath));
        got = make().template to_vector<float>();
    }
    EXPECT_EQ(got, expected);
}

TEST(ChunkedLoop, ALongLoopTakesAllItsIterations) {
    expect_equal_values([] {
        Tensor x = 0.0f;
        for (Tensor iteration : loop(1003)) x += cast<float>(iteration % 7);
        return x;
    });
}

TEST(ChunkedLoop, OperationsOfAllIterationsCount) {
    SessionScope scope(Session::interpreter());
    for (const int iterations : {1000, 100'000}) {  // the driver allows 65,536 at once
        const auto f = compile(
            [&](Tensor x) {
                for (Tensor iteration : loop(iterations)) x = 0.5f * x + iteration.as(f32);
                return x;
            },
            {f32(64)});
        EXPECT_EQ(f.stats().operations, 64 * 2 * iterations);
    }
}

TEST(ChunkedLoop, StepsAndNegativeStepsAreKept) {
    expect_equal_values([] {
        Tensor x = zeros({3});
        for (Tensor iteration : loop(500, 2, -3)) x = x * 0.5f + cast<float>(iteration);
        return x;
    });
}

/// Returns which elements still count down after so many iterations.
Tensor still_on(const Tensor& iterations) {
    Tensor left = arange(150), on = left > 0;
    for (Tensor iteration : loop(iterations)) {
        left = where(on, left - 1, left);
        on = on & (left > 0);
    }
    return cast<float>(on);
}

TEST(ChunkedLoop, TheFlagThatEndsItIsAskedForAfterwards) {
    for (int iterations : {0, 1, 49, 120, 1000}) {
        SCOPED_TRACE(iterations);
        expect_equal_values([=] { return still_on(iterations); });
        expect_equal_values([=] { return still_on(tensor({iterations})(0)); });
    }
}

TEST(ChunkedLoop, LoopsInALoopOfUnknownLengthMultiply) {
    expect_equal_values(
        [] {
            Tensor x = arange(12), sum = zeros({12});
            while_([&] { return x < 60; },
                   [&] {
                       x += 1;
                       for (Tensor i : loop(17)) {
                           if_(i > x % 23, [&] { break_(); });
                           Tensor y = x + i;
                           while_([&] { return y % 15 != 0; }, [&] { y += 1; }, {.max_steps = 15});
                           sum += cast<float>(y % 7);
                       }
                   });
            return sum;
        },
        600);
}

TEST(ChunkedLoop, WhoBrokeOffStaysOff) {
    expect_equal_values([] {
        Tensor limit = cast<float>(arange(8)) * 40.0f, count = zeros({8});
        for (Tensor iteration : loop(400)) {
            if_(count >= limit, [&] { break_(); });
            count += 1.0f;
        }
        return count;
    });
}

TEST(ChunkedLoop, NestedLoopsCountTogether) {
    expect_equal_values([] {
        Tensor x = zeros({2});
        for (Tensor i : loop(30))
            for (Tensor j : loop(20)) x += cast<float>((i * j) % 5);
        return x;
    });
}

TEST(ChunkedLoop, ALongReductionIsSplit) {
    expect_equal_values([] { return sum(ones({600, 5000}), {.axis = 1}); }, 3000);
}

TEST(ChunkedLoop, AnUnrolledSumIsNotGatheredWhereItIsSeen) {
    expect_equal_values([] {
        Tensor x = 0.0f, seen = 0.0f;
        for (Tensor iteration : loop(16)) {
            x += cast<float>(iteration);
            seen = seen * 0.5f + x;
        }
        return seen;
    });
}

}  // namespace
}  // namespace firn
