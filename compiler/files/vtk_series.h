// The files of a series, and the list of them that ParaView opens; internal.
#pragma once
#include <optional>
#include <string>

namespace firn {

/// A file of VTK: its own name, and the list beside it where it is a frame of a series.
struct VtkFile {
    std::string path;  ///< has the number of the frame
    std::string list;  ///< the path of the .pvd; empty: no series
    std::string text;  ///< the new text of the list
};
/// Returns the file of a frame for `path`, which must end in `ending`, with the list of its series,
/// which it reads if there is one. UserError: another ending; a frame without a place in the name,
/// or a place without a frame; a list of another series.
VtkFile vtk_file(const std::string& path, const std::string& ending, std::optional<int> frame,
                 std::optional<double> time);

/// Returns text as the value of an XML attribute. UserError: a character that XML cannot hold.
std::string as_xml(const std::string& path, const std::string& text);
/// Returns the shortest digits that give the number back.
std::string vtk_number(double value);

}  // namespace firn
