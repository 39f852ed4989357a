// Draws the widgets of a Gui through Dear ImGui.
#include "engine/window/gui_panel.h"

#include <imgui.h>
#include <imgui_internal.h>  // whether a text field has the keyboard

#include <algorithm>
#include <utility>

#include "engine/window/os_window.h"
#include "engine/window/panel_parts.h"
#include "engine/window/panel_question.h"
#include "engine/window/panel_theme.h"
#include "engine/window/panel_widgets.h"
#include "engine/window/status.h"

namespace firn {
namespace {

/// The panel is as wide as it needs, and no wider than this share of the window, or than so many
/// pixels at scale 1 if that share is less than its fields need.
constexpr float kMostOfWindow = 0.42f, kLeastWidth = 150;

/// Maps the codes of Key, which ImGui 1.86 takes through a table.
void map_keys() {
    ImGuiIO& io = ImGui::GetIO();
    auto map = [&](ImGuiKey key, Key code) { io.KeyMap[key] = static_cast<int>(code); };
    map(ImGuiKey_Tab, Key::Tab);
    map(ImGuiKey_LeftArrow, Key::Left);
    map(ImGuiKey_RightArrow, Key::Right);
    map(ImGuiKey_UpArrow, Key::Up);
    map(ImGuiKey_DownArrow, Key::Down);
    map(ImGuiKey_UpArrow, Key::Up);
    map(ImGuiKey_DownArrow, Key::Down);
    map(ImGuiKey_PageUp, Key::PageUp);
    map(ImGuiKey_PageDown, Key::PageDown);
    map(ImGuiKey_Home, Key::Home);
    map(ImGuiKey_End, Key::End);
    map(ImGuiKey_Delete, Key::Delete);
    map(ImGuiKey_Backspace, Key::Backspace);
    map(ImGuiKey_Space, Key::Space);
    map(ImGuiKey_Enter, Key::Enter);
    map(ImGuiKey_Escape, Key::Escape);
    io.KeyMap[ImGuiKey_A] = 'A';
    io.KeyMap[ImGuiKey_C] = 'C';
    io.KeyMap[ImGuiKey_V] = 'V';
    io.KeyMap[ImGuiKey_X] = 'X';
    io.KeyMap[ImGuiKey_Y] = 'Y';
    io.KeyMap[ImGuiKey_Z] = 'Z';
}

/// Copies and pastes through the clipboard of the operating system.
void use_clipboard(OsWindow* window) {
    ImGuiIO& io = ImGui::GetIO();
    io.ClipboardUserData = window;
    io.GetClipboardTextFn = [](void* user) { return static_cast<OsWindow*>(user)->clipboard(); };
    io.SetClipboardTextFn = [](void* user, const char* text) {
        static_cast<OsWindow*>(user)->set_clipboard(text);
    };
}

/// Places the panel where it was left, as far as the window is large enough; it is less high if
/// nothing else leaves room for messages.
void place_panel(PanelPlace& place, const PanelState& state, float scale) {
    constexpr float kSeen = 60;  // the least visible part, pixels at scale 1
    const ImVec2 window = ImGui::GetIO().DisplaySize;
    const float room_before = place.room;
    const bool says_something =
        !state.messages.empty() || !state.work.empty() || !state.hint.empty();
    // The room stays as long as there is a message; otherwise it would come and go.
    const float room = place.width > 0 ? room_for_status(state, place.drawn, scale) : 0;
    place.room = says_something ? std::max(place.room, room) : 0;
    const auto within = [&](float at, float extent) {
        return std::clamp(at * scale, 0.0f, std::max(extent - kSeen * scale, 0.0f));
    };
    if (place.width == 0) ImGui::SetNextWindowCollapsed(place.layout.collapsed);
    const float padding = kPanelPadding * scale;
    const ImVec2 at{within(place.layout.x, window.x), within(place.layout.y, window.y)};
    const bool resized = window.x != place.width || window.y != place.height;
    if (place.room > 0)
        ImGui::SetNextWindowPos({at.x, std::min(at.y, padding)}, ImGuiCond_Always);
    else if (resized || room_before > 0)
        ImGui::SetNextWindowPos(at, ImGuiCond_Always);
    ImGui::SetNextWindowSizeConstraints(
        {0, 0}, {FLT_MAX, std::max(80.0f, window.y - 2 * padding - place.room)});
}

/// Folds headers as they were.
void restore_headers(const PanelLayout& layout) {
    for (const auto& [name, open] : layout.open)
        ImGui::GetStateStorage()->SetInt(ImGui::GetID(name.c_str()), open);
}

void note_layout(const Widgets& widgets, PanelLayout& layout, float scale) {
    if (ImGui::IsMouseDragging(0))  // perhaps by its title
        layout.x = ImGui::GetWindowPos().x / scale, layout.y = ImGui::GetWindowPos().y / scale;
    layout.collapsed = ImGui::IsWindowCollapsed();
    std::vector<std::string> headers = headers_of(widgets);
    headers.insert(headers.end(), {"presets", "kernel times"});
    for (const std::string& name : headers) {
        const int open = ImGui::GetStateStorage()->GetInt(ImGui::GetID(name.c_str()), -1);
        if (open >= 0) layout.open[name] = open != 0;
    }
}

void draw_panel(Gui& gui, const PanelState& state, float scale, PanelPlace& place,
                PanelActions& actions) {
    actions.places.clear();
    place_panel(place, state, scale);
    ImGui::Begin((state.title + "###panel").c_str(), nullptr,
                 ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoSavedSettings);
    if (place.width == 0) restore_headers(place.layout);
    place.width = ImGui::GetIO().DisplaySize.x, place.height = ImGui::GetIO().DisplaySize.y;
    note_layout(gui.widgets(), place.layout, scale);
    // The width without padding: a small window is not all the panel's.
    const float most = std::max(kLeastWidth * scale, kMostOfWindow * ImGui::GetIO().DisplaySize.x) -
                       2 * ImGui::GetStyle().WindowPadding.x;
    draw_state(state, most);
    float controls_width = draw_controls(state, most, actions);
    if (!gui.widgets().all.empty()) ImGui::Separator();
    Columns columns = columns_of(gui.widgets(), controls_width, most, scale);
    draw_widgets(gui.widgets(), columns, scale, actions);
    draw_presets(gui.widgets(), state, columns.all_width, actions);
    draw_kernels(state, actions);
    draw_picture_menu(state, actions);
    place.drawn = {ImGui::GetWindowPos().x, ImGui::GetWindowPos().y, ImGui::GetWindowSize().x,
                   ImGui::GetWindowSize().y};
    actions.places.push_back({"panel", place.drawn});
    ImGui::End();
    draw_keys(state, scale, actions);
    draw_question(state, scale, actions);
}

/// Sets a context for its lifetime. ImGui has one current context per process; every use sets its
/// own and restores the other.
struct ContextScope {
    explicit ContextScope(ImGuiContext* context) : previous(ImGui::GetCurrentContext()) {
        ImGui::SetCurrentContext(context);
    }
    ~ContextScope() { ImGui::SetCurrentContext(previous); }
    ImGuiContext* previous;
};

}  // namespace

GuiPanel::GuiPanel(float scale, bool light, OsWindow* window) : scale_(scale) {
    ImGuiContext* previous = ImGui::GetCurrentContext();
    context_ = ImGui::CreateContext();
    ImGui::SetCurrentContext(previous);
    ContextScope scope(context_);
    ImGui::GetIO().IniFilename = nullptr;
    ImGui::GetIO().LogFilename = nullptr;
    ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    load_font(scale);
    apply_theme(scale, light);
    map_keys();
    if (window) use_clipboard(window);
    unsigned char* texels = nullptr;
    int width = 0, height = 0;
    ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&texels, &width, &height);
}

