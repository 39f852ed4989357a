// Pieces of work on all cores, and waiting for them.
#include "compiler/base/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace firn {
namespace {

void take_a_while() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

TEST(ForEachInParallel, TellsWhoeverWaitsHowManyAreDone) {
    std::atomic<size_t> worked{0};
    std::vector<size_t> told;
    const auto caller = std::this_thread::get_id();
    for_each_in_parallel(
        40, [&](size_t) { take_a_while(), ++worked; },
        [&](size_t done) {
            EXPECT_EQ(std::this_thread::get_id(), caller);
            EXPECT_LE(done, worked);
            told.push_back(done);
        });
    EXPECT_EQ(worked, 40u);
    ASSERT_FALSE(told.empty());
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
}

TEST(ForEachInParallel, EndsWhereWhoeverWaitsThrows) {
    std::atomic<size_t> worked{0};
    const auto work = [&](size_t) { take_a_while(), ++worked; };
    const auto leave = [](size_t) { throw std::runtime_error("enough"); };
    EXPECT_THROW(for_each_in_parallel(10000, work, leave), std::runtime_error);
    EXPECT_LT(worked, 10000u);
}

TEST(ForEachInParallel, ThrowsWhatThePieceThatFailedThrewThoughSomebodyWaits) {
    const auto work = [](size_t k) {
        if (k == 3) throw std::runtime_error("piece 3");
    };
    EXPECT_THROW(for_each_in_parallel(9, work, [](size_t) {}), std::runtime_error);
}

}  // namespace
}  // namespace firn
