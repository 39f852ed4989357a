// Draws the widgets of a Gui through Dear ImGui.
#include "engine/window/gui_panel.h"

#include <imgui.h>

#include <algorithm>

#include "engine/window/os_window.h"
#include "engine/window/panel_parts.h"
#include "engine/window/panel_theme.h"
#include "engine/window/panel_widgets.h"

namespace firn {
namespace {

/// The panel is as wide as it needs, and no wider than this part of the window, or so many pixels
/// at scale 1 where that is less than its fields need.
constexpr float kMostOfWindow = 0.42f, kLeastWidth = 150;

/// Key codes are those of Key, which ImGui 1.86 takes through a table.
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

/// Copies and pastes by the clipboard of the operating system.
void use_clipboard(OsWindow* window) {
    ImGuiIO& io = ImGui::GetIO();
    io.ClipboardUserData = window;
    io.GetClipboardTextFn = [](void* user) { return static_cast<OsWindow*>(user)->clipboard(); };
    io.SetClipboardTextFn = [](void* user, const char* text) {
        static_cast<OsWindow*>(user)->set_clipboard(text);
    };
}

/// Where it was left, as far as the window is large enough for that.
void place_panel(PanelPlace& place, float scale) {
    constexpr float kSeen = 60;  // of it at least, pixels at scale 1
    const ImVec2 window = ImGui::GetIO().DisplaySize;
    const auto within = [&](float at, float extent) {
        return std::clamp(at * scale, 0.0f, std::max(extent - kSeen * scale, 0.0f));
    };
    if (place.width == 0) ImGui::SetNextWindowCollapsed(place.layout.collapsed);
    if (window.x != place.width || window.y != place.height)
        ImGui::SetNextWindowPos(
            {within(place.layout.x, window.x), within(place.layout.y, window.y)}, ImGuiCond_Always);
    ImGui::SetNextWindowSizeConstraints(
        {0, 0}, {FLT_MAX, std::max(80.0f, window.y - 2 * kPanelPadding * scale)});
}

/// Headers are folded as they were.
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
    place_panel(place, scale);
    ImGui::Begin((state.title + "###panel").c_str(), nullptr,
                 ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoSavedSettings);
    if (place.width == 0) restore_headers(place.layout);
    place.width = ImGui::GetIO().DisplaySize.x, place.height = ImGui::GetIO().DisplaySize.y;
    note_layout(gui.widgets(), place.layout, scale);
    // Within its padding: a small window is not all of it the panel's.
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
    ImGui::End();
    draw_keys(state, scale, actions);
    draw_hint(state, scale);
    draw_message(state, scale);
}

/// ImGui has one current context per process; every use sets its own and puts the other back.
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
    ImGui::GetIO().DeltaTime = std::max(seconds, 1e-4f);
    ImGui::NewFrame();
    begun_ = true;
}

/// Lays the panel out, drawn or not: a frame without it would forget that it is there.
void GuiPanel::end(Gui& gui, const PanelState& state, PanelActions& actions) {
    if (!begun_) return;
    draw_panel(gui, state, scale_, place_, actions);
    if (beside_) beside_(scale_, actions);
    ImGui::EndFrame();
    begun_ = false;
}

void GuiPanel::take(Gui& gui, RawInput& input, const PanelState& state, float width, float height,
                    PanelActions& actions) {
    ContextScope scope(context_);
    end(gui, state, actions);
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {width, height};
    // Both may be up again by now.
    io.KeyCtrl = input.keys[static_cast<size_t>(Key::Control)] || input.control;
    io.KeyShift = input.keys[static_cast<size_t>(Key::Shift)] || input.shift;
    // A frame for every click, with the mouse where it was then.
    for (Click& click : input.clicks) {
        io.MousePos = {click.x, click.y};
        io.MouseDown[click.button] = click.down;
        begin(0);
        if (click.down) has_button_[click.button] = io.MouseDownOwned[click.button];
        click.on_panel = has_button_[click.button];
        if (!click.down) has_button_[click.button] = false;
        end(gui, state, actions);
    }
    io.MousePos = {input.x, input.y};
    io.MouseWheel = input.wheel;
    for (size_t key = 0; key < input.keys.size(); ++key) io.KeysDown[key] = input.keys[key];
    for (int key : input.pressed) io.KeysDown[key] = true;
    for (uint32_t character : input.characters) io.AddInputCharacter(character);
    begin(state.seconds);
}

const ImDrawData* GuiPanel::draw(Gui& gui, const PanelState& state, PanelActions& actions) {
    ContextScope scope(context_);
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
    // A panel finds its size in the first frame that it is laid out in.
    for (int settle = 0; settle < 3; ++settle) {
        ImGui::GetIO().DisplaySize = {width, height};
        begin(0);
        draw(gui, state, ignored);
    }
    ImGui::GetIO().DisplaySize = window;
    return ImGui::GetDrawData();
}

bool GuiPanel::wants_mouse() const {
    ContextScope scope(context_);
    return ImGui::GetIO().WantCaptureMouse;
}

bool GuiPanel::wants_keys() const {
    ContextScope scope(context_);
    return ImGui::GetIO().WantTextInput;
}

}  // namespace firn
