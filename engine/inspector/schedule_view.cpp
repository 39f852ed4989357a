// The schedule of a program as a picture that can be zoomed and shifted.
#include "engine/inspector/schedule_view.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "engine/window/panel_theme.h"

namespace firn {
namespace {

constexpr float kLeastZoom = 0.05f, kMostZoom = 3;
/// The zoom at the start if the whole picture is not legible.
constexpr float kLegible = 0.6f;
constexpr float kLeastText = 5;  // pixels: smaller letters are left out
constexpr size_t kNone = SIZE_MAX;

enum class Look { Argument, Inlined, Staged, Memory };

Look look_of(const Program& program, const ScheduleNode& node) {
    if (node.folded > 0) return Look::Inlined;
    if (node.value < 0) return Look::Argument;
    const std::string& verdict = program.verdicts[static_cast<size_t>(node.value)].verdict;
    return verdict == "inlined" ? Look::Inlined : verdict == "staged" ? Look::Staged : Look::Memory;
}

/// A value in memory is filled, a staged one half filled, an inlined one outlined; arguments have
/// another colour.
void draw_box(ImDrawList& draw, ImVec2 from, ImVec2 to, Look look, float zoom) {
    const ImU32 colour = look == Look::Argument ? IM_COL32(208, 160, 64, 255)
                         : look == Look::Staged ? IM_COL32(98, 178, 110, 255)
                                                : IM_COL32(86, 140, 214, 255);
    const float round = 5 * zoom;
    const ImU32 ground =
        is_light_theme() ? IM_COL32(250, 250, 250, 255) : IM_COL32(30, 32, 36, 255);
    draw.AddRectFilled(from, to, ground, round);
    if (look == Look::Memory) draw.AddRectFilled(from, to, colour, round);
    if (look == Look::Staged || look == Look::Argument)
        draw.AddRectFilled(from, to, (colour & 0x00ffffffu) | (0x60u << IM_COL32_A_SHIFT), round);
    draw.AddRect(from, to, colour, round, 0, std::max(1.0f, 1.5f * zoom));
}

ImU32 text_colour(Look look) {
    return look == Look::Memory ? IM_COL32(255, 255, 255, 255) : ImGui::GetColorU32(ImGuiCol_Text);
}

std::string microseconds(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g us", seconds * 1e6);
    return text;
}

}  // namespace

/// The rectangle that is drawn in.
struct ScheduleView::Canvas {
    ImVec2 from, size;
    float scale;
    float zoom, shift_x, shift_y;
    ImDrawList& draw;
    float text_size;

