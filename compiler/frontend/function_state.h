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

/// The graph for one kind of call, and its program once it was needed.
struct Variant {
    Graph graph;
    SymbolFacts facts;
    std::vector<bool> donated;
    std::string kind;  // its key but for the facts
    std::shared_ptr<const Program> program;
    std::shared_ptr<CompileJob>
        job;  // compiles the program in the background; holds its pipelines until it runs
    bool refused = false;  // the background could not compile it
    int64_t used = 0;      // the session's call that used it last, or in which it was made
};

/// A declared size whose value comes from a tensor with a size that only the device knows.
struct GivenSize {
    size_t argument = 0, axis = 0;
    Size size;
};

/// Programs that a function keeps, and kinds of calls that it knows to give memory away for
/// nothing.
constexpr size_t kMostVariants = 64;

/// Values of a symbol that recur and have programs of their own: some levels of a pyramid, but not
/// sizes that run through all values.
constexpr size_t kRecentValues = 8;

/// The recording of a function; holds no session.
struct RecordedFunction {
    SourceLine line;
    std::vector<ArgSpec> specs;
    int nested = 0;                    // loops and branches inside one another
    Graph graph;                       // scalars as scalars; after the results those of the effects
    std::vector<BufferAttr> captured;  // by argument: the hidden ones, after the declared
};

struct FunctionState : RecordedFunction {
    std::shared_ptr<SessionState> session;
    std::vector<size_t> result_lengths;  // of the vectors that results make
    std::vector<Effect> effects;
    std::vector<Ref> sources;  // of the effects, over the same arguments
    Program signature;         // arguments and guards alone: binds symbols
    /// For the histories of results, from the first call on: a copy, the captured tensors, and the
    /// arguments that each result changes with.
    std::shared_ptr<const RecordedFunction> recorded;
    std::vector<Ref> captured_nodes;
    std::vector<std::vector<size_t>> smooth_arguments;
    Recent<std::string, std::shared_ptr<Variant>> variants{kMostVariants};
    /// Kinds of calls that gave something away which no program could use.
    Recent<std::string, bool> in_vain{kMostVariants};
    /// Counts the calls with each of the last values of each symbol, see is_exact in variants.cpp.
    std::map<std::string, Recent<int64_t, int64_t>> recent_values;
    std::map<std::string, CallGraph> call_graphs;  // by kinds of the rank-0 arguments
    std::shared_ptr<Variant> last;
    bool last_is_general =
        false;  // the last call was served by a variant that assumes less than fits its sizes
    SizeEnv last_symbols;
    int64_t calls = 0;  // so far, with the one that is made
};

/// The variant that serves a call which gives nothing away, with its program (the oracle's has
/// none), and the call itself, without memory for the results.
Variant& variant_of_call(FunctionState& function, const std::vector<Arg>& args, Call& call);

/// Returns the results of the function as part of the function that is being recorded now.
std::vector<Tensor> inline_call(const FunctionState& function, const std::vector<Arg>& args);

/// Returns `nodes`, over the arguments of the function, as part of the function that is recorded
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
