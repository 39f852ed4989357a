// The nodes and regions of a kernel's text.
#pragma once
#include <string>

#include "compiler/kernel/parse_run.h"

namespace firn {

/// A new region.
RegionId open_region(ParseRun& run);
/// The lines of a region up to its closing brace.
void parse_body(ParseRun& run, RegionId id);

/// The node that the text calls `%word`, which is new.
NodeId declare_node(ParseRun& run, const std::string& word);
void put_node(ParseRun& run, NodeId id, KernelNode node);
/// Parses a constant, parameter or range.
KernelNode parse_leaf(const ParseRun& run, const std::string& word);
/// Returns the node that the text calls `word`.
NodeId parse_operand(ParseRun& run, const std::string& word);
/// `in LO HI`, `mod M REMAINDER`; false where the next word is neither.
bool take_interval(ParseRun& run, KernelNode& n);

}  // namespace firn
