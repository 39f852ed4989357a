// Series of files of VTK: names with a number, and a list of them.
#include "compiler/files/vtk_series.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string_view>

#include "compiler/files/file.h"
#include "compiler/frontend/line_scope.h"

namespace firn {
namespace {

constexpr std::string_view kListBegin =
    "<?xml version=\"1.0\"?>\n"
    "<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n<Collection>\n";
constexpr std::string_view kListEnd = "</Collection>\n</VTKFile>\n";

[[noreturn]] void vtk_fault(const std::string& path, const std::string& why) {
    refuse("file " + path + ": " + why);
}

/// The name of a series: what stands before the number, how many digits that has at least, and what
/// stands behind.
struct SeriesName {
    std::string before, behind;
    int digits = 0;
};

std::optional<SeriesName> series_name(const std::string& path) {
    const size_t percent = path.find('%');
    if (percent == path.npos) return std::nullopt;
    size_t at = percent + 1;
    SeriesName out{path.substr(0, percent), "", 0};
    if (path.substr(at, 1) == "0")
        for (++at; at < path.size() && path[at] >= '0' && path[at] <= '9' && out.digits < 10; ++at)
            out.digits = out.digits * 10 + (path[at] - '0');
    if (path.substr(at, 1) != "d" || path.find('%', at) != path.npos || out.digits > 20 ||
        path.find('/', at) != path.npos)
        vtk_fault(path, "the number of the frame is %d or %04d, once, in the name of the file");
    out.behind = path.substr(at + 1);
    return out;
}

std::string file_name(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

std::string frame_name(const SeriesName& series, int frame) {
    std::string digits = std::to_string(frame);
    if (digits.size() < static_cast<size_t>(series.digits))
        digits.insert(0, static_cast<size_t>(series.digits) - digits.size(), '0');
    return series.before + digits + series.behind;
}

/// `run_%04d.vti` has the list `run.pvd`.
std::string list_name(const SeriesName& series) {
    std::string out = series.before;
    while (!out.empty() && (out.back() == '_' || out.back() == '-' || out.back() == '.'))
        out.pop_back();
    return (out.empty() || out.back() == '/' ? out + "series" : out) + ".pvd";
}

/// The line of a file in the list.
std::string list_line(const std::string& time, const std::string& file) {
    return "<DataSet timestep=\"" + time + "\" part=\"0\" file=\"" + file + "\"/>\n";
}

/// The lines of the list that is there, by the numbers of their frames.
std::map<int, std::string> lines_of_list(const std::string& list, const SeriesName& series) {
    std::map<int, std::string> out;
    if (!std::filesystem::exists(list)) return out;
    const std::vector<std::byte> bytes = read_file(list);
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto other = [&] {
        vtk_fault(list, "is no list of " + series.before + "*" + series.behind +
                            "; remove it, or give the series another name");
    };
    if (!text.starts_with(kListBegin) || !text.ends_with(kListEnd)) other();
    text = text.substr(kListBegin.size(), text.size() - kListBegin.size() - kListEnd.size());
    const std::string before = "file=\"" + as_xml(list, file_name(series.before + "x"));
    const std::string_view begin(before.data(), before.size() - 1);  // without the x
    while (!text.empty()) {
        const size_t end = text.find('\n'), at = text.find(begin);
        if (end == text.npos || at == text.npos || at > end) other();
        int frame = -1;
        const char* first = text.data() + at + begin.size();
        const auto number = std::from_chars(first, text.data() + end, frame);
        if (number.ec != std::errc{} || frame < 0) other();
        out[frame] = std::string(text.substr(0, end + 1));
        text.remove_prefix(end + 1);
    }
    return out;
}

}  // namespace

std::string vtk_number(double value) {
    std::array<char, 40> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    return {digits.data(), end.ptr};
}

std::string as_xml(const std::string& path, const std::string& text) {
    std::string out;
    for (char c : text) {
        if (static_cast<unsigned char>(c) < ' ')
            vtk_fault(path, "a name has a character that XML cannot hold; use letters and digits");
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            default: out += c;
        }
    }
    return out;
}

VtkFile vtk_file(const std::string& path, const std::string& ending, std::optional<int> frame,
                 std::optional<double> time) {
    if (!path.ends_with(ending))
        vtk_fault(path, "the name does not end in " + ending + ", the format that is written");
    const std::optional<SeriesName> series = series_name(path);
    if (!series && frame)
        vtk_fault(path,
                  "the name has no place for the number of the frame, such as run_%04d" + ending);
    if (!series) return {path, "", ""};
    if (!frame || *frame < 0)
        vtk_fault(path, "the number of the frame is missing; give {.frame = k}, from 0");
    const double at = time.value_or(*frame);
    if (!std::isfinite(at)) vtk_fault(path, "the time of the frame is no finite number");
    VtkFile out{frame_name(*series, *frame), list_name(*series), std::string(kListBegin)};
    for (const auto& [number, line] : lines_of_list(out.list, *series))
        if (number < *frame) out.text += line;
    out.text += list_line(vtk_number(at), as_xml(path, file_name(out.path)));
    out.text += kListEnd;
    return out;
}

}  // namespace firn
