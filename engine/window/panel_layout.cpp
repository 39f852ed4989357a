// Panel layouts as JSON.
#include "engine/window/panel_layout.h"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "compiler/base/error.h"
#include "engine/window/text_file.h"

namespace firn {
namespace {

/// Returns the title as a file name, without characters that file names cannot have.
std::string file_name(const std::string& title) {
    std::string name;
    for (char c : title)
        name += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' ? c : '_';
    return name + ".json";
}

}  // namespace

std::string panel_layout_path(const std::string& title) {
    const char *folder = std::getenv("XDG_CONFIG_HOME"), *home = std::getenv("HOME");
    std::filesystem::path base;
    if (folder && *folder)
        base = folder;
    else if (home && *home)
        base = std::filesystem::path(home) / ".config";
    else
        return "";
    return (base / "firn" / file_name(title)).string();
}

PanelLayout read_panel_layout(const std::string& path) {
    try {
        const auto file = nlohmann::json::parse(read_text_file(path));
        PanelLayout layout;
        const auto& panel = file.at("panel");
        layout.x = panel.at("x").get<float>(), layout.y = panel.at("y").get<float>();
        layout.collapsed = panel.at("collapsed").get<bool>();
        layout.open = panel.at("open").get<std::map<std::string, bool>>();
        if (std::isfinite(layout.x) && std::isfinite(layout.y)) return layout;
    } catch (const UserError&) {                  // there is none yet
    } catch (const nlohmann::json::exception&) {  // damaged, or of another version
    }
    return {};
}

void write_panel_layout(const std::string& path, const PanelLayout& layout) {
    std::error_code ignored;  // a folder that cannot be made fails at the write, which says why
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    const nlohmann::json file{{"panel",
                               {{"x", layout.x},
                                {"y", layout.y},
                                {"collapsed", layout.collapsed},
                                {"open", layout.open}}}};
    write_text_file(path, file.dump(2) + "\n");
}

}  // namespace firn
