// All passes of the compiler as one list, and the dials that leave some of them out.
#pragma once
#include <string>
#include <vector>

#include "compiler/program/pass_info.h"

namespace firn {

/// A row of a table of passes, for people.
struct ListedPass {
    std::string label;  // see pass_label()
    PassInfo info;
    std::string changes;       // a graph, a list of kernels, or each kernel
    std::string takes, gives;  // stages
};
/// Returns the rows of the tables of Graph passes and of kernel passes in the order in which a
/// program meets them. Kernels pass the rows for each of them within those for their list.
std::vector<ListedPass> listed_passes();
/// The list as text: a row a line, with its stages, its file, and why it may not be left out.
std::string passes_text();

/// Returns the rows that a compile leaves out. `skip`: names of passes (all their rows) or labels,
/// with commas between. `stop_after`: one of these; every row behind its last one that may be left
/// out is. Empty: none. Throws UserError for an unknown name, which lists the passes, and for one
/// that may not be left out, with the reason.
SkippedPasses skipped_passes(const std::string& skip, const std::string& stop_after = {});
/// Every row that may be left out.
SkippedPasses optional_passes();

}  // namespace firn
