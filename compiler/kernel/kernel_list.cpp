// The kernels of a program in their order, before they have places in it.
#include "compiler/kernel/kernel_list.h"

#include <algorithm>

namespace firn {

void add_lines(std::vector<std::string>& lines, const std::vector<std::string>& more) {
    constexpr size_t kMost = 8;
    for (const std::string& line : more)
        if (lines.size() < kMost && std::find(lines.begin(), lines.end(), line) == lines.end())
            lines.push_back(line);
}

}  // namespace firn
