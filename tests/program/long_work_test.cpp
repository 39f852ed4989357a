// Long work reports its progress, and ends on request.
#include "compiler/base/long_work.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

namespace firn {
namespace {

/// Watches this thread's work until its end.
class Watched {
  public:
    explicit Watched(WorkWatch watch) { watch_work(std::move(watch)); }
    ~Watched() { watch_work({}); }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;
};

void pause_ms(int count) { std::this_thread::sleep_for(std::chrono::milliseconds(count)); }

TEST(LongWork, IsToldToWhoWatchesThisThread) {
    std::vector<std::string> told;
    const Watched watched([&](const WorkProgress& now) {
        told.push_back(now.text);
        return true;
    });
    LongWork work;
    EXPECT_TRUE(work.tell({"first"}));
    std::jthread([] { LongWork().tell({"elsewhere"}); }).join();
    pause_ms(40);
    EXPECT_TRUE(work.tell({"second"}));
    EXPECT_EQ(told, (std::vector<std::string>{"first", "second"}));
}
TEST(LongWork, IsToldThirtyTimesASecondAtMost) {
    int told = 0;
    const Watched watched([&](const WorkProgress&) { return ++told > 0; });
    LongWork work;
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < 1000; ++k) work.tell({"often"});
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    EXPECT_LE(told, 5 + 30 * taken.count());
}
TEST(LongWork, OnceItIsToEndItIsToEnd) {
    const Watched watched([](const WorkProgress&) { return false; });
    LongWork work;
    EXPECT_FALSE(work.tell({"first"}));
    EXPECT_FALSE(work.tell({"too soon to ask again"}));
}
TEST(LongWork, OfNoUseInPartEndsOnlyWhereSomebodyCatchesThat) {
    const Watched watched([](const WorkProgress&) { return false; });
    EXPECT_NO_THROW(LongWork().tell_or_end({"loading"}));
    const CancelScope scope;
    EXPECT_THROW(LongWork().tell_or_end({"loading"}), Cancelled);
}

TEST(LongWork, AllOfAThreadEndsWhereItsScopeIsAskedTo) {
    EXPECT_NO_THROW(CancelScope::end_if_asked("running", "f"));
    bool asked = false;
    const CancelScope scope([&] { return asked; });
    EXPECT_NO_THROW(CancelScope::end_if_asked("running", "f"));
    asked = true;
    std::jthread([] { EXPECT_NO_THROW(CancelScope::end_if_asked("elsewhere", "g")); }).join();
    std::string said;
    try {
        CancelScope::end_if_asked("running", "f");
    } catch (const Cancelled& cancelled) {
        said = cancelled.what();
    }
    EXPECT_EQ(said, "running 'f': ended before it was done");
    const CancelScope inner;
    EXPECT_NO_THROW(CancelScope::end_if_asked("of the outer", "h"));
}

/// Replaces stderr by a terminal until its end.
class Terminal {
  public:
    Terminal() : own_(posix_openpt(O_RDWR | O_NOCTTY)), before_(dup(STDERR_FILENO)) {
        grantpt(own_);
        unlockpt(own_);
        const int other = open(ptsname(own_), O_RDWR | O_NOCTTY);
        dup2(other, STDERR_FILENO);
        close(other);
        fcntl(own_, F_SETFL, O_NONBLOCK);
    }
    ~Terminal() {
        dup2(before_, STDERR_FILENO);
        close(before_);
        close(own_);
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    std::string written() const {
        std::string out;
        char part[256];
        for (ssize_t count; (count = read(own_, part, sizeof part)) > 0;)
            out.append(part, static_cast<size_t>(count));
        return out;
    }

  private:
    int own_, before_;
};

TEST(LongWork, IsALineOnATerminalOnceItHasTakenHalfASecond) {
    const Terminal terminal;
    {
        LongWork work;
        work.tell({"1 of 3"});
        EXPECT_EQ(terminal.written(), "");
        pause_ms(550);
        work.tell({"2 of 3"});
        EXPECT_EQ(terminal.written(), "\r\033[K2 of 3");
    }
    EXPECT_EQ(terminal.written(), "\r\033[K");
}

TEST(LongWork, CompilesHaveALineBesideTheirWatch) {
    EXPECT_FALSE(with_line({}));
    const Terminal terminal;
    int told = 0;
    {
        const CompileWatch watch = with_line([&](const CompileProgress&) { ++told; });
        watch({"wave", 0, 0});
        pause_ms(550);
        watch({"wave", 1, 3});
        EXPECT_EQ(terminal.written(), "\r\033[Kcompiling wave, 1 of 3 kernels");
    }
    EXPECT_EQ(terminal.written(), "\r\033[K");
    EXPECT_EQ(told, 2);
    EXPECT_TRUE(with_line({}));
}

}  // namespace
}  // namespace firn
