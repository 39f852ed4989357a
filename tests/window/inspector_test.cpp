// The inspector: kernels that are replaced, tensors that are looked at, clicks and keys in it.
#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "compiler/program/make_call.h"
#include "compiler/program/saved_program.h"
#include "engine/firn/window.h"
#include "engine/window/panel_theme.h"
#include "tests/window/inspected.h"
#include "tests/window/window_fixture.h"

namespace firn {
namespace {

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
TEST_F(Inspected, AnEditedKernelIsApplied) {
    result();
    frame();
    EXPECT_EQ(text_in(place("inspector swap")), "apply\n");
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
    EXPECT_NE(inspector->errors()[0].find("must not change"), std::string::npos);
    EXPECT_EQ(result(), 5);
}
TEST_F(Inspected, TensorsAreCountedAndSaved) {
    result();
    click("inspector tensors");
    frames_until([&] { return inspector->summary().elements == 2; });
    EXPECT_EQ(inspector->summary().nans, 1);
    EXPECT_EQ(inspector->summary().largest, 5);
    const std::string path = testing::TempDir() + "inspected-result-0.npy";
    std::filesystem::remove(path);
    click("inspector save");
    frames_until([&] { return std::filesystem::exists(path); });
}
TEST_F(Inspected, NoFrameWaitsForATensor) {
    Device& device = executor->device();
    device.wait_idle();
    device.set_batch_limit(1000);  // nothing runs before it is requested
    const Tensor x = tensor({2.0f, NAN}), y = tensor({3.0f, 4.0f});  // not given away
    const Tensor first = (*f)(x), second = (*f)(y);
    const TimelinePoint done = device.completed();
    click("inspector tensors");
    for (int frames = 0; frames < 100; ++frames) frame();
    EXPECT_EQ(device.completed(), done);
    EXPECT_TRUE(inspector->is_reading());
    EXPECT_EQ(inspector->summary().elements, 0);
    device.set_batch_limit(1);
    device.flush();
    frames_until([&] { return inspector->summary().largest == 10; });
    click("inspector tensor 1");
    frames_until([&] { return inspector->summary().largest == 4; });
}
TEST_F(Inspected, WhatIsBeingSavedWhenItClosesIsSaved) {
    result();
    click("inspector tensors");
    frames_until([&] { return inspector->summary().elements == 2; });
    const std::string path = testing::TempDir() + "inspected-result-0.npy";
    std::filesystem::remove(path);
    executor->device().set_batch_limit(1000);
    click("inspector save");
    EXPECT_FALSE(std::filesystem::exists(path));
    inspector.reset();
    EXPECT_TRUE(std::filesystem::exists(path));
    executor->device().set_batch_limit(1);
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

// It has no code but GLSL, and no source.
TEST_F(Inspected, EveryTabOfASavedProgramIsDrawn) {
    const SavedProgram saved = program_from_bytes(program_bytes(f->saved({zeros({8})})), "saved");
    const auto memory = executor->allocate(32, "x");
    executor->write(*memory, 0, std::vector<std::byte>(32));
    const Call call = make_call(*executor, *saved.program, {memory}, {{8}}, saved.scalars);
    frame();
    executor->run(saved.program, call);
    for (const char* tab : {"inspector schedule", "inspector memory", "inspector tensors",
                            "inspector kernels", "inspector source", "inspector spirv",
                            "inspector code", "inspector graph", "inspector schedule"}) {
        click(tab);
        for (int settle = 0; settle < 3; ++settle) EXPECT_TRUE(frame());
    }
    EXPECT_FALSE(glsl().empty());
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
TEST_F(Inspected, AProgramThatRunsAgainIsShownRatherThanOneThatRanOnce) {
    const auto once = compile(
        [](Tensor x) {
            const Tensor sums = cumsum(x * 2.0f);
            return sums - sum(sums);
        },
        {f32("n")});
    once(ones({100'000}));
    frame();
    EXPECT_EQ(inspector->program(), std::shared_ptr<const Program>(once.program()));
    for (int runs = 0; runs < 2; ++runs) result();
    frame();
    EXPECT_EQ(inspector->program(), std::shared_ptr<const Program>(f->program()));
}
TEST_F(Inspected, KernelsOfOneNameHaveHistoriesOfTheirOwn) {
    inspector->add_times({{"k0 a.cpp:1", 1, 1, 1}, {"k0 a.cpp:1", 3, 1, 2}}, 1);
    EXPECT_EQ(inspector->history(1, "k0 a.cpp:1"), std::vector<float>{1});
    EXPECT_EQ(inspector->history(2, "k0 a.cpp:1"), std::vector<float>{3});
}
TEST_F(Inspected, TimesAreMediansOfSeveralSamples) {
    EXPECT_EQ(inspector->timing(1, "k0").samples, 0u);
    // The median is neither the first nor the last one, nor in the middle of the list, nor the
    // mean.
    for (double milliseconds : {900.0, 3.0, 2.0, 4.0, 1.0})
        inspector->add_times({{"k0", milliseconds, 4, 1}}, 2);
    const Inspector::Timing time = inspector->timing(1, "k0");
    EXPECT_EQ(time.samples, 5u);
    EXPECT_EQ(time.milliseconds, 3);
    EXPECT_EQ(time.per_frame, 6);
}
TEST_F(Inspected, TheTabsStayWhereTheyAreWhileTheirPageScrolls) {
    result();
    ImGui::GetIO().DisplaySize = {500, 300};
    click("inspector tensors");
    frames_until([&] { return inspector->summary().elements == 2; });
    for (int settle = 0; settle < 3; ++settle) frame();
    const Rectangle tab = place("inspector tensors"), save = place("inspector save");
    ImGui::GetIO().MousePos = {save.x + 100, save.y + 5};
    for (int turns = 0; turns < 20; ++turns) {
        ImGui::GetIO().MouseWheel = -1;
        frame();
    }
    ImGui::GetIO().MouseWheel = 0;
    frame();
    EXPECT_LT(place("inspector save").y, save.y - 20);  // it has scrolled
    EXPECT_EQ(place("inspector tensors").y, tab.y);
}
TEST_F(Inspected, TheEditorFillsThePlaceThatThereIs) {
    result();
    frame();
    ImGui::SetWindowSize("inspector", {600, 860});
    for (int settle = 0; settle < 3; ++settle) frame();
    const float tall = place("inspector glsl").height;
    if (const Rectangle facts = place("inspector facts"); facts.width > 0) click("inspector facts");
    for (int settle = 0; settle < 3; ++settle) frame();
    EXPECT_GT(place("inspector glsl").height, tall + 50);
    EXPECT_GT(place("inspector glsl").height, 400);
    const Rectangle button = place("inspector swap");
    EXPECT_GT(button.y + button.height, 780);  // the last thing of the window
}
TEST_F(Inspected, TensorsAreSearchedByTheirNames) {
    const auto g = compile([](Tensor x, Tensor y) { return x * 2.5f + y; }, {f32("n"), f32("n")});
    for (int k = 0; k < 3; ++k) g(tensor({2.0f, 3.0f}), tensor({2.0f, 7.0f}));
    click("inspector tensors");
    const auto listed = [&] {
        return std::count_if(places.begin(), places.end(), [](const PanelPart& part) {
            return part.name.rfind("inspector tensor ", 0) == 0;
        });
    };
    frame();
    EXPECT_EQ(listed(), 3);
    click("inspector search tensors");
    ImGui::GetIO().AddInputCharactersUTF8("ARGUMENT 1");
    for (int settle = 0; settle < 3; ++settle) frame();
    EXPECT_EQ(listed(), 1);
    click("inspector tensor 2");
    frames_until([&] { return inspector->summary().largest == 7; });
}
TEST_F(Inspected, ATensorWithoutANameIsNamedOnce) {
    const Tensor x = tensor({2.0f, 3.0f});
    (*f)(x);
    click("inspector tensors");
    click("inspector tensor 1");
    const std::string path = testing::TempDir() + "inspected-argument-0.npy";
    std::filesystem::remove(path);
    frames_until([&] { return inspector->summary().largest == 3; });
    click("inspector save");
    frames_until([&] { return std::filesystem::exists(path); });
}
TEST_F(Inspected, ARowOfATensorIsChosen) {
    const auto g = compile([](Tensor x) { return x * 2.0f; }, {f32("n", "m")});
    for (int k = 0; k < 3; ++k) g(tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2}));
    click("inspector tensors");
    frames_until([&] { return inspector->summary().elements == 4; });
    EXPECT_EQ(inspector->summary().line, (std::vector<float>{2, 4}));
    for (int settle = 0; settle < 3; ++settle) frame();
    const Rectangle row = place("inspector row");
    places.clear();
    // The last of its buttons is "+".
    ImGuiIO& io = ImGui::GetIO();
    io.MousePos = {row.x + row.width - 8, row.y + row.height / 2};
    for (bool down : {false, true, false}) {
        io.MouseDown[0] = down;
        frame();
    }
    frames_until([&] { return inspector->summary().pick.row == 1; });
    EXPECT_EQ(inspector->summary().line, (std::vector<float>{6, 8}));
}
TEST_F(Inspected, ABinOfTheHistogramIsNamedByItsRange) {
    ImGui::GetIO().DisplaySize = {800, 1600};
    (*f)(tensor({0.0f, 0.9f, 6.4f}));  // 0, 2.25 and 16: each of its 32 bins is 0.5 wide
    frame();
    ImGui::SetWindowSize("inspector", {620, 1500});
    click("inspector tensors");
    frames_until([&] { return inspector->summary().elements == 3; });
    for (int settle = 0; settle < 3; ++settle) frame();
    const Rectangle bars = place("inspector histogram");
    move_mouse(bars.x + bars.width * 4.5f / 32, bars.y + 30);
    for (int settle = 0; settle < 3; ++settle) frame();
    const std::string all = text_in({0, 0, 800, 1600});
    EXPECT_NE(all.find("2 to 2.5\n"), std::string::npos) << all;
    EXPECT_NE(all.find("1 elements"), std::string::npos) << all;
}
TEST_F(Inspected, KernelsAreSearchedByTheirNamesAndLines) {
    constexpr int kCount = 100'000;  // too many for one group, and each reads what another wrote
    const auto g = compile(
        [](Tensor x) {
            for (int k = 0; k < 8; ++k)  // kernels of one line
                kernel({kCount}, [&](Tensor i) {
                    Tensor y = x(kCount - 1 - i);
                    for (int turns = 0; turns < k; ++turns) y = sin(y);
                    x(i) = y;
                });
            kernel({kCount}, [&](Tensor i) { x(i) = cos(x(kCount - 1 - i)); });
            return x;
        },
        {f32("n")});
    g(ones({kCount}));
    frame();
    const std::vector<KernelInfo>& kernels = g.program()->kernels;
    ASSERT_EQ(inspector->program(), std::shared_ptr<const Program>(g.program()));
    ASSERT_GT(kernels.size(), 8u);
    const auto listed = [&] {
        std::vector<size_t> out;
        for (const PanelPart& part : places)
            if (part.name.rfind("inspector kernel ", 0) == 0)
                out.push_back(std::stoul(part.name.substr(17)));
        return out;
    };
    const auto search = [&](const std::string& text) {
        type_into("inspector search kernels", text);
        for (int settle = 0; settle < 3; ++settle) frame();
    };
    for (int settle = 0; settle < 3; ++settle) frame();
    EXPECT_EQ(listed().size(), kernels.size());
    search("K5");
    EXPECT_EQ(listed(), std::vector<size_t>{5});
    search(kernels[8].lines.at(0));
    EXPECT_EQ(listed(), std::vector<size_t>{8});
    search("no such kernel");
    EXPECT_EQ(listed().size(), 0u);
}
TEST_F(Inspected, CodeHasTheLineNumbersThatErrorsName) {
    result();
    frame();
    ImGui::SetWindowSize("inspector", {620, 700});
    std::string code;
    for (int k = 1; k <= 120; ++k) code += (k > 1 ? "\ncode" : "code") + std::to_string(k);
    type_into("inspector glsl", code);
    // Each line beside its number; from the first one that is seen to the last.
    const auto seen_lines = [&] {
        for (int settle = 0; settle < 3; ++settle) frame();
        Rectangle field = place("inspector glsl");
        field.x -= 60, field.width += 60;
        std::istringstream rows(text_in(field));
        std::vector<int> out;
        for (std::string row; std::getline(rows, row);) {
            out.push_back(std::atoi(row.c_str()));
            EXPECT_EQ(row, std::to_string(out.back()) + " code" + std::to_string(out.back()));
        }
        EXPECT_GT(out.size(), 5u);
        return out.empty() ? std::pair(0, 0) : std::pair(out.front(), out.back());
    };
    EXPECT_EQ(seen_lines().second, 120);
    const Rectangle field = place("inspector glsl");
    move_mouse(field.x + 100, field.y + 50);
    for (int turns = 0; turns < 40; ++turns) {
        ImGui::GetIO().MouseWheel = 1;
        frame();
    }
    EXPECT_EQ(seen_lines().first, 1);
}
TEST_F(Inspected, CodeIsInLettersOfOneWidth) {
    ImGui::GetIO().Fonts->Clear();
    load_font(1);  // as in a panel: one for words and one for code
    unsigned char* texels = nullptr;
    int width = 0, height = 0;
    ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&texels, &width, &height);
    result();
    frame();
    ImGui::SetWindowSize("inspector", {620, 860});
    const auto widths = [&] {
        for (int settle = 0; settle < 3; ++settle) frame();
        Rectangle below = place("inspector source");
        below.y += below.height, below.x = 0, below.width = 600, below.height = 200;
        std::set<float> out;
        for (const DrawnLetter& letter :
             drawn_letters(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts, below))
            out.insert(letter.advance);
        return out;
    };
    EXPECT_EQ(widths().size(), 1u) << "GLSL";
    click("inspector spirv");
    EXPECT_EQ(widths().size(), 1u) << "SPIR-V";
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
                const Tensor sums = cumsum(x);
                return sums - sum(sums);
            },
            {f32("n")});
        x = full({kCount}, 2.0f);
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
    frames_until([&] { return inspector->summary().largest == 2.0 * kCount; });
    EXPECT_EQ(inspector->summary().elements, kCount);
    EXPECT_EQ(inspector->summary().smallest, 2);
}
TEST_F(InspectedTemporary, AnEditedKernelRunsWhileItIsLookedAt) {
    const float before = run();
    frame();
    const std::shared_ptr<const Program> program = g->program();
    const size_t last = program->kernels.size() - 1;
    KernelInfo edited = program->kernels[last];
    edited.artefact.text = with(edited.artefact.text, "- ", "+ ");
    edited.artefact.words = inspector_tools().compile(edited.artefact.text, "edited");
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
