// A mapping as text.
#include "compiler/mapping/mapping_text.h"

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
    auto list = [](const std::vector<int64_t>& numbers) {
        std::string out;
        for (int64_t n : numbers) out += (out.empty() ? "" : "x") + std::to_string(n);
        return out.empty() ? "1" : out;
    };
    std::ostringstream out;
    out << "tile " << list(m.tile) << " strides " << m.strides << " group " << m.group_x << "x"
        << m.group_y << " unroll " << m.serial_unroll << " whole " << m.whole_loops << " lanes "
        << m.lanes << " dealt " << m.dealt_loads;
    if (m.joined_loops) out << " joined";
    if (m.staged_turns > 1) out << " staged " << m.staged_turns;
    if (m.matrix)
        out << " matrix " << m.matrix.across << "x" << m.matrix.down << "x"
            << m.matrix.subgroups_across << "x" << m.matrix.subgroups_down;
    if (m.near != MemorySpace::Bound)
        out << " near " << (m.near == MemorySpace::Shared ? "shared" : "private") << " turns "
            << list(m.turns);
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
    if (!tile || !strides || !group || !unroll || !whole || !lanes || !dealt) return std::nullopt;
    std::string key, near;
    in >> key;
    m.joined_loops = key == "joined";
    if (m.joined_loops) key.clear(), in >> key;
    if (key == "staged") {
        std::string turns;
        in >> turns;
        const auto staged = numbers(turns, 1);
        if (!staged) return std::nullopt;
        m.staged_turns = staged->at(0);
        key.clear(), in >> key;
    }
    if (key == "matrix") {
        std::string value;
        in >> value;
        const auto matrix = numbers(value, 4);
        if (!matrix || matrix->size() > 4) return std::nullopt;
        m.matrix = {matrix->at(0), matrix->at(1), matrix->at(2), matrix->at(3)};
        key.clear(), in >> key;
    }
    if (!key.empty()) {
        const bool known = key == "near" && in >> near && (near == "shared" || near == "private");
        const auto turns = field("turns", 1);
        std::string more;
        if (!known || !turns || in >> more) return std::nullopt;
        m.near = near == "shared" ? MemorySpace::Shared : MemorySpace::Private;
        m.turns = *turns;
    }
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
