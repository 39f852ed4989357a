// Keeps the source of a program.
#include "compiler/driver/program_source.h"

#include "compiler/ir/substitute.h"
#include "compiler/plan/compile_options.h"

namespace firn {

std::shared_ptr<ProgramSource> source_of(const Graph& graph, const CompileOptions& options) {
    auto out = std::make_shared<ProgramSource>();
    out->graph = copied_graph(out->table, graph, options.facts);
    out->facts = options.facts;
    out->donated = options.donated;
    out->skipped = options.skipped;
    return out;
}

}  // namespace firn
