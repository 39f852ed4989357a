// Lays out the picture of a schedule: places of its values and kernels, and edges from values to
// their readers.
#pragma once
#include <cstddef>
#include <map>
#include <vector>

#include "compiler/program/compile_trace.h"
#include "compiler/program/program.h"

namespace firn {

// Lengths are pixels at scale and zoom 1.

/// A value in the group of a dispatch that computes it, or an argument in one that reads it.
struct ScheduleNode {
    int value = -1;     // its row of Program::verdicts; -1: none
    int argument = -1;  // its number, for an argument; -1: none
    int folded = 0;     // the number of values, for the node of a folded group; 0: not one
    size_t group = 0;
    float x = 0, y = 0;  // its upper left corner
    static constexpr float kWidth = 124, kHeight = 34;
};
/// The values that one dispatch computes.
struct ScheduleGroup {
    int dispatch = -1;  // in the order of for_dispatches; -1: the values that no dispatch computes
    int kernel = -1;
    const RepeatStep* loop = nullptr;  // the loop that runs it; null: none
    int values = 0;                    // how many it computes without storing them to memory
    bool folded = false;               // these values are one node
    float x = 0, y = 0, width = 0, height = 0;
    static constexpr float kTitle = 26;
};
struct ScheduleEdge {
    size_t from = 0, to = 0;  // nodes
    bool back = false;        // from an iteration to the next
};
struct ScheduleLayout {
    std::vector<ScheduleNode> nodes;
    std::vector<ScheduleGroup> groups;
    std::vector<ScheduleEdge> edges;
    float width = 0, height = 0;
};

/// Groups stand below those that they read; in a group, values stand to the right of those that
/// they read. A value that is not in memory stands in every group that computes it; if no group
/// does, it is left out. A group with more than kMostUnfolded such values is folded: they become
/// one node, and the constants that it reads are left out. `folded` overrides this for a dispatch.
/// `program` must outlive the layout.
ScheduleLayout lay_out(const Program& program, const std::vector<CompileTrace::Value>& values,
                       const std::map<int, bool>& folded = {});
inline constexpr int kMostUnfolded = 24;  // values

}  // namespace firn
