// The picture of a schedule: where its values and kernels are, and what reads what.
#pragma once
#include <cstddef>
#include <map>
#include <vector>

#include "compiler/program/compile_trace.h"
#include "compiler/program/program.h"

namespace firn {

// Lengths are pixels at scale and zoom 1.

/// A value where one dispatch computes it, or an argument where one reads it.
struct ScheduleNode {
    int value = -1;     // row of Program::verdicts
    int argument = -1;  // or this
    int folded = 0;     // or so many values of a folded group
    size_t group = 0;
    float x = 0, y = 0;  // of its corner
    static constexpr float kWidth = 124, kHeight = 34;
};
/// What one dispatch computes.
struct ScheduleGroup {
    int dispatch = -1;  // in the order of for_dispatches; -1: values that belong to none
    int kernel = -1;
    const RepeatStep* loop = nullptr;  // that it is run by; null: none
    int values = 0;                    // that it computes and does not leave in memory
    bool folded = false;               // these are one node
    float x = 0, y = 0, width = 0, height = 0;
    static constexpr float kTitle = 26;
};
struct ScheduleEdge {
    size_t from = 0, to = 0;  // nodes
    bool back = false;        // of an iteration to the next
};
struct ScheduleLayout {
    std::vector<ScheduleNode> nodes;
    std::vector<ScheduleGroup> groups;
    std::vector<ScheduleEdge> edges;
    float width = 0, height = 0;
};

/// Groups stand below those that they read; in a group, values stand to the right of those that
/// they read. What is not in memory stands in every group that computes it, and nowhere where none
/// does (it computes nothing). A group of more such values than a person follows is folded: they
/// are one node, and numbers that it takes are left out. `folded`, by dispatch, says otherwise.
/// `program` must outlive the layout.
ScheduleLayout lay_out(const Program& program, const std::vector<CompileTrace::Value>& values,
                       const std::map<int, bool>& folded = {});
inline constexpr int kMostUnfolded = 24;  // values

}  // namespace firn
