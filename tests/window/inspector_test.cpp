// The inspector: kernels that are replaced, tensors that are looked at, clicks and keys in it.
#include "engine/inspector/inspector.h"

#include <imgui.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "compiler/frontend/record.h"
#include "compiler/language.h"
#include "engine/firn/device_session.h"
#include "engine/firn/inspector_tools.h"
#include "engine/firn/window.h"
#include "tests/window/window_fixture.h"

namespace firn {
namespace {

const float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
TensorSummary summary_of(DType dtype, const std::vector<T>& values,
                         const std::vector<int64_t>& shape) {
    return summarise(dtype, shape, std::as_bytes(std::span(values)));
}

TEST(TensorSummary, CountsWhatIsNotFiniteApart) {
    const float inf = std::numeric_limits<float>::infinity();
    const TensorSummary s = summary_of<float>(f32, {1, kNan, 3, -inf, kNan}, {5});
    EXPECT_EQ(s.nans, 2);
    EXPECT_EQ(s.infinities, 1);
    EXPECT_EQ(s.smallest, 1);
    EXPECT_EQ(s.largest, 3);
    EXPECT_EQ(s.mean, 2);
    EXPECT_TRUE(std::isnan(s.cells.at(1)));
}
TEST(TensorSummary, CountsValuesInEqualSteps) {
    std::vector<float> values(64);
    for (size_t k = 0; k < 64; ++k) values[k] = float(k);
    const TensorSummary s = summary_of(f32, values, {64});
    for (float bin : s.histogram) EXPECT_EQ(bin, 2);
    EXPECT_EQ(s.line, values);
}
TEST(TensorSummary, ThinsOutRowsAndColumns) {
    std::vector<int32_t> values(96 * 10);
    for (size_t k = 0; k < values.size(); ++k) values[k] = int32_t(k / 10);  // the row
    const TensorSummary s = summary_of(i32, values, {96, 10});
    EXPECT_EQ(s.rows, 48);
    EXPECT_EQ(s.columns, 10);
    EXPECT_EQ(s.cells.at(0), 0.5f);
    EXPECT_EQ(s.cells.back(), 94.5f);
}
TEST(TensorSummary, OfChannelsTheMeanIsShown) {
    const TensorSummary s = summary_of<float>(f32, {0, 3, 6, 9, 9, 9}, {1, 2, 3});
    EXPECT_EQ(s.columns, 2);
    EXPECT_EQ(s.cells, (std::vector<float>{3, 9}));
}
TEST(TensorSummary, TakesAnySize) {
    EXPECT_EQ(summary_of<float>(f32, {}, {0, 4}).elements, 0);
    EXPECT_EQ(summary_of<float>(f32, {7}, {}).cells, std::vector<float>{7});
    const TensorSummary s = summary_of<float>(f32, {kNan}, {1});
    EXPECT_EQ(s.smallest, 0);
    EXPECT_EQ(s.nans, 1);
}

/// A program that multiplies by 2.5, and an inspector in a context of its own.
class Inspected : public testing::Test {
  protected:
    void SetUp() override {
        try {
            session = device_session({.validation = true});
        } catch (const DeviceError& error) {
            GTEST_SKIP() << "no device: " << error.what();
        }
        scope.emplace(*session);
        executor = std::dynamic_pointer_cast<VulkanExecutor>(
            std::shared_ptr<Executor>(session->state()->executor));
        f = compile([](Tensor x) { return x * 2.5f; }, {f32("n")});
        ImGui::CreateContext();
        ImGuiIO& io = ImGui::GetIO();
        io.IniFilename = nullptr;
        io.DisplaySize = {800, 900};
        io.KeyMap[ImGuiKey_A] = 'A';
        unsigned char* texels = nullptr;
        int width = 0, height = 0;
        io.Fonts->GetTexDataAsAlpha8(&texels, &width, &height);
        inspector.emplace(executor, inspector_tools(), testing::TempDir() + "inspected");
    }
    void TearDown() override {
        inspector.reset();
        if (ImGui::GetCurrentContext()) ImGui::DestroyContext();
        if (!session) return;
        EXPECT_EQ(validation_report(*session), "");
    }
    float result() { return (*f)(tensor({2.0f, kNan}))(0).item<float>(); }
    bool frame() {
        places.clear();
        ImGui::GetIO().DeltaTime = 0.05f;
        ImGui::NewFrame();
        const bool open = inspector->draw(1, places);
        ImGui::Render();
        return open;
    }
    void click(const std::string& name) {
        for (int settle = 0; settle < 3; ++settle) frame();
        for (const PlacedPart& part : places)
            if (part.name == name) {
                ImGuiIO& io = ImGui::GetIO();
                io.MousePos = {part.rectangle.x + 8, part.rectangle.y + 8};
                frame();
                for (bool down : {true, false}) {
                    io.MouseDown[0] = down;
                    frame();
                }
                return void(frame());
            }
        FAIL() << name << " is not there";
    }
    void type_all(const std::string& text) {
        click("inspector glsl");
        ImGuiIO& io = ImGui::GetIO();
        io.KeyCtrl = io.KeysDown[int('A')] = true;
        frame();
        io.KeyCtrl = io.KeysDown[int('A')] = false;
        frame();
        io.AddInputCharactersUTF8(text.c_str());
        frame();
        click("inspector swap");
    }
    std::string glsl() const { return executor->watched().at(0).program->kernels.at(0).glsl; }
    static std::string with(std::string text, const std::string& from, const std::string& to) {
        const size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << text;
        return at == std::string::npos ? text : text.replace(at, from.size(), to);
    }

