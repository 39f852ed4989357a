// The steps of mappings: one row for each, with its text, what it cannot stand beside, and why a
// kernel cannot take it. map_ranges() carries them out.
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/mapping/mapping.h"

namespace firn {

using StepNumbers = std::vector<int64_t>;

struct MappingStep {
    std::string_view name;
    /// What stands behind its name: one number or several; none for a step that is taken or not.
    bool has_numbers;
    StepNumbers (*get)(const Mapping&);
    /// Takes numbers that get() may give. False: they are not.
    bool (*set)(Mapping&, const StepNumbers&);
    /// In words; empty: the kernel can take it, with the other steps of the mapping.
    std::string (*why_not)(const MappingCase&) = nullptr;
    std::vector<std::string_view> excludes = {};
};
/// In the order in which texts have them.
std::span<const MappingStep> mapping_steps();

bool is_taken(const MappingStep& step, const Mapping& mapping);
/// Leaves these steps out.
void drop(Mapping& mapping, std::initializer_list<std::string_view> steps);

/// Why the kernel cannot be mapped so: the first step that does not fit, and the reason. Empty: it
/// can.
std::string why_illegal(const MappingCase& of);

}  // namespace firn
