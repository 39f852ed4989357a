// A session is used by one thread at a time; sessions of different threads run in parallel; handles
// end on any thread.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

std::string message_on_another_thread(const std::function<void()>& work) {
    std::string message;
    std::thread([&] {
        try {
            work();
        } catch (const UserError& error) {
            message = error.what();
        }
    }).join();
    return message;
}

/// A program with everything that a session keeps: lazy values, a compiled function, a loop.
int run_program(int from) {
    auto step = compile(
        [](Tensor x, Tensor by) {
            Tensor sum = x;
            for (Tensor i : loop(3)) sum = sum + i * by;
            return sum;
        },
        {i32("n"), i32()});
    Tensor x = arange(8) + from;
    for (int iteration = 0; iteration < 3; ++iteration) x = step(x, iteration);
    return sum(x).item<int>();
}

TEST(Threads, SessionsRunInParallel) {
    std::vector<int> sums(4);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&sums, t] {
            SessionScope scope(t % 2 ? Session::oracle() : Session::interpreter());
            for (int k = 0; k < 3; ++k) sums[static_cast<size_t>(t)] += run_program(100 * t + k);
        });
    for (std::thread& thread : threads) thread.join();
    for (int t = 0; t < 4; ++t)
        EXPECT_EQ(sums[static_cast<size_t>(t)], 3 * (28 + 8 * 100 * t + 8 * 9) + 24) << t;
}

TEST(Threads, ASessionMayGoFromThreadToThread) {
    const Session session = Session::interpreter();
    Tensor x;
    for (int t = 0; t < 3; ++t)
        EXPECT_EQ(message_on_another_thread([&] {
                      SessionScope scope(session);
                      x = t == 0 ? arange(4) : x + 1;
                      if (t == 2) {
                          EXPECT_EQ(x.to_vector<int>(), (Ints{2, 3, 4, 5}));
                      }
                  }),
                  "");
    SessionScope scope(session);
    EXPECT_EQ(sum(x).item<int>(), 14);
}

TEST(Threads, ASecondThreadIsRefusedWhileOneRecords) {
    const Session session = Session::oracle();
    SessionScope scope(session);
    Tensor x = 0;
    for (Tensor i : loop(3)) {
        x += i;
        const std::string message = message_on_another_thread([&] {
            SessionScope inside(session);
            arange(3);
        });
        EXPECT_NE(message.find("two threads are in one session at once"), std::string::npos)
            << message;
        EXPECT_NE(message.find("threads_test.cpp"), std::string::npos) << message;
    }
    EXPECT_EQ(x.item<int>(), 3);
}

TEST(Threads, TwoAtOnceAreToldAndNothingBreaks) {
    const Session session = Session::oracle();
    std::atomic<int> refused{0};
    auto record = [&] {
        SessionScope scope(session);
        for (int k = 0; k < 2000 && !refused; ++k) {
            try {
                Tensor x = arange(16) + k;
                for (int n = 0; n < 20; ++n) x = x * 2 + n;
            } catch (const UserError&) {
                ++refused;
            }
        }
    };
    std::thread first(record), second(record);
    first.join();
    second.join();
    SessionScope scope(session);
    EXPECT_EQ(sum(arange(4)).item<int>(), 6);
}

TEST(Threads, HandlesEndOnOtherThreads) {
    const Session session = Session::interpreter();
    SessionScope scope(session);
    const size_t nodes = session.node_count();
    std::mutex mutex;
    std::condition_variable ready;
    std::deque<std::vector<Tensor>> given;
    bool done = false;
    std::thread other([&] {
        for (;;) {
            std::vector<Tensor> mine;
            {
                std::unique_lock lock(mutex);
                ready.wait(lock, [&] { return done || !given.empty(); });
                if (given.empty()) return;
                mine.swap(given.front());
                given.pop_front();
            }
        }  // and here they end
    });
    for (int k = 0; k < 300; ++k) {
        Tensor x = arange(8) + k;
        std::vector<Tensor> values;
        for (int n = 0; n < 10; ++n) values.push_back(x = x * 3 + n);
        if (k % 50 == 0) realize(values);
        std::lock_guard lock(mutex);
        given.push_back(std::move(values));
        ready.notify_one();
    }
    {
        std::lock_guard lock(mutex);
        done = true;
    }
    ready.notify_one();
    other.join();
    EXPECT_EQ(sum(arange(4)).item<int>(), 6);
    EXPECT_LE(session.node_count(), nodes + 10);
}

TEST(Threads, FunctionsAndSessionsEndOnOtherThreads) {
    std::thread other;
    {
        SessionScope scope(Session::interpreter());
        auto twice = compile([](Tensor x) { return x * 2; }, {i32("n")});
        Tensor x = twice(arange(3));
        other = std::thread([twice = std::move(twice), x]() mutable {});
        EXPECT_EQ(sum(x).item<int>(), 6);
    }
    other.join();
}

}  // namespace
}  // namespace firn
