// Computing what was recorded: lazy tensors become buffers.
#pragma once
#include <span>
#include <vector>

#include "compiler/frontend/tensor.h"
#include "compiler/program/executor.h"

namespace firn {

struct CompileOptions;
struct Graph;
struct SessionState;

/// Computes the tensors together, in one program, unless they are already; they then refer to
/// memory. An error while something is being recorded.
void realize(std::span<Tensor* const> tensors, SourceLine line = here());
void realize(std::vector<Tensor>& tensors, SourceLine line = here());
template <std::same_as<Tensor>... More>
void realize(Tensor& first, More&... more) {
    Tensor* all[] = {&first, &more...};
    realize(std::span<Tensor* const>(all));
}

/// The memory of a tensor, computed where it was not: what a window shows, or a host binds.
struct TensorMemory {
    std::shared_ptr<Memory> memory;
    DType dtype;
    std::vector<int64_t> shape;
};
TensorMemory memory_of(const Tensor& x, SourceLine line = here());
/// A tensor over memory that the current session's executor gave; nothing is copied, so nobody may
/// write to it any more.
Tensor tensor_over(std::shared_ptr<Memory> memory, DType dtype, const Shape& shape,
                   SourceLine line = here());

/// Computes a tensor and gives its elements in storage form.
std::vector<std::byte> read_tensor(const Tensor& x, SourceLine line);

/// A Buffer node with this data.
std::shared_ptr<const Node> upload(SessionState& session, std::span<const std::byte> data,
                                   DType dtype, const Shape& shape, SourceLine line);

/// Computes nodes of the root scope (no inputs or region arguments below) and gives their Buffers.
std::vector<std::shared_ptr<const Node>> realize_nodes(
    SessionState& session, const std::vector<std::shared_ptr<const Node>>& nodes, SourceLine line);

/// Lets go of what was computed for nodes that nobody has any more.
void forget_dead(SessionState& session);

/// Compiles `graph` for the session's executor, and reports what the environment asks for.
std::shared_ptr<const Program> compile_for(SessionState& session, const Graph& graph,
                                           CompileOptions options);

/// The memory of the argument or earlier result that result k of `call` shares; null where it has its own.
std::shared_ptr<Memory> shared_memory(const Program& program, const Call& call, size_t k);

/// Allocates the results and runs `graph`, as `program` (null where the oracle evaluates it). Gives
/// the results as Buffer nodes, without the values of data symbols. A result that is an argument, or another
/// result, shares its memory. Where a size is one that only the device knows, the shape has a data symbol and the
/// memory room for its largest value. `symbols`: the names of the graph's data sizes; empty: fresh ones. `sizes`,
/// where given, gets what each of the graph's symbols is outside.
std::vector<std::shared_ptr<const Node>> run_graph(SessionState& session, const Graph& graph,
                                                   const std::shared_ptr<const Program>& program, Call call,
                                                   SourceLine line, const std::vector<SizeAtom>& symbols = {},
                                                   std::map<std::string, Size>* sizes = nullptr);

}  // namespace firn
