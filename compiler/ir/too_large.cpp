// The error message for a value that no memory holds.
#include "compiler/ir/too_large.h"

#include <cctype>
#include <cstdio>

#include "compiler/program/index_limits.h"

namespace firn {
namespace {

std::string whole(double number) {
    char out[64];
    std::snprintf(out, sizeof(out), "%.0f", number);
    return out;
}

}  // namespace

double count_elements(const std::vector<int64_t>& shape) {
    double out = 1;
    for (int64_t size : shape) out *= static_cast<double>(size);
    return out;
}

std::string counted_limit() {
    return "kernels count elements in memory with 32 bits, to " + std::to_string(kMostElements);
}

std::string too_large(const Node& node, const std::vector<int64_t>& shape,
                      const std::string& limit) {
    std::string sizes;
    for (int64_t size : shape) sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
    const double elements = count_elements(shape);
    std::string name = info(node.op).name;
    name[0] = static_cast<char>(std::tolower(name[0]));
    return name + ": " + node.dtype.name() + "[" + sizes + "] has " + whole(elements) +
           " elements, which take " + whole(elements * node.dtype.bytes()) +
           " bytes in memory, and " + limit +
           "; compute it in parts, or reduce or index it where it is made, so that it is never in "
           "memory as a whole" +
           in_brackets(node.lines);
}

}  // namespace firn
