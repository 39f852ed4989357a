// Shows messages, work and the value under the mouse, through Dear ImGui.
#include "engine/window/status.h"

#include <imgui.h>
#include <imgui_internal.h>  // where other windows are, and which is in front

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/window/free_place.h"
#include "engine/window/message_log.h"
#include "engine/window/panel_theme.h"

namespace firn {
namespace {

/// Sizes at scale 1: the widest text, the least width of a place beside the panel, the margin
/// around a box, and the padding within it; the bar that shows how far work is; the distance from
/// the mouse.
constexpr float kTextWidth = 460, kPlaceWidth = 150, kMargin = 8, kPaddingX = 10, kPaddingY = 6,
                kLineGap = 5, kBarHeight = 4, kMouse = 26;
/// A window that is narrower has no room for words.
constexpr float kTiny = 40;
/// The largest share of the window's height that the panel leaves.
constexpr float kMostRoom = 0.45f;
constexpr float kLogWidth = 460, kLogHeight = 200;
constexpr const char* kMore = "F3 lists all messages";
constexpr const char *kMessages = "##messages", *kValue = "##value";

/// Lines of text in a box.
struct StatusBox {
    std::vector<std::string> texts;
    double share = -1;  // of the work that is done, shown by a bar below
    bool cut = false;   // some of it is left out
};

StatusBox messages_of(const PanelState& state) {
    StatusBox box{state.messages, state.share, false};
    if (!state.work.empty()) box.texts.push_back(state.work);
    return box;
}

StatusBox value_of(const PanelState& state) {
    StatusBox box;
    if (!state.hint.empty()) box.texts = {state.hint};
    return box;
}

float text_height(const std::string& text, float width) {
    return ImGui::CalcTextSize(text.c_str(), text.c_str() + text.size(), false, width).y;
}

float box_height(const StatusBox& box, float width, float scale) {
    const float inner = std::max(width - 2 * kPaddingX * scale, 1.0f);
    float height = 2 * kPaddingY * scale - kLineGap * scale;
    for (const std::string& text : box.texts) height += text_height(text, inner) + kLineGap * scale;
    if (box.cut) height += text_height(kMore, inner) + kLineGap * scale;
    if (box.share >= 0) height += (kBarHeight + kLineGap) * scale;
    return height;
}

/// Returns the width of the longest line if it need not be wrapped.
float box_width(const StatusBox& box, float scale) {
    float widest = box.cut ? ImGui::CalcTextSize(kMore).x : 0;
    for (const std::string& text : box.texts)
        widest = std::max(widest, ImGui::CalcTextSize(text.c_str(), text.c_str() + text.size()).x);
    return std::ceil(std::min(widest, kTextWidth * scale) + 2 * kPaddingX * scale) + 1;
}

PlaceNeed need_of(const StatusBox& box, float scale) {
    const float width = box_width(box, scale), margin = kMargin * scale;
    return {std::min(width, kPlaceWidth * scale - 2 * margin), width,
            [&box, scale](float width) { return box_height(box, width, scale); }};
}

Rectangle inner_window(float scale) {
    const ImVec2 window = ImGui::GetIO().DisplaySize;
    const float margin = kMargin * scale;
    return {margin, margin, window.x - 2 * margin, window.y - 2 * margin};
}

/// Returns the rectangle with the margin that a box keeps from it.
Rectangle around(const Rectangle& at, float margin) {
    return {at.x - margin, at.y - margin, at.width + 2 * margin, at.height + 2 * margin};
}

Rectangle rectangle_of(const ImGuiWindow& window) {
    return {window.Pos.x, window.Pos.y, window.Size.x, window.Size.y};
}

/// Returns the rectangles of all open windows, except tooltips.
std::vector<Rectangle> open_windows(float scale) {
    std::vector<Rectangle> out;
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
        const bool is_own =
            std::strcmp(window->Name, kMessages) == 0 || std::strcmp(window->Name, kValue) == 0;
        if (!window->Active || window->Hidden || window->RootWindow != window || is_own ||
            window->IsFallbackWindow || (window->Flags & ImGuiWindowFlags_Tooltip))
            continue;
        out.push_back(around(rectangle_of(*window), kMargin * scale));
    }
    return out;
}

/// Returns the panel alone, if it is drawn.
std::vector<Rectangle> open_panel(float scale) {
    const ImGuiWindow* panel = ImGui::FindWindowByName("###panel");
    if (!panel || !panel->Active) return {};
    return {around(rectangle_of(*panel), kMargin * scale)};
}

/// Returns as much of the beginning of the text as fits in `lines` lines.
std::string beginning(const std::string& text, float width, int lines) {
    const char *at = text.c_str(), *end = at + text.size();
    for (int line = 0; line < lines && at < end; ++line) {
        const char* newline = std::find(at, end, '\n');
        const char* next = ImGui::GetFont()->CalcWordWrapPositionA(1, at, newline, width);
        at = next == at && next < newline ? next + 1 : next;
        while (at < end && (*at == ' ' || *at == '\n')) ++at;
    }
    return at < end ? std::string(text.c_str(), at) + "\u2026" : text;
}

/// Cuts the box to a size: it keeps the newest texts, and the beginning of each, as far as they
/// fit.
StatusBox cut_to(StatusBox box, float width, float height, float scale) {
    const float inner = std::max(width - 2 * kPaddingX * scale, 1.0f);
    while (box.texts.size() > 1 && box_height(box, width, scale) > height) {
        box.texts.erase(box.texts.begin());
        box.cut = true;
    }
    if (box_height(box, width, scale) <= height) return box;
    box.cut = true;
    const float line = ImGui::GetTextLineHeight();
    const float others = box_height(box, width, scale) - text_height(box.texts[0], inner);
    box.texts[0] =
        beginning(box.texts[0], inner, std::max(1, static_cast<int>((height - others) / line)));
    return box;
}

void draw_status_box(const char* name, const StatusBox& box, const Rectangle& at, bool in_front,
                     float scale, bool loud) {
    ImGui::SetNextWindowPos({at.x, at.y});
    ImGui::SetNextWindowSize({at.width, at.height});
    ImGui::SetNextWindowBgAlpha(0.97f);  // nearly opaque, to be read in front of a moving picture
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {kPaddingX * scale, kPaddingY * scale});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, kLineGap * scale});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
    ImGui::Begin(name, nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoInputs |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing |
                     ImGuiWindowFlags_NoNav);
    if (in_front) ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
    const float inner = at.width - 2 * kPaddingX * scale;
    ImGui::PushTextWrapPos(kPaddingX * scale + inner);
    if (loud) ImGui::PushStyleColor(ImGuiCol_Text, loud_text());
    for (const std::string& text : box.texts)
        ImGui::TextUnformatted(text.c_str(), text.c_str() + text.size());
    if (loud) ImGui::PopStyleColor();
    if (box.cut) ImGui::TextColored(dim_text(), "%s", kMore);
    if (box.share >= 0)
        ImGui::ProgressBar(static_cast<float>(box.share), {inner, kBarHeight * scale}, "");
    ImGui::PopTextWrapPos();
    ImGui::End();
    ImGui::PopStyleVar(3);
}

