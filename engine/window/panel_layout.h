// Where the person has left the panel, and what is folded in it, from one run of a program to the
// next.
#pragma once
#include <map>
#include <string>

namespace firn {

struct PanelLayout {
    float x = 12, y = 12;  // pixels at scale 1
    bool collapsed = false;
    std::map<std::string, bool> open;  // headers that were opened or folded
    bool operator==(const PanelLayout&) const = default;
};

/// In the person's folder for settings: XDG_CONFIG_HOME, or .config in HOME. Empty: there is none.
std::string panel_layout_path(const std::string& title);
/// What was never written, or is damaged, is as it is at first.
PanelLayout read_panel_layout(const std::string& path);
/// Makes its folder. Throws UserError where it cannot be written.
void write_panel_layout(const std::string& path, const PanelLayout& layout);

}  // namespace firn
