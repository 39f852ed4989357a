// Children of fork(), which have none of the threads that work for what their parent made.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "compiler/files/stored_tensor.h"
#include "compiler/frontend/cpu_session.h"
#include "compiler/learning/batches.h"
#include "engine/firn/device_session.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

class Fork : public ::testing::Test {
  protected:
    void SetUp() override {
        try {
            session_ = std::make_unique<Session>(device_session());
        } catch (const DeviceError& error) {
            GTEST_SKIP() << error.what();
        }
    }

    std::unique_ptr<Session> session_;
};

/// Returns the result of `work` in a child that then ends by exit(); "hangs" if it does not end.
std::string in_child(const std::function<std::string()>& work) {
    int ends[2];
    if (pipe(ends) != 0) return "no pipe";
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);  // for a hang; the work itself takes no time
        std::string text;
        try {
            text = work();
        } catch (const std::exception& error) {
            text = error.what();
        }
        if (write(ends[1], text.data(), text.size()) < 0) _exit(1);
        std::exit(0);
    }
    close(ends[1]);
    std::string text(4096, '\0');
    text.resize(static_cast<size_t>(std::max<ssize_t>(0, read(ends[0], text.data(), text.size()))));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGALRM ? "hangs" : "crashes";
    return WEXITSTATUS(status) == 0 ? text : "fails";
}

void expect_named(const std::string& said) {
    EXPECT_NE(said.find("was opened by process " + std::to_string(getpid())), std::string::npos)
        << said;
    EXPECT_NE(said.find("fork() made of it"), std::string::npos) << said;
    EXPECT_NE(said.find("make the session in the child"), std::string::npos) << said;
}

TEST_F(Fork, AChildThatUsesTheParentsSessionIsToldSo) {
    SessionScope scope(*session_);
    Tensor x = tensor({1.0f, 2.0f}), lazy = x + 1.0f;
    auto doubled = compile([](Tensor a) { return a * 2.0f; }, {f32("n")});
    EXPECT_EQ(doubled(x).to_vector<float>(), (Floats{2, 4}));
    const auto told = [&](const std::function<void()>& use) {
        expect_named(in_child([&] {
            use();
            return "nothing is said";
        }));
    };
    told([&] { x.to_vector<float>(); });
    told([&] { lazy.to_vector<float>(); });
    told([&] { doubled(x); });
    told([&] { tensor({1.0f}); });
    told([&] { host_view<float>(x); });
    told([&] { session_->executor().wait(); });
    EXPECT_EQ(lazy.to_vector<float>(), (Floats{2, 3})) << "in the parent all goes on";
}

TEST_F(Fork, TheMessageNamesTheLine) {
    SessionScope scope(*session_);
    Tensor x = tensor({1.0f, 2.0f}) + 1.0f;
    const std::string line = "fork_test.cpp:" + std::to_string(__LINE__ + 1);
    const std::string said = in_child([&] { return x.to_vector<float>().empty() ? "" : "read"; });
    EXPECT_NE(said.find(line), std::string::npos) << said;
}

TEST_F(Fork, AChildEndsThoughItLetsGoOfAll) {
    SessionScope scope(*session_);
    auto sums = compile([](Tensor a) { return sum(a, {.axis = 0}); }, {f32("n", "m")});
    Tensor x = ones({300, 200}), y = sums(x);
    EXPECT_EQ(y.to_vector<float>()[0], 300.0f);
    sums(ones({77, 1000}));  // compiles in the background
    EXPECT_EQ(in_child([&] {
                  x = y = Tensor(0.0f);
                  sums = {};
                  SessionScope other(Session::oracle());
                  session_.reset();
                  return "let go";
              }),
              "let go");
}

TEST_F(Fork, AChildMakesASessionOfItsOwn) {
    SessionScope scope(*session_);
    EXPECT_EQ(ones({3}).to_vector<float>(), Floats(3, 1.0f));
    EXPECT_EQ(in_child([] {
                  SessionScope own(device_session());
                  return std::to_string(sum(arange(10)).item<int>());
              }),
              "45");
}

TEST_F(Fork, ASessionThatWasNotUsedYetBelongsToTheChild) {
    EXPECT_EQ(in_child([] { return std::to_string((arange(4) * 10).to_vector<int>()[3]); }), "30");
}

/// To list devices has a driver make threads, as a session does that computes on the processor
/// because there is no GPU.
TEST(ForkOfHosts, AChildEndsWhoseParentHasListedDevices) {
    device_report();
    EXPECT_EQ(in_child([] { return "ended"; }), "ended");
}

TEST(ForkOfHosts, NativeCodeGoesOnInAChild) {
    if (const std::string why = why_no_cpu_session(); !why.empty()) GTEST_SKIP() << why;
    SessionScope scope(device_session({.device = "cpu"}));
    Tensor x = arange(4) * 10;
    EXPECT_EQ(x.to_vector<int>()[1], 10);
    EXPECT_EQ(in_child([&] { return std::to_string((x + 1).to_vector<int>()[3]); }), "31");
}

TEST(ForkOfHosts, InterpreterAndOracleGoOnInAChild) {
    for (const Session& session : {Session::interpreter(), Session::oracle()}) {
        SessionScope scope(session);
        Tensor x = arange(4) * 10;
        EXPECT_EQ(in_child([&] { return std::to_string(x.to_vector<int>()[3]); }), "30");
    }
}

TEST(ForkOfHosts, AProgramThatCompilesInTheBackgroundIsNotWaitedFor) {
    Session session = Session::interpreter();
    session.compile_in_background(true);
    SessionScope scope(session);
    auto sums = compile([](Tensor x) { return sum(sqrt(x), {.axis = 1}); }, {f32("n", "m")});
    sums(ones({64, 64}));
    sums(ones({3, 1000}));
    const std::string said = in_child([&] {
        sums(ones({20, 1000}));
        return "nothing is said";
    });
    EXPECT_NE(said.find("the thread that compiles in the background was started by process"),
              std::string::npos)
        << said;
}

TEST(ForkOfHosts, AThreadThatReadsAheadIsNotWaitedFor) {
    SessionScope scope(Session::interpreter());
    const auto read = [](int64_t k) {
        StoredTensor batch;
        batch.dtype = u8;
        batch.shape = {1};
        batch.bytes = {std::byte(k)};
        return std::vector{batch};
    };
    Prefetch ahead(read);
    ahead.next();
    EXPECT_NE(in_child([&] {
                  ahead.next(), ahead.next(), ahead.next(), ahead.next();
                  return "nothing is said";
              }).find("Prefetch: the thread that reads ahead was started by process"),
              std::string::npos);
}

}  // namespace
}  // namespace firn
