// A confined process that crashes, hangs or takes too much memory ends alone, and its parent hears
// why.
#include "compiler/base/confined_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace firn {
namespace {

using Why = ProcessEnded::Why;

void nothing() {}

int descriptors() {
    using std::filesystem::directory_iterator;
    return static_cast<int>(
        std::distance(directory_iterator("/proc/self/fd"), directory_iterator()));
}

/// Neither descriptors nor children are left behind a test, and nothing was said on stderr.
class Confined : public ::testing::Test {
  protected:
    void SetUp() override {
        before_ = descriptors();
        testing::internal::CaptureStderr();
    }
    void TearDown() override {
        EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
        EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
        EXPECT_EQ(errno, ECHILD);
        EXPECT_EQ(descriptors(), before_);
    }
    using Ended = std::pair<std::string, Why>;
    /// Returns the reason that the parent gets for the end of a process that does `work`.
    static Ended end_of(const ConfinedProcess::Work& work, const ReplyTimeout& timeout = {}) {
        ConfinedProcess process(work, timeout);
        try {
            for (;;) process.receive(nothing);
        } catch (const ProcessEnded& ended) {
            return {ended.what(), ended.why};
        }
    }

  private:
    int before_ = 0;
};

TEST_F(Confined, AnswersComeBackWithSharedMemory) {
    ConfinedProcess process([](ParentLink& parent) {
        while (const auto text = parent.receive()) {
            SharedMemory memory = parent.receive_memory(1 << 20);
            memory.bytes()[(1 << 20) - 1] = std::byte{7};
            parent.send(*text + "!");
        }
    });
    for (int k = 0; k < 3; ++k) {
        SharedMemory memory(1 << 20);
        process.send("read");
        process.send(memory);
        EXPECT_EQ(process.receive(nothing), "read!");
        EXPECT_EQ(memory.bytes()[(1 << 20) - 1], std::byte{7});
    }
}

TEST_F(Confined, ACrashIsAReason) {
    EXPECT_EQ(end_of([](ParentLink&) { std::abort(); }), Ended("crashed (Aborted)", Why::Broke));
    EXPECT_EQ(end_of([](ParentLink&) { raise(SIGSEGV); }).first, "crashed (Segmentation fault)");
    EXPECT_EQ(end_of([](ParentLink&) { raise(SIGKILL); }).first,
              "was ended by the system, as where memory is short");
    EXPECT_EQ(end_of([](ParentLink&) { throw 1; }).first, "ended early");
    EXPECT_EQ(end_of([](ParentLink&) {}).first, "ended early");
}

TEST_F(Confined, AnEndlessLoopIsEnded) {
    const auto loops = [](ParentLink&) {
        for (std::atomic<int> k{0};; ++k) {
        }
    };
    EXPECT_EQ(end_of(loops, {.processor_seconds = 0.2}),
              Ended("came no further in 0.2 s of the processor", Why::Late));
    const auto sleeps = [](ParentLink&) { pause(); };
    EXPECT_EQ(end_of(sleeps, {.seconds = 0.2}), Ended("came no further in 0.2 s", Why::Late));
}

TEST_F(Confined, MemoryHasALimit) {
    const auto grows = [](ParentLink& parent) {
        parent.limit_memory(uint64_t{1} << 28);
        std::vector<std::unique_ptr<std::vector<char>>> all;
        for (;;) all.push_back(std::make_unique<std::vector<char>>(1 << 20));
    };
    EXPECT_EQ(end_of(grows), Ended("needed more memory than it may have", Why::Broke));
    const auto asks = [](ParentLink& parent) {
        parent.limit_memory(uint64_t{1} << 28);
        parent.send(std::malloc(size_t{1} << 29) ? "all" : "none");
    };
    ConfinedProcess process(asks);
    EXPECT_EQ(process.receive(nothing), "none");
}

TEST_F(Confined, WhatItHasIsTakenAway) {
    const std::string file = testing::TempDir() + "firn_confined_" + std::to_string(getpid());
    const int opened = open("/dev/null", O_RDONLY);
    ConfinedProcess process([&](ParentLink& parent) {
        std::string said;
        if (fcntl(opened, F_GETFD) >= 0) said += "a descriptor ";
        const int made = open(file.c_str(), O_WRONLY | O_CREAT, 0600);
        signal(SIGXFSZ, SIG_IGN);
        if (made >= 0 && write(made, "x", 1) == 1) said += "a file ";
        rlimit core{};
        getrlimit(RLIMIT_CORE, &core);
        if (core.rlim_max > 0) said += "a core ";
        if (getpgid(0) != getpid()) said += "the terminal's Ctrl-C ";
        parent.send("has " + said);
    });
    EXPECT_EQ(process.receive(nothing), "has ");
    close(opened);
    std::filesystem::remove(file);
}

TEST_F(Confined, HandlersOfTheParentDoNotRunThere) {
    const auto before = signal(SIGABRT, [](int) { _exit(0); });
    EXPECT_EQ(end_of([](ParentLink&) { std::abort(); }).first, "crashed (Aborted)");
    signal(SIGABRT, before);
}

int* ends_of_this_process = nullptr;  // shared with children

TEST_F(Confined, EndsOfTheParentDoNotRunThere) {
    SharedMemory memory(sizeof(int));
    ends_of_this_process = reinterpret_cast<int*>(memory.bytes().data());
    std::atexit([] {
        if (ends_of_this_process) ++*ends_of_this_process;
    });
    EXPECT_EQ(end_of([](ParentLink&) {}).first, "ended early");
    EXPECT_EQ(*ends_of_this_process, 0);
    ends_of_this_process = nullptr;
}

TEST_F(Confined, ThreadsOfTheParentGoOn) {
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int k = 0; k < 3; ++k)
        threads.emplace_back([&] {
            while (!stop) std::free(std::malloc(1000));
        });
    for (int k = 0; k < 100; ++k) {
        ConfinedProcess process([](ParentLink& parent) {
            const std::string text(3000, 'x');
            parent.send(text);
            parent.receive();
        });
        EXPECT_EQ(process.receive(nothing).size(), 3000u);
    }
    stop = true;
    for (std::thread& each : threads) each.join();
}

TEST_F(Confined, WaitingMayBeGivenUp) {
    pid_t id = -1;
    try {
        ConfinedProcess process([](ParentLink&) { pause(); });
        id = process.id();
        process.receive([] { throw 1; });
        FAIL();
    } catch (int) {
    }
    EXPECT_EQ(kill(id, 0), -1) << "it goes on";
}

TEST_F(Confined, ItsMemoryCannotBeTakenAwayByTheOther) {
    ConfinedProcess process([](ParentLink& parent) {
        SharedMemory memory = parent.receive_memory(4096);
        int shrunk = 0;
        for (int each = 3; each < 64; ++each) shrunk += ftruncate(each, 0) == 0;
        parent.send(std::to_string(shrunk));
    });
    SharedMemory memory(4096);
    process.send(memory);
    EXPECT_EQ(process.receive(nothing), "0");
    EXPECT_EQ(memory.bytes()[4095], std::byte{0});
}

TEST_F(Confined, EndsWithAParentThatIgnoresItsChildren) {
    const auto before = signal(SIGCHLD, SIG_IGN);
    EXPECT_EQ(end_of([](ParentLink&) { std::abort(); }).first, "ended early");
    signal(SIGCHLD, before);
}

}  // namespace
}  // namespace firn
