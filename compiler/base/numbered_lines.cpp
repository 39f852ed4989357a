// A text with the numbers of its lines.
#include "compiler/base/numbered_lines.h"

#include <iomanip>
#include <sstream>

namespace firn {

std::string numbered_lines(const std::string& text) {
    std::istringstream in(text);
    std::ostringstream out;
    int number = 0;
    for (std::string line; std::getline(in, line);)
        out << std::setw(5) << ++number << "  " << line << '\n';
    return out.str();
}

}  // namespace firn