/// Rectangles that boxes avoid, in the order in which they give way if a window is full.
struct Surroundings {
    std::vector<Rectangle> windows, panel;  // all that are open, and the panel alone
    Rectangle mouse;                        // what it points at stays seen
};

std::optional<Rectangle> first_place(const StatusBox& box,
                                     const std::vector<std::vector<Rectangle>>& all, float scale) {
    for (const std::vector<Rectangle>& covered : all)
        if (auto at = free_place(inner_window(scale), covered, need_of(box, scale))) return at;
    return {};
}

std::vector<Rectangle> with(std::vector<Rectangle> all, const std::optional<Rectangle>& more) {
    if (more) all.push_back(*more);
    return all;
}

std::optional<Rectangle> place_of_value(const StatusBox& box, const Surroundings& around,
                                        const std::optional<Rectangle>& said, float scale) {
    const std::vector<Rectangle> windows = with(around.windows, said),
                                 panel = with(around.panel, said);
    return first_place(
        box, {with(windows, around.mouse), with(panel, around.mouse), windows, panel}, scale);
}

/// Returns the largest place that is left, and cuts the box to it.
Rectangle rest_for(StatusBox& box, const std::vector<Rectangle>& covered, float scale) {
    Rectangle most = largest_free(inner_window(scale), covered);
    if (most.width <= 0) most = inner_window(scale);
    const float width = std::min(most.width, box_width(box, scale));
    box = cut_to(std::move(box), width, most.height, scale);
    const float height = std::min(box_height(box, width, scale), most.height);
    return {most.x, most.y + most.height - height, width, height};
}

}  // namespace

