// Lists a folder.
#pragma once
#include <string>
#include <vector>

namespace firn {

struct FolderNames {
    std::vector<std::string> names;  // in their order, the same on every file system
    int error = 0;                   // errno if reading failed: names are missing then
};
/// The names in a folder but `.` and `..`. Throws std::bad_alloc where memory is out, where
/// the iterator of the standard library would end the process.
FolderNames list_folder(const std::string& folder);

}  // namespace firn