    std::optional<Session> session;
    std::optional<SessionScope> scope;
    std::shared_ptr<VulkanExecutor> executor;
    std::optional<Inspector> inspector;
    std::vector<PlacedPart> places;
    std::optional<Compiled<Tensor, 1>> f;
};

TEST_F(Inspected, ProgramsAreWatchedOnlyWhileItIsOpen) {
    result();
    ASSERT_GE(executor->watched().size(), 1u);
    EXPECT_EQ(executor->watched()[0].runs, 1);
    inspector.reset();
    EXPECT_TRUE(executor->watched().empty());
    result();
    EXPECT_TRUE(executor->watched().empty());
}
TEST_F(Inspected, AnEditedKernelRunsUntilItIsGivenBack) {
    EXPECT_EQ(result(), 5);
    frame();
    type_all(with(glsl(), "2.5", "3.5"));
    EXPECT_EQ(inspector->errors(), std::vector<std::string>{});
    EXPECT_EQ(result(), 7);
    click("inspector return");
    EXPECT_EQ(result(), 5);
}
TEST_F(Inspected, AnErrorIsSaidAtItsLineAndTheKernelRunsOn) {
    EXPECT_EQ(result(), 5);
    const std::string text = with(glsl(), "2.5", "nothing");
    const auto line = 1 + std::count(text.begin(), text.begin() + long(text.find("nothing")), '\n');
    type_all(text);
    ASSERT_FALSE(inspector->errors().empty());
    EXPECT_EQ(inspector->errors()[0].find(std::to_string(line) + ": 'nothing'"), 0u)
        << inspector->errors()[0];
    EXPECT_EQ(result(), 5);
}
TEST_F(Inspected, DeclarationsStay) {
    EXPECT_EQ(result(), 5);
    type_all(with(glsl(), "layout(", "layout( "));
    ASSERT_EQ(inspector->errors().size(), 1u);
    EXPECT_NE(inspector->errors()[0].find("stay as they are"), std::string::npos);
    EXPECT_EQ(result(), 5);
}
TEST_F(Inspected, TensorsAreCountedAndSaved) {
    result();
    click("inspector tensors");
    for (int settle = 0; settle < 3; ++settle) frame();
    EXPECT_EQ(inspector->summary().elements, 2);
    EXPECT_EQ(inspector->summary().nans, 1);
    EXPECT_EQ(inspector->summary().largest, 5);
    const std::string path = testing::TempDir() + "inspected-result-0.npy";
    std::filesystem::remove(path);
    click("inspector save");
    EXPECT_TRUE(std::filesystem::exists(path));
}
TEST_F(Inspected, EveryTabOfAnyProgramIsDrawn) {
    frame();  // no program yet
    result();
    Tensor walked = zeros({64});
    auto g = compile(
        [](Tensor x) {
            for (Tensor k : loop(3)) x = cumsum(x) + k.as(f32);
            return std::tuple{x, compact(x, x > 1.0f)};
        },
        {f32("n")});
    g(ones({64}));
    for (const char* tab : {"inspector schedule", "inspector memory", "inspector tensors",
                            "inspector kernels", "inspector code", "inspector spirv"}) {
        click(tab);
        for (int settle = 0; settle < 3; ++settle) EXPECT_TRUE(frame());
    }
}

using InspectorWindow = RealWindow;

TEST_F(InspectorWindow, F2OpensAndClosesIt) {
    WindowOptions wanted = options("inspect");
    wanted.gui_in_pictures = true;
    ViewWindow window(executor, wanted);
    settle(window);
    const auto changed = [&](const std::vector<uint8_t>& before) {
        return [&window, before] { return window.picture().rgba != before; };
    };
    const std::vector<uint8_t> closed = window.picture().rgba;
    by_hand("inspect", "windowfocus \\$id sleep 0.1 key F2");
    EXPECT_TRUE(frames_until(window, changed(closed)));
    settle(window);
    const std::vector<uint8_t> open = window.picture().rgba;
    by_hand("inspect", "sleep 0.1 key F2");
    EXPECT_TRUE(frames_until(window, changed(open)));
}

}  // namespace
}  // namespace firn
