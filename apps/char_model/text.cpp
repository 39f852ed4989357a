// Bytes of a file, and which of them there are.
#include "apps/char_model/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "compiler/base/error.h"

namespace firn::char_model {

Text read_text(const std::string& path, int context) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    if (!in) throw UserError("text " + path + ": cannot be read: " + std::strerror(errno));
    if (bytes.size() < size_t(20 * context))
        throw UserError("text " + path + ": has " + std::to_string(bytes.size()) +
                        " bytes; give one of " + std::to_string(20 * context) +
                        " or more, or a shorter context");
    std::array<int, 256> number;
    number.fill(-1);
    for (unsigned char c : bytes) number[c] = 0;
    Text out;
    for (int code = 0; code < 256; ++code)
        if (number[size_t(code)] == 0) {
            number[size_t(code)] = int(out.codes.size());
            out.codes.push_back(code);
        }
    if (out.codes.size() < 2)
        throw UserError("text " + path + ": has one character alone; there is nothing to learn");
    std::vector<int> all;
    for (unsigned char c : bytes) all.push_back(number[c]);
    const auto middle = all.begin() + static_cast<long>(all.size() / 10 * 9);
    out.train = tensor(std::vector<int>(all.begin(), middle));
    out.test = tensor(std::vector<int>(middle, all.end()));
    out.beginning.assign(middle, middle + context);
    return out;
}

}  // namespace firn::char_model
