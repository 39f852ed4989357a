// A slider that decides which program there is, in a real window.
#include <chrono>

#include "compiler/language.h"
#include "engine/firn/structural.h"
#include "engine/firn/window.h"
#include "tests/window/window_fixture.h"

namespace firn {
namespace {

using StructuralWindow = RealWindow;

/// A function with numbers that no cache has seen.
Compiled<Tensor, 1> sines(int octaves) {
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    const float fresh = 1.0f + static_cast<float>(now % 1000003) * 1e-7f;
    return compile(
        [=](Tensor x) {
            Tensor y = x;
            for (int k = 0; k < 20 * octaves; ++k) y = sin(y * fresh + static_cast<float>(k % 3));
            return 0.5f + 0.5f * y;
        },
        {f32("h", "w")});
}

TEST_F(StructuralWindow, FramesGoOnWhileTheProgramOfASliderIsCompiled) {
    const Session session{SharedPtr<Executor>(std::shared_ptr<Executor>(executor))};
    const SessionScope scope(session);
    WindowOptions wanted = options("structural");
    wanted.gui_in_pictures = true;
    Window window(wanted);
    Param<int> octaves{window, "octaves", 1, {.min = 1, .max = 9}};
    auto f = structural(sines, octaves);
    const Tensor x = index(zeros({40, 80}), 1).as(f32) * 0.1f;
    x.to_vector<float>();
    for (int frames = 0; frames < 5 && window.open(); ++frames) window.show(f(x));
    const Rectangle slider = window.gui().find("octaves")->rectangle;
    by_hand("structural", at(slider.x + slider.width - 4, slider.y + slider.height / 2) +
                              "mousedown 1 sleep 0.2 mouseup 1");
    Deadline deadline;
    int while_compiling = 0;
    bool saved = false;
    while ((octaves == 1 || f.compiling() || while_compiling == 0) && !deadline.is_over() &&
           window.open()) {
        window.show(f(x));
        while_compiling += f.compiling();
        if (while_compiling == 2 && !std::exchange(saved, true))
            window.save(testing::TempDir() + "structural.png");  // for people
    }
    EXPECT_EQ(octaves, 9);
    EXPECT_GT(while_compiling, 1);
    EXPECT_FALSE(f.compiling());
    EXPECT_EQ(f.refused(), "");
}

}  // namespace
}  // namespace firn