float room_for_status(const PanelState& state, const Rectangle& panel, float scale) {
    const StatusBox said = messages_of(state), value = value_of(state);
    const Rectangle window = inner_window(scale);
    const float gap = kMargin * scale;
    std::vector<Rectangle> covered{around(panel, gap)};
    float room = 0;
    bool fits = true;
    for (const StatusBox* box : {&said, &value}) {
        if (box->texts.empty()) continue;
        const auto at = free_place(window, covered, need_of(*box, scale));
        fits = fits && at;
        if (at) covered.push_back(around(*at, gap));
        const float mouse = box == &value ? 2 * kMouse * scale : 0;
        const float width = std::min(window.width - mouse, box_width(*box, scale));
        room += box_height(*box, width, scale) + gap;
    }
    return fits ? 0 : std::min(room + gap, kMostRoom * ImGui::GetIO().DisplaySize.y);
}

void draw_status(const PanelState& state, float scale, PanelActions& actions) {
    const Rectangle window = inner_window(scale);
    if (window.width < kTiny * scale || window.height < ImGui::GetTextLineHeight()) return;
    const float gap = kMargin * scale;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    StatusBox said = messages_of(state), value = value_of(state);
    if (said.texts.empty() && value.texts.empty()) return;
    const Surroundings surroundings{open_windows(scale), open_panel(scale),
                                    around({mouse.x, mouse.y, 0, 0}, kMouse * scale)};
    // If the log leaves no room, the messages are dropped from the box: the log shows them.
    if (state.log_open && !first_place(said, {surroundings.windows}, scale))
        said.texts.erase(said.texts.begin(),
                         said.texts.begin() + static_cast<ptrdiff_t>(state.messages.size()));
    const bool says = !said.texts.empty(), has_value = !value.texts.empty();
    const auto off = [&](const std::optional<Rectangle>& at) {
        return at ? std::optional(around(*at, gap)) : std::nullopt;
    };
    std::optional<Rectangle> at, value_at;
    if (says) at = first_place(said, {surroundings.windows, surroundings.panel}, scale);
    if (has_value) value_at = place_of_value(value, surroundings, off(at), scale);
    // If there is no room for both, messages are cut, since the log shows them too.
    if ((has_value && !value_at) || (says && !at)) {
        if (has_value) value_at = place_of_value(value, surroundings, {}, scale);
        const std::optional<Rectangle> kept = off(value_at);
        if (says)
            at = first_place(
                said, {with(surroundings.windows, kept), with(surroundings.panel, kept)}, scale);
        if (says && !at) at = rest_for(said, with(surroundings.panel, kept), scale);
        if (has_value && !value_at) value_at = rest_for(value, surroundings.panel, scale);
    }
    const auto draw = [&](const char* name, const char* part, const StatusBox& box,
                          const Rectangle& place, bool loud) {
        const bool in_front =
            std::any_of(surroundings.windows.begin(), surroundings.windows.end(),
                        [&](const Rectangle& each) { return overlaps(each, place); });
        draw_status_box(name, box, place, in_front, scale, loud);
        actions.places.push_back({part, place});
    };
    if (at) draw(kMessages, "messages", said, *at, true);
    if (value_at) draw(kValue, "value", value, *value_at, false);
}

