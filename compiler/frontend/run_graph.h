// Runs graphs as programs of the session, for lazy tensors and compiled functions; internal.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/program/size_env.h"

namespace firn {

struct CompileOptions;
struct EmitOptions;
struct SessionState;
class Executor;
class Memory;
class Tensor;

/// Computes a tensor and gives its elements in storage form.
std::vector<std::byte> read_tensor(const Tensor& x, SourceLine line);

/// Returns the size of the memory for so many bytes of a tensor: kernels load 16 at a time.
uint64_t padded_bytes(uint64_t bytes);

/// Bytes of a tensor's elements, of the largest that it may be.
uint64_t storage_bytes(DType dtype, const Shape& shape);

/// Allocates memory of the session's executor, `bytes` of padded_bytes. If none is left, drops
/// histories and tries again. DeviceError if there is none then.
std::shared_ptr<Memory> allocate_memory(SessionState& session, Executor& executor, uint64_t bytes,
                                        const std::string& name);

/// A Buffer node over memory. `value`: see BufferAttr.
std::shared_ptr<const Node> buffer_node(SessionState& session, std::shared_ptr<Memory> memory,
                                        DType dtype, const Shape& shape, SourceLine line,
                                        uint64_t value = 0);

/// A Buffer node with this data.
std::shared_ptr<const Node> upload(SessionState& session, std::span<const std::byte> data,
                                   DType dtype, const Shape& shape, SourceLine line);

/// Computes nodes of the root scope (no inputs or region arguments below) and gives their Buffers.
std::vector<std::shared_ptr<const Node>> realize_nodes(
    SessionState& session, const std::vector<std::shared_ptr<const Node>>& nodes, SourceLine line);

/// The Buffer of a node that was computed, itself where it is one; null: none.
const std::shared_ptr<const Node>& known_buffer(const std::shared_ptr<const Node>& node);

/// Returns `options` with the session's settings for every compile.
CompileOptions compile_options(SessionState& session, CompileOptions options);
/// Native code checks its accesses where the session checks promises.
EmitOptions emit_options(SessionState& session);
/// Compiles `graph` for the session's executor, and reports.
std::shared_ptr<const Program> compile_for(SessionState& session, const Graph& graph,
                                           CompileOptions options);

/// Allocates the results and runs `graph`, as `program` (null if the oracle evaluates it). Returns
/// the results as Buffer nodes, without the values of data symbols. A result that is an argument,
/// or another result, shares its memory. If only the device knows a size, the shape has a data
/// symbol and the memory has room for its largest value. `symbols`: the names of the graph's data
/// sizes; empty: fresh ones. `sizes`, if given, gets the value of each of the graph's symbols
/// outside.
std::vector<std::shared_ptr<const Node>> run_graph(SessionState& session, const Graph& graph,
                                                   const std::shared_ptr<const Program>& program,
                                                   Call call, SourceLine line,
                                                   const std::vector<SizeAtom>& symbols = {},
                                                   SizeMap* sizes = nullptr);

}  // namespace firn
