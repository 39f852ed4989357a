// Threads that share work.
#include "compiler/host/workers.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "compiler/base/error.h"
#include "tests/program/program_builder.h"

namespace firn {
namespace {

using namespace test;

/// How often each of `count` numbers is in a part.
std::vector<int> visits(Workers& workers, uint64_t count, uint64_t most) {
    std::vector<std::atomic<int>> seen(count);
    workers.run(count, most, [&](uint64_t first, uint64_t last, size_t worker) {
        EXPECT_LT(worker, workers.size());
        for (uint64_t k = first; k < last; ++k) ++seen[k];
    });
    return {seen.begin(), seen.end()};
}

TEST(Workers, EveryNumberIsTakenOnce) {
    Workers workers(4);
    for (const uint64_t count : {0u, 1u, 2u, 3u, 4u, 5u, 31u, 1000u, 100000u})
        for (const uint64_t most : {1u, 2u, 4u, 1000u})
            EXPECT_EQ(visits(workers, count, most), std::vector<int>(count, 1)) << count;
}
TEST(Workers, ManyRunsInARow) {
    Workers workers(3);
    std::atomic<uint64_t> sum{0};
    for (int k = 0; k < 20000; ++k)
        workers.run(7, 3, [&](uint64_t first, uint64_t last, size_t) { sum += last - first; });
    EXPECT_EQ(sum, 7u * 20000u);
}
TEST(Workers, WorkOfOneRunsOnItsThread) {
    Workers workers(4);
    const auto self = std::this_thread::get_id();
    const auto check = [&](uint64_t, uint64_t, size_t worker) {
        EXPECT_EQ(std::this_thread::get_id(), self);
        EXPECT_EQ(worker, 0u);
    };
    workers.run(1, 4, check);
    workers.run(1000, 1, check);
}
TEST(Workers, NoMoreThreadsThanAreAskedFor) {
    Workers workers(8);
    std::atomic<int> now{0}, most{0};
    workers.run(2000, 3, [&](uint64_t, uint64_t, size_t) {
        const int here = ++now;
        for (int seen = most; here > seen && !most.compare_exchange_weak(seen, here);) {
        }
        std::this_thread::yield();
        --now;
    });
    EXPECT_LE(most, 3);
}
TEST(Workers, NoTwoPartsHaveOneWorkerAtOnce) {
    Workers workers(4);
    std::vector<std::atomic<int>> busy(4);
    for (int k = 0; k < 200; ++k)
        workers.run(64, 4, [&](uint64_t, uint64_t, size_t worker) {
            EXPECT_EQ(busy[worker]++, 0);
            std::this_thread::yield();
            --busy[worker];
        });
}
TEST(Workers, ExceptionsArePassedOn) {
    Workers workers(4);
    for (int k = 0; k < 100; ++k)
        EXPECT_EQ(message<std::runtime_error>([&] {
                      workers.run(100, 4, [&](uint64_t first, uint64_t last, size_t) {
                          if (first <= 50 && 50 < last) throw std::runtime_error("fifty");
                      });
                  }),
                  "fifty");
    EXPECT_EQ(visits(workers, 100, 4), std::vector<int>(100, 1));
}
TEST(Workers, WorkWithinWorkRunsOnItsThread) {
    Workers workers(4);
    std::atomic<uint64_t> sum{0};
    workers.run(8, 4, [&](uint64_t first, uint64_t last, size_t) {
        for (uint64_t k = first; k < last; ++k)
            workers.run(10, 4, [&](uint64_t from, uint64_t to, size_t) { sum += to - from; });
    });
    EXPECT_EQ(sum, 80u);
}
TEST(Workers, TwoThreadsMayHaveWork) {
    Workers workers(3);
    std::atomic<uint64_t> sum{0};
    std::vector<std::thread> users;
    for (int user = 0; user < 2; ++user)
        users.emplace_back([&] {
            for (int k = 0; k < 2000; ++k)
                workers.run(5, 3,
                            [&](uint64_t first, uint64_t last, size_t) { sum += last - first; });
        });
    for (std::thread& user : users) user.join();
    EXPECT_EQ(sum, 2u * 2000u * 5u);
}
TEST(Workers, AChildOfForkMakesItsOwn) {
    auto workers = std::make_unique<Workers>(3);
    EXPECT_EQ(visits(*workers, 100, 3), std::vector<int>(100, 1));
    const pid_t child = fork();
    if (child == 0) {
        const bool right = visits(*workers, 1000, 3) == std::vector<int>(1000, 1);
        workers.reset();
        _exit(right ? 0 : 1);
    }
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(visits(*workers, 100, 3), std::vector<int>(100, 1));
    const pid_t idle = fork();  // this one only ends
    if (idle == 0) {
        workers.reset();
        _exit(0);
    }
    ASSERT_EQ(waitpid(idle, &status, 0), idle);
    EXPECT_EQ(status, 0);
}

/// Sets FIRN_THREADS for a while.
struct Threads {
    explicit Threads(const char* value) {
        if (const char* was = std::getenv("FIRN_THREADS")) before = was;
        setenv("FIRN_THREADS", value, 1);
    }
    ~Threads() {
        if (before.empty())
            unsetenv("FIRN_THREADS");
        else
            setenv("FIRN_THREADS", before.c_str(), 1);
    }
    std::string before;
};

TEST(Workers, TheirNumberIsThatOfTheEnvironment) {
    {
        const Threads three("3");
        EXPECT_EQ(wanted_threads(), 3u);
        EXPECT_EQ(Workers().size(), 3u);
    }
    const Threads nothing("");
    EXPECT_GE(wanted_threads(), 1u);
}
TEST(Workers, OtherNumbersAreRefused) {
    for (const char* wrong : {"0", "-1", "1025", "all", "3 ", "4x", "99999999999999999999"}) {
        const Threads set(wrong);
        EXPECT_EQ(
            message<UserError>([] { wanted_threads(); }),
            "FIRN_THREADS=" + std::string(wrong) +
                " is no number of threads from 1 to 1024; leave it out to use every core that "
                "the process may use");
    }
}

}  // namespace
}  // namespace firn
