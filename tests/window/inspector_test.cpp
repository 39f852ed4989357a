// The inspector: kernels that are replaced, tensors that are looked at, clicks and keys in it.
#include "engine/inspector/inspector.h"

#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <sstream>
#include <thread>

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
    Rectangle place(const std::string& name) const {
        for (const PlacedPart& part : places)
            if (part.name == name) return part.rectangle;
        ADD_FAILURE() << name << " is not there";
        return {};
    }
    /// At most 20 s.
    template <class Done>
    void frames_until(const Done& done) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!done() && std::chrono::steady_clock::now() < end) {
            frame();
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        EXPECT_TRUE(done());
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
                            "inspector kernels", "inspector code", "inspector spirv",
                            "inspector graph", "inspector schedule", "inspector table"}) {
        click(tab);
        for (int settle = 0; settle < 3; ++settle) EXPECT_TRUE(frame());
    }
}

/// The first of several lines `after NAME:` and its text.
std::vector<std::pair<std::string, std::string>> passes_of(const std::string& all) {
    std::vector<std::pair<std::string, std::string>> out;
    std::istringstream in(all);
    for (std::string line; std::getline(in, line);)
        if (line.rfind("after ", 0) == 0 && line.back() == ':')
            out.emplace_back(line.substr(6, line.size() - 7), "");
        else if (!out.empty())
            out.back().second += line + "\n";
    for (auto& [name, text] : out) text.resize(text.size() - 1);  // the blank line between two
    return out;
}

