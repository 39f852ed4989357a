// Checks over every source file which folders may include which.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/pattern.h"

namespace firn {
namespace {

const std::filesystem::path kRoot = FIRN_SOURCE_DIR;

using Allowed = std::function<bool(const std::string& file, const std::string& included)>;

bool starts(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

std::vector<std::filesystem::path> sources(const std::string& folder) {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot / folder))
        if (entry.path().extension() == ".cpp" || entry.path().extension() == ".h")
            found.push_back(entry.path());
    EXPECT_FALSE(found.empty()) << folder;
    return found;
}

/// Every include of every source in `folder` must be `allowed`.
void check_includes(const std::string& folder, const Allowed& allowed) {
    for (const auto& path : sources(folder)) {
        std::string file = std::filesystem::relative(path, kRoot).string();
        std::stringstream text;
        text << std::ifstream(path).rdbuf();
        const std::string all = text.str();
        each_match(all, "^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]+)[>\"]",
                   [&](size_t at, size_t, const std::string& name) {
                       EXPECT_TRUE(allowed(file, name))
                           << file << ":" << 1 + std::count(all.begin(), all.begin() + at, '\n')
                           << " includes " << name;
                   });
    }
}

bool is_device_header(const std::string& name) {
    for (const char* prefix : {"vulkan/", "volk", "GLFW/", "imgui", "engine/"})
        if (starts(name, prefix)) return true;
    return false;
}

TEST(Layers, CompilerKnowsNoDevice) {
    check_includes("compiler", [](const std::string&, const std::string& name) {
        return !is_device_header(name);
    });
}

TEST(Layers, EngineKnowsOnlyThePlainDataOfTheCompiler) {
    check_includes("engine", [](const std::string& file, const std::string& name) {
        // The package of Python and what processes do together stand over the facade.
        return starts(file, "engine/firn/") || starts(file, "engine/python/") ||
               starts(file, "engine/mpi/") || !starts(name, "compiler/") ||
               starts(name, "compiler/program/") || starts(name, "compiler/base/");
    });
}

/// The folders of the engine that make the library firn_runtime, each with those before it that it
/// may include.
const std::vector<std::pair<std::string, std::set<std::string>>> kRuntimeFolders{
    {"gpu", {}},
    {"runtime", {"gpu"}},
    {"parameters", {}},
    {"c", {"gpu", "runtime"}},
};

TEST(Layers, TheRuntimeKnowsNoWindow) {
    for (const auto& [folder, known] : kRuntimeFolders)
        check_includes("engine/" + folder, [&, &folder = folder, &known = known](
                                               const std::string&, const std::string& name) {
            if (starts(name, "engine/")) {
                const std::string other = name.substr(7, name.find('/', 7) - 7);
                return other == folder || known.count(other) > 0;
            }
            if (starts(name, "vulkan/") || starts(name, "volk")) return folder == "gpu";
            for (const char* prefix : {"GLFW/", "imgui", "stb", "png", "jpeglib", "Imf", "CLI/"})
                if (starts(name, prefix)) return false;
            return true;
        });
}

/// The stages of the compiler, each with those before it that it may include.
const std::vector<std::pair<std::string, std::set<std::string>>> kStages{
    {"base", {}},
    {"program", {}},
    {"host", {"program"}},
    {"target", {"program"}},
    {"ir", {"program"}},
    {"kernel", {"program", "host", "ir", "target"}},
    {"target/glsl", {"program", "ir", "kernel", "target"}},
    {"target/native", {"program", "host", "ir", "kernel", "target"}},
    {"autodiff", {"program", "ir"}},
    {"decompose", {"program", "ir"}},
    {"schedule", {"program", "ir", "kernel", "target", "autodiff"}},
    {"passes", {"program", "ir", "kernel", "target", "autodiff", "schedule"}},
    {"lower", {"program", "ir", "kernel", "target", "schedule"}},
    {"mapping", {"program", "ir", "kernel", "target"}},
    {"plan", {"program", "ir", "kernel", "target", "schedule", "lower", "mapping"}},
    {"driver",
     {"program", "ir", "kernel", "target", "passes", "schedule", "lower", "mapping", "plan"}},
    {"frontend",
     {"program", "host", "ir", "kernel", "target", "target/native", "passes", "driver",
      "autodiff"}},
    {"algorithms", {"program", "frontend"}},
    {"files", {"program", "frontend", "algorithms"}},
    {"interchange", {"program", "frontend", "files"}},
    {"learning", {"program", "frontend", "algorithms", "files"}},
};

/// A target has a stage of its own.
std::string stage_of(const std::string& file) {
    const std::string root = "compiler/", targets = "compiler/target/";
    if (!starts(file, root.c_str())) return "";
    const bool inside =
        starts(file, targets.c_str()) && file.find('/', targets.size()) != std::string::npos;
    return file.substr(root.size(), file.find('/', (inside ? targets : root).size()) - root.size());
}

TEST(Layers, StagesKnowOnlyThoseBelowThem) {
    std::set<std::string> below;
    for (const auto& [stage, known] : kStages) {
        for (const std::string& other : known)
            EXPECT_TRUE(below.count(other)) << stage << " stands before " << other;
        below.insert(stage);
        check_includes("compiler/" + stage, [&, &stage = stage, &known = known](
                                                const std::string& file, const std::string& name) {
            const std::string other = stage_of(name);
            return stage_of(file) != stage || other.empty() || other == stage || other == "base" ||
                   known.count(other) > 0;
        });
    }
    for (const auto& entry : std::filesystem::directory_iterator(kRoot / "compiler"))
        if (entry.is_directory()) {
            EXPECT_TRUE(below.count(entry.path().filename().string()))
                << entry.path() << " is no stage";
        }
}

TEST(Layers, OnlyProfiledPassesAskTheProfile) {
    check_includes("compiler/passes", [](const std::string& file, const std::string& name) {
        return starts(file, "compiler/passes/profiled/") ||
               (name != "compiler/program/device_profile.h" &&
                name != "compiler/target/class_rules.h" && name != "compiler/schedule/costs.h");
    });
}

TEST(Layers, AlgorithmsAreWrittenWithTheFrontendAlone) {
    check_includes("compiler/algorithms", [](const std::string&, const std::string& name) {
        return stage_of(name) != "program" || name == "compiler/program/size.h";
    });
}

TEST(Layers, LearningIsWrittenWithTheFrontendAndAlgorithmsAlone) {
    check_includes("compiler/learning", [](const std::string&, const std::string& name) {
        return stage_of(name) != "program";
    });
}

TEST(Layers, OnlySpirvIncludesTheShaderCompiler) {
    check_includes("compiler", [](const std::string& file, const std::string& name) {
        bool shader_compiler =
            starts(name, "shaderc/") || starts(name, "glslang/") || starts(name, "spirv-tools/");
        return !shader_compiler || file == "compiler/target/glsl/spirv.cpp";
    });
}

TEST(Layers, OnlyTheFolderOfATargetNamesItsLanguage) {
    // The table of targets; the contracts with the engine; the names in files that users have.
    const std::set<std::string> may{
        "compiler/target/targets.cpp", "compiler/program/spirv_format.h",
        "compiler/program/vulkan_limits.h", "compiler/program/vulkan_limits.cpp",
        "compiler/program/older_formats.cpp"};
    size_t looked_at = 0;
    for (const auto& path : sources("compiler")) {
        const std::string file = std::filesystem::relative(path, kRoot).string();
        if (starts(file, "compiler/target/glsl/") || may.count(file)) continue;
        ++looked_at;
        std::ifstream in(path);
        for (std::string line; std::getline(in, line);) {
            std::string code = line.substr(0, line.find("//"));
            std::transform(code.begin(), code.end(), code.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
            for (const char* word :
                 {"glsl", "spirv", "spir-v", "texel", "\"vulkan", "lavapipe", "llvmpipe"})
                EXPECT_EQ(code.find(word), std::string::npos) << file << ": " << line;
        }
    }
    EXPECT_GT(looked_at, 500u);
}

TEST(Layers, HeavyHeadersStayOutOfHeaders) {
    for (const char* folder : {"compiler", "engine", "apps"})
        check_includes(folder, [](const std::string& file, const std::string& name) {
            bool heavy = starts(name, "nlohmann/") || starts(name, "CLI/") ||
                         starts(name, "shaderc/") || name == "regex";
            return !heavy || std::filesystem::path(file).extension() == ".cpp";
        });
}

/// Two types of one name have destructors of one name, of which a linker keeps only one: it would
/// destroy objects of the other type too.
TEST(Layers, NoTwoHeadersDefineTypesOfOneName) {
    std::map<std::string, std::filesystem::path> known;
    for (const char* folder : {"compiler", "engine", "apps"})
        for (const auto& path : sources(folder)) {
            if (path.extension() != ".h") continue;
            std::ifstream in(path);
            std::string space;
            for (std::string line; std::getline(in, line);) {
                std::istringstream words(line);
                std::string kind, name;
                words >> kind >> name;
                if (line.find(" {") == std::string::npos || line[0] == ' ' || line[0] == '/')
                    continue;
                if (kind == "namespace") space = name;
                if (kind == "enum" && name == "class") words >> name;
                if (kind != "struct" && kind != "class" && kind != "enum") continue;
                if (name.find("::") != std::string::npos || name.find('<') != std::string::npos)
                    continue;
                const auto [at, is_new] = known.emplace(space + "::" + name, path);
                EXPECT_TRUE(is_new)
                    << space << "::" << name << " of " << path << " is one of " << at->second;
            }
        }
}

TEST(Layers, EveryFileBeginsWithItsRole) {
    for (const char* folder : {"compiler", "engine", "apps", "assets", "tests"})
        for (const auto& path : sources(folder)) {
            std::ifstream in(path);
            std::string first;
            std::getline(in, first);
            EXPECT_TRUE(starts(first, "// ")) << path;
        }
}

// The header of a name in std; the others' names are those of their headers.
const std::map<std::string, std::string> kHeaderOf{{"all_of", "algorithm"},
                                                   {"any_of", "algorithm"},
                                                   {"ceil", "cmath"},
                                                   {"clamp", "algorithm"},
                                                   {"exp", "cmath"},
                                                   {"find_if", "algorithm"},
                                                   {"floor", "cmath"},
                                                   {"from_chars", "charconv"},
                                                   {"function", "functional"},
                                                   {"ifstream", "fstream"},
                                                   {"isfinite", "cmath"},
                                                   {"isnan", "cmath"},
                                                   {"istringstream", "sstream"},
                                                   {"make_shared", "memory"},
                                                   {"make_unique", "memory"},
                                                   {"memcpy", "cstring"},
                                                   {"numeric_limits", "limits"},
                                                   {"ofstream", "fstream"},
                                                   {"ostringstream", "sstream"},
                                                   {"shared_ptr", "memory"},
                                                   {"sort", "algorithm"},
                                                   {"sqrt", "cmath"},
                                                   {"stable_sort", "algorithm"},
                                                   {"to_chars", "charconv"},
                                                   {"unique_ptr", "memory"}};
const std::set<std::string> kHeaders{"array",         "filesystem",    "map",     "optional",
                                     "set",           "span",          "string",  "string_view",
                                     "unordered_map", "unordered_set", "variant", "vector"};

std::string content(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

/// Adds what `text` includes, itself or by a header of ours.
void add_includes(const std::string& text, std::set<std::string>& found) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!starts(line, "#include ")) continue;
        const std::string name = line.substr(10, line.find_first_of(">\"", 10) - 10);
        if (!found.insert(name).second) continue;
        for (const char* root : {"", "engine/"})
            if (std::filesystem::is_regular_file(kRoot / (root + name)))
                add_includes(content(kRoot / (root + name)), found);
    }
}

