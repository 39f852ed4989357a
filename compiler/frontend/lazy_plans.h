// The programs of lazy evaluation that a session keeps, and which of them serves a graph; internal.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compiler/frontend/cut.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/size_forms.h"

namespace firn {

/// A session's records of the graphs of one form (SizeForm).
struct KnownForm {
    std::vector<std::vector<int64_t>> examples;  // numbers for which no program of all sizes served
    Graph graph;                                 // the graph of all sizes, as `sized` and `program`
    SizedNumbers sized;
    std::shared_ptr<const Program> program;          // null: none yet
    bool refused = false;                            // whether no better program can be compiled
    Recent<std::vector<int64_t>, int64_t> calls{8};  // counts of the last numbers
    int64_t used = 0;  // the number of the session's call that used it last
};

struct KeyedCut {
    Cut cut;
    std::string key;  // the text by which the session finds the plan of the graph; empty for the
                      // oracle, which needs none
};
/// Returns the graph of `wanted`, cut so that another frame with other numbers finds its plan
/// again. A number that is worth folding is folded until it turns out to change each time: a frame
/// loop that counts compiles a few plans, and not one for each number.
KeyedCut cut_for_plans(SessionState& session, const std::vector<Ref>& wanted);

/// The graph to run: the graph itself, or one that is the same if its symbols have these values.
/// The program is null if the oracle evaluates.
struct PlannedGraph {
    std::shared_ptr<const Program> program;
    Graph graph;
    SizeEnv symbols;
};
/// Returns the plan, compiled if none serves it. Sizes have programs of their own until there are
/// several: then one program serves all of them, except for those that recur.
PlannedGraph plan_of(SessionState& session, const Graph& graph, std::string key, SourceLine line);

/// Has the session compile anew what it evaluates.
void forget_all_plans(SessionState& session);

/// Plans that the session keeps, those of all sizes among them.
size_t count_plans(const SessionState& session);

/// Throws UserError: outside of a compiled function no call gives a symbol its value.
void refuse_symbols(const Size& size, SourceLine line);

}  // namespace firn
