// Takes the functions that a kernel calls out of shaders/arithmetic.glsl, trigonometry.glsl and
// math.glsl, and their kin of f64.
#include <algorithm>
#include <string_view>

#include "compiler/base/error.h"
#include "compiler/target/glsl/operations.h"
#include "compiler/target/glsl/shader_library.h"

namespace firn {
namespace {

constexpr std::string_view kMark = "//@function ";

/// A function of a file: `//@function NAME needs OTHER OTHER`, then its text.
struct Section {
    std::string_view name;
    std::vector<std::string_view> needs;
    std::string_view body;
};

std::vector<std::string_view> words(std::string_view line) {
    std::vector<std::string_view> out;
    while (!line.empty()) {
        const size_t end = std::min(line.find(' '), line.size());
        if (end > 0) out.push_back(line.substr(0, end));
        line.remove_prefix(std::min(end + 1, line.size()));
    }
    return out;
}

std::vector<Section> sections(std::string_view text) {
    std::vector<Section> out;
    for (size_t at = text.find(kMark); at != std::string_view::npos;) {
        const size_t line_end = text.find('\n', at), next = text.find(kMark, line_end);
        std::vector<std::string_view> parts =
            words(text.substr(at + kMark.size(), line_end - at - kMark.size()));
        Section section{parts.at(0), {}, text.substr(line_end + 1, next - line_end - 1)};
        if (parts.size() > 2) section.needs.assign(parts.begin() + 2, parts.end());
        out.push_back(std::move(section));
        at = next;
    }
    return out;
}

}  // namespace

std::string math_library(const std::set<std::string>& functions) {
    if (functions.empty()) return "";
    std::vector<Section> all;
    for (const char* file : {"arithmetic.glsl", "trigonometry.glsl", "math.glsl", "math_f64.glsl",
                             "trigonometry_f64.glsl"})
        for (Section& section : sections(shader_source(file))) all.push_back(std::move(section));
    std::set<std::string_view> wanted(functions.begin(), functions.end());
    // The functions that a function needs stand before it, so one walk from the end finds them all.
    std::vector<std::string_view> bodies;
    for (size_t k = all.size(); k-- > 0;) {
        if (!wanted.erase(all[k].name)) continue;
        wanted.insert(all[k].needs.begin(), all[k].needs.end());
        bodies.push_back(all[k].body);
    }
    if (!wanted.empty())
        throw InternalError("internal error: there is no shader function " +
                            std::string(*wanted.begin()) + " before the ones that need it");
    std::string out;
    for (size_t k = bodies.size(); k-- > 0;) out += bodies[k];
    return out;
}

}  // namespace firn