TEST_F(Inspected, KernelCodeIsThereAfterEveryPass) {
    result();
    click("inspector code");
    frames_until([&] { return !inspector->kernel_passes().text().empty(); });
    const auto passes = passes_of(f->explain_kernel("k0"));
    ASSERT_GT(passes.size(), 5u);
    int changed = 0;
    for (size_t k = 1; k < passes.size() && changed < 3; ++k) {
        if (passes[k].second == passes[k - 1].second) continue;
        click("inspector pass " + std::to_string(k));
        EXPECT_EQ(inspector->kernel_passes().text(), passes[k].second) << passes[k].first;
        ++changed;
    }
    EXPECT_EQ(changed, 3);
}
TEST_F(Inspected, TheGraphIsThereAsItWasRecordedAndAfterEveryPass) {
    result();
    click("inspector graph");
    frames_until([&] { return !inspector->graph_passes().text().empty(); });
    EXPECT_NE(inspector->graph_passes().text().find("Mul"), std::string::npos);
    EXPECT_NE(inspector->graph_passes().text().find("2.5"), std::string::npos);
    const std::string recorded = inspector->graph_passes().text();
    click("inspector pass 1");  // which knows how many elements there are
    EXPECT_NE(inspector->graph_passes().text(), recorded);
}
TEST(NewLines, AreThoseThatThePassMade) {
    EXPECT_EQ(new_lines("a %1\nb\n", "a %7\nc\nb\nb\n"),
              (std::vector<bool>{false, true, false, true}));
}
TEST_F(Inspected, TheProgramWithMostKernelsIsShownUntilThePersonLooksAtOne) {
    result();
    frame();
    const auto g = compile(
        [](Tensor x) {
            const Tensor sums = cumsum(x * 2.0f);
            return sums - sum(sums);
        },
        {f32("n")});
    g(ones({100'000}));
    frame();
    EXPECT_EQ(inspector->program(), std::shared_ptr<const Program>(g.program()));
    click("inspector tensors");
    const auto largest = compile(
        [](Tensor x) {
            const Tensor sums = cumsum(x * 3.0f);
            return cumsum(cumsum(sums - sum(sums)) * sums);
        },
        {f32("n")});
    largest(ones({100'000}));
    frame();
    ASSERT_GT(largest.program()->kernels.size(), g.program()->kernels.size());
    EXPECT_EQ(inspector->program(), std::shared_ptr<const Program>(g.program()));
}
TEST_F(Inspected, KernelsOfOneNameHaveHistoriesOfTheirOwn) {
    inspector->add_times({{"k0 a.cpp:1", 1, 1, 1}, {"k0 a.cpp:1", 3, 1, 2}}, 1);
    EXPECT_EQ(inspector->history(1, "k0 a.cpp:1"), std::vector<float>{1});
    EXPECT_EQ(inspector->history(2, "k0 a.cpp:1"), std::vector<float>{3});
}
TEST_F(Inspected, TimesAreThoseOfTheProgramThatRan) {
    executor->set_profiling(true);
    auto g = compile([](Tensor x) { return x * 2.5f; }, {f32("n")});
    auto h = compile([](Tensor x) { return x * 3.5f; }, {f32("n")});
    const Tensor x = ones({64});
    x.to_vector<float>();
    executor->take_kernel_times();
    g(x), g(x), h(x);
    std::vector<std::pair<int64_t, int>> times;
    for (const KernelTime& time : executor->take_kernel_times())
        times.emplace_back(time.program, time.dispatches);
    executor->set_profiling(false);
    ASSERT_EQ(times.size(), 2u);
    EXPECT_NE(times[0].first, times[1].first);
    EXPECT_EQ(times[0].second, 2);
    EXPECT_EQ(times[1].second, 1);
    const std::vector<WatchedCall> calls = executor->watched();
    EXPECT_TRUE(std::any_of(calls.begin(), calls.end(), [&](const WatchedCall& call) {
        return call.program == std::shared_ptr<const Program>(h.program()) &&
               call.number == times[1].first;
    }));
}

/// A program of several kernels, one of which leaves a running sum.
class InspectedTemporary : public Inspected {
  protected:
    static constexpr int kCount = 100'000;  // too many for one kernel
    void SetUp() override {
        Inspected::SetUp();
        if (!session) return;
        g = compile(
            [](Tensor x) {
                const Tensor sums = cumsum(x * 2.0f);
                return sums - sum(sums);
            },
            {f32("n")});
        x = ones({kCount});
        x.to_vector<float>();
        for (int frames = 0; frames < 2; ++frames) run();
    }
    float run() { return (*g)(x)(0).item<float>(); }
    /// The running sum in the list of tensors, where temporaries stand behind what the caller
    /// holds.
    void pick() {
        click("inspector tensors");
        const Program& program = *g->program();
        std::set<int> used;
        for_dispatches(program.steps, [&](const DispatchStep& step) {
            used.insert(step.buffers.begin(), step.buffers.end());
        });
        size_t row = program.results.size() + program.arguments.size();
        for (int buffer : used) {
            const BufferInfo& info = program.buffers[size_t(buffer)];
            if (info.role != BufferRole::Temporary) continue;
            if (info.elements.evaluate({{"n", kCount}}) == kCount)
                return click("inspector tensor " + std::to_string(row));
            ++row;
        }
        FAIL() << "it has no such temporary";
    }
    std::optional<Compiled<Tensor, 1>> g;
    Tensor x;
};

TEST_F(InspectedTemporary, IsShownAsTheCallLeavesIt) {
    const float before = run();
    pick();
    for (int frames = 0; frames < 3; ++frames) {
        EXPECT_EQ(run(), before);
        frame();
    }
    EXPECT_EQ(inspector->summary().elements, kCount);
    EXPECT_EQ(inspector->summary().smallest, 2);
    EXPECT_EQ(inspector->summary().largest, 2.0 * kCount);
}
TEST_F(InspectedTemporary, AnEditedKernelRunsWhileItIsLookedAt) {
    const float before = run();
    frame();
    const std::shared_ptr<const Program> program = g->program();
    const size_t last = program->kernels.size() - 1;
    KernelInfo edited = program->kernels[last];
    edited.glsl = with(edited.glsl, "- ", "+ ");
    edited.spirv = inspector_tools().compile(edited.glsl, "edited");
    executor->replace_kernel(program, last, edited);
    const float changed = run();
    EXPECT_NE(changed, before);
    pick();
    EXPECT_EQ(run(), changed);
    executor->replace_kernel(program, last, program->kernels[last]);
    EXPECT_EQ(run(), before);
}
TEST_F(InspectedTemporary, GivesItsMemoryBackWhenNobodyLooks) {
    const auto kept = [&] {
        const std::vector<WatchedCall> calls = executor->watched();
        return std::count_if(calls.begin(), calls.end(),
                             [](const WatchedCall& call) { return call.temporary != nullptr; });
    };
    pick();
    run();
    EXPECT_EQ(kept(), 1);
    click("inspector memory");
    run();
    EXPECT_EQ(kept(), 0);
}

// --- the schedule as a picture

bool overlap(const ScheduleNode& a, const ScheduleNode& b) {
    return a.x < b.x + b.kWidth && b.x < a.x + a.kWidth && a.y < b.y + b.kHeight &&
           b.y < a.y + a.kHeight;
}
bool overlap(const ScheduleGroup& a, const ScheduleGroup& b) {
    return a.height > 0 && b.height > 0 && a.x < b.x + b.width && b.x < a.x + a.width &&
           a.y < b.y + b.height && b.y < a.y + a.height;
}

void expect_legible(const ScheduleLayout& layout, const Program& program) {
    std::vector<bool> seen(program.verdicts.size());
    for (size_t n = 0; n < layout.nodes.size(); ++n) {
        const ScheduleNode& node = layout.nodes[n];
        const ScheduleGroup& group = layout.groups.at(node.group);
        if (node.value >= 0) seen.at(static_cast<size_t>(node.value)) = true;
        EXPECT_GE(node.x, group.x);
        EXPECT_GE(node.y, group.y + group.kTitle);
        EXPECT_LE(node.x + node.kWidth, group.x + group.width);
        EXPECT_LE(node.y + node.kHeight, group.y + group.height);
        for (size_t m = 0; m < n; ++m)
            EXPECT_FALSE(overlap(node, layout.nodes[m])) << n << " " << m;
    }
    for (size_t k = 0; k < seen.size(); ++k)
        EXPECT_TRUE(seen[k] || program.verdicts[k].verdict == "inlined")
            << program.verdicts[k].value;
    for (size_t g = 0; g < layout.groups.size(); ++g) {
        EXPECT_LE(layout.groups[g].x + layout.groups[g].width, layout.width);
        EXPECT_LE(layout.groups[g].y + layout.groups[g].height, layout.height);
        for (size_t h = 0; h < g; ++h)
            EXPECT_FALSE(overlap(layout.groups[g], layout.groups[h])) << g << " " << h;
    }
    for (const ScheduleEdge& edge : layout.edges) {
        const ScheduleNode &from = layout.nodes.at(edge.from), &to = layout.nodes.at(edge.to);
        if (edge.back || from.group == to.group) continue;
        EXPECT_LT(layout.groups[from.group].y, layout.groups[to.group].y);
    }
}

TEST_F(Inspected, TheScheduleIsLaidOutWithoutOverlaps) {
    auto g = compile(
        [](Tensor x, Tensor w) {
            Tensor y = softmax(matmul(x, w), {.axis = 1});
            for (Tensor k : loop(3)) y = cumsum(y, {.axis = 0}) * 0.5f + k.as(f32);
            return std::tuple{y, sum(y, {.axis = 0}),
                              compact(reshape(y, {-1}), reshape(y, {-1}) > 1.0f)};
        },
        {f32(64, 32), f32(32, 64)});
    const std::shared_ptr<const Program> program = g.program();
    expect_legible(lay_out(*program, inspector_tools().trace(*program).values), *program);
}
/// Forty values in one kernel.
Compiled<Tensor, 1> forty() {
    return compile(
        [](Tensor x) {
            for (int k = 0; k < 39; ++k) x = k % 2 ? x * 1.01f : sin(x);
            return x + 1.0f;
        },
        {f32("n")});
}
TEST_F(Inspected, AKernelOfManyValuesIsFolded) {
    const auto g = forty();
    const std::shared_ptr<const Program> program = g.program();
    const auto values = inspector_tools().trace(*program).values;
    const ScheduleLayout folded = lay_out(*program, values);
    ASSERT_EQ(folded.nodes.size(), 3u);  // what it takes, what it does, what it gives
    EXPECT_EQ(folded.edges.size(), 2u);
    expect_legible(folded, *program);
    const ScheduleLayout open = lay_out(*program, values, {{0, false}});
    EXPECT_EQ(open.nodes.size(), 41u);
    expect_legible(open, *program);
}
TEST_F(Inspected, AClickUnfoldsIt) {
    const auto g = forty();
    g(tensor({1.0f, 2.0f}));
    click("inspector schedule");
    frames_until([&] { return !inspector->schedule().layout().nodes.empty(); });
    const ScheduleView& view = inspector->schedule();
    ASSERT_EQ(view.layout().nodes.size(), 3u);
    const ScheduleNode all = *std::find_if(view.layout().nodes.begin(), view.layout().nodes.end(),
                                           [](const ScheduleNode& n) { return n.folded > 0; });
    const Rectangle canvas = place("inspector schedule picture");
    ImGuiIO& io = ImGui::GetIO();
    io.MousePos = {canvas.x + view.shift_x() + (all.x + 20) * view.zoom(),
                   canvas.y + view.shift_y() + (all.y + 10) * view.zoom()};
    frame();
    for (bool down : {true, false}) {
        io.MouseDown[0] = down;
        frame();
    }
    frame();
    EXPECT_EQ(view.layout().nodes.size(), 41u);
}
TEST_F(Inspected, ThePictureSaysWhatIsUnderTheMouseAndZooms) {
    result();
    click("inspector schedule");
    frames_until([&] { return !inspector->schedule().layout().nodes.empty(); });
    const ScheduleLayout& layout = inspector->schedule().layout();
    const Rectangle canvas = place("inspector schedule picture");
    ImGuiIO& io = ImGui::GetIO();
    bool found = false;
    for (float y = 4; y < canvas.height && !found; y += 8)
        for (float x = 4; x < canvas.width && !found; x += 16) {
            io.MousePos = {canvas.x + x, canvas.y + y};
            frame();
            found = inspector->schedule().hovered() >= 0;
        }
    EXPECT_TRUE(found);
    EXPECT_FALSE(layout.nodes.empty());
    const float before = inspector->schedule().zoom();
    io.MouseWheel = 1;
    frame();
    EXPECT_GT(inspector->schedule().zoom(), before);
    EXPECT_GE(inspector->schedule().hovered(), 0) << "what is under the mouse stays there";
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
