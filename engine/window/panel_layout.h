// The panel's place and its folded headers, kept from one run of a program to the next.
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

/// Returns the path in the person's folder for settings: XDG_CONFIG_HOME, or .config in HOME.
/// Empty: there is none.
std::string panel_layout_path(const std::string& title);
/// Reads a layout. Values that were never written, or are damaged, have their defaults.
PanelLayout read_panel_layout(const std::string& path);
/// Writes a layout and makes its folder. Throws UserError if it cannot be written.
void write_panel_layout(const std::string& path, const PanelLayout& layout);

}  // namespace firn