GuiPanel::~GuiPanel() {
    ImGuiContext* current = ImGui::GetCurrentContext();
    ImGui::DestroyContext(context_);
    ImGui::SetCurrentContext(current == context_ ? nullptr : current);
}

FontAtlas GuiPanel::atlas() const {
    ContextScope scope(context_);
    unsigned char* texels = nullptr;
    FontAtlas atlas;
    ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&texels, &atlas.width, &atlas.height);
    atlas.texels = texels;
    return atlas;
}

void GuiPanel::begin(float seconds) {
    ImGuiIO& io = ImGui::GetIO();
    io.DeltaTime = std::max(seconds, 1e-4f);
    // The system reports repeated keys. Dear ImGui would repeat every key that is down in a frame
    // of some length; it stops that for keys held longer than any time.
    for (float& held : io.KeysDownDuration)
        if (held >= 0) held = 1e9f;
    ImGui::NewFrame();
    begun_ = true;
}

/// Lays the panel out, drawn or not: a frame without it would forget that it is there.
void GuiPanel::end(Gui& gui, const PanelState& state, PanelActions& actions) {
    if (!begun_) return;
    if (!state.hidden) {
        draw_panel(gui, state, scale_, place_, actions);
        if (beside_) beside_(scale_, actions);
        draw_log(state, scale_, log_, actions);
    }
    draw_status(state, scale_, actions);
    ImGui::EndFrame();
    begun_ = false;
    const ImGuiContext& context = *context_;
    typing_ = context.WantTextInputNextFrame == 1 && context.ActiveId != 0 &&
              context.ActiveId == context.InputTextState.ID;
}

