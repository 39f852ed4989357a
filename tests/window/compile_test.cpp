// A window answers while kernels compile.
#include <atomic>
#include <chrono>
#include <thread>

#include "compiler/language.h"
#include "compiler/program/parallel.h"
#include "tests/window/window_fixture.h"

namespace firn {
namespace {

class CompilingWindow : public RealWindow {
  protected:
    /// A compile that takes until `done`, at most 10 s; asked by the thread that waits for it.
    void compile_until(const std::function<bool()>& done) {
        std::atomic<bool> ended{false};
        const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        for_each_in_parallel(
            1,
            [&](size_t) {
                while (!ended && std::chrono::steady_clock::now() < last)
                    std::this_thread::sleep_for(std::chrono::milliseconds(5));
            },
            [&](size_t) {
                executor->compile_watch()({"slow", 0, 1});
                ended = done();
            });
    }
    static bool is_on_screen(const std::string& title) {
        return std::system(
                   ("xdotool search --onlyvisible --name '^" + title + "$' > /dev/null").c_str()) ==
               0;
    }
};

TEST_F(CompilingWindow, TakesAClickOnThePanel) {
    ViewWindow window(executor, options("compiling click"));
    window.gui().button("splash");
    settle(window);
    const Rectangle button = window.gui().find("splash")->rectangle;
    by_hand("compiling click",
            at(button.x + button.width / 2, button.y + 9) + "mousedown 1 sleep 0.2 mouseup 1");
    bool pressed = false;
    compile_until([&] { return pressed = pressed || window.gui().button("splash"); });
    EXPECT_TRUE(pressed);
}

TEST_F(CompilingWindow, LeavesTheScreenAtOnceWhereItIsClosed) {
    ViewWindow window(executor, options("compiling escape"));
    settle(window);
    ASSERT_TRUE(is_on_screen("compiling escape"));
    by_hand("compiling escape", "key --window \\$id Escape");
    bool gone = false;
    compile_until([&] { return gone = !is_on_screen("compiling escape"); });
    EXPECT_TRUE(gone);
    EXPECT_FALSE(window.open());
}

TEST_F(CompilingWindow, IsToldOfEachCompileThatACallWaitsFor) {
    ViewWindow window(executor, options("told"));
    const CompileWatch serve = executor->compile_watch();
    ASSERT_TRUE(serve);
    int told = 0;
    executor->on_compile([&](const CompileProgress& progress) {
        ++told;
        EXPECT_GT(progress.kernels, 0u);
        serve(progress);
    });
    const Session session{SharedPtr<Executor>(std::shared_ptr<Executor>(executor))};
    const SessionScope scope(session);
    // Numbers that no cache has seen.
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    const float fresh = 1.0f + static_cast<float>(now % 1000003) * 1e-7f;
    Tensor x = reshape(arange(1000), {1000}).as(f32);
    for (int k = 0; k < 400; ++k) x = sin(x * fresh + static_cast<float>(k));
    EXPECT_EQ(x.to_vector<float>().size(), 1000u);
    EXPECT_GT(told, 0);
}

}  // namespace
}  // namespace firn
