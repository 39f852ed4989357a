// Kernels that a person edits and that never end, or reach beyond what is theirs.
#include <algorithm>
#include <functional>

#include "tests/gpu/device_fixture.h"
#include "tests/window/inspected.h"

namespace firn {
namespace {

class EditedKernel : public Inspected {
  protected:
    /// Swaps in the kernel with more at its beginning, and `outside` before its function.
    void edit(const std::string& more, const std::string& outside = "") {
        frame();
        const std::string begin = "void main() {";
        type_all(with(inspector->program()->kernels.at(0).artefact.text, begin,
                      outside + begin + " int big = 100000000; " + more));
        EXPECT_EQ(inspector->errors(), std::vector<std::string>{});
    }
    std::string runs_again() {
        const std::string said = inspector->said();
        const std::string end = "the generated kernel is back";
        return said.find(end) == std::string::npos ? "no: " + said : "yes";
    }
};

TEST_F(EditedKernel, WhatReachesBeyondBuffersIsNotTheirs) {
    result();
    edit("b1[big] = 7.0; b1[-big] = b1[big] + imageLoad(b0, big).x + imageLoad(b0, -big).x;");
    EXPECT_EQ(result(), 5);
}
TEST_F(EditedKernel, WhatReachesBeyondSharedMemoryIsHeldInIt) {
    result();
    edit(
        "int i = int(gl_LocalInvocationID.x); s[i] = 1.0; barrier();"
        "for (int k = 1; k < 1000; ++k) s[i + k * big] = s[i - k * big];",
        "shared float s[8];\n");
    EXPECT_EQ(result(), 5);
}
TEST_F(EditedKernel, OneThatTakesTooLongIsGivenBack) {
    const Tensor many = ones({1 << 21});  // so many invocations that it takes seconds
    const auto call = [&] { return (*f)(many)(5).item<float>(); };
    for (int runs = 0; runs < 2; ++runs) call();
    // Some trip count takes too long on any device, or the driver ends the loop before.
    const int64_t most = executor->profile().max_back_edges;
    for (int64_t turns = 1000; runs_again() != "yes" && turns < (1 << 30); turns *= 4) {
        const int64_t made = most > 0 ? std::min(turns, most - 1) : turns;
        edit("float x = 0; for (int k = 0; k < " + std::to_string(made) +
             "; ++k) x += sin(x + float(k)); if (x == 17.0) return;");
        EXPECT_NE(executor->device().suspected().find("the edited kernel"), std::string::npos);
        EXPECT_EQ(call(), 2.5f);
        if (made < turns) break;
    }
    EXPECT_EQ(runs_again(), "yes");
    EXPECT_EQ(executor->device().suspected(), "");
    EXPECT_EQ(call(), 2.5f);
}
TEST_F(EditedKernel, WhoWaitsForItCanGiveUp) {
    if (executor->profile().max_back_edges == 0) GTEST_SKIP() << "it might never end";
    const Tensor many = ones({1 << 19});
    for (int runs = 0; runs < 2; ++runs) (*f)(many)(5).item<float>();
    edit(
        "float x = 0; for (int k = 0; k < 60000; ++k) x += sin(x + float(k));"
        "if (x == 17.0) return;");
    Device& device = executor->device();
    device.watch_waits([&](double seconds) { device.give_up(seconds); });
    for (const auto& use : std::vector<std::function<void()>>{[&] { (*f)(many); },  // waited for
                                                              [&] { device.wait_idle(); }})
        EXPECT_NE(message_of(use).find("did not finish its work within"), std::string::npos);
    device.watch_waits({});
}
TEST_F(EditedKernel, OneThatIsFastStays) {
    result();
    type_all(with(glsl(), "2.5", "3.5"));
    EXPECT_EQ(result(), 7);
    EXPECT_EQ(inspector->said(), "applied: it runs");
    EXPECT_EQ(result(), 7);
}

}  // namespace
}  // namespace firn
