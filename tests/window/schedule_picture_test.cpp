// The schedule of a program as a picture in the inspector.
#include <algorithm>

#include "tests/window/inspected.h"

namespace firn {
namespace {

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
    // Values that are not in memory may be folded.
    const bool folds = std::any_of(layout.nodes.begin(), layout.nodes.end(),
                                   [](const ScheduleNode& node) { return node.folded > 0; });
    for (size_t k = 0; k < seen.size(); ++k) {
        const std::string& verdict = program.verdicts[k].verdict;
        EXPECT_TRUE(seen[k] || verdict == "inlined" || (folds && verdict == "staged"))
            << program.verdicts[k].value;
    }
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

}  // namespace
}  // namespace firn
