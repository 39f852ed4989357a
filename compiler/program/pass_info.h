// Name, file and needs of each pass of the compiler, and the passes that a compile leaves out.
#pragma once
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace firn {

/// Bits for the inputs that a pass reads beside the graph or the kernels that it changes.
using PassNeeds = uint8_t;
inline constexpr PassNeeds kNeedsFacts = 1, kNeedsProfile = 2, kNeedsSchedule = 4,
                           kNeedsMapping = 8;

/// The facts about a pass that are the same in every table of passes.
struct PassInfo {
    const char* name;
    const char* file;  // below compiler/, without `.cpp`
    PassNeeds needs = 0;
    const char* required = nullptr;  // why no compile may leave it out; null: it may be left out
};

/// Labels of the rows that a compile leaves out: see pass_label() and skipped_passes().
using SkippedPasses = std::set<std::string>;

/// The label of row `k` of a table: the name of its pass, with a number behind it (`simplify:2`) if
/// the pass stands in the table more than once.
template <class Rows>
std::string pass_label(const Rows& rows, size_t k) {
    size_t before = 0, all = 0;
    const std::string name = rows[k].info.name;
    for (size_t other = 0; other < rows.size(); ++other)
        if (name == rows[other].info.name) ++all, before += other < k;
    return all > 1 ? name + ":" + std::to_string(before + 1) : name;
}

/// True if the compile leaves row `k` of the table out.
template <class Rows>
bool is_skipped(const SkippedPasses& skipped, const Rows& rows, size_t k) {
    return !skipped.empty() && skipped.contains(pass_label(rows, k));
}

}  // namespace firn
