// Keeps the source of a program.
#pragma once
#include <memory>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/program/pass_info.h"
#include "compiler/program/size_env.h"

namespace firn {

struct CompileOptions;

/// Everything that a compilation of the program takes, with nodes of its own.
struct ProgramSource {
    NodeTable table;
    Graph graph;
    SymbolFacts facts;
    std::vector<bool> donated;
    SkippedPasses skipped;
};
std::shared_ptr<ProgramSource> source_of(const Graph& graph, const CompileOptions& options);

}  // namespace firn
