// Lists a folder by functions of C: the iterator of the standard library opens it in a function
// that may not throw, and allocates there.
#include "compiler/base/list_folder.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace firn {

FolderNames list_folder(const std::string& folder) {
    FolderNames out;
    const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
    if (!open) {
        out.error = errno;
        return out;
    }
    for (;;) {
        errno = 0;
        const dirent* entry = readdir(open.get());
        if (!entry) break;
        const std::string name = entry->d_name;
        if (name != "." && name != "..") out.names.push_back(name);
    }
    out.error = errno;
    std::sort(out.names.begin(), out.names.end());
    return out;
}

}  // namespace firn
