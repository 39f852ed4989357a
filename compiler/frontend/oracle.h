// Whole graphs on host memory by the oracle: the executor-free way of evaluation; internal.
#pragma once
#include <memory>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/interpret.h"
#include "compiler/program/executor.h"

namespace firn {

/// Host memory alone: it runs no programs.
std::shared_ptr<Executor> make_host_executor();
/// The oracle's inputs for a call.
struct OracleCall {
    SizeEnv symbols;
    std::vector<HostTensor> args;
};
OracleCall oracle_call(Executor& executor, const Graph& graph, const Call& call);
/// Interprets `graph` on the call's arguments and fills its results.
void run_oracle(Executor& executor, const Graph& graph, const Call& call);

}  // namespace firn