/// Lays out a frame that takes no time.
void GuiPanel::lay_out(Gui& gui, const PanelState& state, PanelActions& actions) {
    begin(0);
    end(gui, state, actions);
    waiting_ = false;
}

void GuiPanel::begin_input(Gui& gui, const PanelState& state, float width, float height,
                           PanelActions& actions) {
    ContextScope scope(context_);
    end(gui, state, actions);
    ImGui::GetIO().DisplaySize = {width, height};
}

bool GuiPanel::sees(Gui& gui, const InputEvent& event, const PanelState& state,
                    PanelActions& actions) {
    ContextScope scope(context_);
    if (event.kind == InputEvent::Kind::Key) return typing_;
    if (waiting_) lay_out(gui, state, actions);
    ImGui::GetIO().MousePos = {event.x, event.y};
    begin(0);
    const bool over = ImGui::GetIO().WantCaptureMouse;
    end(gui, state, actions);
    return over;
}

/// Takes a key. A key that acts on a field beyond its character gets a frame of its own.
void GuiPanel::take_key(const InputEvent& event, Gui& gui, const PanelState& state,
                        PanelActions& actions) {
    ImGuiIO& io = ImGui::GetIO();
    bool& down = io.KeysDown[event.code];
    const bool edits =
        event.code >= static_cast<int>(Key::Escape) && event.code < static_cast<int>(Key::Shift);
    if (!event.down || !(edits || event.control)) {
        down = event.down;
        waiting_ |= !event.down;
        return;
    }
    if (waiting_) lay_out(gui, state, actions);
    if (std::exchange(down, false)) lay_out(gui, state, actions);
    down = true;
    lay_out(gui, state, actions);
    // The next field gets the keyboard one frame later.
    if (event.code == static_cast<int>(Key::Tab)) lay_out(gui, state, actions);
}