namespace {

/// Breaks lines at the width; continued lines are indented.
std::vector<char> wrapped(const std::string& text, float width) {
    std::vector<char> out;
    const std::string indent = "        ";
    const float rest = std::max(width - ImGui::CalcTextSize(indent.c_str()).x, 1.0f);
    const char *at = text.c_str(), *end = at + text.size();
    while (at < end) {
        const char* newline = std::find(at, end, '\n');
        for (bool first = true; at < newline; first = false) {
            const char* next =
                ImGui::GetFont()->CalcWordWrapPositionA(1, at, newline, first ? width : rest);
            if (next == at) ++next;
            while (next < newline && (*next & 0xc0) == 0x80) ++next;  // within a character
            if (!first) out.insert(out.end(), indent.begin(), indent.end());
            out.insert(out.end(), at, next);
            out.push_back('\n');
            at = next;
            while (at < newline && *at == ' ') ++at;
        }
        at = newline < end ? newline + 1 : end;
    }
    if (!out.empty())
        out.back() = 0;
    else
        out.push_back(0);
    return out;
}

/// Places the log beside what is open, if there is room.
void place_log(float scale) {
    const ImVec2 window = ImGui::GetIO().DisplaySize;
    const float margin = kPanelPadding * scale;
    const Rectangle all{margin, margin, std::max(window.x - 2 * margin, 1.0f),
                        std::max(window.y - 2 * margin, 1.0f)};
    Rectangle free = largest_free(all, open_windows(scale));
    if (free.width < kPlaceWidth * scale || free.height < kLogHeight * scale / 2) free = all;
    const float width = std::min(kLogWidth * scale, free.width),
                height = std::min(kLogHeight * scale, free.height);
    ImGui::SetNextWindowSize({width, height}, ImGuiCond_Appearing);
    ImGui::SetNextWindowPos({free.x, free.y + free.height - height}, ImGuiCond_Appearing);
    ImGui::SetNextWindowSizeConstraints({60 * scale, 60 * scale}, {window.x, window.y});
}

}  // namespace

void draw_log(const PanelState& state, float scale, LogView& view, PanelActions& actions) {
    if (!state.log_open || !state.log) return;
    place_log(scale);
    bool open = true;
    ImGui::SetNextWindowBgAlpha(0.97f);
    ImGui::Begin("messages", &open, ImGuiWindowFlags_NoSavedSettings);
    const auto note = [&](const char* name, ImVec2 from, ImVec2 to) {
        actions.places.push_back({name, {from.x, from.y, to.x - from.x, to.y - from.y}});
    };
    const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
    note("log", at, {at.x + size.x, at.y + size.y});
    if (ImGui::Button("copy all")) ImGui::SetClipboardText(log_text(*state.log).c_str());
    note("copy log", ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
    ImGui::BeginChild("##all");
    const float width = ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ScrollbarSize;
    const bool is_other = view.said != state.log->said || view.width != width;
    const bool follows = is_other && ImGui::GetScrollY() >= ImGui::GetScrollMaxY() - 1;
    if (is_other) {
        const std::string text =
            state.log->all.empty() ? "no messages yet\n" : log_text(*state.log);
        view = {state.log->said, width, wrapped(text, width)};
    }
    const auto lines = 1 + std::count(view.text.begin(), view.text.end(), '\n');
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {0, 0});
    ImGui::PushStyleColor(ImGuiCol_FrameBg, ImVec4{0, 0, 0, 0});
    // The field is as high as its text, so that the newest line can be scrolled to here.
    ImGui::InputTextMultiline(
        "##text", view.text.data(), view.text.size(),
        {-FLT_MIN, static_cast<float>(lines) * ImGui::GetTextLineHeight() + 2 * scale},
        ImGuiInputTextFlags_ReadOnly);
    note("log text", ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
    if (follows) ImGui::SetScrollHereY(1);
    ImGui::EndChild();
    ImGui::End();
    if (!open) actions.log = true;
}

}  // namespace firn
