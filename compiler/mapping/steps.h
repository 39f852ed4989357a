// The table of the steps of mappings, and what each step's own file provides.
#pragma once
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compiler/mapping/mapping.h"

namespace firn {

struct Choice;
struct KernelTarget;
struct Variations;

/// Every function may be null; the step then has no such rule. A step without `map` and `finish` is
/// carried out while the kernel is walked (map.cpp).
struct StepRules {
    /// The steps that exclude this one, by their words, with spaces between; one of two steps names
    /// the other.
    std::string_view excludes = {};
    /// Returns in words why the kernel cannot take the step with the other steps of the mapping;
    /// empty: it can.
    std::string (*why_not)(const MappingCase&) = nullptr;
    /// Chooses the step in the template of the device's class, after the steps before it
    /// (choice.h).
    void (*choose)(Choice&) = nullptr;
    /// Returns a mapping that is sized around this step, instead of the template, if that is
    /// faster.
    std::optional<Mapping> (*choose_whole_mapping)(const Choice&) = nullptr;
    /// Adds mappings that differ from one in this step, for tuning (vary_mapping.h).
    void (*vary)(Variations&) = nullptr;
    /// Maps a kernel instead of the walk.
    KernelCode (*map)(const MappingCase&) = nullptr;
    /// Does the step's remaining work on the mapped kernel.
    void (*finish)(KernelCode&, const KernelTarget&) = nullptr;
};

namespace mapping_step {
#define FIRN_STEP(word, Type, field, ...) extern const StepRules word;
#include "compiler/mapping/steps.def"
}  // namespace mapping_step

/// A row of steps.def.
struct MappingStep {
    std::string_view name;
    const StepRules& rules;
    bool (*is_taken)(const Mapping&);
    void (*leave_out)(Mapping&);
    /// Returns the argument behind the step's name; empty for a step that is taken or not.
    std::string (*words)(const Mapping&);
    /// Reads the argument from such words; no words for a step without one. Returns false if they
    /// are malformed.
    bool (*read)(Mapping&, const std::string&);
};
/// Returns the steps in the order of steps.def.
std::span<const MappingStep> mapping_steps();

/// Leaves these steps out.
void drop(Mapping& mapping, std::initializer_list<std::string_view> steps);

/// Returns why the kernel cannot be mapped so: the first step that does not fit, and the reason.
/// Empty: it can.
std::string why_illegal(const MappingCase& of);

}  // namespace firn