void GuiPanel::take(Gui& gui, InputEvent& event, const PanelState& state, PanelActions& actions) {
    ContextScope scope(context_);
    ImGuiIO& io = ImGui::GetIO();
    using Kind = InputEvent::Kind;
    const bool alone = event.kind == Kind::Button || event.kind == Kind::Wheel;
    const bool drags = io.MouseDown[0] || io.MouseDown[1] || io.MouseDown[2];
    const bool modified = io.KeyCtrl != event.control || io.KeyShift != event.shift;
    if (waiting_ && (alone || modified)) lay_out(gui, state, actions);
    io.KeyCtrl = event.control, io.KeyShift = event.shift;
    if (drags && modified) lay_out(gui, state, actions);  // the drag is fine from here on
    io.MousePos = {event.x, event.y};
    waiting_ |= drags && event.kind == Kind::Move;
    if (event.kind == Kind::Key || event.kind == Kind::Character) event.on_panel = typing_;
    if (event.kind == Kind::Key) take_key(event, gui, state, actions);
    if (event.kind == Kind::Character) {
        io.AddInputCharacter(static_cast<unsigned>(event.code));
        waiting_ = true;
    }
    if (!alone) return;
    if (event.kind == Kind::Wheel) io.MouseWheel = event.wheel;
    if (event.kind == Kind::Button) io.MouseDown[event.code] = event.down;
    begin(0);
    if (event.kind == Kind::Wheel) {
        event.on_panel = io.WantCaptureMouse;
    } else {
        bool& has = has_button_[event.code];
        if (event.down) has = io.MouseDownOwned[event.code];
        event.on_panel = event.down ? has : std::exchange(has, false);
    }
    end(gui, state, actions);
}

void GuiPanel::end_input(Gui& gui, const RawInput& input, const PanelState& state,
                         PanelActions& actions) {
    ContextScope scope(context_);
    if (waiting_) lay_out(gui, state, actions);
    ImGuiIO& io = ImGui::GetIO();
    io.KeyCtrl = input.keys[static_cast<size_t>(Key::Control)];
    io.KeyShift = input.keys[static_cast<size_t>(Key::Shift)];
    io.MousePos = {input.x, input.y};
    // Buttons that were released while the panel was hidden are up.
    for (int button = 0; button < 3; ++button) {
        io.MouseDown[button] &= input.buttons[button];
        has_button_[button] &= input.buttons[button];
    }
    for (size_t key = 0; key < input.keys.size(); ++key) io.KeysDown[key] &= input.keys[key];
    // A press comes at an unknown time between two frames: perhaps at the end of it, and the next
    // one at once, so that in slow frames the two are a double click, too.
    for (const InputEvent& event : input.events)
        if (event.kind == InputEvent::Kind::Button && event.down)
            io.MouseClickedTime[event.code] += static_cast<double>(state.seconds);
    begin(state.seconds);
}

const ImDrawData* GuiPanel::draw(Gui& gui, const PanelState& state, PanelActions& actions) {
    ContextScope scope(context_);
    if (state.hidden) {
        if (begun_) ImGui::EndFrame();
        ImGui::GetIO().DisplaySize = {state.width, state.height};
        ImGui::GetIO().MousePos = {state.mouse_x, state.mouse_y};
        begin(0);
    }
    if (!begun_) begin(0);
    end(gui, state, actions);
    ImGui::Render();
    return ImGui::GetDrawData();
}

const ImDrawData* GuiPanel::draw_in(Gui& gui, const PanelState& state, float width, float height) {
    ContextScope scope(context_);
    const ImVec2 window = ImGui::GetIO().DisplaySize;
    PanelActions ignored;
    end(gui, state, ignored);
    // A panel knows its size only after it was laid out once.
    for (int settle = 0; settle < 3; ++settle) {
        ImGui::GetIO().DisplaySize = {width, height};
        begin(0);
        draw(gui, state, ignored);
    }
    ImGui::GetIO().DisplaySize = window;
    return ImGui::GetDrawData();
}

bool GuiPanel::close_popup() {
    ContextScope scope(context_);
    const int open = context_->OpenPopupStack.Size;
    if (open > 0) ImGui::ClosePopupToLevel(open - 1, true);
    return open > 0;
}

bool GuiPanel::wants_mouse() const {
    ContextScope scope(context_);
    return ImGui::GetIO().WantCaptureMouse;
}

bool GuiPanel::wants_keys() const { return typing_; }

}  // namespace firn
