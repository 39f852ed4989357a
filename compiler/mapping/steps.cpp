// Derives from the table of steps: texts, legality, and the steps that are left out.
#include "compiler/mapping/steps.h"

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <type_traits>
#include <vector>

#include "compiler/base/error.h"

namespace firn {
namespace {

constexpr int64_t kLargest = 1 << 16;  // the largest number in a mapping

/// `4x8`.
std::string join(const std::vector<int64_t>& numbers) {
    std::string out;
    for (int64_t number : numbers) out += (out.empty() ? "" : "x") + std::to_string(number);
    return out;
}
/// Returns nothing if these are no numbers.
std::vector<int64_t> split(const std::string& words) {
    std::vector<int64_t> out;
    std::istringstream in(words);
    for (int64_t value; in >> value;) {
        if (value < 1 || value > kLargest) return {};
        out.push_back(value);
        if (in.peek() == 'x') in.get();
    }
    if (!in.eof() || words.empty() || words.back() == 'x') return {};
    return out;
}

// Writes and reads a field, by its type.

template <class Number>
requires std::is_integral_v<Number> std::string words_of(Number value) {
    return std::to_string(value);
}
template <class Number>
requires std::is_integral_v<Number>
bool read_words(Number& value, const std::string& words) {
    const std::vector<int64_t> numbers = split(words);
    if (numbers.size() == 1) value = static_cast<Number>(numbers[0]);
    return numbers.size() == 1;
}

std::string words_of(bool) { return ""; }
bool read_words(bool& value, const std::string& words) { return value = words.empty(); }

std::string words_of(std::vector<int64_t> each) {
    while (!each.empty() && each.back() == 1) each.pop_back();
    return join(each);
}
bool read_words(std::vector<int64_t>& each, const std::string& words) {
    each = split(words);
    return !each.empty();
}

std::string words_of(const GroupShape& group) { return join({group.x, group.y}); }
bool read_words(GroupShape& group, const std::string& words) {
    const std::vector<int64_t> numbers = split(words);
    if (numbers.size() != 2) return false;
    group = {static_cast<uint32_t>(numbers[0]), static_cast<uint32_t>(numbers[1])};
    return true;
}

std::string words_of(const MatrixTiles& t) {
    return t ? join({t.across, t.down, t.subgroups_across, t.subgroups_down}) : "";
}
bool read_words(MatrixTiles& t, const std::string& words) {
    const std::vector<int64_t> numbers = split(words);
    if (numbers.size() != 4) return false;
    t = {numbers[0], numbers[1], numbers[2], numbers[3]};
    return true;
}

std::string words_of(MemorySpace space) {
    return space == MemorySpace::Private ? "private" : space == MemorySpace::Shared ? "shared" : "";
}
bool read_words(MemorySpace& space, const std::string& words) {
    for (const MemorySpace wanted : {MemorySpace::Private, MemorySpace::Shared})
        if (words == words_of(wanted)) return space = wanted, true;
    return false;
}

template <auto field>
using FieldType = std::remove_cvref_t<decltype(std::declval<Mapping>().*field)>;

template <auto field>
bool is_taken(const Mapping& m) {
    // Every kernel has groups.
    if constexpr (std::is_same_v<FieldType<field>, GroupShape>) return true;
    if constexpr (std::is_same_v<FieldType<field>, bool>) return m.*field;
    return words_of(m.*field) != words_of(Mapping{}.*field);
}

template <auto field>
constexpr MappingStep row(std::string_view name, const StepRules& rules) {
    return {name,
            rules,
            is_taken<field>,
            [](Mapping& m) { m.*field = Mapping{}.*field; },
            [](const Mapping& m) { return words_of(m.*field); },
            [](Mapping& m, const std::string& words) { return read_words(m.*field, words); }};
}

constexpr MappingStep kSteps[] = {
#define FIRN_STEP(word, Type, field, ...) row<&Mapping::field>(#word, mapping_step::word),
#include "compiler/mapping/steps.def"
};

const MappingStep* find_step(std::string_view name) {
    for (const MappingStep& step : kSteps)
        if (step.name == name) return &step;
    return nullptr;
}

/// The first of some steps that the mapping takes; empty: none.
std::string taken_of(std::string_view steps, const Mapping& mapping) {
    std::istringstream in{std::string(steps)};
    for (std::string name; in >> name;) {
        const MappingStep* step = find_step(name);
        ensure(step != nullptr, "a step of mappings excludes a step that does not exist");
        if (step->is_taken(mapping)) return name;
    }
    return "";
}

}  // namespace

std::span<const MappingStep> mapping_steps() { return kSteps; }

void drop(Mapping& mapping, std::initializer_list<std::string_view> steps) {
    for (const std::string_view name : steps) find_step(name)->leave_out(mapping);
}

std::string why_illegal(const MappingCase& of) {
    for (const MappingStep& step : kSteps) {
        if (!step.is_taken(of.mapping)) continue;
        const std::string other = taken_of(step.rules.excludes, of.mapping);
        if (!other.empty()) return std::string(step.name) + ": not beside " + other;
        const std::string why = step.rules.why_not ? step.rules.why_not(of) : "";
        if (!why.empty()) return std::string(step.name) + ": " + why;
    }
    return "";
}

std::string text(const Mapping& mapping) {
    std::string out;
    for (const MappingStep& step : kSteps) {
        if (!step.is_taken(mapping)) continue;
        out += (out.empty() ? "" : " ") + std::string(step.name);
        const std::string words = step.words(mapping);
        if (!words.empty()) out += " " + words;
    }
    return out;
}

std::optional<Mapping> parse_mapping(const std::string& words) {
    Mapping mapping;
    std::istringstream in(words);
    for (std::string name, value; in >> name;) {
        const MappingStep* step = find_step(name);
        if (!step) return std::nullopt;
        // A word that names a step is no argument of another.
        const auto before = in.tellg();
        if (!(in >> value) || find_step(value)) {
            value.clear();
            if (before >= 0) in.clear(), in.seekg(before);
        }
        if (!step->read(mapping, value)) return std::nullopt;
    }
    // Each once, in the order of the table.
    return text(mapping) == words ? std::optional(mapping) : std::nullopt;
}

}  // namespace firn
