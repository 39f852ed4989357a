// A schedule in the making: one round of verdicts, and the findings of earlier rounds.
#pragma once
#include <functional>
#include <unordered_map>
#include <vector>

#include "compiler/schedule/already_loaded.h"
#include "compiler/schedule/binding_pressure.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// The verdicts so far. They are made from consumers to producers: when a value is reached, all
/// values that ask for it are decided.
struct Round {
    std::vector<ValueVerdict> verdicts;  // consumers first
    NodeSet materialised;
    Asks asks;
    std::unordered_map<const Node*, double> operations;  // of all that a root's kernel asks for
    /// Roots that stage values, with the number of trailing dimensions that one invocation walks.
    std::unordered_map<const Node*, int> inner;
    /// The products that the kernel of each root computes (see products.h).
    std::unordered_map<const Node*, std::vector<const Node*>> products;
    /// The reductions that the group combines, for roots whose groups hold rows.
    std::unordered_map<const Node*, std::vector<const Node*>> row_reductions;
    /// Roots whose kernels were found to compute no long reduction. That stays true in a round, in
    /// which kernels only lose values to memory.
    NodeSet reduce_little;
};

/// Findings carried to later rounds.
struct Findings {
    std::unordered_map<const Node*, Shape>
        leaving_loops;             // loops inside kernels with a result in memory; its shape
    AlreadyLoaded already_loaded;  // nothing before the round that judges by it
    NodeSet holds_rows;            // roots whose groups hold whole rows
    std::unordered_map<const Node*, const Node*>
        held_by;               // values that were in memory before, and the root that holds them
    BindingPressure pressure;  // of kernels that would bind too many tensors
    NodeSet memory_readers;    // values in memory, and what is computed from them
    NodeSet early_cuts;        // kept so that what they ask for need not be kept
};

/// The data of verdicts and groups: facts that do not change, findings, and the round.
struct Draft {
    const ScheduleFacts& facts;
    AccessMaps maps;
    Findings findings;
    Round round;
};
Draft make_draft(const ScheduleFacts& facts);

/// Forgets the verdicts, but not the findings.
void start_round(Draft& draft);

/// True if the value is in memory, before any verdict or by one of this round. (Scalar arguments
/// and what loops inside kernels carry are read from their own place, even if a copy of them is
/// kept.)
bool in_memory(const Draft& draft, const Node& node);
/// True if some kernel that asks for the value must bind it. (What the host knows is a parameter,
/// and constants are written where they are asked for, even if a copy of them is kept.)
bool is_loaded(const Draft& draft, const Node& node);
/// True if the root's kernel computes a value for which `is` holds: the root, or one that is not in
/// memory. Bodies of loops and branches are not looked into.
bool computes_any(const Draft& draft, const Node& root, const std::function<bool(const Node&)>& is);
/// True if the version, which is written by position, starts as the value and takes its place.
bool starts_as(Draft& draft, const Node& version, const Node& value, int map);

/// Notes that a root's kernel asks for a value. Beyond costs::kMostMaps maps it notes nothing: the
/// value goes to memory then.
void ask(Draft& draft, const Node& node, const Ask& ask);
/// Notes that the kernel asks for what the value asks for: nothing, if a Pad is asked for in its
/// padding.
void ask_inputs(Draft& draft, const Node& node, const std::set<Ask>& asks);

}  // namespace firn
