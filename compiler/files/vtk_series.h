// The files of a series, and the list of them that ParaView opens; internal.
#pragma once
#include <optional>
#include <string>

namespace firn {

/// A file of VTK: its own name, and the list beside it where it is a frame of a series.
struct VtkFile {
    std::string path;  ///< with the number of the frame
    std::string list;  ///< the .pvd; empty where there is no series
    std::string text;  ///< what the list will be
};
/// The file that `path`, a name that ends in `ending`, means for a frame, and the list with it. Of
/// a series that is there it reads the list. UserError: another ending, a frame without a place in
/// the name or the other way round, a list that is another one.
VtkFile vtk_file(const std::string& path, const std::string& ending, std::optional<int> frame,
                 std::optional<double> time);

/// Text as a value of an attribute of XML. UserError: a character that XML cannot hold.
std::string as_xml(const std::string& path, const std::string& text);
/// As many digits as give the number back.
std::string vtk_number(double value);

}  // namespace firn