    ImVec2 at(float x, float y) const {
        return {from.x + (x * zoom + shift_x) * scale, from.y + (y * zoom + shift_y) * scale};
    }
    bool shows(ImVec2 low, ImVec2 high) const {
        return high.x >= from.x && high.y >= from.y && low.x <= from.x + size.x &&
               low.y <= from.y + size.y;
    }
    /// Draws text, cut to its room.
    void text(ImVec2 place, float width, ImU32 colour, const std::string& words) const {
        if (text_size < kLeastText * scale) return;
        const ImVec4 room{place.x, place.y, place.x + width, place.y + 2 * text_size};
        draw.AddText(ImGui::GetFont(), text_size, place, colour, words.c_str(), nullptr, 0, &room);
    }
};

void ScheduleView::fit(const Canvas& canvas) {
    const float width = canvas.size.x / canvas.scale, height = canvas.size.y / canvas.scale;
    const float whole =
        std::min(width / std::max(layout_.width, 1.0f), height / std::max(layout_.height, 1.0f));
    zoom_ = std::clamp(whole * 0.96f, kLegible, 1.0f);
    shift_x_ = layout_.width * zoom_ < width ? (width - layout_.width * zoom_) / 2 : 8;
    shift_y_ = layout_.height * zoom_ < height ? (height - layout_.height * zoom_) / 2 : 8;
}

void ScheduleView::take_mouse(const Canvas& canvas) {
    const ImGuiIO& io = ImGui::GetIO();
    if (ImGui::IsItemActive()) {
        shift_x_ += io.MouseDelta.x / canvas.scale;
        shift_y_ += io.MouseDelta.y / canvas.scale;
    }
    if (!ImGui::IsItemHovered()) return;
    const ImVec2 dragged = ImGui::GetMouseDragDelta(0, 0);
    if (ImGui::IsMouseReleased(0) && std::abs(dragged.x) + std::abs(dragged.y) < 4 * canvas.scale)
        take_click(((io.MousePos.x - canvas.from.x) / canvas.scale - shift_x_) / zoom_,
                   ((io.MousePos.y - canvas.from.y) / canvas.scale - shift_y_) / zoom_);
    if (ImGui::IsMouseDoubleClicked(0)) fitted_ = false;
    if (io.MouseWheel == 0) return;
    // Zooming keeps the point under the mouse in place.
    const float x = (io.MousePos.x - canvas.from.x) / canvas.scale,
                y = (io.MousePos.y - canvas.from.y) / canvas.scale;
    const float next = std::clamp(zoom_ * std::pow(1.2f, io.MouseWheel), kLeastZoom, kMostZoom);
    shift_x_ = x - (x - shift_x_) * next / zoom_;
    shift_y_ = y - (y - shift_y_) * next / zoom_;
    zoom_ = next;
}

void ScheduleView::take_click(float x, float y) {
    const auto inside = [&](float left, float top, float width, float height) {
        return x >= left && x < left + width && y >= top && y < top + height;
    };
    const auto toggle = [&](const ScheduleGroup& group) {
        if (group.values == 0) return;
        folded_[group.dispatch] = !group.folded;
        laid_out_ = false;
    };
    for (const ScheduleGroup& group : layout_.groups)
        if (inside(group.x, group.y, group.width, group.kTitle)) return toggle(group);
    for (const ScheduleNode& node : layout_.nodes)
        if (node.folded > 0 && inside(node.x, node.y, node.kWidth, node.kHeight))
            return toggle(layout_.groups[node.group]);
}

size_t ScheduleView::node_at(const Canvas& canvas, float x, float y) const {
    for (size_t n = 0; n < layout_.nodes.size(); ++n) {
        const ScheduleNode& node = layout_.nodes[n];
        const ImVec2 low = canvas.at(node.x, node.y);
        const ImVec2 high = canvas.at(node.x + node.kWidth, node.y + node.kHeight);
        if (x >= low.x && x < high.x && y >= low.y && y < high.y) return n;
    }
    return kNone;
}

void ScheduleView::draw_groups(const Canvas& canvas) const {
    for (const ScheduleGroup& group : layout_.groups) {
        const ImVec2 low = canvas.at(group.x, group.y),
                     high = canvas.at(group.x + group.width, group.y + group.height);
        if (group.height == 0 || !canvas.shows(low, high)) continue;
        canvas.draw.AddRectFilled(low, high, faint_line(0.08f), 6 * zoom_);
        canvas.draw.AddRect(low, high, faint_line(0.35f), 6 * zoom_);
        std::string title = "in no kernel of its own";
        const char* fold = group.folded ? "+ " : "- ";
        if (group.kernel >= 0) title = program_->kernels[static_cast<size_t>(group.kernel)].name;
        if (group.values > 0) title = fold + title;
        if (group.loop) title += ", in the loop at " + group.loop->line;
        canvas.text(canvas.at(group.x + 8, group.y + 6), (group.width - 16) * zoom_ * canvas.scale,
                    ImGui::GetColorU32(ImGuiCol_Text), title);
    }
}

void ScheduleView::draw_edges(const Canvas& canvas, size_t under_mouse) const {
    for (const ScheduleEdge& edge : layout_.edges) {
        const ScheduleNode &from = layout_.nodes[edge.from], &to = layout_.nodes[edge.to];
        const bool inside = from.group == to.group;
        const float bend = (inside ? 13 : 22) * zoom_ * canvas.scale;
        const ImVec2 a = inside ? canvas.at(from.x + from.kWidth, from.y + from.kHeight / 2)
                                : canvas.at(from.x + from.kWidth / 2, from.y + from.kHeight);
        const ImVec2 b =
            inside ? canvas.at(to.x, to.y + to.kHeight / 2) : canvas.at(to.x + to.kWidth / 2, to.y);
        if (!canvas.shows({std::min(a.x, b.x) - bend, std::min(a.y, b.y) - bend},
                          {std::max(a.x, b.x) + bend, std::max(a.y, b.y) + bend}))
            continue;
        const bool is_near = inside && std::abs(to.x - from.x) < 2 * from.kWidth &&
                             std::abs(to.y - from.y) < 8 * from.kHeight;
        const bool touched = edge.from == under_mouse || edge.to == under_mouse;
        const ImU32 colour = touched     ? ImGui::GetColorU32(loud_text())
                             : edge.back ? IM_COL32(200, 90, 160, 120)
                                         : faint_line(is_near ? 0.4f : 0.2f);
        const ImVec2 by{inside ? bend : 0, inside ? 0 : bend};
        canvas.draw.AddBezierCubic(a, {a.x + by.x, a.y + by.y}, {b.x - by.x, b.y - by.y}, b, colour,
                                   (touched ? 2.5f : 1.2f) * canvas.scale);
    }
}

void ScheduleView::draw_nodes(const Canvas& canvas) const {
    const float pad = 6 * zoom_ * canvas.scale;
    for (const ScheduleNode& node : layout_.nodes) {
        const ImVec2 low = canvas.at(node.x, node.y),
                     high = canvas.at(node.x + node.kWidth, node.y + node.kHeight);
        if (!canvas.shows(low, high)) continue;
        const Look look = look_of(*program_, node);
        draw_box(canvas.draw, low, high, look, zoom_ * canvas.scale);
        const std::string words = node.folded > 0 ? std::to_string(node.folded) + " inlined"
                                  : node.value < 0
                                      ? program_->arguments[static_cast<size_t>(node.argument)].name
                                      : program_->verdicts[static_cast<size_t>(node.value)].value;
        // `Add f32[n, m]` in two lines.
        const size_t blank = look == Look::Argument ? std::string::npos : words.find(' ');
        const float line = canvas.text_size, width = high.x - low.x - 2 * pad;
        const float top =
            blank == std::string::npos ? (high.y + low.y - line) / 2 : (high.y + low.y) / 2 - line;
        canvas.text({low.x + pad, top}, width, text_colour(look), words.substr(0, blank));
        if (blank != std::string::npos)
            canvas.text({low.x + pad, top + line}, width, text_colour(look),
                        words.substr(blank + 1));
    }
}

void ScheduleView::draw_tooltip(const ScheduleNode& node) const {
    const ScheduleGroup& group = layout_.groups[node.group];
    ImGui::BeginTooltip();
    if (node.folded > 0) {
        ImGui::Text("%d inlined values: computed where they are read", node.folded);
        ImGui::TextColored(dim_text(), "click to show them");
    } else if (node.value < 0) {
        const ArgumentInfo& argument = program_->arguments[static_cast<size_t>(node.argument)];
        ImGui::Text("%s, %s%s", argument.name.c_str(), argument.dtype.name(),
                    argument.scalar ? ", a number" : "");
    } else {
        const VerdictInfo& verdict = program_->verdicts[static_cast<size_t>(node.value)];
        ImGui::TextUnformatted(verdict.value.c_str());
        ImGui::Text("%s: %s", verdict.verdict.c_str(), verdict.reason.c_str());
        if (verdict.inline_seconds > 0 || verdict.materialise_seconds > 0)
            ImGui::Text("inlined %s, %smaterialised %s",
                        microseconds(verdict.inline_seconds).c_str(),
                        verdict.stage_seconds > 0
                            ? ("staged " + microseconds(verdict.stage_seconds) + ", ").c_str()
                            : "",
                        microseconds(verdict.materialise_seconds).c_str());
        if (!verdict.lines.empty()) ImGui::TextColored(dim_text(), "%s", verdict.lines.c_str());
    }
    if (group.kernel >= 0)
        ImGui::TextColored(dim_text(), "in %s",
                           program_->kernels[static_cast<size_t>(group.kernel)].name.c_str());
    ImGui::EndTooltip();
}

void ScheduleView::draw(const std::shared_ptr<const Program>& program, const CompileTrace& trace,
                        float scale, const std::function<void(const char*)>& note) {
    if (program != program_) {
        program_ = program;
        folded_.clear();
        laid_out_ = fitted_ = false;
    }
    if (!std::exchange(laid_out_, true)) layout_ = lay_out(*program, trace.values, folded_);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 from = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    Canvas canvas{from, {std::max(room.x, 50.0f), std::max(room.y, 50.0f)}, scale, 1, 0, 0, draw,
                  0};
    ImGui::InvisibleButton("##schedule", canvas.size);
    note("inspector schedule picture");
    if (!std::exchange(fitted_, true)) fit(canvas);
    take_mouse(canvas);
    canvas.zoom = zoom_, canvas.shift_x = shift_x_, canvas.shift_y = shift_y_;
    canvas.text_size = std::min(ImGui::GetFontSize() * zoom_, ImGui::GetFontSize() * 1.5f);
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const size_t under = ImGui::IsItemHovered() ? node_at(canvas, mouse.x, mouse.y) : kNone;
    hovered_ = under == kNone ? -1 : layout_.nodes[under].value;
    const ImVec2 to{from.x + canvas.size.x, from.y + canvas.size.y};
    draw.PushClipRect(from, to, true);
    draw_groups(canvas);
    draw_edges(canvas, under);
    draw_nodes(canvas);
    draw.PopClipRect();
    draw.AddRect(from, to, faint_line(0.3f));
    if (under != kNone) draw_tooltip(layout_.nodes[under]);
}

}  // namespace firn
