// Donated arguments: when results may be written over them, and that no value changes.
#include "compiler/plan/reuse_arguments.h"
#include "tests/frontend/counting_executor.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

class Donation : public ::testing::Test {
  protected:
    std::shared_ptr<CountingExecutor> executor_ = std::make_shared<CountingExecutor>(gpu_profile());
    Session session_{executor_};
    SessionScope scope_{session_};
    /// Returns the allocations of `body`.
    template <class Body>
    int allocations(const Body& body) {
        const int before = executor_->allocations;
        body();
        return executor_->allocations - before;
    }
};

auto increment() {
    return compile([](Tensor x) { return x + 1; }, {i32("n")});
}

TEST_F(Donation, AResultIsWrittenOverItsArgument) {
    auto f = increment();
    Tensor x = f(arange(9));
    EXPECT_EQ(allocations([&] { x = f(std::move(x)); }), 0);
    EXPECT_EQ(allocations([&] { x = f(x); }), 1);
    EXPECT_EQ(x.to_vector<int>(), (Ints{3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST_F(Donation, ACopyThatSomebodyHoldsStaysAsItWas) {
    auto f = increment();
    Tensor x = f(arange(3)), old = x;
    EXPECT_EQ(allocations([&] { x = f(std::move(x)); }), 1);
    EXPECT_EQ(old.to_vector<int>(), (Ints{1, 2, 3}));
    EXPECT_EQ(x.to_vector<int>(), (Ints{2, 3, 4}));
    std::shared_ptr<Memory> shown = memory_of(x).memory;  // as a window does
    EXPECT_EQ(allocations([&] { x = f(std::move(x)); }), 1);
    EXPECT_NE(memory_of(x).memory, shown);
}

TEST_F(Donation, TheSameTensorTwiceIsNotGivenAway) {
    auto f = compile([](Tensor x, Tensor y) { return x + 2 * y; }, {i32("n"), i32("n")});
    Tensor x = increment()(arange(2));
    Tensor both = f(std::move(x), x);
    EXPECT_EQ(both.to_vector<int>(), (Ints{3, 6}));
    Tensor twice = f(std::move(both), std::move(both));
    EXPECT_EQ(twice.to_vector<int>(), (Ints{9, 18}));
}

TEST_F(Donation, NeighboursAreReadFromMemoryOfTheirOwn) {
    auto shift = compile([](Tensor x) { return x(arange(x.size(0)) - 1); }, {i32("n")});
    Tensor x = increment()(arange(5));
    EXPECT_EQ(allocations([&] { x = shift(std::move(x)); }), 1);
    EXPECT_EQ(x.to_vector<int>(), (Ints{1, 1, 2, 3, 4}));
}

// Mapped alone, an invocation takes a column, and loads all of it first. In a sequence its rows
// belong to other invocations, at the same time. The interpreter's invocations run in step, so that
// only the plan shows it there.
TEST(DonationInSequences, RowsThatOthersReadAreNotWritten) {
    SessionScope scope(Session::interpreter());
    auto shift = compile(
        [](Tensor x, Tensor y) {
            const Shape shape{4, 27};
            x(index(shape, 0) + 1, index(shape, 1)) = x;
            return std::tuple{x, y(arange(27) + 2) + 1};
        },
        {i8(4, 27), i32(40)});
    Tensor x = reshape(arange(4 * 27).as(i8), {4, 27});
    realize(x);
    shift(std::move(x), arange(40));
    EXPECT_EQ(shift.stats().kernels, 1);
    EXPECT_FALSE(reuses_arguments(*shift.program()));
}

TEST_F(Donation, AStoreNeedsNoCopy) {
    auto set = compile(
        [](Tensor x, Tensor at) {
            scatter_add(x(at), 5);
            return x;
        },
        {i32("n"), i32("k")});
    Tensor x = increment()(arange(6)), at = tensor({1, 1});
    const auto copied = set(x, at);
    const int64_t moved_bytes = set.stats().bytes_written;
    EXPECT_EQ(allocations([&] { x = set(std::move(x), at); }), 0);
    EXPECT_EQ(x.to_vector<int>(), (Ints{1, 12, 3, 4, 5, 6}));
    EXPECT_EQ(copied.to_vector<int>(), (Ints{1, 12, 3, 4, 5, 6}));
    EXPECT_LE(set.stats().bytes_written, moved_bytes);
}

TEST_F(Donation, AnArgumentThatWasReadBeforeIsFree) {
    auto normalised = compile(
        [](Tensor x) {
            Tensor total = sum(x, {.axis = 0, .keep_dims = true});
            Tensor moved = x(x.size(0) - 1 - arange(x.size(0)));
            for (Tensor i : loop(3)) moved = moved(arange(x.size(0)) + 1) + total;
            return moved;
        },
        {i32("n")});
    Tensor expected = normalised(arange(4)), x = arange(4) + 0;
    EXPECT_EQ(normalised(std::move(x)).to_vector<int>(), expected.to_vector<int>());
}

TEST_F(Donation, AHandleThatWasMovedSaysSo) {
    auto f = increment();
    Tensor x = f(arange(3)), y = f(std::move(x));
    expect_parts(user_error([&] { x.to_vector<int>(); }),
                 {"donated by std::move", "donate_test.cpp:"});
    x = y;
    EXPECT_EQ(x.to_vector<int>(), (Ints{2, 3, 4}));
}

TEST_F(Donation, ACallThatFailsKeepsTheArguments) {
    auto f = compile([](Tensor x, Tensor y) { return x + y; }, {i32("n"), i32("n")});
    Tensor x = increment()(arange(3));
    EXPECT_NE(user_error([&] { f(std::move(x), arange(2)); }), "");
    EXPECT_EQ(x.to_vector<int>(), (Ints{1, 2, 3}));
    auto checked = compile(
        [](Tensor a) {
            assert_value(a < 3);
            return a + 1;
        },
        {i32("n")});
    EXPECT_NE(user_error([&] { checked(std::move(x)); }), "");
    EXPECT_EQ(x.to_vector<int>(), (Ints{1, 2, 3}));
}

/// A result that was written before the loop's end was read cannot be taken back.
TEST_F(Donation, ALoopThatNeverEndsKeepsTheArguments) {
    session_.limit_while(20);
    auto f = compile(
        [](Tensor x, Tensor v) {
            Tensor y = x + 1;
            while_([&] { return sum(v) > 0; }, [&] { v = roll(v, 1) + y; });
            return std::tuple{y, v};
        },
        {i32("n"), i32("n")});
    Tensor x = arange(5000) + 0, v = ones({5000}, i32);
    const Ints before = x.to_vector<int>();
    EXPECT_THROW(f(std::move(x), v), UserError);
    EXPECT_EQ(x.to_vector<int>(), before);
}

TEST_F(Donation, OneProgramServesBothWhereNothingCanBeReused) {
    session_.compile_in_background(false);
    auto total = compile([](Tensor x) { return sum(x); }, {i32("n")});
    Tensor x = increment()(arange(3));
    total(x);
    EXPECT_EQ(total(std::move(x)).item<int>(), 6);
    EXPECT_EQ(total.variant_count(), 1u);
}

TEST_F(Donation, AFrameLoopKeepsItsState) {
    auto wave = compile(
        [](Tensor u, Tensor v, Tensor dt) {
            Tensor i = arange(u.size(0)), next = v + dt * (u(i - 1) + u(i + 1) - 2.0f * u);
            return std::tuple{u + dt * next, next};
        },
        {f32("n"), f32("n"), f32()});
    auto frames = [&](bool give) {
        Tensor u = arange(32).as(f32) % 5.0f, v = zeros({32});
        std::vector<int> counts;
        for (int frame = 0; frame < 5; ++frame)
            counts.push_back(allocations([&] {
                if (give)
                    std::tie(u, v) = wave(std::move(u), std::move(v), 0.1f);
                else
                    std::tie(u, v) = wave(u, v, 0.1f);
            }));
        EXPECT_EQ(counts[3], give ? 1 : 2);  // v is written over, u has neighbours
        return u.to_vector<float>();
    };
    EXPECT_EQ(frames(true), frames(false));
}

}  // namespace
}  // namespace firn
