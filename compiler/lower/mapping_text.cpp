// A mapping as text.
#include "compiler/lower/mapping_text.h"

#include <sstream>

namespace firn {
namespace {

constexpr int64_t kLargest = 1 << 16;  // of any number in a mapping

/// `4x8`, at least `least` numbers.
std::optional<std::vector<int64_t>> numbers(const std::string& word, size_t least) {
    std::vector<int64_t> out;
    std::istringstream in(word);
    for (int64_t value; in >> value;) {
        if (value < 1 || value > kLargest) return std::nullopt;
        out.push_back(value);
        if (in.peek() == 'x') in.get();
    }
    if (!in.eof() || out.size() < least) return std::nullopt;
    return out;
}

}  // namespace

std::string text(const Mapping& m) {
    std::string tile;
    for (int64_t t : m.tile) tile += (tile.empty() ? "" : "x") + std::to_string(t);
    std::ostringstream out;
    out << "tile " << (tile.empty() ? "1" : tile) << " strides " << m.strides << " group "
        << m.group_x << "x" << m.group_y << " unroll " << m.serial_unroll << " whole "
        << m.whole_loops << " lanes " << m.lanes << " dealt " << m.dealt_loads;
    return out.str();
}

std::optional<Mapping> parse_mapping(const std::string& words) {
    Mapping m;
    std::istringstream in(words);
    auto field = [&](const char* name, size_t least) -> std::optional<std::vector<int64_t>> {
        std::string key, value;
        if (!(in >> key >> value) || key != name) return std::nullopt;
        return numbers(value, least);
    };
    const auto tile = field("tile", 1), strides = field("strides", 1), group = field("group", 2),
               unroll = field("unroll", 1), whole = field("whole", 1), lanes = field("lanes", 1),
               dealt = field("dealt", 1);
    std::string more;
    if (!tile || !strides || !group || !unroll || !whole || !lanes || !dealt || in >> more)
        return std::nullopt;
    m.tile = *tile;
    m.strides = strides->at(0);
    m.group_x = static_cast<uint32_t>(group->at(0));
    m.group_y = static_cast<uint32_t>(group->at(1));
    m.serial_unroll = unroll->at(0);
    m.whole_loops = whole->at(0);
    m.lanes = static_cast<uint32_t>(lanes->at(0));
    m.dealt_loads = static_cast<uint32_t>(dealt->at(0));
    return m;
}

}  // namespace firn
