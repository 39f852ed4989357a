// Text to Graph: the grammar that print.cpp writes.
#include <utility>

#include "compiler/base/error.h"
#include "compiler/ir/parse_nodes.h"
#include "compiler/ir/parse_words.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

void parse_argument(GraphParseRun& run) {
    declare_number(run);
    expect(run, ":");
    ParsedType t = take_type(run);
    InputAttr attr{static_cast<int>(run.graph.args.size()), accept(run, "scalar")};
    run.nodes.back() = run.table.intern(Op::Input, t.dtype, t.shape, {}, attr);
    run.graph.args.push_back(run.nodes.back());
}

void parse_guard(GraphParseRun& run) {
    Guard guard;
    guard.left = take_size(run, "=");
    expect(run, "==");
    guard.right = take_size(run, "\"");
    expect(run, "\"");
    for (; run.at < run.text.size() && run.text[run.at] != '"'; ++run.at) {
        const bool escaped = run.text[run.at] == '\\' && run.at + 1 < run.text.size();
        if (escaped) ++run.at;
        guard.message += escaped && run.text[run.at] == 'n' ? '\n' : run.text[run.at];
    }
    expect(run, "\"");
    run.graph.guards.push_back(std::move(guard));
}

void verify_parsed(const GraphParseRun& run) {
    try {
        verify(run.graph, "parsing");
    } catch (const InternalError& error) {
        throw UserError(std::string("parse: the text is no sound graph: ") + error.what());
    }
}

}  // namespace

Graph parse(NodeTable& table, const std::string& text) {
    GraphParseRun run{table, text};
    expect(run, "graph(");
    if (!accept(run, ")")) {
        do parse_argument(run);
        while (accept(run, ","));
        expect(run, ")");
    }
    expect(run, "{");
    while (accept(run, "guard")) parse_guard(run);
    while (accept(run, "size")) run.graph.data_sizes.push_back(take_size(run, "\n"));
    run.graph.results = parse_nodes(run, "return");
    expect(run, "}");
    skip_space(run);
    if (run.at < run.text.size()) fail(run, "nothing after the graph");
    verify_parsed(run);
    return std::move(run.graph);
}

}  // namespace firn
