// Draws the widgets of a Gui through Dear ImGui.
#include "engine/window/gui_panel.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "compiler/program/error.h"
#include "engine/window/os_window.h"
#include "engine/window/widgets.h"

namespace firn {
namespace {

constexpr float kFontPixels = 16, kPanelPadding = 12, kWidgetWidth = 170, kMessageWidth = 280;
const ImVec4 kDim{0.58f, 0.62f, 0.68f, 1}, kLoud{0.98f, 0.74f, 0.36f, 1};
/// Where distributions keep a readable font; without one, the GUI falls back to ImGui's own.
constexpr const char* kFonts[] = {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
                                  "/usr/share/fonts/TTF/DejaVuSans.ttf",
                                  "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf"};

void load_font(float scale) {
    ImGuiIO& io = ImGui::GetIO();
    static constexpr ImWchar ranges[] = {0x20,   0xff,   0x370,  0x3ff,  0x2013, 0x2026,
                                         0x2190, 0x2193, 0x2202, 0x2265, 0};
    ImFont* font = nullptr;
    for (const char* path : kFonts) {
        if (!font && std::filesystem::exists(path)) {
            font = io.Fonts->AddFontFromFileTTF(path, kFontPixels * scale, nullptr, ranges);
        }
    }
    if (!font) {
        ImFontConfig config;
        config.SizePixels = 13 * std::max(1.0f, scale);
        io.Fonts->AddFontDefault(&config);
    }
}

void apply_theme(float scale) {
    ImGui::StyleColorsDark();
    ImGuiStyle& style = ImGui::GetStyle();
    style.WindowRounding = 8;
    style.FrameRounding = style.GrabRounding = style.PopupRounding = 4;
    style.WindowBorderSize = style.FrameBorderSize = 0;
    style.WindowPadding = {kPanelPadding, kPanelPadding};
    style.FramePadding = {8, 4};
    style.ItemSpacing = {8, 7};
    style.GrabMinSize = 12;
    style.WindowTitleAlign = {0, 0.5f};
    const ImVec4 accent{0.36f, 0.62f, 0.86f, 1}, frame{0.16f, 0.18f, 0.22f, 1},
        hover{0.21f, 0.25f, 0.31f, 1}, active{0.26f, 0.32f, 0.40f, 1},
        background{0.075f, 0.085f, 0.105f, 0.94f};
    auto set = [&](std::initializer_list<int> colours, ImVec4 value) {
        for (int colour : colours) style.Colors[colour] = value;
    };
    set({ImGuiCol_WindowBg, ImGuiCol_PopupBg}, background);
    set({ImGuiCol_TitleBg, ImGuiCol_TitleBgActive, ImGuiCol_TitleBgCollapsed}, background);
    set({ImGuiCol_FrameBg, ImGuiCol_Button, ImGuiCol_Header}, frame);
    set({ImGuiCol_FrameBgHovered, ImGuiCol_ButtonHovered, ImGuiCol_HeaderHovered}, hover);
    set({ImGuiCol_FrameBgActive, ImGuiCol_ButtonActive, ImGuiCol_HeaderActive}, active);
    set({ImGuiCol_SliderGrab, ImGuiCol_SliderGrabActive, ImGuiCol_CheckMark, ImGuiCol_PlotLines},
        accent);
    set({ImGuiCol_Separator}, {0.2f, 0.23f, 0.28f, 1});
    set({ImGuiCol_Text}, {0.90f, 0.92f, 0.95f, 1});
    style.ScaleAllSizes(scale);
}

/// Key codes are those of Key, which ImGui 1.86 takes through a table.
void map_keys() {
    ImGuiIO& io = ImGui::GetIO();
    auto map = [&](ImGuiKey key, Key code) { io.KeyMap[key] = static_cast<int>(code); };
    map(ImGuiKey_Tab, Key::Tab);
    map(ImGuiKey_LeftArrow, Key::Left);
    map(ImGuiKey_RightArrow, Key::Right);
    map(ImGuiKey_UpArrow, Key::Up);
    map(ImGuiKey_DownArrow, Key::Down);
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

bool draw_text_input(const char* label, std::string& value) {
    char buffer[256];
    std::snprintf(buffer, sizeof buffer, "%s", value.c_str());
    if (!ImGui::InputText(label, buffer, sizeof buffer)) return false;
    value = buffer;
    return true;
}

bool draw_choice(const char* label, const ChoiceVariable& choice) {
    auto index = static_cast<size_t>(*choice.index);
    if (!ImGui::BeginCombo(label, index < choice.names.size() ? choice.names[index].c_str() : ""))
        return false;
    bool changed = false;
    for (size_t i = 0; i < choice.names.size(); ++i) {
        if (ImGui::Selectable(choice.names[i].c_str(), i == index)) {
            *choice.index = static_cast<int>(i);
            changed = true;
        }
    }
    ImGui::EndCombo();
    return changed;
}

/// Brings what was typed into the range, and says why.
template <class T>
void keep_in_range(const Parameter& parameter, T before, T& value, PanelActions& actions) {
    const T low = static_cast<T>(parameter.low), high = static_cast<T>(parameter.high);
    if (low >= high || (value >= low && value <= high)) return;
    const std::string typed = std::to_string(value);
    const bool is_number = value == value;
    value = is_number ? std::clamp(value, low, high) : before;
    actions.refused = parameter.name + " is " + describe(parameter) + ": " + typed +
                      " was not taken, it is " + text_of(parameter);
}

/// Digits in all that show a change of `step`; four at least, so that small ranges can be read.
std::string number_format(const Parameter& parameter, double step) {
    const double largest = std::max(std::abs(parameter.low), std::abs(parameter.high));
    const double digits = step > 0 && largest > 0 ? std::ceil(std::log10(largest / step)) + 1 : 4;
    return "%." + std::to_string(static_cast<int>(std::clamp(digits, 4.0, 9.0))) + "g";
}

bool draw_number(const char* label, const Parameter& parameter, float& value,
                 PanelActions& actions) {
    const float low = static_cast<float>(parameter.low), high = static_cast<float>(parameter.high),
                before = value;
    const std::string format = number_format(parameter, parameter.step);
    const ImGuiSliderFlags flags =
        ImGuiSliderFlags_NoRoundToFormat |
        (parameter.logarithmic ? ImGuiSliderFlags_Logarithmic : ImGuiSliderFlags_None);
    const bool changed = parameter.step > 0
                             ? ImGui::DragFloat(label, &value, static_cast<float>(parameter.step),
                                                low, high, format.c_str(), flags)
                             : ImGui::SliderFloat(label, &value, low, high, format.c_str(), flags);
    if (changed) keep_in_range(parameter, before, value, actions);
    return changed && value != before;
}

/// True when the person changed the variable.
bool draw_parameter(const char* label, const Parameter& parameter, PanelActions& actions) {
    if (auto* value = std::get_if<float*>(&parameter.variable))
        return draw_number(label, parameter, **value, actions);
    if (auto* value = std::get_if<int*>(&parameter.variable)) {
        const int before = **value;
        if (!ImGui::SliderInt(
                label, *value, static_cast<int>(parameter.low), static_cast<int>(parameter.high),
                "%d", parameter.logarithmic ? ImGuiSliderFlags_Logarithmic : ImGuiSliderFlags_None))
            return false;
        keep_in_range(parameter, before, **value, actions);
        return **value != before;
    }
    if (auto* value = std::get_if<bool*>(&parameter.variable))
        return ImGui::Checkbox(label, *value);
    if (auto* value = std::get_if<std::string*>(&parameter.variable))
        return draw_text_input(label, **value);
    return draw_choice(label, std::get<ChoiceVariable>(parameter.variable));
}

/// Where the panel's two columns lie, in pixels.
struct Columns {
    float second = 0, second_width = 0;  // of widgets, right of their labels
    float all_width = 0;                 // of what has no label
};

void draw_widget(Widget& widget, const Parameters& parameters, const Columns& columns, float scale,
                 PanelActions& actions) {
    std::string label = "##" + widget.name;
    if (widget.kind == Widget::Kind::Heading) {
        ImGui::Separator();
        ImGui::TextColored(kDim, "%s", widget.name.c_str());
        return;
    }
    if (widget.kind == Widget::Kind::Button) {
        if (ImGui::Button(widget.name.c_str(), {columns.all_width, 0})) widget.touched = true;
    } else {
        ImGui::AlignTextToFramePadding();
        ImGui::TextUnformatted(widget.name.c_str());
        ImGui::SameLine(columns.second);
        ImGui::SetNextItemWidth(columns.second_width);
        if (widget.kind == Widget::Kind::Text) {
            ImGui::TextUnformatted(widget.text.c_str());
        } else if (widget.kind == Widget::Kind::Plot) {
            float newest = widget.history.empty() ? 0 : widget.history.back();
            char overlay[32];
            std::snprintf(overlay, sizeof overlay, "%.4g", static_cast<double>(newest));
            ImGui::PlotLines(label.c_str(), widget.history.data(),
                             static_cast<int>(widget.history.size()), 0, overlay, FLT_MAX, FLT_MAX,
                             {columns.second_width, 44 * scale});
        } else if (draw_parameter(label.c_str(), *parameters.find(widget.name), actions)) {
            widget.touched = true;
        }
    }
    ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
    widget.rectangle = {from.x, from.y, to.x - from.x, to.y - from.y};
    if (!widget.help.empty() && ImGui::IsItemHovered())
        ImGui::SetTooltip("%s", widget.help.c_str());
}

/// The window's own buttons; gives the width of their row.
float draw_controls(const PanelState& state, PanelActions& actions) {
    float left = ImGui::GetCursorPosX();
    auto control = [](const char* name, const char* help, float width = 0) {
        bool pressed = ImGui::Button(name, {width, 0});
        if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", help);
        return pressed;
    };
    // The same with either name, so that nothing moves below.
    const float pause_width = ImGui::CalcTextSize("pause").x + 2 * ImGui::GetStyle().FramePadding.x;
    actions.pause |= control(state.paused ? "run" : "pause", "Space", pause_width);
    ImGui::SameLine();
    actions.step |= control("step", "N: one frame, then pause");
    ImGui::SameLine();
    actions.reset |= control("reset", "R: start again");
    ImGui::SameLine();
    actions.screenshot |=
        control("save", "S: write a PNG of the frame (H hides this panel, Escape quits)");
    return ImGui::GetItemRectMax().x - ImGui::GetWindowPos().x - left;
}

/// Text that ends `width` pixels from here.
void draw_right(float width, const char* text) {
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + width - ImGui::CalcTextSize(text).x);
    ImGui::TextUnformatted(text);
}

void draw_kernels(const PanelState& state, PanelActions& actions) {
    actions.kernels_open = ImGui::CollapsingHeader("kernel times");
    if (!actions.kernels_open) return;
    auto per_frame = [&](const KernelTime& kernel) {
        return static_cast<double>(kernel.dispatches) / state.kernel_frames;
    };
    double total = 0;
    for (const KernelTime& kernel : state.kernels) total += kernel.milliseconds * per_frame(kernel);
    if (state.kernels.empty())
        ImGui::TextColored(kDim, "no kernel ran");
    else  // first, so that it is seen above a long table
        ImGui::Text("%.3f ms a frame", total);
    if (!ImGui::BeginTable("kernels", 3, ImGuiTableFlags_SizingFixedFit)) return;
    const float width = ImGui::CalcTextSize("10000.000 ms").x;
    for (const KernelTime& kernel : state.kernels) {
        char text[32];
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        ImGui::TextUnformatted(kernel.name.c_str());
        ImGui::TableNextColumn();
        ImGui::TextColored(kDim, "%.3g x", per_frame(kernel));
        ImGui::TableNextColumn();
        std::snprintf(text, sizeof text, "%.3f ms", kernel.milliseconds * per_frame(kernel));
        draw_right(width, text);
    }
    ImGui::EndTable();
}

/// As wide as the labels and the row of controls need; the panel is never wider for what it drew
/// before, such as the table of kernels.
Columns columns_of(const std::deque<Widget>& widgets, float controls_width, float scale) {
    float widest = 0;
    for (const Widget& widget : widgets) {
        if (widget.kind == Widget::Kind::Heading || widget.kind == Widget::Kind::Button) continue;
        widest = std::max(widest, ImGui::CalcTextSize(widget.name.c_str()).x);
    }
    const float padding = ImGui::GetStyle().WindowPadding.x, gap = 14 * scale;
    Columns columns;
    columns.second = padding + widest + gap;
    columns.second_width = std::max(kWidgetWidth * scale, controls_width - widest - gap);
    columns.all_width = widest + gap + columns.second_width;
    return columns;
}

/// Frames a second with two digits where they are few.
std::string rate_text(double milliseconds) {
    char text[48];
    const double rate = 1000 / milliseconds;
    std::snprintf(text, sizeof text, rate < 10 ? "%.2g frames/s" : "%.0f frames/s", rate);
    return text;
}

/// Time, device, and what the window has to say.
void draw_state(const PanelState& state, float width) {
    if (state.frame_milliseconds > 0) {
        ImGui::Text("%.1f ms", state.frame_milliseconds);
        ImGui::SameLine();
        ImGui::TextColored(kDim, "%s%s", rate_text(state.frame_milliseconds).c_str(),
                           state.paused ? ", paused" : "");
    }
    ImGui::TextColored(kDim, "%s", state.device.c_str());
    if (state.message.empty()) return;
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width);
    ImGui::TextColored(kLoud, "%s", state.message.c_str());
    ImGui::PopTextWrapPos();
}

/// Where it was left, as far as the window is large enough for that.
void place_panel(PanelPlace& place, float scale) {
    const ImVec2 window = ImGui::GetIO().DisplaySize;
    if (place.width == 0) place.x = place.y = kPanelPadding * scale;
    if (window.x != place.width || window.y != place.height)
        ImGui::SetNextWindowPos({place.x, place.y}, ImGuiCond_Always);
    place.width = window.x, place.height = window.y;
    ImGui::SetNextWindowSizeConstraints(
        {0, 0}, {FLT_MAX, std::max(80.0f, window.y - 2 * kPanelPadding * scale)});
}

void draw_panel(Gui& gui, const PanelState& state, float scale, PanelPlace& place,
                PanelActions& actions) {
    place_panel(place, scale);
    ImGui::Begin((state.title + "###panel").c_str(), nullptr,
                 ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoSavedSettings);
    if (ImGui::IsMouseDragging(0))  // perhaps by its title
        place.x = ImGui::GetWindowPos().x, place.y = ImGui::GetWindowPos().y;
    draw_state(state, kMessageWidth * scale);
    float controls_width = draw_controls(state, actions);
    if (!gui.widgets().all.empty()) ImGui::Separator();
    Columns columns = columns_of(gui.widgets().all, controls_width, scale);
    for (Widget& widget : gui.widgets().all)
        draw_widget(widget, gui.parameters(), columns, scale, actions);
    if (!gui.parameters().all().empty() && ImGui::Button("defaults", {columns.all_width, 0}))
        gui.parameters().reset();
    draw_kernels(state, actions);
    ImGui::End();
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

GuiPanel::GuiPanel(float scale, OsWindow* window) : scale_(scale) {
    ImGuiContext* previous = ImGui::GetCurrentContext();
    context_ = ImGui::CreateContext();
    ImGui::SetCurrentContext(previous);
    ContextScope scope(context_);
    ImGui::GetIO().IniFilename = nullptr;
    ImGui::GetIO().LogFilename = nullptr;
    load_font(scale);
    apply_theme(scale);
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
    io.KeyShift = input.keys[static_cast<size_t>(Key::Shift)];
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
