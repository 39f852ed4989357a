// A schedule in the making: one round of verdicts, and what rounds before it found out.
#pragma once
#include <unordered_map>
#include <vector>

#include "compiler/schedule/at_hand.h"
#include "compiler/schedule/binding_pressure.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// What verdicts say so far. They go from consumers to producers: by the time a value is reached,
/// all that ask for it are decided.
struct Round {
    std::vector<ValueVerdict> verdicts;  // consumers first
    NodeSet materialised;
    Asks asks;
    std::unordered_map<const Node*, double> operations;  // of all that a root's kernel asks for
    /// Roots that stage values: trailing dimensions that an invocation walks inside.
    std::unordered_map<const Node*, int> inner;
    /// By root, the products that its kernel computes (see products.h).
    std::unordered_map<const Node*, std::vector<const Node*>> products;
    /// Of roots whose groups hold rows: what the group combines.
    std::unordered_map<const Node*, std::vector<const Node*>> row_reductions;
};

/// What rounds tell those after them.
struct Findings {
    std::unordered_map<const Node*, Shape>
        leaving_loops;   // loops inside kernels with a result in memory; its shape
    AtHand at_hand;      // nothing before the round that judges by it
    NodeSet holds_rows;  // roots whose groups hold whole rows
    std::unordered_map<const Node*, const Node*>
        held_by;               // what was in memory before, and the root that holds it
    BindingPressure pressure;  // of kernels that would bind too much
    NodeSet memory_readers;    // what is in memory, and what is computed from it
    NodeSet early_cuts;        // kept so that what they ask for need not be
};

/// What verdicts and groups work on: facts that stay, what was found out, and the round.
struct Draft {
    const ScheduleFacts& facts;
    AccessMaps maps;
    Findings findings;
    Round round;
};
Draft make_draft(const ScheduleFacts& facts);

/// Forgets the verdicts, not what was found out.
void start_round(Draft& draft);

/// In memory, before any verdict or by one of this round. (Scalar arguments and what loops inside
/// kernels carry are read where they are, even where a copy of them is kept.)
bool in_memory(const Draft& draft, const Node& node);
/// Some kernel that asks for it must bind it.
bool is_loaded(const Draft& draft, const Node& node);
/// A version that is written by position starts as the value, and takes its place.
bool starts_as(Draft& draft, const Node& version, const Node& value, int map);

/// A root's kernel asks for a value. Beyond costs::kMostMaps maps nothing is noted: the value goes
/// to memory then.
void ask(Draft& draft, const Node& node, const Ask& ask);
/// It asks for what the value asks for: nothing, where a padding is asked in what it adds.
void ask_inputs(Draft& draft, const Node& node, const std::set<Ask>& asks);

}  // namespace firn
