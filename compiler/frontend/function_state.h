// The state of a compiled function; internal.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/frontend/background.h"
#include "compiler/frontend/call_graph.h"
#include "compiler/frontend/cut.h"
#include "compiler/frontend/function.h"
#include "compiler/frontend/record.h"
#include "compiler/program/executor.h"

namespace firn {

/// The graph for one kind of call, and its program as soon as one was needed.
struct Variant {
    Graph graph;
    SymbolFacts facts;
    std::vector<bool> donated;
    std::string kind;  // its key without the facts
    std::shared_ptr<const Program> program;
    std::shared_ptr<CompileJob>
        job;  // compiles the program in the background; holds its pipelines until it runs
    bool refused = false;  // whether the background compiler failed on it
    int64_t used = 0;      // the session's last call that used it, or the call that made it
};

/// A declared size whose value comes from a tensor with a size that only the device knows.
struct GivenSize {
    size_t argument = 0, axis = 0;
    Size size;
};

/// The most programs that a function keeps, and the most kinds of calls that it knows to donate
/// memory in vain.
constexpr size_t kMostVariants = 64;

/// The number of recent values of a symbol that are counted; recurring ones have programs of their
/// own. It is enough for the levels of a pyramid, and too few for sizes that run through all
/// values.
constexpr size_t kRecentValues = 8;

/// The recording of a function; holds no session.
struct RecordedFunction {
    SourceLine line;
    std::vector<ArgSpec> specs;
    int nested = 0;  // the depth of nested loops and branches
    Graph graph;     // has scalars as scalar arguments; the results of effects come last
    std::vector<BufferAttr> captured;  // by argument: the hidden arguments, after the declared ones
};

struct FunctionState : RecordedFunction {
    std::shared_ptr<SessionState> session;
    std::vector<size_t> result_lengths;  // the lengths of the vectors that results make
    std::vector<Effect> effects;
    std::vector<Ref> sources;  // the sources of `effects`, over the same arguments
    Program signature;         // arguments and guards only; binds symbols
    /// The next three serve the histories of results, from the first call on: a copy of the
    /// recording, the captured tensors, and the arguments that each result changes with.
    std::shared_ptr<const RecordedFunction> recorded;
    std::vector<Ref> captured_nodes;
    std::vector<std::vector<size_t>> smooth_arguments;
    Recent<std::string, std::shared_ptr<Variant>> variants{kMostVariants};
    /// The kinds of calls that donated something which no program could use.
    Recent<std::string, bool> in_vain{kMostVariants};
    /// Counts the calls with each of the last values of each symbol, see is_exact in variants.cpp.
    std::map<std::string, Recent<int64_t, int64_t>> recent_values;
    std::map<std::string, CallGraph> call_graphs;  // by kinds of the rank-0 arguments
    std::shared_ptr<Variant> last;
    bool last_is_general =
        false;  // the last call was served by a variant that assumes less than fits its sizes
    SizeEnv last_symbols;
    int64_t calls = 0;  // the number of calls so far, with the current one
};

/// The variant that serves a call which gives nothing away, with its program (the oracle's has
/// none), and the call itself, without memory for the results.
Variant& variant_of_call(FunctionState& function, const std::vector<Arg>& args, Call& call);

/// Returns the results of the function as part of the function that is being recorded now.
std::vector<Tensor> inline_call(const FunctionState& function, const std::vector<Arg>& args);

/// Returns `nodes`, which use the function's arguments, as part of the function that is recorded
/// now.
std::vector<Ref> inlined(SessionState& session, const RecordedFunction& function,
                         const std::vector<Ref>& nodes, const std::vector<Arg>& args,
                         SourceLine line);

/// The declared symbols that `given` makes data symbols, with the i32 tensor (a Buffer) of each
/// one's value. UserError where a declaration needs the number: a fixed size, a computed one, or
/// one that another argument gives.
std::map<std::string, Ref> given_counts(const FunctionState& function,
                                        const std::vector<GivenSize>& given, SourceLine line);
/// Returns the graph with `symbols` as data symbols, whose values are arguments after the others.
Graph with_data_sizes(NodeTable& table, const Graph& graph,
                      const std::vector<std::string>& symbols);

/// `argument 2 (f32[n, m])`.
std::string argument_name(const RecordedFunction& function, size_t k);

/// The C++ number as the declared type; UserError where that would lose something.
Scalar checked_scalar(const Arg& arg, DType dtype, const std::string& what);

}  // namespace firn
