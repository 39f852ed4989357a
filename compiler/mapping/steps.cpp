// The table of steps, and what follows from it: texts, legality, what is left out.
#include "compiler/mapping/steps.h"

#include <algorithm>
#include <sstream>

#include "compiler/mapping/accumulators.h"
#include "compiler/mapping/map_grid.h"
#include "compiler/mapping/matrix_units.h"
#include "compiler/mapping/share_loops.h"
#include "compiler/mapping/shuffle_loads.h"
#include "compiler/mapping/stage_loads.h"

namespace firn {
namespace {

constexpr int64_t kLargest = 1 << 16;  // of any number in a mapping

/// Without the ones at its end, which say nothing.
StepNumbers without_ones(StepNumbers numbers) {
    while (!numbers.empty() && numbers.back() == 1) numbers.pop_back();
    return numbers;
}

/// A field of one number, of which 1 is the default.
template <auto field>
StepNumbers get_one(const Mapping& m) {
    return without_ones({static_cast<int64_t>(m.*field)});
}
template <auto field>
bool set_one(Mapping& m, const StepNumbers& numbers) {
    if (numbers.size() > 1) return false;
    m.*field =
        static_cast<std::remove_reference_t<decltype(m.*field)>>(numbers.empty() ? 1 : numbers[0]);
    return true;
}

/// A field of a number for each range.
template <auto field>
StepNumbers get_each(const Mapping& m) {
    return without_ones(m.*field);
}
template <auto field>
bool set_each(Mapping& m, const StepNumbers& numbers) {
    m.*field = numbers;
    return true;
}

template <MemorySpace space>
StepNumbers get_space(const Mapping& m) {
    return m.accumulators == space ? StepNumbers{1} : StepNumbers{};
}
template <MemorySpace space>
bool set_space(Mapping& m, const StepNumbers& numbers) {
    if (!numbers.empty())
        m.accumulators = space;
    else if (m.accumulators == space)
        m.accumulators = MemorySpace::Bound;
    return true;
}

StepNumbers get_group(const Mapping& m) { return {m.group_x, m.group_y}; }
bool set_group(Mapping& m, const StepNumbers& numbers) {
    if (numbers.size() != 2) return false;
    m.group_x = static_cast<uint32_t>(numbers[0]), m.group_y = static_cast<uint32_t>(numbers[1]);
    return true;
}

StepNumbers get_collapse(const Mapping& m) {
    return m.collapsed_nests ? StepNumbers{1} : StepNumbers{};
}
bool set_collapse(Mapping& m, const StepNumbers& numbers) {
    m.collapsed_nests = !numbers.empty();
    return true;
}

StepNumbers get_matrix(const Mapping& m) {
    const MatrixTiles& t = m.matrix;
    return t ? StepNumbers{t.across, t.down, t.subgroups_across, t.subgroups_down} : StepNumbers{};
}
bool set_matrix(Mapping& m, const StepNumbers& numbers) {
    if (!numbers.empty() && numbers.size() != 4) return false;
    m.matrix = numbers.empty() ? MatrixTiles{}
                               : MatrixTiles{numbers[0], numbers[1], numbers[2], numbers[3]};
    return true;
}

// clang-format off
const MappingStep kSteps[] = {
    {"group",   true,  get_group, set_group, why_no_groups},
    {"tile",    true,  get_each<&Mapping::tile>, set_each<&Mapping::tile>, why_no_tile},
    {"strides", true,  get_one<&Mapping::strides>, set_one<&Mapping::strides>, why_no_strides},
    {"walk",    true,  get_each<&Mapping::walk>, set_each<&Mapping::walk>, why_no_walk},
    {"unroll",  true,  get_one<&Mapping::unroll>, set_one<&Mapping::unroll>},
    {"whole",   true,  get_one<&Mapping::written_out>, set_one<&Mapping::written_out>},
    {"lanes",   true,  get_one<&Mapping::lanes>, set_one<&Mapping::lanes>, why_lanes_do_not_share,
     {"shuffle", "stage", "private", "shared"}},
    {"shuffle", true,  get_one<&Mapping::shuffled_loads>, set_one<&Mapping::shuffled_loads>, why_no_shuffles,
     {"lanes", "stage", "private", "shared"}},
    {"collapse", false, get_collapse, set_collapse},
    {"stage",   true,  get_one<&Mapping::staged_iterations>, set_one<&Mapping::staged_iterations>, why_not_staged,
     {"lanes", "shuffle", "private", "shared"}},
    {"private", false, get_space<MemorySpace::Private>, set_space<MemorySpace::Private>, why_no_accumulators,
     {"lanes", "shuffle", "stage", "shared"}},
    {"shared",  false, get_space<MemorySpace::Shared>, set_space<MemorySpace::Shared>, why_no_accumulators,
     {"lanes", "shuffle", "stage", "private"}},
    {"matrix",  true,  get_matrix, set_matrix, why_no_matrix_unit,
     {"tile", "strides", "walk", "unroll", "whole", "lanes", "shuffle", "collapse", "stage", "private", "shared"}},
};
// clang-format on

const MappingStep* find_step(std::string_view name) {
    for (const MappingStep& step : kSteps)
        if (step.name == name) return &step;
    return nullptr;
}

/// `4x8`.
std::optional<StepNumbers> numbers_of(const std::string& word) {
    StepNumbers out;
    std::istringstream in(word);
    for (int64_t value; in >> value;) {
        if (value < 1 || value > kLargest) return std::nullopt;
        out.push_back(value);
        if (in.peek() == 'x') in.get();
    }
    if (!in.eof() || out.empty() || word.back() == 'x') return std::nullopt;
    return out;
}

}  // namespace

std::span<const MappingStep> mapping_steps() { return kSteps; }

bool is_taken(const MappingStep& step, const Mapping& mapping) {
    return step.get(mapping) != step.get(Mapping{});
}

void drop(Mapping& mapping, std::initializer_list<std::string_view> steps) {
    for (const std::string_view name : steps) {
        const MappingStep* step = find_step(name);
        step->set(mapping, step->get(Mapping{}));
    }
}

std::string why_illegal(const MappingCase& of) {
    for (const MappingStep& step : kSteps) {
        const bool group = &step == kSteps;  // every kernel has groups
        if (!group && !is_taken(step, of.mapping)) continue;
        for (const std::string_view other : step.excludes)
            if (is_taken(*find_step(other), of.mapping))
                return std::string(step.name) + ": not beside " + std::string(other);
        const std::string why = step.why_not ? step.why_not(of) : "";
        if (!why.empty()) return std::string(step.name) + ": " + why;
    }
    return "";
}

std::string text(const Mapping& mapping) {
    std::string out;
    for (const MappingStep& step : kSteps) {
        if (!out.empty() && !is_taken(step, mapping)) continue;
        out += (out.empty() ? "" : " ") + std::string(step.name);
        if (!step.has_numbers) continue;
        const char* between = " ";
        for (int64_t number : step.get(mapping))
            out += between + std::to_string(number), between = "x";
    }
    return out;
}

std::optional<Mapping> parse_mapping(const std::string& words) {
    Mapping mapping;
    std::istringstream in(words);
    for (std::string name, numbers; in >> name;) {
        const MappingStep* step = find_step(name);
        if (!step) return std::nullopt;
        if (step->has_numbers && !(in >> numbers)) return std::nullopt;
        const auto given = step->has_numbers ? numbers_of(numbers) : StepNumbers{1};
        if (!given || !step->set(mapping, *given)) return std::nullopt;
    }
    // Each once, in the order of the table.
    return text(mapping) == words ? std::optional(mapping) : std::nullopt;
}

}  // namespace firn
