// The check that one thread at a time is inside, and releases that are handed over.
#include "compiler/ir/one_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/ir/graph.h"

namespace firn {
namespace {

TEST(OneThread, AThreadEntersAgainAndLeavesForOthers) {
    OneThread place;
    {
        Inside outer(place, {});
        Inside inner(place, {});
    }
    std::thread([&] { Inside inside(place, {}); }).join();
}

TEST(OneThread, TheSecondThreadIsRefusedWithItsLine) {
    OneThread place;
    Inside inside(place, {});
    std::string message;
    std::thread([&] {
        try {
            Inside second(place, {"scene.cpp", 41});
        } catch (const UserError& error) {
            message = error.what();
        }
    }).join();
    EXPECT_NE(message.find("two threads are in one session at once"), std::string::npos) << message;
    EXPECT_NE(message.find("(scene.cpp:41)"), std::string::npos) << message;
}

TEST(OneThread, ReleasesOfOthersWaitUntilTheThreadLeaves) {
    OneThread place;
    std::thread::id released_by;
    {
        Inside inside(place, {});
        std::thread([&] {
            place.release([&] { released_by = std::this_thread::get_id(); });
        }).join();
        EXPECT_EQ(released_by, std::thread::id());
    }
    EXPECT_EQ(released_by, std::this_thread::get_id());
}

TEST(OneThread, NoReleaseIsLost) {
    OneThread place;
    constexpr int kEach = 20'000;
    int released = 0;  // guarded by the place itself
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&] {
            for (int k = 0; k < kEach; ++k) place.release([&] { ++released; });
        });
    for (int k = 0; k < kEach; ++k) Inside inside(place, {});
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(released, 3 * kEach);
}

TEST(OneThread, NodesMayBeLetGoOfOnAnyThread) {
    NodeTable table;
    auto chain = [&](int from) {
        Ref node = table.intern(Op::Constant, f32, {}, {}, ConstantAttr{scalar_float(from)});
        for (int k = 0; k < 50; ++k) node = table.intern(Op::Neg, f32, {}, {node});
        return node;
    };
    std::vector<Ref> given;
    for (int k = 0; k < 200; ++k) given.push_back(chain(k));
    std::thread other([given = std::move(given)]() mutable { given.clear(); });
    for (int k = 0; k < 200; ++k) EXPECT_EQ(chain(k)->op, Op::Neg);
    other.join();
    EXPECT_EQ(table.live_nodes(), 0u);
}

}  // namespace
}  // namespace firn