/// All that a program gets by including `header`.
std::set<std::string> reached_from(const char* header) {
    std::set<std::string> found;
    add_includes(content(kRoot / header), found);
    return found;
}

TEST(Layers, PublicHeadersKnowNoVulkan) {
    const std::set<std::string> found = reached_from("engine/firn/firn.h");
    EXPECT_TRUE(found.count("compiler/frontend/tensor.h"));
    for (const std::string& name : found)
        for (const char* prefix :
             {"vulkan/", "volk", "GLFW/", "imgui", "engine/gpu/", "engine/runtime/"})
            EXPECT_FALSE(starts(name, prefix)) << "firn/firn.h brings in " << name;
}

/// Comments cost nothing where a header is parsed.
size_t lines_of_code(const std::string& text) {
    std::istringstream lines(text);
    size_t count = 0;
    for (std::string line; std::getline(lines, line);) {
        const size_t first = line.find_first_not_of(' ');
        count += first != line.npos && line.compare(first, 2, "//") != 0;
    }
    return count;
}

// What the include costs is mostly the standard library: of 42,000 lines 36,000. Each of those that
// are missing here would be 1,500 to 20,000 more, <memory> (SharedPtr stands for it) the most. All
// of it is parsed in 0.4 s, of which a thousand of our own lines take about 0.02.
TEST(Layers, PublicHeadersStayLight) {
    const std::set<std::string> light{
        "array",    "concepts", "cstddef", "cstdint", "initializer_list", "iosfwd", "new",
        "optional", "string",   "tuple",   "utility", "type_traits",      "vector", "stdexcept"};
    // Learning and shading are headers of their own, so that other programs do not pay for them.
    for (const auto& [header, most] : {std::pair{"engine/firn/firn.h", 4900u},
                                       {"engine/firn/learning.h", 2400u},
                                       {"engine/firn/shading.h", 2410u}}) {
        size_t lines = 0;
        for (const std::string& name : reached_from(header)) {
            if (name.find('/') == name.npos) {
                EXPECT_TRUE(light.count(name)) << header << " brings in <" << name << ">";
                continue;
            }
            const std::string text = content(kRoot / name);
            EXPECT_FALSE(text.empty()) << name;
            lines += lines_of_code(text);
        }
        EXPECT_LT(lines, most) << "our own lines of code behind " << header;
    }
    EXPECT_FALSE(reached_from("engine/firn/firn.h").count("compiler/learning/module.h"));
    EXPECT_FALSE(reached_from("engine/firn/firn.h").count("compiler/algorithms/noise.h"));
}

// The precompiled headers (FIRN_PRECOMPILE) would hide that one is missing.
TEST(Layers, EveryFileIncludesTheStandardHeadersThatItUses) {
    for (const char* folder : {"compiler", "engine", "apps", "assets", "tests"})
        for (const auto& path : sources(folder)) {
            const std::string text = content(path);
            std::set<std::string> included;
            add_includes(text, included);
            for (size_t at = 0; (at = text.find("std::", at)) != text.npos;) {
                at += 5;
                size_t end = at;
                while (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')
                    ++end;
                const std::string name = text.substr(at, end - at);
                auto row = kHeaderOf.find(name);
                const std::string header = row != kHeaderOf.end() ? row->second : name;
                if (row == kHeaderOf.end() && !kHeaders.count(name)) continue;
                EXPECT_TRUE(included.count(header))
                    << path << " uses std::" << name << " without <" << header << ">";
            }
        }
}

}  // namespace
}  // namespace firn
